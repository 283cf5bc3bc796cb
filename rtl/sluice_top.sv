// SPDX-License-Identifier: Apache-2.0
// sluice_top: the SM resource partitioner (docs/reference/blocks/sluice_top.md): registers, the half that decides
// (decision_unit) and the half that sends CTAs (launch_unit). Kernels are programmed through AXI4-Lite; CTAs leave
// through the dispatch port; SMs report what they issue, what they exchange with the memory system, and ended CTAs.
module sluice_top #(
  parameter int unsigned NUM_SM       = 16,   // 1..256
  parameter int unsigned MAX_KERNELS  = 4,    // 2..8
  parameter int unsigned MAX_CTAS     = 8,    // 4..32, CTA slots of an SM
  parameter int unsigned NUM_SCHED    = 2,    // 1..4, warp schedulers of an SM
  parameter int unsigned REGION_UNITS = 64,   // 0: count-only admission; else 16..128 units of each resource
  parameter int unsigned SM_ENABLE    = 0,    // 0..1; 1: SMs can be disabled by register SM_ENABLE
  parameter int unsigned SM_READY     = 0,    // 0..1; 1: sm_ready_i is looked at
  parameter int unsigned FLUSH        = 0,    // 0..20; else kernels can be flushed; above 1 a flush waits 2**FLUSH
                                              // cycles for the dispatch port, not for ever
  parameter int unsigned PRIORITY     = 0,    // 0..1; 1: kernels of higher priority go first
  parameter int unsigned PATIENCE     = 0,    // 0..20; else a kernel goes first that has waited for 2**PATIENCE cycles
  parameter int unsigned CHURN        = 0,    // 0..19; else profiles outlive changes, plans live for 2**CHURN cycles
  parameter int unsigned TAIL         = 0,    // 0..1; 1: a kernel keeps no share once its grid has been sent
  parameter int unsigned LAUNCH_QUEUE = 0,    // 0..8; places in the queue of the launch port; 0: no such port
  parameter int unsigned BALANCE      = 0     // 0..2; 1: mode BALANCE beside DYNAMIC; 2: instead of it; not with CHURN
) (
  input  logic                                             clk_i,
  input  logic                                             rst_ni,
  input  logic                                             tag_rst_ni,        // with FLUSH: of the tags of CTAs
  input  logic [11:0]                                      s_axi_awaddr_i,
  input  logic                                             s_axi_awvalid_i,
  output logic                                             s_axi_awready_o,
  input  logic [31:0]                                      s_axi_wdata_i,
  input  logic [3:0]                                       s_axi_wstrb_i,
  input  logic                                             s_axi_wvalid_i,
  output logic                                             s_axi_wready_o,
  output logic [1:0]                                       s_axi_bresp_o,
  output logic                                             s_axi_bvalid_o,
  input  logic                                             s_axi_bready_i,
  input  logic [11:0]                                      s_axi_araddr_i,
  input  logic                                             s_axi_arvalid_i,
  output logic                                             s_axi_arready_o,
  output logic [31:0]                                      s_axi_rdata_o,
  output logic [1:0]                                       s_axi_rresp_o,
  output logic                                             s_axi_rvalid_o,
  input  logic                                             s_axi_rready_i,
  output logic                                             irq_o,
  input  logic                                             launch_valid_i,    // a kernel; only with LAUNCH_QUEUE
  output logic                                             launch_ready_o,
  input  logic [sluice_pkg::WarpW-1:0]                     launch_warps_i,    // of one CTA
  input  logic [sluice_pkg::RegW-1:0]                      launch_registers_i,
  input  logic [sluice_pkg::SharedW-1:0]                   launch_shared_i,
  input  logic [sluice_pkg::GridW-1:0]                     launch_ctas_i,     // to run
  input  logic [sluice_pkg::GridW-1:0]                     launch_size_x_i,   // CTAs of the grid along x,
  input  logic [sluice_pkg::BlockW-1:0]                    launch_size_y_i,   // and along y
  input  logic [sluice_pkg::GridW-1:0]                     launch_start_x_i,  // the first CTA to run
  input  logic [sluice_pkg::BlockW-1:0]                    launch_start_y_i,
  input  logic [sluice_pkg::BlockW-1:0]                    launch_start_z_i,
  input  logic [sluice_pkg::ContextW-1:0]                  launch_context_i,
  input  logic [sluice_pkg::PriorityW-1:0]                 launch_priority_i,
  output logic                                             launched_valid_o,  // pulse: the next launch of the port
  output logic [sluice_pkg::KIndexW-1:0]                   launched_kernel_o, // got this kernel slot,
  output logic                                             launched_refused_o,// and could not fit;
  output logic                                             launched_flushed_o,// or was handed back by a flush
  output logic [MAX_KERNELS-1:0]                           kernel_done_o,     // pulses: the slot's kernel has ended
  input  logic [NUM_SM*NUM_SCHED-1:0]                      issue_valid_i,     // bit m*NUM_SCHED+s: scheduler s of SM m
  input  logic [NUM_SM*NUM_SCHED*sluice_pkg::KIndexW-1:0]  issue_kernel_i,    // for this kernel slot
  input  logic [NUM_SM-1:0]                                request_i,         // SM m exchanged a line with memory
  input  logic [NUM_SM-1:0]                                sm_ready_i,        // with SM_READY: takes a CTA at once
  output logic                                             dispatch_valid_o,
  input  logic                                             dispatch_ready_i,
  output logic [sluice_pkg::SmW-1:0]                       dispatch_sm_o,
  output logic [sluice_pkg::KIndexW-1:0]                   dispatch_kernel_o,
  output logic [sluice_pkg::SlotW-1:0]                     dispatch_slot_o,   // names the CTA on its SM until it ends
  output logic [sluice_pkg::GridW-1:0]                     dispatch_cta_o,
  output logic [sluice_pkg::GridW-1:0]                     dispatch_x_o,      // its place, of a launch of the port
  output logic [sluice_pkg::BlockW-1:0]                    dispatch_y_o,
  output logic [sluice_pkg::BlockW-1:0]                    dispatch_z_o,
  output logic [sluice_pkg::ContextW-1:0]                  dispatch_context_o,
  output logic [sluice_pkg::PriorityW-1:0]                 dispatch_priority_o,
  output logic [sluice_pkg::RegW-1:0]                      dispatch_register_base_o,
  output logic [sluice_pkg::SharedW-1:0]                   dispatch_shared_base_o,
  output logic                                             dispatch_region_valid_o,   // these are bases of the CTA's
                                                                                      // regions; else the SM places it
  input  logic                                             done_valid_i,      // a CTA ended
  input  logic [sluice_pkg::SmW-1:0]                       done_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]                     done_slot_i,
  input  logic [sluice_pkg::KIndexW-1:0]                   done_kernel_i,     // with FLUSH: its slot, and the tag
  input  logic [sluice_pkg::TagW-1:0]                      done_tag_i,        // that came with it
  output logic [sluice_pkg::TagW-1:0]                      dispatch_tag_o,
  output logic                                             flush_valid_o,     // pulse: SMs give up CTAs of this tag
  output logic [sluice_pkg::KIndexW-1:0]                   flush_kernel_o,
  output logic [sluice_pkg::TagW-1:0]                      flush_tag_o,
  output logic                                             profile_window_o,  // a profile window runs
  output logic                                             profile_valid_o,   // traced: an entry of its table
  output logic [sluice_pkg::KernelW-1:0]                   profile_kernel_o,  // by age among the present
  output logic [sluice_pkg::CtaW-1:0]                      profile_ctas_o,
  output logic [sluice_pkg::ScaledW-1:0]                   profile_scaled_o,  // {exponent, mantissa}: partition_core
  output logic                                             idle_o             // the clock may stop until an input other
                                                                              // than issue_*
                                                                              // and request_i changes
);
  if (NUM_SM < 1 || NUM_SM > 256) $error("sluice_top: NUM_SM must be 1..256");
  if (MAX_KERNELS < 2 || MAX_KERNELS > 8) $error("sluice_top: MAX_KERNELS must be 2..8");
  if (MAX_CTAS < 4 || MAX_CTAS > 32) $error("sluice_top: MAX_CTAS must be 4..32");
  if (NUM_SCHED < 1 || NUM_SCHED > 4) $error("sluice_top: NUM_SCHED must be 1..4");
  if (REGION_UNITS != 0 && (REGION_UNITS < 16 || REGION_UNITS > 128))
    $error("sluice_top: REGION_UNITS must be 0 or 16..128");
  if (SM_ENABLE > 1) $error("sluice_top: SM_ENABLE must be 0..1");
  if (SM_READY > 1) $error("sluice_top: SM_READY must be 0..1");
  if (FLUSH > 20) $error("sluice_top: FLUSH must be 0..20");
  if (PRIORITY > 1) $error("sluice_top: PRIORITY must be 0..1");
  if (PATIENCE > 20 || (PATIENCE != 0 && 2**PATIENCE < 2*NUM_SM + 8))
    $error("sluice_top: PATIENCE must be 0, or at most 20 and 2**PATIENCE at least 2*NUM_SM+8");
  if (CHURN > 19) $error("sluice_top: CHURN must be 0..19");
  if (TAIL > 1) $error("sluice_top: TAIL must be 0..1");
  if (BALANCE > 2 || (BALANCE != 0 && CHURN != 0)) $error("sluice_top: BALANCE must be 0..2, and 0 with CHURN");
  if (LAUNCH_QUEUE > 8) $error("sluice_top: LAUNCH_QUEUE must be 0..8");

  // the blocks do not get as far as the message above
  localparam int unsigned K       = (MAX_KERNELS < 2) ? 2 : MAX_KERNELS;
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned GridW   = sluice_pkg::GridW;

  // Registers: configuration, descriptors by kernel slot, commands.
  sluice_pkg::axi_request_t               axi_in;
  sluice_pkg::axi_response_t              axi_out;
  sluice_pkg::decision_config_t           configuration;
  sluice_pkg::amounts_t                   capacity;
  logic [CtaW-1:0]                        capacity_slots;
  logic [K*sluice_pkg::AmountW-1:0]       demand;
  logic [K*GridW-1:0]                     grid;
  logic [K*sluice_pkg::PriorityW-1:0]     priorities;
  logic [K-1:0]                           repeat_grid, launch, stop, evict, resume, flush;
  logic [15:0]                            evict_count;
  logic [K*CtaW-1:0]                      static_quota;
  logic [K*NUM_SM-1:0]                    static_mask;
  logic [NUM_SM-1:0]                      sm_enable, sm_busy;
  logic                                   static_write, enable_write, csr_idle;
  // Kernels.
  logic [K*2-1:0]                         slot_state;
  logic [sluice_pkg::KernelW-1:0]         num_present;
  logic [K*KIndexW-1:0]                   age;
  logic [K*sluice_pkg::ResidentW-1:0]     resident;
  logic [K*GridW-1:0]                     dispatched;
  logic [K-1:0]                           evict_done, kernel_done, spent;
  logic                                   change, launch_idle;
  sluice_pkg::dispatch_error_t            errors;
  sluice_pkg::dispatch_t                  dispatch;
  // Decisions.
  sluice_pkg::decision_status_t           status;
  logic [K*CtaW-1:0]                      ctas, query_quota, port_quota;
  logic [NUM_SM-1:0]                      query_sm, port_sm, settled;
  logic                                   quota_changed, profiling, regions, round_robin, in_order, decision_idle;
  logic                                   count, count_first, count_fits;
  logic [K-1:0]                           count_kernel;
  logic [31:0]                            balance, balance_status, balance_score;
  logic [K*32-1:0]                        wishes;
  logic [3:0]                             balance_entry;
  // Launch port.
  sluice_pkg::launch_t                    launch_in;
  sluice_pkg::descriptor_t                port_descriptor;
  logic [K-1:0]                           port_slots, port_admit;
  logic                                   purge, purge_all;
  logic [sluice_pkg::ContextW-1:0]        purge_context;
  logic [3:0]                             queue_count;
  logic [K*(sluice_pkg::ContextW+sluice_pkg::PriorityW)-1:0] tags;

  assign axi_in = {s_axi_awaddr_i, s_axi_awvalid_i, s_axi_wdata_i, s_axi_wstrb_i, s_axi_wvalid_i, s_axi_bready_i,
      s_axi_araddr_i, s_axi_arvalid_i, s_axi_rready_i};
  assign {s_axi_awready_o, s_axi_wready_o, s_axi_bresp_o, s_axi_bvalid_o, s_axi_arready_o, s_axi_rdata_o,
      s_axi_rresp_o, s_axi_rvalid_o} = axi_out;
  assign launch_in = {launch_priority_i, launch_context_i, launch_start_z_i, launch_start_y_i, launch_start_x_i,
      launch_size_y_i, launch_size_x_i, launch_ctas_i, launch_shared_i, launch_registers_i, launch_warps_i};
  assign {dispatch_sm_o, dispatch_kernel_o, dispatch_slot_o, dispatch_cta_o, dispatch_x_o, dispatch_y_o, dispatch_z_o,
      dispatch_context_o, dispatch_priority_o, dispatch_register_base_o, dispatch_shared_base_o,
      dispatch_region_valid_o, dispatch_tag_o} = dispatch;

  sluice_csr #(
    .NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .NUM_SCHED(NUM_SCHED), .REGION_UNITS(REGION_UNITS),
    .SM_ENABLE(SM_ENABLE), .SM_READY(SM_READY), .LAUNCH_QUEUE(LAUNCH_QUEUE), .FLUSH(FLUSH), .PRIORITY(PRIORITY),
    .PATIENCE(PATIENCE), .CHURN(CHURN), .TAIL(TAIL), .BALANCE(BALANCE)
  ) i_sluice_csr (
    .clk_i,
    .rst_ni,
    .axi_i            (axi_in),
    .axi_o            (axi_out),
    .irq_o,
    .config_o         (configuration),
    .capacity_o       (capacity),
    .capacity_slots_o (capacity_slots),
    .demand_o         (demand),
    .grid_o           (grid),
    .repeat_o         (repeat_grid),
    .priority_o       (priorities),
    .launch_o         (launch),
    .stop_o           (stop),
    .evict_o          (evict),
    .resume_o         (resume),
    .flush_o          (flush),
    .evict_count_o    (evict_count),
    .quota_o          (static_quota),
    .mask_o           (static_mask),
    .static_write_o   (static_write),
    .sm_enable_o      (sm_enable),
    .enable_write_o   (enable_write),
    .balance_o        (balance),
    .wish_o           (wishes),
    .port_slots_o     (port_slots),
    .port_admit_i     (port_admit),
    .port_launch_i    (port_descriptor),
    .tags_i           (tags),
    .purge_o          (purge),
    .purge_all_o      (purge_all),
    .purge_context_o  (purge_context),
    .queue_i          (queue_count),
    .slot_state_i     (slot_state),
    .resident_i       (resident),
    .dispatched_i     (dispatched),
    .evict_done_i     (evict_done),
    .kernel_done_i    (kernel_done),
    .num_present_i    (num_present),
    .ctas_i           (ctas),
    .sm_busy_i        (sm_busy),
    .status_i         (status),
    .error_i          (errors),
    .balance_status_i (balance_status),
    .balance_entry_o  (balance_entry),
    .balance_score_i  (balance_score),
    .idle_o           (csr_idle)
  );

  launch_unit #(
    .NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .REGION_UNITS(REGION_UNITS), .SM_ENABLE(SM_ENABLE),
    .SM_READY(SM_READY), .FLUSH(FLUSH), .PRIORITY(PRIORITY), .PATIENCE(PATIENCE), .TAIL(TAIL),
    .LAUNCH_QUEUE(LAUNCH_QUEUE)
  ) i_launch_unit (
    .clk_i,
    .rst_ni,
    .tag_rst_ni,
    .capacity_i       (capacity),
    .capacity_slots_i (capacity_slots),
    .demand_i         (demand),
    .grid_i           (grid),
    .priority_i       (priorities),
    .repeat_i         (repeat_grid),
    .launch_i         (launch),
    .stop_i           (stop),
    .evict_i          (evict),
    .evict_count_i    (evict_count),
    .resume_i         (resume),
    .flush_i          (flush),
    .sm_enable_i      (sm_enable),
    .sm_ready_i,
    .sm_busy_o        (sm_busy),
    .count_i          (count),
    .count_first_i    (count_first),
    .count_kernel_i   (count_kernel),
    .count_fits_o     (count_fits),
    .round_robin_i    (round_robin),
    .in_order_i       (in_order),
    .regions_i        (regions),
    .query_sm_o       (query_sm),
    .query_quota_i    (query_quota),
    .port_sm_o        (port_sm),
    .port_quota_i     (port_quota),
    .quota_changed_i  (quota_changed),
    .profiling_i      (profiling),
    .settled_o        (settled),
    .spent_o          (spent),
    .slot_state_o     (slot_state),
    .num_present_o    (num_present),
    .age_o            (age),
    .change_o         (change),
    .resident_o       (resident),
    .dispatched_o     (dispatched),
    .evict_done_o     (evict_done),
    .kernel_done_o    (kernel_done),
    .error_o          (errors),
    .launch_valid_i,
    .launch_ready_o,
    .port_launch_i    (launch_in),
    .port_slots_i     (port_slots),
    .purge_i          (purge),
    .purge_all_i      (purge_all),
    .purge_context_i  (purge_context),
    .port_admit_o     (port_admit),
    .port_launch_o    (port_descriptor),
    .tags_o           (tags),
    .waiting_o        (queue_count),
    .launched_valid_o,
    .launched_kernel_o,
    .launched_refused_o,
    .launched_flushed_o,
    .dispatch_valid_o,
    .dispatch_ready_i,
    .dispatch_o       (dispatch),
    .done_valid_i,
    .done_sm_i,
    .done_slot_i,
    .done_kernel_i,
    .done_tag_i,
    .flush_valid_o,
    .flush_kernel_o,
    .flush_tag_o,
    .idle_o           (launch_idle)
  );
  assign kernel_done_o = kernel_done[MAX_KERNELS-1:0];

  decision_unit #(
    .NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .SM_ENABLE(SM_ENABLE), .CHURN(CHURN),
    .BALANCE(BALANCE),
    .NUM_SCHED(NUM_SCHED == 0 ? 1 : NUM_SCHED)  // with 0, refused above, Verilator ends before it says so
  ) i_decision_unit (
    .clk_i,
    .rst_ni,
    .config_i         (configuration),
    .capacity_i       (capacity),
    .capacity_slots_i (capacity_slots),
    .demand_i         (demand),
    .quota_i          (static_quota),
    .mask_i           (static_mask),
    .static_write_i   (static_write),
    .sm_enable_i      (sm_enable),
    .enable_write_i   (enable_write),
    .num_present_i    (num_present),
    .age_i            (age),
    .change_i         (change),
    .spent_i          (spent),
    .settled_i        (settled),
    .profiling_o      (profiling),
    .query_sm_i       (query_sm),
    .query_quota_o    (query_quota),
    .port_sm_i        (port_sm),
    .port_quota_o     (port_quota),
    .quota_changed_o  (quota_changed),
    .regions_o        (regions),
    .round_robin_o    (round_robin),
    .in_order_o       (in_order),
    .count_o          (count),
    .count_first_o    (count_first),
    .count_kernel_o   (count_kernel),
    .count_fits_i     (count_fits),
    .issue_valid_i,
    .issue_kernel_i,
    .request_i,
    .balance_i        (balance),
    .wish_i           (wishes),
    .balance_status_o (balance_status),
    .balance_entry_i  (balance_entry),
    .balance_score_o  (balance_score),
    .status_o         (status),
    .ctas_o           (ctas),
    .profile_window_o,
    .profile_valid_o,
    .profile_kernel_o,
    .profile_ctas_o,
    .profile_scaled_o,
    .idle_o           (decision_idle)
  );

  // What rests, and is asked for nothing, rests in the next cycle, too: so this may be told a cycle later.
  logic rests, idle_q;
  assign rests = csr_idle && launch_idle && decision_idle;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) idle_q <= 1'b0;   // the dispatcher has to look at every SM
    else         idle_q <= rests && !s_axi_awvalid_i && !s_axi_wvalid_i && !s_axi_arvalid_i && !done_valid_i
                        && !(LAUNCH_QUEUE != 0 && launch_valid_i);
  assign idle_o = idle_q;
endmodule
