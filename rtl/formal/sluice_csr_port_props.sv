// SPDX-License-Identifier: Apache-2.0
// Properties of sluice_csr with a launch port: 2 SMs, 2 kernel slots, FLUSH and PRIORITY; for any manager, any launches
// of the port and any reports of the other blocks. Assumed, as launch_queue promises: a launch of the port is for one
// slot of the port.
module sluice_csr_port_props (
  input logic                          clk_i,
  input logic                          rst_ni,
  input sluice_pkg::axi_request_t      axi_i,
  input logic [1:0]                    port_admit_i,
  input sluice_pkg::descriptor_t       port_launch_i,
  input logic [2*(sluice_pkg::ContextW+sluice_pkg::PriorityW)-1:0] tags_i,
  input logic [3:0]                    queue_i,
  input logic [3:0]                    slot_state_i,
  input logic [31:0]                   resident_i,
  input logic [63:0]                   dispatched_i,
  input logic [1:0]                    evict_done_i,
  input logic [1:0]                    kernel_done_i,
  input logic [3:0]                    num_present_i,
  input logic [11:0]                   ctas_i,
  input logic [1:0]                    sm_busy_i,
  input sluice_pkg::decision_status_t  status_i,
  input sluice_pkg::dispatch_error_t   error_i
);
  localparam int unsigned AmountW = sluice_pkg::AmountW, PriorityW = sluice_pkg::PriorityW;
  localparam int unsigned ContextW = sluice_pkg::ContextW, TagsW = ContextW + PriorityW;

  sluice_pkg::axi_response_t    axi;
  sluice_pkg::decision_config_t configured;
  sluice_pkg::amounts_t         sm;
  logic [5:0]                   capacity_slots;
  logic [2*AmountW-1:0]         demand;
  logic [63:0]                  grid;
  logic [2*PriorityW-1:0]       priorities;
  logic [1:0]                   repeats, launch, stop, evict, resume, flush, port_slots, sm_enable;
  logic [15:0]                  evict_count;
  logic [11:0]                  quota;
  logic [3:0]                   mask;
  logic                         static_write, enable_write, irq, idle, purge, purge_all;
  logic [ContextW-1:0]          purge_context;
  sluice_csr #(
    .NUM_SM (2), .MAX_KERNELS (2), .MAX_CTAS (4), .NUM_SCHED (1), .REGION_UNITS (0), .LAUNCH_QUEUE (2), .FLUSH (1),
    .PRIORITY (1)
  ) dut (
    .*,
    .axi_o            (axi),
    .irq_o            (irq),
    .config_o         (configured),
    .capacity_o       (sm),
    .capacity_slots_o (capacity_slots),
    .demand_o         (demand),
    .grid_o           (grid),
    .repeat_o         (repeats),
    .priority_o       (priorities),
    .launch_o         (launch),
    .stop_o           (stop),
    .flush_o          (flush),
    .evict_o          (evict),
    .resume_o         (resume),
    .evict_count_o    (evict_count),
    .quota_o          (quota),
    .mask_o           (mask),
    .static_write_o   (static_write),
    .sm_enable_o      (sm_enable),
    .enable_write_o   (enable_write),
    .port_slots_o     (port_slots),
    .purge_o          (purge),
    .purge_all_o      (purge_all),
    .purge_context_o  (purge_context),
    .balance_o        (),
    .wish_o           (),
    .balance_entry_o  (),
    .balance_status_i ('0),
    .balance_score_i  ('0),
    .idle_o           (idle)
  );
  // A write as axi_lite_subordinate gives it.
  (* hierconn *) wire        \dut.write ;
  (* hierconn *) wire [11:0] \dut.waddr ;
  (* hierconn *) wire [31:0] \dut.wdata ;
  (* hierconn *) wire        \dut.i_config.lock_q ;
  (* hierconn *) wire        \dut.gen_slot[0].i_slot.waits_q , \dut.gen_slot[1].i_slot.waits_q ;

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb if (!started) assume (!rst_ni);
  always_comb assume (port_admit_i != 2'b11 && (port_admit_i & ~port_slots) == '0);

  // CONTROL is written with FLUSH_CONTEXT or FLUSH_ALL; for the cycle behind it, what it says.
  logic                asked, asked_q, all_q, of_slots;
  logic [ContextW-1:0] context_q;
  assign asked    = \dut.write && \dut.waddr == sluice_csr_pkg::ControlAddr
      && (\dut.wdata [sluice_csr_pkg::ControlFlushContextLsb] || \dut.wdata [sluice_csr_pkg::ControlFlushAllLsb]);
  assign of_slots = \dut.write && \dut.waddr == sluice_csr_pkg::PortSlotsAddr && !\dut.i_config.lock_q
      && \dut.wdata <= sluice_csr_pkg::PortSlotsMax;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) asked_q <= 1'b0;
    else         asked_q <= asked;
  always_ff @(posedge clk_i) begin
    all_q     <= \dut.wdata [sluice_csr_pkg::ControlFlushAllLsb];
    context_q <= \dut.wdata [sluice_csr_pkg::ControlContextLsb +: ContextW];
  end
  logic [1:0] meant;   // kernels that a flush of a context, or of all, is of
  always_comb
    for (int unsigned k = 0; k < 2; k++)
      meant[k] = slot_state_i[2*k +: 2] != 2'd0 && (all_q || tags_i[k*TagsW +: ContextW] == context_q);

  (* anyconst *) logic k;   // any slot
  always_comb if (started && rst_ni) begin
    a_flush_of_a_context_purges_the_queue_at_once: assert (purge == asked && (!purge
        || (purge_all == \dut.wdata [sluice_csr_pkg::ControlFlushAllLsb]
        && purge_context == \dut.wdata [sluice_csr_pkg::ControlContextLsb +: ContextW])));
  end
  always_ff @(posedge clk_i)
    if (started && $past(rst_ni) && rst_ni) begin
      the_ports_slots_are_the_last_accepted: assert (port_slots
          == ($past(of_slots) ? $past(\dut.wdata [1:0]) : $past(port_slots)));
      if (launch[k]) a_slot_of_the_port_is_launched_by_the_port: assert ($past(port_admit_i[k] || !port_slots[k]));
      if ($past(port_admit_i[k]))
        a_launch_of_the_port_acts_with_its_descriptor: assert (launch[k] && !repeats[k]
            && demand[k*AmountW +: AmountW] == $past(port_launch_i.demand)
            && grid[32*k +: 32] == $past(port_launch_i.ctas)
            && priorities[k*PriorityW +: PriorityW] == $past(port_launch_i.urgency));
      if ($past(port_slots[k] && !port_admit_i[k]))
        a_descriptor_of_the_port_is_not_written: assert (
            demand[k*AmountW +: AmountW] == $past(demand[k*AmountW +: AmountW])
            && grid[32*k +: 32] == $past(grid[32*k +: 32]) && repeats[k] == $past(repeats[k])
            && priorities[k*PriorityW +: PriorityW] == $past(priorities[k*PriorityW +: PriorityW]));
      if ($past(port_slots[k]))
        a_launch_that_waits_is_dropped_by_the_port: assert (!(k ? \dut.gen_slot[1].i_slot.waits_q
            : \dut.gen_slot[0].i_slot.waits_q ));
      if ($past(launch != '0 || slot_state_i != '0))
        the_capacity_stays_where_a_kernel_is_or_comes: assert ({sm, capacity_slots} == $past({sm, capacity_slots}));
      if ($past(asked_q)) a_flush_of_a_context_is_of_its_kernels: assert (flush == $past(meant));
    end
endmodule
