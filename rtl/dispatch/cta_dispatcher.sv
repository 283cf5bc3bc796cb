// SPDX-License-Identifier: Apache-2.0
// cta_dispatcher: one CTA a cycle to an SM on which all its resources fit and its kernel's quota allows one more
// (docs/reference/blocks/cta_dispatcher.md: pipeline, orders, corner cases). Kernel slots take and finish grids; quotas
// are asked for SM by SM; nothing is killed. Every output but idle_o comes from registers; a CTA that waits at the port
// counts as resident.
module cta_dispatcher #(
  parameter int unsigned NUM_SM       = 16,   // 1..256
  parameter int unsigned MAX_KERNELS  = 4,    // 2..8
  parameter int unsigned MAX_CTAS     = 8,    // 4..32
  parameter int unsigned REGION_UNITS = 64,   // 0: no regions; else 16..128
  parameter int unsigned SM_ENABLE    = 0,    // 1: with sm_enable_i and sm_busy_o
  parameter int unsigned SM_READY     = 0,    // 1: with sm_ready_i
  // else with flush_i, tags of CTAs, flush_*_o; above 1 a flush waits 2**FLUSH cycles for the port
  parameter int unsigned FLUSH        = 0,
  parameter int unsigned PRIORITY     = 0,    // 1: with priority_i
  parameter int unsigned PATIENCE     = 0,    // 0..20; else no kernel waits for ever: see wait_guard
  parameter int unsigned TAIL         = 0,    // 1: a kernel is DRAINING from the last CTA of its grid on
  parameter int unsigned FITS_NOW     = 0     // 1: a descriptor may come with its launch; else a cycle ahead
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  input  logic                                         tag_rst_ni,            // with FLUSH: of the tags alone
  // Stable unless all slots are FREE.
  input  sluice_pkg::amounts_t                         capacity_i,            // of one SM
  input  logic [sluice_pkg::CtaW-1:0]                  capacity_slots_i,      // at most MAX_CTAS
  // Stable while the slot is not FREE, from the cycle of the launch on.
  input  logic [MAX_KERNELS*sluice_pkg::AmountW-1:0]   demand_i,              // of one CTA (amounts_t)
  input  logic [MAX_KERNELS*sluice_pkg::GridW-1:0]     grid_i,                // CTAs
  input  logic [MAX_KERNELS*sluice_pkg::PriorityW-1:0] priority_i,            // higher first
  input  logic [MAX_KERNELS-1:0]                       repeat_i,              // level: the grid starts again at its end
  // Commands: pulses.
  input  logic [MAX_KERNELS-1:0]                       launch_i,
  input  logic [MAX_KERNELS-1:0]                       stop_i,
  input  logic [MAX_KERNELS-1:0]                       evict_i,
  input  logic [15:0]                                  evict_count_i,
  input  logic [MAX_KERNELS-1:0]                       resume_i,
  input  logic [MAX_KERNELS-1:0]                       flush_i,               // STOP, and its CTAs are given up
  // occupancy_counter: CTAs of a RUNNING kernel, one more a cycle; only while no CTA is given out, from the cycle after
  // that in which the quotas became 0.
  input  logic                                         count_i,
  input  logic                                         count_first_i,
  input  logic [MAX_KERNELS-1:0]                       count_kernel_i,        // one-hot
  output logic                                         count_fits_o,          // two cycles later: one more fits an SM
  input  logic                                         round_robin_i,         // kernels in turn, not oldest first
  input  logic                                         in_order_i,            // none before an older one has issued all
  input  logic                                         regions_i,
  input  logic [NUM_SM-1:0]                            sm_enable_i,           // level: else no CTA is picked for the SM
  input  logic [NUM_SM-1:0]                            sm_ready_i,            // takes a CTA now: see sm_available
  output logic [NUM_SM-1:0]                            sm_busy_o,             // a CTA is there, or at the port for it
  // Quotas, in the same cycle: of the SM that is evaluated, and of that of the CTA at the port. One-hot, or 0.
  output logic [NUM_SM-1:0]                            query_sm_o,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]      query_quota_i,         // MAX_CTAS: no limit
  output logic [NUM_SM-1:0]                            port_sm_o,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]      port_quota_i,
  input  logic                                         quota_changed_i,       // first cycle of new quotas
  input  logic                                         profiling_i,           // settled_o stays as it is
  output logic [NUM_SM-1:0]                            settled_o,             // has held just its quotas since then
  output logic [MAX_KERNELS-1:0]                       spent_o,               // RUNNING: grid issued, or an eviction
  output logic [MAX_KERNELS*2-1:0]                     slot_state_o,          // 0 FREE, 1 RUNNING, 2 DRAINING
  output logic [sluice_pkg::KernelW-1:0]               num_present_o,
  output logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]   age_o,                 // RUNNING slots, oldest first
  output logic                                         change_o,              // pulse: first cycle of a new present set
  output logic [MAX_KERNELS*sluice_pkg::ResidentW-1:0] resident_o,
  output logic [MAX_KERNELS*sluice_pkg::GridW-1:0]     dispatched_o,
  output logic [MAX_KERNELS-1:0]                       evict_done_o,          // pulses
  output logic [MAX_KERNELS-1:0]                       kernel_done_o,
  // The cycle after the cause. PORT_STUCK: a CTA that its SM did not take was taken back by a flush.
  output sluice_pkg::dispatch_error_t                  error_o,
  output logic                                         dispatch_valid_o,
  input  logic                                         dispatch_ready_i,
  output logic [sluice_pkg::SmW-1:0]                   dispatch_sm_o,
  output logic [sluice_pkg::KIndexW-1:0]               dispatch_kernel_o,
  output logic [sluice_pkg::SlotW-1:0]                 dispatch_slot_o,
  output logic [sluice_pkg::GridW-1:0]                 dispatch_cta_o,
  output logic [sluice_pkg::RegW-1:0]                  dispatch_register_base_o,
  output logic [sluice_pkg::SharedW-1:0]               dispatch_shared_base_o,
  output logic                                         dispatch_region_valid_o,   // these are bases of its regions
  output logic [sluice_pkg::TagW-1:0]                  dispatch_tag_o,
  input  logic                                         done_valid_i,
  input  logic [sluice_pkg::SmW-1:0]                   done_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]                 done_slot_i,
  input  logic [sluice_pkg::KIndexW-1:0]               done_kernel_i,         // with FLUSH: whose it was,
  input  logic [sluice_pkg::TagW-1:0]                  done_tag_i,            // and the tag that it was sent with
  // Pulse: SMs give up the CTAs of this kernel with this tag.
  output logic                                         flush_valid_o,
  output logic [sluice_pkg::KIndexW-1:0]               flush_kernel_o,
  output logic [sluice_pkg::TagW-1:0]                  flush_tag_o,
  // For benches: without a report, this CTA is given up in this cycle.
  output logic                                         giving_up_o,
  output logic [sluice_pkg::SmW-1:0]                   giving_sm_o,
  output logic [sluice_pkg::SlotW-1:0]                 giving_slot_o,
  output logic                                         idle_o                 // no register changes without an input
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("cta_dispatcher: size out of range");
  localparam int unsigned K      = MAX_KERNELS;
  localparam int unsigned SmW    = sluice_pkg::SmW;
  localparam int unsigned SlotsW = MAX_CTAS * (1 + $clog2(K));

  logic [K-1:0]         launched, can_admit, waits, claim, region_fits, cannot_fit, slot_busy, bad_kernel, busy;
  logic [K*K-1:0]       older, ahead;   // bit i*K+j: i is older than j, goes before j
  logic                 none, ready_changes, sweep, guarding, end_valid, flushing, take_back;
  logic [NUM_SM-1:0]    available, held, reserved;
  logic [NUM_SM*SlotsW-1:0] all_slots;

  // A CTA on its way: picked, then at the port, where its SM's row is read and its slot and regions are taken in the
  // first cycle (fresh); charged in the cycle after, compared in the next: then it is known what more fits on its SM.
  logic                pick_valid, valid, fresh, with_regions_q, free_to_pick, regions;
  logic                charge_stale_q, charge_regions_q, charged_stale_q;
  logic [NUM_SM-1:0]   pick_sm, port_sm, charge_sm, charged_sm;   // one-hot, or 0
  logic [K-1:0]        pick_kernel, port_kernel, charged_room, check_regions, charged_regions_q;
  logic [MAX_CTAS-1:0] admit_slot, port_slot;
  logic [SlotsW-1:0]   pick_slots;
  logic                charged_full, eval_full;
  logic                pending, eval, done_bad, ending, free_valid;
  logic [NUM_SM-1:0]   eval_sm, eval_slots_sm, free_sm, release_sm;
  logic [K-1:0]        eval_room, eval_regions, release_kernel;
  logic [MAX_CTAS-1:0] eval_used, free_slot;
  logic [SlotsW-1:0]   free_slots;
  logic [SmW-1:0]      end_sm, bad_sm;
  logic [sluice_pkg::SlotW-1:0] end_slot, bad_slot;

  kernel_slots #(
    .NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .FITS_NOW(FITS_NOW), .TAIL(TAIL)
  ) i_kernel_slots (
    .clk_i,
    .rst_ni,
    .capacity_i,
    .capacity_slots_i,
    .demand_i,
    .region_fits_i (region_fits),
    .grid_i,
    .repeat_i,
    .in_order_i,
    .launch_i,
    .stop_i        ((FLUSH != 0) ? stop_i | flush_i : stop_i),
    .evict_i,
    .evict_count_i,
    .resume_i,
    .admit_i       (pick_kernel),
    .port_i        (port_kernel),
    .fresh_i       (fresh),
    .free_i        (free_to_pick),
    .release_i     (release_kernel),
    .launched_o    (launched),
    .can_admit_o   (can_admit),
    .spent_o,
    .waits_o       (waits),
    .cta_o         (dispatch_cta_o),
    .older_o       (older),
    .state_o       (slot_state_o),
    .none_o        (none),
    .num_present_o,
    .age_o,
    .change_o,
    .resident_o,
    .dispatched_o,
    .evict_done_o,
    .kernel_done_o,
    .cannot_fit_o  (cannot_fit),
    .slot_busy_o   (slot_busy),
    .bad_kernel_o  (bad_kernel),
    .busy_o        (busy)
  );

  sm_resource_table #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS)) i_sm_resource_table (
    .clk_i,
    .rst_ni,
    .capacity_i,
    .capacity_slots_i,
    .none_i           (none),
    .demand_i,
    .admit_i          (fresh),
    .admit_sm_i       (port_sm),
    .admit_kernel_i   (port_kernel),
    .admit_quota_i    (port_quota_i),
    .admit_slot_o     (admit_slot),
    .held_o           (held),
    .slots_o          (all_slots),
    .count_i,
    .count_first_i,
    .count_kernel_i,
    .count_fits_o,
    .charge_sm_o      (charge_sm),
    .charged_sm_o     (charged_sm),
    .charged_room_o   (charged_room),
    .charged_full_o   (charged_full),
    .look_sm_i        (pick_sm),
    .look_slots_o     (pick_slots),
    .eval_i           (eval),
    .eval_sm_i        (eval_sm),
    .eval_slots_sm_i  (eval_slots_sm),
    .eval_quota_i     (query_quota_i),
    .eval_used_o      (eval_used),
    .eval_room_o      (eval_room),
    .eval_full_o      (eval_full),
    .done_valid_i     (end_valid),
    .done_sm_i        (end_sm),
    .done_slot_i      (end_slot),
    .wait_slot_i      (port_slot),
    .done_bad_o       (done_bad),
    .done_bad_sm_o    (bad_sm),
    .done_bad_slot_o  (bad_slot),
    .free_valid_o     (free_valid),
    .free_sm_o        (free_sm),
    .free_slot_o      (free_slot),
    .free_slots_o     (free_slots),
    .release_sm_o     (release_sm),
    .release_kernel_o (release_kernel),
    .ending_o         (ending)
  );

  dispatch_picker #(.NUM_SM(NUM_SM), .MAX_KERNELS(K)) i_dispatch_picker (
    .clk_i,
    .rst_ni,
    .can_admit_i     (can_admit),
    .available_i     (available),
    .claim_i         (claim),
    .reserved_i      (reserved),
    .sweep_i         (sweep),
    .ahead_i         (ahead),
    .round_robin_i   (round_robin_i && PRIORITY == 0),
    .in_order_i,
    .ready_i         (free_to_pick && !flushing),
    .quota_changed_i,
    .profiling_i,
    .launched_i      (launched),
    .release_sm_i    (release_sm),
    .pending_o       (pending),
    .pick_valid_o    (pick_valid),
    .pick_sm_o       (pick_sm),
    .pick_kernel_o   (pick_kernel),
    .picked_sm_i     (port_sm),
    .charged_sm_i    (charged_sm),
    .charged_stale_i (charged_stale_q),
    .charged_room_i  (charged_room & charged_regions_q),
    .charged_full_i  (charged_full),
    .eval_o          (eval),
    .eval_sm_o       (eval_sm),
    .eval_slots_sm_o (eval_slots_sm),
    .eval_room_i     (eval_room & (eval_regions | {K{!regions}})),
    .eval_full_i     (eval_full),
    .settled_o
  );

  sm_available #(.NUM_SM(NUM_SM), .SM_ENABLE(SM_ENABLE), .SM_READY(SM_READY)) i_sm_available (
    .clk_i,
    .rst_ni,
    .sm_enable_i,
    .sm_ready_i,
    .port_sm_i   (port_sm),
    .available_o (available),
    .busy_o      (ready_changes)
  );

  kernel_turns #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .PRIORITY(PRIORITY), .PATIENCE(PATIENCE)) i_kernel_turns (
    .clk_i,
    .rst_ni,
    .priority_i,
    .older_i       (older),
    .can_admit_i   (can_admit),
    .waits_i       (waits),
    .in_order_i,
    .round_robin_i,
    .pick_kernel_i (pick_kernel),
    .quota_changed_i,
    .eval_i        (eval),
    .eval_sm_i     (eval_sm),
    .eval_quota_i  (query_quota_i),
    .port_sm_i     (port_sm),
    .port_quota_i,
    .sm_enable_i   ((SM_ENABLE != 0) ? sm_enable_i : '1),
    .life_i        ((SM_READY != 0) ? available | release_sm : '1),
    .ahead_o       (ahead),
    .claim_o       (claim),
    .reserved_o    (reserved),
    .sweep_o       (sweep),
    .busy_o        (guarding)
  );

  assign regions   = regions_i && REGION_UNITS != 0;
  assign sm_busy_o = (SM_ENABLE != 0) ? held | port_sm : '0;

  dispatch_port #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS)) i_dispatch_port (
    .clk_i,
    .rst_ni,
    .pick_valid_i   (pick_valid),
    .pick_sm_i      (pick_sm),
    .pick_kernel_i  (pick_kernel),
    .admit_slot_i   (admit_slot),
    .ready_i        (dispatch_ready_i || take_back),
    .free_o         (free_to_pick),
    .valid_o        (valid),
    .fresh_o        (fresh),
    .sm_o           (port_sm),
    .kernel_o       (port_kernel),
    .slot_o         (port_slot),
    .sm_index_o     (dispatch_sm_o),
    .kernel_index_o (dispatch_kernel_o),
    .slot_index_o   (dispatch_slot_o)
  );
  assign dispatch_valid_o        = valid;
  assign dispatch_region_valid_o = with_regions_q;
  assign query_sm_o              = eval_sm;
  assign port_sm_o               = port_sm;

  // Where quotas change, what is about to be charged or compared is so by the old ones. Looked at only with a CTA
  // there: no reset.
  always_ff @(posedge clk_i) begin
    if (free_to_pick) with_regions_q <= regions;
    charge_stale_q    <= quota_changed_i;
    charged_stale_q   <= quota_changed_i || charge_stale_q;
    charge_regions_q  <= with_regions_q;
    charged_regions_q <= (check_regions & ~launched) | {K{!charge_regions_q}};   // a new kernel's demand is not known
  end

  if (REGION_UNITS != 0) begin : gen_regions
    dispatch_regions #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .UNITS(REGION_UNITS)) i_dispatch_regions (
      .clk_i,
      .rst_ni,
      .capacity_i,
      .demand_i,
      .fits_o          (region_fits),
      .launched_i      (launched),
      .pick_valid_i    (pick_valid),
      .pick_sm_i       (pick_sm),
      .pick_slots_i    (pick_slots),
      .fresh_i         (fresh),
      .region_i        (with_regions_q),
      .sm_i            (port_sm),
      .slot_i          (admit_slot),
      .kernel_i        (port_kernel),
      .register_base_o (dispatch_register_base_o),
      .shared_base_o   (dispatch_shared_base_o),
      .check_i         (charge_sm != '0 && charge_regions_q),
      .check_sm_i      (charge_sm),
      .check_fits_o    (check_regions),
      .free_valid_i    (free_valid),
      .free_sm_i       (free_sm),
      .free_slot_i     (free_slot),
      .free_slots_i    (free_slots),
      .eval_i          (eval),
      .eval_sm_i       (eval_sm),
      .eval_used_i     (eval_used),
      .eval_fits_o     (eval_regions)
    );
  end else begin : gen_no_regions
    assign region_fits              = '1;
    assign eval_regions             = '1;
    assign check_regions            = '1;
    assign dispatch_register_base_o = '0;
    assign dispatch_shared_base_o   = '0;
    logic unused_without_regions;
    assign unused_without_regions = ^{free_valid, free_sm, free_slot, free_slots, pick_slots, eval_used, charge_sm};
  end

  cta_ends #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .FLUSH(FLUSH)) i_cta_ends (
    .clk_i,
    .rst_ni,
    .tag_rst_ni,
    .flush_i,
    .slot_state_i  (slot_state_o),
    .port_kernel_i (port_kernel),
    .slots_i       (all_slots),
    .done_valid_i,
    .done_sm_i,
    .done_slot_i,
    .done_kernel_i,
    .done_tag_i,
    .end_valid_o   (end_valid),
    .end_sm_o      (end_sm),
    .end_slot_o    (end_slot),
    .giving_up_o,
    .giving_sm_o,
    .giving_slot_o,
    .take_back_o   (take_back),
    .dispatch_tag_o,
    .flush_valid_o,
    .flush_kernel_o,
    .flush_tag_o,
    .busy_o        (flushing)
  );

  dispatch_errors #(.MAX_KERNELS(K)) i_dispatch_errors (
    .clk_i,
    .rst_ni,
    .bad_done_i   (done_bad),
    .bad_sm_i     (bad_sm),
    .bad_slot_i   (bad_slot),
    .cannot_fit_i (cannot_fit),
    .slot_busy_i  (slot_busy),
    .bad_kernel_i (bad_kernel),
    .port_stuck_i (port_kernel & {K{take_back && !dispatch_ready_i}}),
    .port_sm_i    (dispatch_sm_o),
    .error_o
  );

  assign idle_o = !pending && busy == '0 && !ready_changes && !guarding && !flushing && !valid && !ending && !change_o
      && evict_done_o == '0 && kernel_done_o == '0
      && !error_o.bad_done && !error_o.cannot_fit && !error_o.slot_busy && !error_o.bad_kernel;
endmodule
