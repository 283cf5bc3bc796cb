// SPDX-License-Identifier: Apache-2.0
// Properties of sluice_top with two SMs, K kernel slots, four CTAs and one scheduler an SM, without regions, with
// SM_ENABLE and SM_READY, at full width. Idle, every output but irq_o is at rest. OPTIONS: with the launch port, FLUSH,
// PATIENCE, PRIORITY and CHURN, too.
module sluice_top_props #(
  parameter int unsigned K       = 2,
  parameter int unsigned OPTIONS = 0
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [11:0] s_axi_awaddr_i,
  input logic        s_axi_awvalid_i,
  input logic [31:0] s_axi_wdata_i,
  input logic [3:0]  s_axi_wstrb_i,
  input logic        s_axi_wvalid_i,
  input logic        s_axi_bready_i,
  input logic [11:0] s_axi_araddr_i,
  input logic        s_axi_arvalid_i,
  input logic        s_axi_rready_i,
  input logic [1:0]  issue_valid_i,
  input logic [5:0]  issue_kernel_i,
  input logic [1:0]  request_i,
  input logic        launch_valid_i,
  input logic [1:0]  sm_ready_i,
  input logic        dispatch_ready_i,
  input logic        done_valid_i,
  input logic [7:0]  done_sm_i,
  input logic [4:0]  done_slot_i
);
  logic        awready, wready, bvalid, arready, rvalid, irq, dispatch_valid, profile_valid, profile_window, idle;
  logic        launched_valid, flush_valid;
  logic [K-1:0] kernel_done;
  logic [2:0]  kernel;
  sluice_top #(
    .NUM_SM(2), .MAX_KERNELS(K), .MAX_CTAS(4), .NUM_SCHED(1), .REGION_UNITS(0), .SM_ENABLE(1), .SM_READY(1),
    .FLUSH(OPTIONS), .PATIENCE(4 * OPTIONS), .PRIORITY(OPTIONS), .LAUNCH_QUEUE(2 * OPTIONS), .CHURN(2 * OPTIONS)
  ) dut (
    .clk_i,
    .rst_ni,
    .tag_rst_ni               (rst_ni),
    .s_axi_awaddr_i,
    .s_axi_awvalid_i,
    .s_axi_awready_o          (awready),
    .s_axi_wdata_i,
    .s_axi_wstrb_i,
    .s_axi_wvalid_i,
    .s_axi_wready_o           (wready),
    .s_axi_bvalid_o           (bvalid),
    .s_axi_bready_i,
    .s_axi_araddr_i,
    .s_axi_arvalid_i,
    .s_axi_arready_o          (arready),
    .s_axi_rvalid_o           (rvalid),
    .s_axi_rready_i,
    .irq_o                    (irq),
    .issue_valid_i,
    .issue_kernel_i,
    .request_i,
    .launch_valid_i,
    .launched_valid_o         (launched_valid),
    .kernel_done_o            (kernel_done),
    .flush_valid_o            (flush_valid),
    .sm_ready_i,
    .dispatch_valid_o         (dispatch_valid),
    .dispatch_ready_i,
    .dispatch_kernel_o        (kernel),
    .done_valid_i,
    .done_sm_i,
    .done_slot_i,
    .profile_window_o         (profile_window),
    .profile_valid_o          (profile_valid),
    .idle_o                   (idle)
  );
  (* hierconn *) wire \dut.rests , \dut.i_decision_unit.monitor_request ;
  (* hierconn *) wire \dut.i_decision_unit.i_partition_sequencer.kept_start ;
  (* hierconn *) wire \dut.i_launch_unit.i_cta_dispatcher.fresh , \dut.i_launch_unit.i_cta_dispatcher.ready_changes ;
  (* hierconn *) wire \dut.i_launch_unit.i_cta_dispatcher.sweep ;
  (* hierconn *) wire [1:0] \dut.i_launch_unit.i_cta_dispatcher.charge_sm ;
  (* hierconn *) wire [1:0] \dut.i_launch_unit.i_cta_dispatcher.charged_sm ;
  (* hierconn *) wire [1:0] \dut.i_launch_unit.i_cta_dispatcher.release_sm ;
  (* hierconn *) wire [K*K-1:0] \dut.i_launch_unit.i_cta_dispatcher.i_kernel_turns.gen_order.i_kernel_order.above_q ;
  (* hierconn *) wire [K*K-1:0] \dut.i_launch_unit.i_cta_dispatcher.i_kernel_turns.gen_order.i_kernel_order.above_d ;
  logic ready_changes, on_its_way;   // in the dispatcher
  assign ready_changes = \dut.i_launch_unit.i_cta_dispatcher.ready_changes ;
  assign on_its_way    = \dut.i_launch_unit.i_cta_dispatcher.fresh || (\dut.i_launch_unit.i_cta_dispatcher.charge_sm
      | \dut.i_launch_unit.i_cta_dispatcher.charged_sm | \dut.i_launch_unit.i_cta_dispatcher.release_sm ) != '0;

  // The unit is in any state, not only in one that it can reach. Of such states four are excluded: a request of the
  // phase monitor while it does not watch (phase_monitor is proven to ask in the cycle after it watched only, and what
  // ends the watching does not rest), a CTA on its way to an SM that is not busy, or from one and of no kernel
  // (cta_dispatcher is proven to have none: what_is_fresh_is_valid, busy_is_what_is_on_its_way,
  // each_end_is_counted_and_credited), and an idle_o
  // that is high while a block does not rest, in the first cycle: what it is in the next is proven. So is that a unit
  // at rest is settled: no SM is to be read again for a claim, or reserved, the core does not begin, kernels are
  // ordered by the priorities that they have, and which may be given a CTA, and in what order, is known.
  logic quiet_q, irq_q, started;   // quiet: idle, nobody asks for anything, and who is ready stays
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    quiet_q <= rst_ni && idle && !s_axi_awvalid_i && !s_axi_wvalid_i && !s_axi_arvalid_i && !done_valid_i
        && !(launch_valid_i && OPTIONS != 0) && !ready_changes;
    irq_q   <= irq;
  end
  (* hierconn *) wire [K-1:0] \dut.i_launch_unit.i_cta_dispatcher.can_admit , \dut.spent ;
  (* hierconn *) wire [2*K-1:0] \dut.slot_state ;
  (* hierconn *) wire [1:0] \dut.i_launch_unit.i_cta_dispatcher.reserved ;
  (* hierconn *) wire \dut.regions , \dut.in_order , \dut.round_robin ;
  (* hierconn *) wire [2:0] \dut.i_decision_unit.i_partition_sequencer.mode_i ;
  (* hierconn *) wire [3:0] \dut.i_sluice_csr.i_status.irq_status_q , \dut.i_sluice_csr.i_status.irq_enable_q ;
  logic in_turn;
  assign in_turn = \dut.i_decision_unit.i_partition_sequencer.mode_i == sluice_pkg::ModeFcfs;
  logic [K-1:0] running;
  always_comb
    for (int unsigned k = 0; k < K; k++) running[k] = \dut.slot_state [2*k +: 2] == sluice_pkg::SlotRunning;
  logic settled;   // with the options, what else no unit at rest has; in all cycles but the first it is proven here
  assign settled = !\dut.i_launch_unit.i_cta_dispatcher.sweep
      && !\dut.i_decision_unit.i_partition_sequencer.kept_start
      && \dut.i_launch_unit.i_cta_dispatcher.can_admit == (running & ~\dut.spent )
      && \dut.i_launch_unit.i_cta_dispatcher.reserved == '0
      && irq == ((\dut.i_sluice_csr.i_status.irq_status_q & \dut.i_sluice_csr.i_status.irq_enable_q ) != '0)
      && \dut.in_order == (\dut.regions && !in_turn) && \dut.round_robin == (\dut.regions && in_turn)
      && (OPTIONS == 0 || \dut.i_launch_unit.i_cta_dispatcher.i_kernel_turns.gen_order.i_kernel_order.above_q
          == \dut.i_launch_unit.i_cta_dispatcher.i_kernel_turns.gen_order.i_kernel_order.above_d );
  always_comb begin
    if (\dut.rests ) assume (!\dut.i_decision_unit.monitor_request && !on_its_way);
    if (!started) assume (!idle || \dut.rests );
    if (!started) assume (!\dut.rests || settled);
    if (started && rst_ni) what_rests_is_settled: assert (!\dut.rests || settled);
    if (started) idle_only_while_every_block_rests: assert (!idle || \dut.rests || ready_changes
      || (launch_valid_i && OPTIONS != 0));
    if (!rst_ni)
      reset_is_clean: assert (awready && wready && arready && !bvalid && !rvalid && !irq && !dispatch_valid
          && !profile_valid && !profile_window && !idle);
    if (started && rst_ni && quiet_q)
      nothing_changes_while_idle: assert (idle && irq == irq_q && awready && wready && arready && !bvalid && !rvalid
      && !dispatch_valid && !profile_valid && !profile_window && !launched_valid && !flush_valid && kernel_done == '0);
  end
endmodule
