// SPDX-License-Identifier: Apache-2.0
// partition_sequencer: who may have how many CTAs on which SM, now (docs/reference/blocks/sluice_top.md).
// A change of the present kernels, a MODE write or a request to profile again makes a plan (SM ranges, occupancies);
// the static modes enforce it at once. DYNAMIC runs WARM_UP -> DRAIN -> PROFILE -> SCALE, again for kernels with more
// levels than SMs, -> ALLOCATE -> DELAY -> MONITOR (Warped-Slicer, figure 4). A sample whose SM did not hold what its
// label says is dropped. With CHURN only kernels without a curve are profiled, when they have lived for some time;
// until then EVEN's counts are in force.
// sequencer_states is the state machine, with sequencer_timer and sequencer_walker (over kernels and samples) beside
// it. partition_plan keeps the plan, kept_profiles what outlives it,
// quota_query answers for the SMs that the dispatcher asks about.
module partition_sequencer #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned SM_ENABLE   = 0,   // 1: SMs may be disabled; else sm_enable_i is all ones
  parameter int unsigned CHURN       = 0,   // 0..19; else profiles are kept, and plans live for 2**CHURN cycles
  parameter int unsigned EVEN_BASE   = 0    // 1: DYNAMIC profiles each kernel alone, and decides for EVEN's counts
) (
  input  logic                                          clk_i,
  input  logic                                          rst_ni,
  // Configuration (sluice_csr).
  input  logic [sluice_pkg::ModeW-1:0]                  mode_i,
  input  logic                                          mode_write_i,          // pulse: mode_i is new
  input  logic [MAX_KERNELS*sluice_pkg::AmountW-1:0]    demand_i,              // of one CTA (amounts_t), by kernel slot
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       quota_i,               // STATIC
  input  logic [MAX_KERNELS*NUM_SM-1:0]                 mask_i,                // STATIC
  input  logic                                          static_write_i,        // pulse: quota_i or mask_i is new
  input  logic [sluice_pkg::TimerW-1:0]                 warm_up_i,
  input  logic [sluice_pkg::WindowW-1:0]                window_i,              // >= 1,024
  input  logic [7:0]                                    drain_limit_i,         // units of 4,096 cycles
  input  logic [sluice_pkg::WindowW-1:0]                delay_i,
  input  logic                                          reprofile_i,           // pulse: of the host or the monitor
  input  logic [NUM_SM-1:0]                             sm_enable_i,           // SMs that may be given CTAs
  input  logic                                          enable_write_i,        // pulse: sm_enable_i is new
  // Kernels (cta_dispatcher).
  input  logic [sluice_pkg::KernelW-1:0]                num_present_i,
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]    age_i,                 // present kernel slots, oldest first
  input  logic                                          change_i,              // pulse: the present set changed
  input  logic [MAX_KERNELS-1:0]                        spent_i,               // kernel slots that dispatch no more
  input  logic [NUM_SM-1:0]                             settled_i,             // SMs that have held just their quotas
                                                                               // since these changed; stays while
  output logic                                          profiling_o,           // a window runs or is read
  input  logic [NUM_SM-1:0]                             query_sm_i,            // whose quotas are wanted: one-hot;
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       query_quota_o,         // combinational; MAX_CTAS: no limit
  input  logic [NUM_SM-1:0]                             port_sm_i,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       port_quota_o,
  output logic                                          quota_changed_o,       // pulse: first cycle of new quotas
  output logic                                          regions_o,             // contiguous regions
  output logic                                          round_robin_o,         // FCFS
  output logic                                          in_order_o,            // LEFT_OVER, or no SMs to share out
  // Profile counters of all SMs.
  output logic                                          profile_clear_o,
  output logic                                          profile_enable_o,
  output logic [NUM_SM*sluice_pkg::KIndexW-1:0]         owner_o,               // the kernel slot that each SM samples
  output logic                                          sample_read_o,         // in this cycle the counters
  output logic [sluice_pkg::SmW-1:0]                    sample_sm_o,           // of this SM are read, to be the next
  output logic                                          sample_drop_o,         // which counts as none
  // Partition core. Kernels there are numbered by age.
  output logic                                          core_start_o,
  output logic                                          core_abort_o,          // the decision is no longer wanted
  output logic [sluice_pkg::KernelW-1:0]                core_num_kernels_o,
  input  logic [sluice_pkg::KernelW-1:0]                core_demand_kernel_i,  // whose demand it wants in this cycle:
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       plan_ctas_o,           // by rank
  output logic [MAX_KERNELS-1:0]                        core_kept_o,           // with CHURN, whose curve is there,
  output logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]    core_rows_o,           // and the row of each: its kernel slot
  output sluice_pkg::amounts_t                          core_demand_o,
  // Occupancy counter.
  output logic                                          count_start_o,         // pulse: how many CTAs
  output logic [MAX_KERNELS-1:0]                        count_kernel_o,        // of this kernel slot, one-hot, fit into
  output logic [sluice_pkg::KernelW-1:0]                count_share_o,         // 1/this of an SM
  input  logic                                          count_done_i,          // pulse:
  input  logic [sluice_pkg::CtaW-1:0]                   occupancy_i,           // so many
  // Samples, to the core.
  output logic                                          sample_valid_o,
  output sluice_pkg::sample_t                           sample_o,
  input  logic                                          core_done_i,
  input  logic                                          core_no_fit_i,
  input  logic                                          core_spatial_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       core_ctas_i,
  // Status.
  output logic [3:0]                                    state_o,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       ctas_o,                // in force, by slot; MAX_CTAS: no limit
  output logic                                          decision_o,            // pulse: a decision is in force
  output logic                                          spatial_o,             // of the last decision: loss guard
  output logic                                          no_fit_o,              // a decision, or an EVEN share, failed
  output logic                                          dropped_o,             // of the last profile: a sample was
  output logic                                          no_profile_o,          // a kernel had no clean sample
  output logic                                          monitoring_o,          // a decision is in force
  output logic [MAX_KERNELS-1:0]                        watch_o,               // kernel slot k has a quota by that
  output logic [MAX_KERNELS*sluice_pkg::SmW-1:0]        watch_sm_o,            // and this SM runs it
  output logic                                          idle_o                 // nothing changes without an input
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("partition_sequencer: size out of range");
  localparam int unsigned CtaW     = sluice_pkg::CtaW;
  localparam int unsigned KernelW  = sluice_pkg::KernelW;
  localparam int unsigned KIndexW  = sluice_pkg::KIndexW;
  localparam int unsigned SmW      = sluice_pkg::SmW;
  localparam int unsigned SmCountW = sluice_pkg::SmCountW;
  localparam int unsigned LayoutW  = sluice_pkg::LayoutW;
  localparam int unsigned AmountW  = sluice_pkg::AmountW;
  localparam int unsigned K        = MAX_KERNELS;

  sequencer_pkg::state_e state;
  logic [LayoutW-1:0]    layout;
  logic                  fall_back, new_counts, life, forget, kept_start, ranged, at_rest, all_kept;
  logic [K-1:0]          kept, kept_slots;   // with a curve: by rank, by kernel slot
  logic [K*CtaW-1:0]     next_ctas, counts_in_force;
  logic                  changed, restart, drained, last, all_settled, no_ranges, first_window, next_window, in_first,
    decided;
  sequencer_pkg::walk_t  walk;
  logic [K-1:0]          working, sampled;

  // The plan, by rank and by kernel slot.
  logic [KernelW-1:0]    num;
  logic [K:1]            num_is;
  logic [K*KIndexW-1:0]  slots;
  logic [K*CtaW-1:0]     even;      // with EVEN_BASE, while the occupancies stand: EVEN's counts
  logic                  starved;   // one of them is 0
  logic [K*SmW-1:0]      firsts, slot_firsts;
  logic [K*SmCountW-1:0] counts;
  logic [K*CtaW-1:0]     ctas, slot_ctas;
  logic [CtaW-1:0]       level_small, level_large;
  logic [K*K-1:0]        has_rank;
  logic [K*NUM_SM-1:0]   ranges;
  logic [NUM_SM*SmW-1:0] places;
  logic [K-1:0]          planned, larger;

  sequencer_states #(.MAX_KERNELS (K), .CHURN (CHURN)) i_states (
    .clk_i,
    .rst_ni,
    .change_i,
    .mode_write_i,
    .enable_write_i,
    .reprofile_i,
    .mode_i,
    .any_present_i  (num_present_i != '0),
    .delay_i        (delay_i != '0),
    .num_is_i       (num_is),
    .last_i         (last),
    .all_settled_i  (all_settled),
    .no_ranges_i    (no_ranges),
    .walk_i         (walk),
    .sampled_i      (sampled),
    .kept_i         (kept),
    .all_kept_i     (all_kept),
    .count_done_i,
    .no_cta_i       (occupancy_i == '0),
    .core_done_i    (EVEN_BASE != 0 || core_done_i),
    .core_no_fit_i  (EVEN_BASE != 0 ? starved : core_no_fit_i),
    .core_spatial_i (EVEN_BASE == 0 && core_spatial_i),
    .state_o        (state),
    .layout_o       (layout),
    .round_robin_o,
    .in_order_o,
    .changed_o      (changed),
    .restart_o      (restart),
    .drained_o      (drained),
    .first_window_o (first_window),
    .next_window_o  (next_window),
    .decided_o      (decided),
    .count_start_o,
    .in_first_o     (in_first),
    .decision_o,
    .fall_back_o    (fall_back),
    .counts_o       (new_counts),
    .life_o         (life),
    .forget_o       (forget),
    .kept_start_o   (kept_start),
    .ranged_o       (ranged),
    .at_rest_o      (at_rest),
    .outcome_o      ({spatial_o, no_fit_o, no_profile_o})
  );

  sequencer_timer #(.CHURN(CHURN)) i_timer (
    .clk_i,
    .state_i   (state),
    .drained_i (drained),
    .warm_up_i,
    .window_i,
    .drain_limit_i,
    .delay_i,
    .life_i    (life),
    .last_o    (last)
  );

  sequencer_walker #(
    .NUM_SM (NUM_SM), .MAX_KERNELS (K), .MAX_CTAS (MAX_CTAS), .EVEN_BASE (EVEN_BASE)
  ) i_walker (
    .clk_i,
    .rst_ni,
    .state_i        (state),
    .restart_i      (restart),
    .count_done_i,
    .first_window_i (in_first),
    .num_i          (num),
    .has_rank_i     (has_rank),
    .first_i        (firsts),
    .count_i        (counts),
    .ctas_i         (ctas),
    .larger_i       (larger),
    .kept_i         (kept),
    .level_small_i  (level_small),
    .level_large_i  (level_large),
    .settled_i      (settled_i & sm_enable_i),   // a disabled SM may hold less than its label says
    .spent_i,
    .working_o      (working),
    .kernel_o       (count_kernel_o),
    .walk_o         (walk),
    .sample_read_o,
    .sample_sm_o,
    .sample_drop_o,
    .sample_valid_o,
    .sample_o,
    .dropped_o,
    .sampled_o      (sampled)
  );

  partition_plan #(.NUM_SM (NUM_SM), .MAX_KERNELS (K), .MAX_CTAS (MAX_CTAS)) i_partition_plan (
    .clk_i,
    .rst_ni,
    .plan_i            (restart),
    .num_present_i,
    .age_i,
    .occupancy_valid_i ((state == sequencer_pkg::PlanCount && count_done_i) ? working : '0),
    .occupancy_i,
    .decided_valid_i   (decided),
    .decided_i         (EVEN_BASE != 0 ? even : core_ctas_i),
    .first_window_i    (first_window),
    .next_window_i     (next_window),
    .num_o             (num),
    .num_is_o          (num_is),
    .slot_o            (slots),
    .first_o           (firsts),
    .count_o           (counts),
    .ctas_o            (ctas),
    .next_ctas_o       (next_ctas),
    .larger_o          (larger),
    .has_rank_o        (has_rank),
    .planned_o         (planned),
    .slot_first_o      (slot_firsts),
    .slot_ctas_o       (slot_ctas),
    .level_small_o     (level_small),
    .level_large_o     (level_large)
  );

  always_comb begin
    even    = '0;
    starved = 1'b0;
    for (int unsigned r = 0; EVEN_BASE != 0 && r < K; r++)
      for (int unsigned n = r + 1; n <= K; n++)
        if (num_is[n]) begin
          for (int unsigned c = n; c <= MAX_CTAS; c++)
            if (ctas[r*CtaW +: CtaW] == CtaW'(c)) even[r*CtaW +: CtaW] = CtaW'(c / n);
          if (ctas[r*CtaW +: CtaW] < CtaW'(n)) starved = 1'b1;
        end
  end

  // What outlives the plan.
  if (CHURN != 0) begin : gen_kept
    kept_profiles #(.MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS)) i_kept_profiles (
      .clk_i,
      .rst_ni,
      .restart_i    (restart),
      .num_present_i,
      .age_i,
      .forget_i     (forget),
      .planned_i    (planned),
      .has_rank_i   (has_rank),
      .decision_i   (life && state != sequencer_pkg::PlanCount),
      .sampled_i    (sampled),
      .counts_i     (new_counts),
      .ctas_i       (next_ctas),
      .kept_slots_o (kept_slots),
      .kept_o       (kept),
      .all_kept_o   (all_kept),
      .counts_o     (counts_in_force)
    );
  end else begin : gen_not_kept
    assign {kept, kept_slots, all_kept} = '0;
    assign counts_in_force = slot_ctas;
    logic unused_churn;
    assign unused_churn = ^{next_ctas, new_counts, life, forget, ranged, kept_start};
  end

  // Of the SM that the dispatcher evaluates, and of that of the CTA at its port.
  quota_query #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .LEVELS(1 - EVEN_BASE)) i_quota_query (
    .layout_i       (layout),
    .range_i        (ranges),
    .larger_i       (larger),
    .ctas_i         (ctas),
    .level_small_i  (level_small),
    .level_large_i  (level_large),
    .place_i        (places),
    .has_rank_i     (has_rank),
    .planned_i      (planned),
    .slot_ctas_i    (counts_in_force),
    .kept_i         (kept),
    .ranged_i       (ranged),
    .static_quota_i (quota_i),
    .static_mask_i  (mask_i),
    .sm_i           (query_sm_i),
    .quota_o        (query_quota_o)
  );
  quota_query #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .LEVELS(1 - EVEN_BASE)) i_port_query (
    .layout_i       (layout),
    .range_i        (ranges),
    .larger_i       (larger),
    .ctas_i         (ctas),
    .level_small_i  (level_small),
    .level_large_i  (level_large),
    .place_i        (places),
    .has_rank_i     (has_rank),
    .planned_i      (planned),
    .slot_ctas_i    (counts_in_force),
    .kept_i         (kept),
    .ranged_i       (ranged),
    .static_quota_i (quota_i),
    .static_mask_i  (mask_i),
    .sm_i           (port_sm_i),
    .quota_o        (port_quota_o)
  );

  sm_owner #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .SM_ENABLE(SM_ENABLE), .CHURN(CHURN)) i_sm_owner (
    .num_is_i    (num_is),
    .slot_i      (slots),
    .has_rank_i  (has_rank),
    .settled_i,
    .sm_enable_i,
    .spent_i     (spent_i | kept_slots),
    .range_o     (ranges),
    .place_o     (places),
    .owner_o,
    .settled_o   (all_settled),
    .no_ranges_o (no_ranges)
  );
  logic [K*SmW-1:0] watch_first;
  assign watch_first = (layout == sluice_pkg::LayoutRanges) ? slot_firsts : '0;
  always_comb begin
    watch_sm_o = watch_first;   // where no SM from there on is enabled
    for (int unsigned k = 0; SM_ENABLE != 0 && k < K; k++)
      for (int unsigned m = NUM_SM; m > 0; m--)
        if (sm_enable_i[m-1] && SmW'(m - 1) >= watch_first[k*SmW +: SmW]) watch_sm_o[k*SmW +: SmW] = SmW'(m - 1);
  end

  // To the core: the demand of the kernel that it asks for.
  always_comb begin
    core_demand_o = '0;
    for (int unsigned k = 0; k < K; k++)
      for (int unsigned r = 0; r < K; r++)
        if (core_demand_kernel_i == KernelW'(r) && has_rank[k*K+r]) core_demand_o |= demand_i[k*AmountW +: AmountW];
  end

  // The quota in force, where there is one for all SMs; in the profile layout the one that its levels end with.
  always_comb begin
    ctas_o = '0;
    for (int unsigned k = 0; k < K; k++) begin
      unique case (layout)
        sluice_pkg::LayoutFree:   ctas_o[k*CtaW +: CtaW] = CtaW'(MAX_CTAS);
        sluice_pkg::LayoutAlone,
        sluice_pkg::LayoutRanges: ctas_o[k*CtaW +: CtaW] = planned[k] ? CtaW'(MAX_CTAS) : '0;
        sluice_pkg::LayoutCounts: ctas_o[k*CtaW +: CtaW] = counts_in_force[k*CtaW +: CtaW];
        sluice_pkg::LayoutLevels: ctas_o[k*CtaW +: CtaW] = !kept_slots[k] ? slot_ctas[k*CtaW +: CtaW]
            : ranged ? CtaW'(MAX_CTAS) : counts_in_force[k*CtaW +: CtaW];
        sluice_pkg::LayoutStatic: ctas_o[k*CtaW +: CtaW] = (mask_i[k*NUM_SM +: NUM_SM] != '0) ? quota_i[k*CtaW +: CtaW]
          : '0;
        default: ;
      endcase
    end
  end
  assign watch_o            = planned;
  assign count_share_o      = (mode_i == sluice_pkg::ModeEven || fall_back) ? num : KernelW'(1);
  assign plan_ctas_o        = ctas;
  assign core_abort_o       = restart;
  assign core_num_kernels_o = num;
  assign quota_changed_o    = changed || (static_write_i && layout == sluice_pkg::LayoutStatic);
  assign regions_o          = layout == sluice_pkg::LayoutFree;
  assign profile_enable_o   = state == sequencer_pkg::Profile;
  assign profiling_o        = state == sequencer_pkg::Profile || state == sequencer_pkg::Scale;
  // in each of its cycles, as is the start: the last one counts
  assign profile_clear_o    = state == sequencer_pkg::Drain;
  assign core_start_o       = (state == sequencer_pkg::Drain && in_first) || kept_start;
  assign core_kept_o        = kept;
  assign core_rows_o        = slots;
  assign state_o            = (state == sequencer_pkg::PlanCount) ? sequencer_pkg::Plan
      : (state == sequencer_pkg::FallBack) ? sequencer_pkg::Idle : state;
  assign monitoring_o       = state == sequencer_pkg::Monitor;
  assign idle_o             = at_rest && !changed && !decision_o;
endmodule
