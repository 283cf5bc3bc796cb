// SPDX-License-Identifier: Apache-2.0
// sluice_sva: the rules at the ports of sluice_top, for its neighbours and for itself. A simulation that compiles this
// file checks every instance of sluice_top, by the bind at its end. Each message names its rule; docs/user/integrate.md
// lists the rules. Reads ports only.
module sluice_sva #(
  parameter int unsigned NUM_SM       = 16,
  parameter int unsigned MAX_KERNELS  = 4,
  parameter int unsigned MAX_CTAS     = 8,
  parameter int unsigned NUM_SCHED    = 2,
  parameter int unsigned SM_READY     = 0,
  parameter int unsigned FLUSH        = 0,
  parameter int unsigned LAUNCH_QUEUE = 0
) (
  input logic                                            clk_i,
  input logic                                            rst_ni,
  input logic [11:0]                                     s_axi_awaddr_i,
  input logic                                            s_axi_awvalid_i,
  input logic                                            s_axi_awready_o,
  input logic [31:0]                                     s_axi_wdata_i,
  input logic [3:0]                                      s_axi_wstrb_i,
  input logic                                            s_axi_wvalid_i,
  input logic                                            s_axi_wready_o,
  input logic [1:0]                                      s_axi_bresp_o,
  input logic                                            s_axi_bvalid_o,
  input logic                                            s_axi_bready_i,
  input logic [11:0]                                     s_axi_araddr_i,
  input logic                                            s_axi_arvalid_i,
  input logic                                            s_axi_arready_o,
  input logic [31:0]                                     s_axi_rdata_o,
  input logic [1:0]                                      s_axi_rresp_o,
  input logic                                            s_axi_rvalid_o,
  input logic                                            s_axi_rready_i,
  input logic                                            launch_valid_i,
  input logic                                            launch_ready_o,
  input logic [sluice_pkg::WarpW-1:0]                    launch_warps_i,
  input logic [sluice_pkg::RegW-1:0]                     launch_registers_i,
  input logic [sluice_pkg::SharedW-1:0]                  launch_shared_i,
  input logic [sluice_pkg::GridW-1:0]                    launch_ctas_i,
  input logic [sluice_pkg::GridW-1:0]                    launch_size_x_i,
  input logic [sluice_pkg::BlockW-1:0]                   launch_size_y_i,
  input logic [sluice_pkg::GridW-1:0]                    launch_start_x_i,
  input logic [sluice_pkg::BlockW-1:0]                   launch_start_y_i,
  input logic [sluice_pkg::BlockW-1:0]                   launch_start_z_i,
  input logic [sluice_pkg::ContextW-1:0]                 launch_context_i,
  input logic [sluice_pkg::PriorityW-1:0]                launch_priority_i,
  input logic                                            launched_valid_o,
  input logic [sluice_pkg::KIndexW-1:0]                  launched_kernel_o,
  input logic                                            launched_refused_o,
  input logic                                            launched_flushed_o,
  input logic [MAX_KERNELS-1:0]                          kernel_done_o,
  input logic [NUM_SM*NUM_SCHED-1:0]                     issue_valid_i,
  input logic [NUM_SM*NUM_SCHED*sluice_pkg::KIndexW-1:0] issue_kernel_i,
  input logic [NUM_SM-1:0]                               request_i,
  input logic [NUM_SM-1:0]                               sm_ready_i,
  input logic                                            dispatch_valid_o,
  input logic                                            dispatch_ready_i,
  input logic [sluice_pkg::SmW-1:0]                      dispatch_sm_o,
  input logic [sluice_pkg::KIndexW-1:0]                  dispatch_kernel_o,
  input logic [sluice_pkg::SlotW-1:0]                    dispatch_slot_o,
  input logic [sluice_pkg::GridW-1:0]                    dispatch_cta_o,
  input logic [sluice_pkg::RegW-1:0]                     dispatch_register_base_o,
  input logic [sluice_pkg::SharedW-1:0]                  dispatch_shared_base_o,
  input logic                                            dispatch_region_valid_o,
  input logic                                            done_valid_i,
  input logic [sluice_pkg::SmW-1:0]                      done_sm_i,
  input logic [sluice_pkg::SlotW-1:0]                    done_slot_i,
  input logic [sluice_pkg::KIndexW-1:0]                  done_kernel_i,
  input logic [sluice_pkg::TagW-1:0]                     done_tag_i,
  input logic [sluice_pkg::TagW-1:0]                     dispatch_tag_o,
  input logic                                            flush_valid_o,
  input logic [sluice_pkg::KIndexW-1:0]                  flush_kernel_o,
  input logic [sluice_pkg::TagW-1:0]                     flush_tag_o
);
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned TagW    = sluice_pkg::TagW;
  localparam int unsigned IndexW  = $clog2(NUM_SM * MAX_CTAS);

  // The tag of each kernel slot, as flush_valid_o says; a report with another one is late, and nobody's.
  logic [(1<<KIndexW)*TagW-1:0] tags_q;
  logic                         late;
  logic [(1<<KIndexW)-1:0]      flushed_q, known_q;   // slots with a flush since reset; whose tag is known
  assign late = FLUSH != 0 && (!known_q[done_kernel_i] || done_tag_i != tags_q[32'(done_kernel_i)*TagW +: TagW]);
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      tags_q    <= '0;
      flushed_q <= '0;
      known_q   <= '0;
    end else begin
      if (dispatch_valid_o) begin
        tags_q[32'(dispatch_kernel_o)*TagW +: TagW] <= dispatch_tag_o;
        known_q[dispatch_kernel_o]                  <= 1'b1;
      end
      if (flush_valid_o) begin
        tags_q[32'(flush_kernel_o)*TagW +: TagW] <= flush_tag_o + 1'b1;
        flushed_q[flush_kernel_o]                <= 1'b1;
        known_q[flush_kernel_o]                  <= 1'b1;
      end
    end

  // CTAs that run, as the two ports say: taken, and not ended.
  logic [NUM_SM*MAX_CTAS-1:0]         runs_q;
  logic [NUM_SM*MAX_CTAS*KIndexW-1:0] kernel_q;
  logic                               start, dispatch_exists, done_exists;
  logic [IndexW-1:0]                  dispatch_at, done_at;   // indices into runs_q
  assign start           = dispatch_valid_o && dispatch_ready_i;
  assign dispatch_exists = 32'(dispatch_sm_o) < NUM_SM && 32'(dispatch_slot_o) < MAX_CTAS;
  assign done_exists     = 32'(done_sm_i) < NUM_SM && 32'(done_slot_i) < MAX_CTAS;
  assign dispatch_at     = dispatch_exists ? IndexW'(32'(dispatch_sm_o) * MAX_CTAS + 32'(dispatch_slot_o)) : '0;
  assign done_at         = done_exists ? IndexW'(32'(done_sm_i) * MAX_CTAS + 32'(done_slot_i)) : '0;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      runs_q   <= '0;
      kernel_q <= '0;
    end else begin
      if (done_valid_i && done_exists && !late) runs_q[done_at] <= 1'b0;
      for (int unsigned i = 0; i < NUM_SM * MAX_CTAS; i++)
        if (flush_valid_o && kernel_q[i*KIndexW +: KIndexW] == flush_kernel_o) runs_q[i] <= 1'b0;
      if (start && dispatch_exists) begin
        runs_q[dispatch_at]                      <= 1'b1;
        kernel_q[32'(dispatch_at)*KIndexW +: KIndexW] <= dispatch_kernel_o;
      end
    end

  // Launches that the port took and did not tell of yet; kernel slots that it gave, and that have not ended.
  logic [3:0]              untold_q;
  logic [(1<<KIndexW)-1:0] given_q;
  logic                    given;
  assign given = launched_valid_o && !launched_refused_o && !launched_flushed_o;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      untold_q <= '0;
      given_q  <= '0;
    end else begin
      untold_q <= untold_q + 4'(launch_valid_i && launch_ready_o) - 4'(launched_valid_o);
      for (int unsigned k = 0; k < MAX_KERNELS; k++) if (kernel_done_o[k]) given_q[k] <= 1'b0;
      if (given) given_q[launched_kernel_o] <= 1'b1;
    end

  logic [255:0] ready_sms;
  assign ready_sms = 256'(sm_ready_i);

  // Kernels with a CTA on an SM, a bit each.
  logic [NUM_SM*8-1:0] there;
  always_comb begin
    there = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      for (int unsigned s = 0; s < MAX_CTAS; s++)
        if (runs_q[m*MAX_CTAS + s]) there[m*8 + 32'(kernel_q[(m*MAX_CTAS + s)*KIndexW +: KIndexW])] = 1'b1;
  end

  // verilator lint_off SYNCASYNCNET
  // Rules for the neighbours.
  axi_write_address_waits: assert property (@(posedge clk_i) disable iff (!rst_ni)
    s_axi_awvalid_i && !s_axi_awready_o |=> s_axi_awvalid_i && $stable(s_axi_awaddr_i))
    else $error("axi_write_address_waits: AW changed before it was taken");
  axi_write_data_waits: assert property (@(posedge clk_i) disable iff (!rst_ni)
    s_axi_wvalid_i && !s_axi_wready_o |=> s_axi_wvalid_i && $stable({s_axi_wdata_i, s_axi_wstrb_i}))
    else $error("axi_write_data_waits: W changed before it was taken");
  axi_read_address_waits: assert property (@(posedge clk_i) disable iff (!rst_ni)
    s_axi_arvalid_i && !s_axi_arready_o |=> s_axi_arvalid_i && $stable(s_axi_araddr_i))
    else $error("axi_read_address_waits: AR changed before it was taken");
  launch_waits: assert property (@(posedge clk_i) disable iff (!rst_ni) LAUNCH_QUEUE != 0
      && launch_valid_i && !launch_ready_o
    |=> launch_valid_i && $stable({launch_warps_i, launch_registers_i, launch_shared_i, launch_ctas_i, launch_size_x_i,
        launch_size_y_i, launch_start_x_i, launch_start_y_i, launch_start_z_i, launch_context_i, launch_priority_i}))
    else $error("launch_waits: the launch changed before it was taken");
  done_names_a_slot: assert property (@(posedge clk_i) disable iff (!rst_ni) done_valid_i |-> done_exists)
    else $error("done_names_a_slot: SM %0d, slot %0d do not exist", done_sm_i, done_slot_i);
  done_is_of_a_cta_that_runs: assert property (@(posedge clk_i) disable iff (!rst_ni) done_valid_i && done_exists
      && !late
    |-> runs_q[done_at] && (FLUSH == 0 || kernel_q[32'(done_at)*KIndexW +: KIndexW] == done_kernel_i))
    else $error("done_is_of_a_cta_that_runs: SM %0d, slot %0d hold none", done_sm_i, done_slot_i);
  for (genvar m = 0; m < NUM_SM; m++) begin : gen_sm
    for (genvar s = 0; s < NUM_SCHED; s++) begin : gen_scheduler   // a CTA that was given up may issue for a while
      issue_is_of_a_cta_that_runs: assert property (@(posedge clk_i) disable iff (!rst_ni)
        issue_valid_i[m*NUM_SCHED + s] && !flushed_q[issue_kernel_i[(m*NUM_SCHED + s)*KIndexW +: KIndexW]]
        |-> there[m*8 + 32'(issue_kernel_i[(m*NUM_SCHED + s)*KIndexW +: KIndexW])])
        else $error("issue_is_of_a_cta_that_runs: SM %0d issues for a kernel slot without a CTA there", m);
    end
  end
  if (SM_READY != 0) begin : gen_ready
    for (genvar m = 0; m < NUM_SM; m++) begin : gen_sm
      ready_stays_until_a_cta_is_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        sm_ready_i[m] && !(start && 32'(dispatch_sm_o) == m) |=> sm_ready_i[m])
        else $error("ready_stays_until_a_cta_is_taken: SM %0d withdrew its word", m);
    end
    dispatch_is_for_a_ready_sm: assert property (@(posedge clk_i) disable iff (!rst_ni) dispatch_valid_o
        && dispatch_exists |-> ready_sms[dispatch_sm_o])
      else $error("dispatch_is_for_a_ready_sm: SM %0d", dispatch_sm_o);
  end
  inputs_are_known: assert property (@(posedge clk_i) disable iff (!rst_ni)
    !$isunknown({s_axi_awvalid_i, s_axi_wvalid_i, s_axi_bready_i, s_axi_arvalid_i, s_axi_rready_i, dispatch_ready_i,
        done_valid_i, issue_valid_i, request_i})
      && (SM_READY == 0 || !$isunknown(sm_ready_i)))
    else $error("inputs_are_known: a control input is X or Z");

  // Rules that the unit keeps.
  axi_write_response_waits: assert property (@(posedge clk_i) disable iff (!rst_ni)
    s_axi_bvalid_o && !s_axi_bready_i |=> s_axi_bvalid_o && $stable(s_axi_bresp_o))
    else $error("axi_write_response_waits: B changed before it was taken");
  axi_read_response_waits: assert property (@(posedge clk_i) disable iff (!rst_ni)
    s_axi_rvalid_o && !s_axi_rready_i |=> s_axi_rvalid_o && $stable({s_axi_rdata_o, s_axi_rresp_o}))
    else $error("axi_read_response_waits: R changed before it was taken");
  dispatch_waits: assert property (@(posedge clk_i) disable iff (!rst_ni) dispatch_valid_o && !dispatch_ready_i
    |=> (dispatch_valid_o && $stable({dispatch_sm_o, dispatch_kernel_o, dispatch_slot_o, dispatch_cta_o,
    dispatch_register_base_o,
                                      dispatch_shared_base_o, dispatch_region_valid_o, dispatch_tag_o}))
     || (FLUSH > 1 && !dispatch_valid_o && flush_valid_o && flush_kernel_o == $past(dispatch_kernel_o)))
    else $error("dispatch_waits: the CTA changed before it was taken");
  dispatch_names_a_free_slot: assert property (@(posedge clk_i) disable iff (!rst_ni)
    dispatch_valid_o |-> dispatch_exists && !runs_q[dispatch_at] && 32'(dispatch_kernel_o) < MAX_KERNELS)
    else $error("dispatch_names_a_free_slot: SM %0d, slot %0d", dispatch_sm_o, dispatch_slot_o);
  launched_is_of_a_launch: assert property (@(posedge clk_i) disable iff (!rst_ni)
    launched_valid_o |-> untold_q != '0 && !(launched_refused_o && launched_flushed_o))
    else $error("launched_is_of_a_launch: the port took none, or two ends are told of one");
  launched_names_a_free_slot: assert property (@(posedge clk_i) disable iff (!rst_ni)
    given |-> 32'(launched_kernel_o) < MAX_KERNELS && !given_q[launched_kernel_o])
    else $error("launched_names_a_free_slot: kernel slot %0d", launched_kernel_o);
  if (FLUSH != 0) begin : gen_flush
    dispatch_has_the_tag_of_its_kernel: assert property (@(posedge clk_i) disable iff (!rst_ni)
      dispatch_valid_o && known_q[dispatch_kernel_o] |-> dispatch_tag_o == tags_q[32'(dispatch_kernel_o)*TagW +: TagW])
      else $error("dispatch_has_the_tag_of_its_kernel: kernel slot %0d", dispatch_kernel_o);
    flush_is_of_ctas_that_have_started: assert property (@(posedge clk_i) disable iff (!rst_ni)
      flush_valid_o |-> (!known_q[flush_kernel_o] || flush_tag_o == tags_q[32'(flush_kernel_o)*TagW +: TagW])
          && !(dispatch_valid_o && dispatch_kernel_o == flush_kernel_o))
      else $error("flush_is_of_ctas_that_have_started: kernel slot %0d", flush_kernel_o);
  end
  // verilator lint_on SYNCASYNCNET
endmodule

bind sluice_top sluice_sva #(
  .NUM_SM       (NUM_SM),
  .MAX_KERNELS  (MAX_KERNELS),
  .MAX_CTAS     (MAX_CTAS),
  .NUM_SCHED    (NUM_SCHED),
  .SM_READY     (SM_READY),
  .FLUSH        (FLUSH),
  .LAUNCH_QUEUE (LAUNCH_QUEUE)
) i_sluice_sva (.*);
