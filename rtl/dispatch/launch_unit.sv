// SPDX-License-Identifier: Apache-2.0
// launch_unit: the half of sluice_top that sends CTAs: cta_dispatcher, and with LAUNCH_QUEUE the launch port, whose
// launches wait in launch_queue for a kernel slot and whose grids grid_walker walks. How many CTAs of a kernel an SM
// may hold is the other half's matter (decision_unit).
module launch_unit #(
  // as those of sluice_top
  parameter int unsigned NUM_SM       = 16,
  parameter int unsigned MAX_KERNELS  = 4,
  parameter int unsigned MAX_CTAS     = 8,
  parameter int unsigned REGION_UNITS = 64,
  parameter int unsigned SM_ENABLE    = 0,
  parameter int unsigned SM_READY     = 0,
  parameter int unsigned FLUSH        = 0,
  parameter int unsigned PRIORITY     = 0,
  parameter int unsigned PATIENCE     = 0,
  parameter int unsigned TAIL         = 0,
  parameter int unsigned LAUNCH_QUEUE = 0
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  input  logic                                         tag_rst_ni,
  // Descriptors and commands (sluice_csr); ports without a comment are those of cta_dispatcher.
  input  sluice_pkg::amounts_t                         capacity_i,
  input  logic [sluice_pkg::CtaW-1:0]                  capacity_slots_i,
  input  logic [MAX_KERNELS*sluice_pkg::AmountW-1:0]   demand_i,
  input  logic [MAX_KERNELS*sluice_pkg::GridW-1:0]     grid_i,
  input  logic [MAX_KERNELS*sluice_pkg::PriorityW-1:0] priority_i,
  input  logic [MAX_KERNELS-1:0]                       repeat_i,
  input  logic [MAX_KERNELS-1:0]                       launch_i,
  input  logic [MAX_KERNELS-1:0]                       stop_i,
  input  logic [MAX_KERNELS-1:0]                       evict_i,
  input  logic [15:0]                                  evict_count_i,
  input  logic [MAX_KERNELS-1:0]                       resume_i,
  input  logic [MAX_KERNELS-1:0]                       flush_i,
  input  logic [NUM_SM-1:0]                            sm_enable_i,
  input  logic [NUM_SM-1:0]                            sm_ready_i,
  output logic [NUM_SM-1:0]                            sm_busy_o,
  // Quotas and order (decision_unit).
  input  logic                                         count_i,
  input  logic                                         count_first_i,
  input  logic [MAX_KERNELS-1:0]                       count_kernel_i,
  output logic                                         count_fits_o,
  input  logic                                         round_robin_i,
  input  logic                                         in_order_i,
  input  logic                                         regions_i,
  output logic [NUM_SM-1:0]                            query_sm_o,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]      query_quota_i,
  output logic [NUM_SM-1:0]                            port_sm_o,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]      port_quota_i,
  input  logic                                         quota_changed_i,
  input  logic                                         profiling_i,
  output logic [NUM_SM-1:0]                            settled_o,
  output logic [MAX_KERNELS-1:0]                       spent_o,
  // Kernels.
  output logic [MAX_KERNELS*2-1:0]                     slot_state_o,
  output logic [sluice_pkg::KernelW-1:0]               num_present_o,
  output logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]   age_o,
  output logic                                         change_o,
  output logic [MAX_KERNELS*sluice_pkg::ResidentW-1:0] resident_o,
  output logic [MAX_KERNELS*sluice_pkg::GridW-1:0]     dispatched_o,
  output logic [MAX_KERNELS-1:0]                       evict_done_o,
  output logic [MAX_KERNELS-1:0]                       kernel_done_o,
  output sluice_pkg::dispatch_error_t                  error_o,
  // Launch port: launch_queue's.
  input  logic                                         launch_valid_i,
  output logic                                         launch_ready_o,
  input  sluice_pkg::launch_t                          port_launch_i,
  input  logic [MAX_KERNELS-1:0]                       port_slots_i,         // kernel slots that are the port's
  input  logic                                         purge_i,
  input  logic                                         purge_all_i,
  input  logic [sluice_pkg::ContextW-1:0]              purge_context_i,
  output logic [MAX_KERNELS-1:0]                       port_admit_o,         // one-hot, or 0: for this slot,
  output sluice_pkg::descriptor_t                      port_launch_o,        // this; comes back by demand_i and grid_i
  output logic [MAX_KERNELS*(sluice_pkg::ContextW+sluice_pkg::PriorityW)-1:0] tags_o,
  output logic [3:0]                                   waiting_o,
  output logic                                         launched_valid_o,
  output logic [sluice_pkg::KIndexW-1:0]               launched_kernel_o,
  output logic                                         launched_refused_o,
  output logic                                         launched_flushed_o,
  // SMs.
  output logic                                         dispatch_valid_o,
  input  logic                                         dispatch_ready_i,
  output sluice_pkg::dispatch_t                        dispatch_o,
  input  logic                                         done_valid_i,
  input  logic [sluice_pkg::SmW-1:0]                   done_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]                 done_slot_i,
  input  logic [sluice_pkg::KIndexW-1:0]               done_kernel_i,
  input  logic [sluice_pkg::TagW-1:0]                  done_tag_i,
  output logic                                         flush_valid_o,
  output logic [sluice_pkg::KIndexW-1:0]               flush_kernel_o,
  output logic [sluice_pkg::TagW-1:0]                  flush_tag_o,
  output logic                                         idle_o
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("launch_unit: size out of range");
  localparam int unsigned K = MAX_KERNELS;

  logic dispatcher_idle, queue_busy, giving_up, unused_giving_up;
  logic [sluice_pkg::SmW-1:0]   giving_sm;
  logic [sluice_pkg::SlotW-1:0] giving_slot;
  assign unused_giving_up = ^{giving_up, giving_sm, giving_slot};
  cta_dispatcher #(
    .NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .REGION_UNITS(REGION_UNITS), .SM_ENABLE(SM_ENABLE),
    .SM_READY(SM_READY), .FLUSH(FLUSH), .PRIORITY(PRIORITY), .PATIENCE(PATIENCE), .TAIL(TAIL),
    .FITS_NOW((LAUNCH_QUEUE != 0) ? 1 : 0)
  ) i_cta_dispatcher (
    .clk_i,
    .rst_ni,
    .tag_rst_ni,
    .capacity_i,
    .capacity_slots_i,
    .demand_i,
    .grid_i,
    .priority_i,
    .repeat_i,
    .launch_i,
    .stop_i,
    .evict_i,
    .evict_count_i,
    .resume_i,
    .flush_i,
    .count_i,
    .count_first_i,
    .count_kernel_i,
    .count_fits_o,
    .round_robin_i,
    .in_order_i,
    .regions_i,
    .sm_enable_i,
    .sm_ready_i,
    .sm_busy_o,
    .query_sm_o,
    .query_quota_i,
    .port_sm_o,
    .port_quota_i,
    .quota_changed_i,
    .profiling_i,
    .settled_o,
    .spent_o,
    .slot_state_o,
    .num_present_o,
    .age_o,
    .change_o,
    .resident_o,
    .dispatched_o,
    .evict_done_o,
    .kernel_done_o,
    .error_o,
    .dispatch_valid_o,
    .dispatch_ready_i,
    .dispatch_sm_o            (dispatch_o.sm),
    .dispatch_kernel_o        (dispatch_o.kernel),
    .dispatch_slot_o          (dispatch_o.slot),
    .dispatch_cta_o           (dispatch_o.cta),
    .dispatch_register_base_o (dispatch_o.register_base),
    .dispatch_shared_base_o   (dispatch_o.shared_base),
    .dispatch_region_valid_o  (dispatch_o.region_valid),
    .dispatch_tag_o           (dispatch_o.tag),
    .done_valid_i,
    .done_sm_i,
    .done_slot_i,
    .done_kernel_i,
    .done_tag_i,
    .flush_valid_o,
    .flush_kernel_o,
    .flush_tag_o,
    .giving_up_o              (giving_up),
    .giving_sm_o              (giving_sm),
    .giving_slot_o            (giving_slot),
    .idle_o                   (dispatcher_idle)
  );

  sluice_pkg::launch_t admitted;
  assign port_launch_o = {admitted.urgency, admitted.ctas, admitted.demand};
  if (LAUNCH_QUEUE != 0) begin : gen_launch
    logic [K-1:0] slot_free;
    always_comb
      for (int unsigned k = 0; k < K; k++) slot_free[k] = slot_state_o[k*2 +: 2] == sluice_pkg::SlotFree;
    launch_queue #(.MAX_KERNELS(K), .DEPTH(LAUNCH_QUEUE)) i_launch_queue (
      .clk_i,
      .rst_ni,
      .launch_valid_i,
      .launch_ready_o,
      .launch_i        (port_launch_i),
      .purge_i,
      .purge_all_i,
      .purge_context_i,
      .slot_i          (port_slots_i),
      .slot_free_i     (slot_free),
      .admit_o         (port_admit_o),
      .admit_launch_o  (admitted),
      .launched_valid_o,
      .launched_kernel_o,
      .launched_refused_o,
      .launched_flushed_o,
      .waiting_o,
      .busy_o          (queue_busy)
    );
    grid_walker #(.MAX_KERNELS(K)) i_grid_walker (
      .clk_i,
      .rst_ni,
      .admit_i       (port_admit_o),
      .launch_i      (admitted),
      .launch_slot_i (launch_i),
      .slot_free_i   (slot_free),
      .leaves_i      (dispatch_valid_o && dispatch_ready_i),
      .kernel_i      (dispatch_o.kernel),
      .cta_i         (dispatch_o.cta),
      .x_o           (dispatch_o.x),
      .y_o           (dispatch_o.y),
      .z_o           (dispatch_o.z),
      .context_o     (dispatch_o.ctx),
      .priority_o    (dispatch_o.urgency),
      .tags_o
    );
  end else begin : gen_no_launch
    assign {launch_ready_o, launched_valid_o, launched_kernel_o, launched_refused_o, launched_flushed_o, port_admit_o,
        admitted, tags_o, waiting_o, queue_busy} = '0;
    assign {dispatch_o.x, dispatch_o.y, dispatch_o.z, dispatch_o.ctx, dispatch_o.urgency} = '0;
    logic unused_launch;
    assign unused_launch = ^{launch_valid_i, port_launch_i, port_slots_i, purge_i, purge_all_i, purge_context_i,
        admitted};
  end
  assign idle_o = dispatcher_idle && !queue_busy;
endmodule
