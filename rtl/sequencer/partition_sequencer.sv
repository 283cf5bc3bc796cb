// SPDX-License-Identifier: Apache-2.0
// partition_sequencer: who may have how many CTAs on which SM, now (docs/reference/blocks/sluice_top.md).
// A change of the present kernels, a MODE write or a request to profile again makes a plan (SM ranges, occupancies); the static modes
// enforce it at once. DYNAMIC runs WARM_UP -> DRAIN -> PROFILE -> SCALE, again for kernels with more levels than SMs, -> ALLOCATE -> DELAY ->
// MONITOR (Warped-Slicer, figure 4). A sample whose SM did not hold what its label says is dropped.
// partition_plan keeps the plan, quota_query answers for the SM that the dispatcher evaluates.
module partition_sequencer #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8
) (
  input  logic                                          clk_i,
  input  logic                                          rst_ni,
  // Configuration (sluice_csr).
  input  logic [sluice_pkg::ModeW-1:0]                  mode_i,
  input  logic                                          mode_write_i,          // pulse: mode_i is new
  input  logic [MAX_KERNELS*sluice_pkg::WarpW-1:0]      demand_warps_i,
  input  logic [MAX_KERNELS*sluice_pkg::RegW-1:0]       demand_registers_i,
  input  logic [MAX_KERNELS*sluice_pkg::SharedW-1:0]    demand_shared_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       quota_i,               // STATIC
  input  logic [MAX_KERNELS*NUM_SM-1:0]                 mask_i,                // STATIC
  input  logic                                          static_write_i,        // pulse: quota_i or mask_i is new
  input  logic [sluice_pkg::TimerW-1:0]                 warm_up_i,
  input  logic [sluice_pkg::WindowW-1:0]                window_i,              // >= 1,024
  input  logic [7:0]                                    drain_limit_i,         // units of 4,096 cycles
  input  logic [sluice_pkg::WindowW-1:0]                delay_i,
  input  logic                                          reprofile_i,           // pulse: from the host or the phase monitor
  // Kernels (cta_dispatcher).
  input  logic [sluice_pkg::KernelW-1:0]                num_present_i,
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]    age_i,                 // present kernel slots, oldest first
  input  logic                                          change_i,              // pulse: the present set changed
  input  logic [MAX_KERNELS-1:0]                        spent_i,               // kernel slots that dispatch nothing more
  input  logic [NUM_SM-1:0]                             settled_i,             // SMs that have held just their quotas since these changed; stays while
  output logic                                          profiling_o,           // a window runs or is read
  input  logic [sluice_pkg::SmW-1:0]                    query_sm_i,            // whose quotas are wanted
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       query_quota_o,         // there, combinational; MAX_CTAS: no limit
  output logic                                          quota_changed_o,       // pulse: first cycle of new quotas
  output logic                                          regions_o,             // contiguous regions
  output logic                                          round_robin_o,         // FCFS
  output logic                                          in_order_o,            // LEFT_OVER, or no SMs to share out
  // Profile counters of all SMs.
  output logic                                          profile_clear_o,
  output logic                                          profile_enable_o,
  output logic [NUM_SM*sluice_pkg::KIndexW-1:0]         owner_o,               // the kernel slot that each SM samples
  output logic                                          sample_read_o,         // in this cycle the counters
  output logic [sluice_pkg::SmW-1:0]                    sample_sm_o,           // of this SM are read, for the sample of the next,
  output logic                                          sample_drop_o,         // which counts as none
  // Partition core. Kernels there are numbered by age.
  output logic                                          core_start_o,
  output logic                                          core_abort_o,          // the decision under way is no longer wanted
  output logic [sluice_pkg::KernelW-1:0]                core_num_kernels_o,
  input  logic [sluice_pkg::KernelW-1:0]                core_demand_kernel_i,  // whose demand it wants in this cycle:
  output logic [sluice_pkg::WarpW-1:0]                  core_demand_warps_o,
  output logic [sluice_pkg::RegW-1:0]                   core_demand_registers_o,
  output logic [sluice_pkg::SharedW-1:0]                core_demand_shared_o,
  // Occupancy counter.
  output logic                                          count_start_o,         // pulse: how many CTAs
  output logic [MAX_KERNELS-1:0]                        count_kernel_o,        // of this kernel slot, one-hot, fit into
  output logic [sluice_pkg::KernelW-1:0]                count_share_o,         // 1/this of an SM
  input  logic                                          count_done_i,          // pulse:
  input  logic [sluice_pkg::CtaW-1:0]                   occupancy_i,           // so many
  // Samples, to the core.
  output logic                                          sample_valid_o,
  output logic [sluice_pkg::KernelW-1:0]                sample_kernel_o,
  output logic [sluice_pkg::CtaW-1:0]                   sample_ctas_o,
  output logic                                          sample_final_o,
  input  logic                                          core_done_i,
  input  logic                                          core_no_fit_i,
  input  logic                                          core_spatial_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       core_ctas_i,
  // Status.
  output logic [3:0]                                    state_o,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       ctas_o,                // quota in force, by kernel slot; MAX_CTAS: no limit
  output logic                                          decision_o,            // pulse: a decision is in force
  output logic                                          spatial_o,             // of the last decision: loss guard
  output logic                                          no_fit_o,              // of the last decision, or of an EVEN share without a CTA
  output logic                                          dropped_o,             // of the last profile: a sample was dropped
  output logic                                          no_profile_o,          // of the last decision: a kernel had no clean sample
  output logic                                          monitoring_o,          // a decision is in force
  output logic [MAX_KERNELS-1:0]                        watch_o,               // kernel slot k has a quota by that decision
  output logic [MAX_KERNELS*sluice_pkg::SmW-1:0]        watch_sm_o,            // and this SM runs it
  output logic                                          idle_o                 // nothing changes without an input
);
  localparam int unsigned CtaW     = sluice_pkg::CtaW;
  localparam int unsigned KernelW  = sluice_pkg::KernelW;
  localparam int unsigned KIndexW  = sluice_pkg::KIndexW;
  localparam int unsigned SmW      = sluice_pkg::SmW;
  localparam int unsigned SmCountW = sluice_pkg::SmCountW;
  localparam int unsigned LayoutW  = sluice_pkg::LayoutW;
  localparam int unsigned WindowW  = sluice_pkg::WindowW;
  localparam int unsigned TimerW   = sluice_pkg::TimerW;
  localparam int unsigned WarpW    = sluice_pkg::WarpW;
  localparam int unsigned RegW     = sluice_pkg::RegW;
  localparam int unsigned SharedW  = sluice_pkg::SharedW;
  localparam int unsigned RankW    = $clog2(MAX_KERNELS + 1);
  localparam int unsigned CountW   = $clog2(MAX_CTAS + 1);
  localparam int unsigned IndexW   = (NUM_SM > 1) ? $clog2(NUM_SM) : 1;
  localparam int unsigned RangeW   = $clog2((NUM_SM + 1) / 2 + 1);   // SMs of one of two kernels or more

  // Enforcing takes no time of its own: quotas change in the cycle after the decision.
  // Values as STATUS shows them (register map); PlanCount shows as Plan.
  typedef enum logic [3:0] {Idle = 4'd0, WarmUp = 4'd1, Profile = 4'd2, Scale = 4'd3, Allocate = 4'd4, Delay = 4'd5, Plan = 4'd6,
                            Monitor = 4'd7, Drain = 4'd8, PlanCount = 4'd9} state_e;

  // The walk over kernels by age and over the SMs of each, while samples are read.
  typedef enum logic [1:0] {Load = 2'd0, Walk = 2'd1, Rest = 2'd2} walk_e;

  state_e             state_d, state_q;
  logic [LayoutW-1:0] layout_d, layout_q;
  logic               changed_d, changed_q;    // layout_q or what it refers to is new in this cycle
  logic [TimerW-1:0]  timer_d, timer_q;
  logic               last_d, last_q;          // last cycle of the state that is timed
  logic [RankW-1:0]   rank_d, rank_q;          // kernel of the plan, by age, under work
  walk_e              walk_d, walk_q;
  logic [IndexW-1:0]  sm_d, sm_q;              // SM of its range under work,
  logic [RangeW-1:0]  sms_d, sms_q;            // SMs from it to the last of the range,
  logic [CountW-1:0]  level_d, level_q;        // what that SM runs,
  logic [CountW-1:0]  rest_d, rest_q;          // levels from that one on; 0: no other level is left
  logic               again_d, again_q;        // some kernel has levels left for another window
  logic               first_window_d, first_window_q;
  logic               spatial_d, spatial_q, no_fit_d, no_fit_q, dropped_d, dropped_q, no_profile_d, no_profile_q, decision_d, decision_q;
  logic               starved_d, starved_q;    // an EVEN share holds no CTA of its kernel
  // Samples: by kernel slot, it dispatched nothing more in some cycle of the window; by rank, one of them counts.
  logic [MAX_KERNELS-1:0] spent_d, spent_q, sampled_d, sampled_q;
  // The sample that the core is offered.
  logic               sample_valid_d, sample_valid_q, sample_final_q;
  logic [RankW-1:0]   sample_kernel_q;
  logic [CountW-1:0]  sample_ctas_q;

  logic                            restart, first_window, next_window, decided, count_start;
  logic [KernelW-1:0]              num;
  logic [MAX_KERNELS:1]            num_is;     // the same, one-hot
  logic [MAX_KERNELS*KIndexW-1:0]  slots;
  logic [MAX_KERNELS*SmW-1:0]      firsts, slot_firsts;
  logic [MAX_KERNELS*SmCountW-1:0] counts;
  logic [MAX_KERNELS*CtaW-1:0]     ctas, slot_ctas, rests, levels;
  logic [CtaW-1:0]                 level_small, level_large;
  logic [MAX_KERNELS-1:0]          working;    // rank_q, one-hot
  partition_plan #(
    .NUM_SM      (NUM_SM),
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_partition_plan (
    .clk_i,
    .rst_ni,
    .plan_i            (restart),
    .num_present_i,
    .age_i,
    .occupancy_valid_i ((state_q == PlanCount && count_done_i) ? working : '0),
    .occupancy_i,
    .decided_valid_i   (decided),
    .decided_i         (core_ctas_i),
    .first_window_i    (first_window),
    .next_window_i     (next_window),
    .num_o             (num),
    .num_is_o          (num_is),
    .slot_o            (slots),
    .first_o           (firsts),
    .count_o           (counts),
    .ctas_o            (ctas),
    .rest_o            (rests),
    .level_o           (levels),
    .level_small_o     (level_small),
    .level_large_o     (level_large)
  );

  logic [NUM_SM-1:0] query_sm;
  always_comb
    for (int unsigned m = 0; m < NUM_SM; m++) query_sm[m] = query_sm_i == SmW'(m);

  quota_query #(
    .NUM_SM      (NUM_SM),
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_quota_query (
    .layout_i       (layout_q),
    .num_is_i       (num_is),
    .slot_i         (slots),
    .first_i        (firsts),
    .ctas_i         (ctas),
    .rest_i         (rests),
    .level_small_i  (level_small),
    .level_large_i  (level_large),
    .static_quota_i (quota_i),
    .static_mask_i  (mask_i),
    .sm_i           (query_sm),
    .quota_o        (query_quota_o),
    .planned_o      (watch_o),
    .ctas_o         (slot_ctas),
    .first_o        (slot_firsts)
  );

  sm_owner #(
    .NUM_SM      (NUM_SM),
    .MAX_KERNELS (MAX_KERNELS)
  ) i_sm_owner (
    .num_is_i (num_is),
    .slot_i   (slots),
    .owner_o
  );

  // The warm-up is over when every SM has held what the layout says; those of a kernel that has nothing to dispatch may never.
  logic all_settled;
  always_comb begin
    all_settled = 1'b1;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (!settled_i[m] && !spent_i[owner_o[m*KIndexW +: $clog2(MAX_KERNELS)]]) all_settled = 1'b0;
  end

  // To the core: the demand of the kernel that it asks for.
  logic [MAX_KERNELS-1:0] rank_slots, asked_slots;
  logic [SmW-1:0]         rank_first;
  logic [SmCountW-1:0]    rank_sms;
  logic [CtaW-1:0]        rank_rest, rank_level;
  always_comb
    for (int unsigned r = 0; r < MAX_KERNELS; r++) working[r] = rank_q == RankW'(r);
  always_comb begin
    core_demand_warps_o     = '0;
    core_demand_registers_o = '0;
    core_demand_shared_o    = '0;
    rank_slots              = '0;
    asked_slots             = '0;
    for (int unsigned r = 0; r < MAX_KERNELS; r++) begin
      for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
        if (working[r] && slots[r*KIndexW +: KIndexW] == KIndexW'(k))                            rank_slots[k]  = 1'b1;
        if (core_demand_kernel_i == KernelW'(r) && slots[r*KIndexW +: KIndexW] == KIndexW'(k)) asked_slots[k] = 1'b1;
      end
    end
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      if (asked_slots[k]) begin
        core_demand_warps_o     |= demand_warps_i[k*WarpW +: WarpW];
        core_demand_registers_o |= demand_registers_i[k*RegW +: RegW];
        core_demand_shared_o    |= demand_shared_i[k*SharedW +: SharedW];
      end
    end
    rank_first = '0;
    rank_sms   = '0;
    rank_rest  = '0;
    rank_level = '0;
    for (int unsigned r = 0; r < MAX_KERNELS; r++) begin
      if (working[r]) begin
        rank_first |= firsts[r*SmW +: SmW];
        rank_sms   |= counts[r*SmCountW +: SmCountW];
        rank_rest  |= rests[r*CtaW +: CtaW];
        rank_level |= levels[r*CtaW +: CtaW];
      end
    end
  end

  assign count_share_o  = (mode_i == sluice_pkg::ModeEven) ? num : KernelW'(1);
  assign count_start_o  = count_start;
  assign count_kernel_o = rank_slots;

  localparam int unsigned DrainShift = 12;   // units of 4,096 cycles
  logic drained;
  assign drained = all_settled || last_q;

  // The timer. What it is loaded with follows from the state alone; that the next cycle is the last one is found a cycle ahead. The warm-up takes a
  // cycle more than it says; the window and the delay are not 0.
  logic timer_low, penultimate;
  assign timer_low   = timer_q[TimerW-1:2] == '0;
  assign penultimate = timer_low && timer_q[1:0] == 2'd2;
  always_comb begin
    timer_d = timer_q - 1'b1;
    last_d  = penultimate;
    unique case (state_q)
      Plan, PlanCount: begin
        timer_d = warm_up_i;
        last_d  = warm_up_i == '0;
      end
      Scale: begin
        timer_d = warm_up_i >> 1;
        last_d  = warm_up_i[TimerW-1:1] == '0;
      end
      WarmUp: begin
        last_d = timer_low && timer_q[1:0] == 2'd1;
        if (last_q) begin
          timer_d = TimerW'(drain_limit_i) << DrainShift;
          last_d  = drain_limit_i == '0;
        end
      end
      Drain: begin
        last_d = timer_low && timer_q[1:0] == 2'd1;
        if (drained) begin
          timer_d = TimerW'(window_i);
          last_d  = window_i[WindowW-1:1] == '0;
        end
      end
      Allocate: begin
        timer_d = TimerW'(delay_i);
        last_d  = delay_i[WindowW-1:1] == '0;
      end
      default: ;
    endcase
  end

  // The walk: Load: the next kernel; Walk: its levels, a cycle each, one where it has none left; Rest: through.
  logic last_kernel, last_level, step, hand_on, rank_spent, drop;
  assign last_kernel = KernelW'(rank_q) + 1'b1 == num;
  assign last_level  = sms_q == RangeW'(1) || rest_q <= CountW'(1);
  assign hand_on     = state_q == Scale && walk_q == Walk && rest_q != '0;            // the sample of the next cycle
  always_comb begin
    rank_d         = rank_q;
    walk_d         = walk_q;
    again_d        = again_q;
    sm_d           = sm_q + 1'b1;
    sms_d          = sms_q - 1'b1;
    level_d        = level_q + 1'b1;
    rest_d         = rest_q - 1'b1;
    step           = 1'b0;
    sample_valid_d = hand_on;
    if (walk_q == Load) begin
      sm_d    = rank_first[IndexW-1:0];
      sms_d   = rank_sms[RangeW-1:0];
      level_d = rank_level[CountW-1:0];
      rest_d  = rank_rest[CountW-1:0];
    end
    unique case (state_q)
      PlanCount: if (count_done_i) rank_d = rank_q + 1'b1;
      Profile: begin
        rank_d  = '0;
        walk_d  = Load;
        again_d = 1'b0;
      end
      Scale: begin
        step = walk_q != Rest;
        if (walk_q == Load) walk_d = Walk;
        if (walk_q == Walk && last_level) begin
          again_d = again_q || rest_q > CountW'(1);
          rank_d  = rank_q + 1'b1;
          walk_d  = last_kernel ? Rest : Load;
        end
      end
      default: ;
    endcase
    if (restart) begin
      rank_d         = '0;
      sample_valid_d = 1'b0;
    end
  end

  // A sample counts if its SM held what the label says: it has settled, and its kernel had CTAs to give all the time.
  assign rank_spent = (rank_slots & spent_q) != '0;
  assign drop       = !settled_i[sm_q] || rank_spent;
  always_comb begin
    dropped_d = dropped_q || (hand_on && drop && !restart);
    sampled_d = sampled_q | (working & {MAX_KERNELS{hand_on && !drop}});
    spent_d   = spent_q | (spent_i & {MAX_KERNELS{state_q == Profile}});
    if (state_q == Drain) begin
      spent_d = '0;
      if (first_window_q) begin
        dropped_d = 1'b0;
        sampled_d = '0;
      end
    end
  end

  logic enforce, unsampled;   // unsampled: a kernel has no clean sample
  assign restart = change_i || mode_write_i || (reprofile_i && state_q == Monitor);

  always_comb begin
    state_d         = state_q;
    layout_d        = layout_q;
    changed_d       = 1'b0;
    first_window_d  = first_window_q;
    spatial_d       = spatial_q;
    no_fit_d        = no_fit_q;
    decision_d      = 1'b0;
    count_start     = 1'b0;
    first_window    = 1'b0;
    next_window     = 1'b0;
    no_profile_d    = no_profile_q;
    starved_d       = starved_q;
    enforce         = 1'b0;

    unique case (state_q)
      Plan: begin
        count_start = 1'b1;
        state_d     = PlanCount;
      end
      PlanCount: if (count_done_i) begin
        state_d   = Plan;
        starved_d = (starved_q && rank_q != '0) || occupancy_i == '0;
        if (last_kernel) begin
          changed_d = 1'b1;
          state_d   = Idle;
          if (num == KernelW'(1)) begin
            layout_d = sluice_pkg::LayoutAlone;
          end else if (mode_i == sluice_pkg::ModeEven && !starved_d) begin
            layout_d = sluice_pkg::LayoutCounts;
          end else if (32'(num) > NUM_SM) begin
            layout_d = sluice_pkg::LayoutFree;   // fewer SMs than kernels: no ranges to give
          end else if (mode_i == sluice_pkg::ModeSpatial || mode_i == sluice_pkg::ModeEven) begin
            layout_d = sluice_pkg::LayoutRanges;
          end else begin
            layout_d       = sluice_pkg::LayoutLevels;
            first_window   = 1'b1;
            first_window_d = 1'b1;
            state_d        = WarmUp;
          end
          if (mode_i == sluice_pkg::ModeEven && num != KernelW'(1)) no_fit_d = starved_d;
        end
      end
      WarmUp: if (last_q) state_d = Drain;
      Drain: if (drained) state_d = Profile;
      Profile: if (last_q) state_d = Scale;
      Scale: if (walk_q == Rest) begin
        state_d = Allocate;
        if (again_q) begin
          next_window    = 1'b1;
          changed_d      = 1'b1;
          first_window_d = 1'b0;
          state_d        = WarmUp;
        end
      end
      Allocate: if (core_done_i) begin
        enforce = delay_i == '0;
        state_d = (delay_i == '0) ? Monitor : Delay;
      end
      Delay: if (last_q) begin
        enforce = 1'b1;
        state_d = Monitor;
      end
      default: state_d = state_q;
    endcase

    unsampled = 1'b0;
    for (int unsigned n = 1; n <= MAX_KERNELS; n++)
      if (num_is[n] && (~sampled_q & MAX_KERNELS'((1 << n) - 1)) != '0) unsampled = 1'b1;
    decided = enforce && !core_no_fit_i && !core_spatial_i && !unsampled;
    if (enforce) begin
      changed_d  = 1'b1;
      decision_d = 1'b1;
      spatial_d  = core_spatial_i && !core_no_fit_i && !unsampled;
      no_fit_d   = core_no_fit_i;
      no_profile_d = unsampled && !core_no_fit_i;
      layout_d   = decided ? sluice_pkg::LayoutCounts : sluice_pkg::LayoutRanges;
    end

    if (restart) begin
      decision_d = 1'b0;
      spatial_d  = spatial_q;
      no_fit_d   = no_fit_q;
      no_profile_d = no_profile_q;
      state_d    = Idle;
      if (mode_i == sluice_pkg::ModeLeftOver || mode_i == sluice_pkg::ModeFcfs) begin
        layout_d = sluice_pkg::LayoutFree;
      end else if (mode_i == sluice_pkg::ModeStatic) begin
        layout_d = sluice_pkg::LayoutStatic;
      end else begin
        layout_d = sluice_pkg::LayoutHold;
        state_d  = (num_present_i == '0) ? Idle : Plan;
      end
      changed_d = layout_d != layout_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= Idle;
      layout_q       <= sluice_pkg::LayoutFree;
      changed_q      <= 1'b0;
      spatial_q      <= 1'b0;
      no_fit_q       <= 1'b0;
      dropped_q      <= 1'b0;
      no_profile_q   <= 1'b0;
      decision_q     <= 1'b0;
      sample_valid_q <= 1'b0;
    end else begin
      state_q        <= state_d;
      layout_q       <= layout_d;
      changed_q      <= changed_d;
      spatial_q      <= spatial_d;
      no_fit_q       <= no_fit_d;
      dropped_q      <= dropped_d;
      no_profile_q   <= no_profile_d;
      decision_q     <= decision_d;
      sample_valid_q <= sample_valid_d;
    end
  end

  // Set before the states that look at them: no reset.
  always_ff @(posedge clk_i) begin
    if (state_q != Idle && state_q != Monitor) begin
      timer_q <= timer_d;
      last_q  <= last_d;
    end
    rank_q         <= rank_d;
    walk_q         <= walk_d;
    again_q        <= again_d;
    first_window_q <= first_window_d;
    starved_q      <= starved_d;
    spent_q        <= spent_d;
    sampled_q      <= sampled_d;
    if (step) begin
      sm_q    <= sm_d;
      sms_q   <= sms_d;
      level_q <= level_d;
      rest_q  <= rest_d;
    end
    if (hand_on) begin
      sample_kernel_q <= rank_q;
      sample_ctas_q   <= level_q;
      sample_final_q  <= rest_q == CountW'(1);
    end
  end

  // The quota in force, where there is one for all SMs; in the profile layout the one that its levels end with.
  always_comb begin
    ctas_o = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      unique case (layout_q)
        sluice_pkg::LayoutFree:   ctas_o[k*CtaW +: CtaW] = CtaW'(MAX_CTAS);
        sluice_pkg::LayoutAlone,
        sluice_pkg::LayoutRanges: ctas_o[k*CtaW +: CtaW] = watch_o[k] ? CtaW'(MAX_CTAS) : '0;
        sluice_pkg::LayoutCounts,
        sluice_pkg::LayoutLevels: ctas_o[k*CtaW +: CtaW] = slot_ctas[k*CtaW +: CtaW];
        sluice_pkg::LayoutStatic: ctas_o[k*CtaW +: CtaW] = (mask_i[k*NUM_SM +: NUM_SM] != '0) ? quota_i[k*CtaW +: CtaW] : '0;
        default: ;
      endcase
    end
  end
  assign watch_sm_o         = (layout_q == sluice_pkg::LayoutRanges) ? slot_firsts : '0;
  assign core_abort_o       = restart;
  assign core_num_kernels_o = num;
  assign quota_changed_o    = changed_q || (static_write_i && layout_q == sluice_pkg::LayoutStatic);
  assign regions_o          = layout_q == sluice_pkg::LayoutFree;
  assign round_robin_o      = layout_q == sluice_pkg::LayoutFree && mode_i == sluice_pkg::ModeFcfs;
  assign in_order_o         = layout_q == sluice_pkg::LayoutFree && mode_i != sluice_pkg::ModeFcfs;
  assign profile_enable_o   = state_q == Profile;
  assign profiling_o        = state_q == Profile || state_q == Scale;
  assign profile_clear_o    = state_q == Drain;   // in each of its cycles, as is the start: the last one counts
  assign core_start_o       = state_q == Drain && first_window_q;
  assign sample_drop_o      = drop;
  assign sample_read_o      = hand_on;
  assign sample_sm_o        = SmW'(sm_q);
  assign sample_valid_o     = sample_valid_q;
  assign sample_kernel_o    = KernelW'(sample_kernel_q);
  assign sample_ctas_o      = CtaW'(sample_ctas_q);
  assign sample_final_o     = sample_final_q;
  assign state_o            = (state_q == PlanCount) ? Plan : state_q;
  assign decision_o         = decision_q;
  assign spatial_o          = spatial_q;
  assign no_fit_o           = no_fit_q;
  assign dropped_o          = dropped_q;
  assign no_profile_o       = no_profile_q;
  assign monitoring_o       = state_q == Monitor;
  assign idle_o             = (state_q == Idle || state_q == Monitor) && !changed_q && !decision_q;
endmodule
