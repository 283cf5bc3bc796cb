// partition_sequencer: who may have how many CTAs on which SM, now (docs/blocks/sluice_top.md).
// A change of the present kernels, a MODE write or a request to profile again makes a plan (SM ranges, occupancies); the static modes
// enforce it at once. DYNAMIC runs WARM_UP -> PROFILE -> SCALE, again for kernels with more levels than SMs, -> ALLOCATE -> DELAY ->
// MONITOR (Warped-Slicer, figure 4). Quotas are answered combinationally for the SM that the dispatcher evaluates.
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
  input  logic [sluice_pkg::WarpW-1:0]                  capacity_warps_i,
  input  logic [sluice_pkg::RegW-1:0]                   capacity_registers_i,
  input  logic [sluice_pkg::SharedW-1:0]                capacity_shared_i,
  input  logic [sluice_pkg::CtaW-1:0]                   capacity_slots_i,
  input  logic [MAX_KERNELS*sluice_pkg::WarpW-1:0]      demand_warps_i,
  input  logic [MAX_KERNELS*sluice_pkg::RegW-1:0]       demand_registers_i,
  input  logic [MAX_KERNELS*sluice_pkg::SharedW-1:0]    demand_shared_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       quota_i,               // STATIC
  input  logic [MAX_KERNELS*NUM_SM-1:0]                 mask_i,                // STATIC
  input  logic                                          static_write_i,        // pulse: quota_i or mask_i is new
  input  logic [sluice_pkg::TimerW-1:0]                 warm_up_i,
  input  logic [sluice_pkg::WindowW-1:0]                window_i,              // >= 1,024
  input  logic [sluice_pkg::WindowW-1:0]                delay_i,
  input  logic                                          reprofile_i,           // pulse: from the host or the phase monitor
  // Kernels (cta_dispatcher).
  input  logic [sluice_pkg::KernelW-1:0]                num_present_i,
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]    age_i,                 // present kernel slots, oldest first
  input  logic                                          change_i,              // pulse: the present set changed
  input  logic [sluice_pkg::SmW-1:0]                    query_sm_i,            // whose quotas are wanted
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       query_quota_o,         // there, combinational; MAX_CTAS: no limit
  output logic                                          quota_changed_o,       // pulse: first cycle of new quotas
  output logic                                          regions_o,             // contiguous regions
  output logic                                          round_robin_o,         // FCFS
  output logic                                          in_order_o,            // LEFT_OVER, or no SMs to share out
  // Profile counters of all SMs.
  output logic                                          profile_clear_o,
  output logic                                          profile_enable_o,
  output logic [sluice_pkg::SmW-1:0]                    sample_sm_o,           // read this SM's counters:
  // Partition core. Kernels there are numbered by age.
  output logic                                          core_start_o,
  output logic                                          core_abort_o,          // the decision under way is no longer wanted
  output logic [sluice_pkg::KernelW-1:0]                core_num_kernels_o,
  output logic [MAX_KERNELS*sluice_pkg::WarpW-1:0]      core_demand_warps_o,
  output logic [MAX_KERNELS*sluice_pkg::RegW-1:0]       core_demand_registers_o,
  output logic [MAX_KERNELS*sluice_pkg::SharedW-1:0]    core_demand_shared_o,
  output logic                                          prepare_valid_o,
  input  logic                                          prepare_ready_i,
  output logic [sluice_pkg::KernelW-1:0]                prepare_kernel_o,
  output logic [sluice_pkg::CtaSumW-1:0]                prepare_sum_o,
  output logic                                          sample_valid_o,
  input  logic                                          sample_ready_i,
  output logic [sluice_pkg::KernelW-1:0]                sample_kernel_o,
  output logic [sluice_pkg::CtaW-1:0]                   sample_ctas_o,
  output logic [sluice_pkg::SmCountW-1:0]               num_samples_o,
  output logic                                          sample_final_o,
  input  logic                                          core_done_i,
  input  logic                                          core_no_fit_i,
  input  logic                                          core_spatial_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       core_ctas_i,
  // Status.
  output logic [3:0]                                    state_o,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       ctas_o,                // CTAs per SM in force, by kernel slot; 0 = none or no quota
  output logic                                          decision_o,            // pulse: a decision is in force
  output logic                                          spatial_o,             // of the last decision: loss guard
  output logic                                          no_fit_o,              // of the last decision
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
  localparam int unsigned CtaSumW  = sluice_pkg::CtaSumW;
  localparam int unsigned TimerW   = sluice_pkg::TimerW;
  localparam int unsigned WarpW    = sluice_pkg::WarpW;
  localparam int unsigned RegW     = sluice_pkg::RegW;
  localparam int unsigned SharedW  = sluice_pkg::SharedW;
  localparam int unsigned LevelW   = 10;   // CTA count of a profile level before it is cut to the occupancy

  // Enforcing takes no time of its own: quotas change in the cycle after the decision.
  // Values as STATUS shows them (register map); PlanCount shows as Plan.
  typedef enum logic [3:0] {Idle = 4'd0, WarmUp = 4'd1, Profile = 4'd2, Scale = 4'd3, Allocate = 4'd4, Delay = 4'd5, Plan = 4'd6,
                            Monitor = 4'd7, PlanCount = 4'd8} state_e;
  // How a quota is answered. Free: no quotas. Hold: nothing may start (a plan is being made). Alone: no quota, for the planned
  // kernel. Ranges: no quota on its own SMs. Counts: ctas_q on every SM. Levels: profile layout. Static: the host's.
  typedef enum logic [2:0] {Free, Hold, Alone, Ranges, Counts, Levels, Static} layout_e;

  state_e                     state_d, state_q;
  layout_e                    layout_d, layout_q;
  logic                       changed_d, changed_q;          // layout_q or what it refers to is new in this cycle
  logic [TimerW-1:0]          timer_d, timer_q;
  logic [KernelW-1:0]         num_d, num_q;                  // kernels of the plan
  logic [KernelW-1:0]         index_d, index_q;              // kernel of the plan, by age, under work
  logic [SmCountW-1:0]        sm_d, sm_q;                    // SM of its range under work
  logic [SmCountW-1:0]        next_first_d, next_first_q;    // first SM of the next range
  logic [CtaSumW-1:0]         sum_d, sum_q;
  logic                       again_d, again_q;              // some kernel has levels left for another window
  logic                       first_window_d, first_window_q;
  logic                       spatial_d, spatial_q, no_fit_d, no_fit_q, decision_d, decision_q;

  // The plan, by kernel slot.
  logic [MAX_KERNELS-1:0]          planned_d, planned_q;
  logic [MAX_KERNELS*SmW-1:0]      first_d, first_q;         // range of SMs: first,
  logic [MAX_KERNELS*SmCountW-1:0] count_d, count_q;         // and how many
  logic [MAX_KERNELS*CtaW-1:0]     ctas_d, ctas_q;           // Counts: quota; before: occupancy
  logic [MAX_KERNELS*LevelW-1:0]   base_d, base_q;           // Levels: levels of earlier windows
  logic [MAX_KERNELS*KIndexW-1:0]  age_d, age_q;             // kernel slots of the plan, oldest first

  // SMs of the i-th of n kernels: NUM_SM / n, and one more for the first NUM_SM % n.
  logic [SmCountW-1:0] share, remainder;
  always_comb begin
    share     = SmCountW'(NUM_SM);
    remainder = '0;
    for (int unsigned n = 2; n <= MAX_KERNELS; n++) begin
      if (num_q == KernelW'(n)) begin
        share     = SmCountW'(NUM_SM / n);
        remainder = SmCountW'(NUM_SM % n);
      end
    end
  end

  // The kernel slot under work and its plan.
  logic [KIndexW-1:0]  slot;
  logic [SmW-1:0]      slot_first;
  logic [SmCountW-1:0] slot_count;
  logic [CtaW-1:0]     slot_most;
  logic [LevelW-1:0]   slot_base;
  logic [WarpW-1:0]    slot_warps;
  logic [RegW-1:0]     slot_registers;
  logic [SharedW-1:0]  slot_shared;
  always_comb begin
    slot = '0;
    for (int unsigned i = 0; i < MAX_KERNELS; i++)
      if (index_q == KernelW'(i)) slot = age_q[i*KIndexW +: KIndexW];
    slot_first     = '0;
    slot_count     = '0;
    slot_most      = '0;
    slot_base      = '0;
    slot_warps     = '0;
    slot_registers = '0;
    slot_shared    = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      if (slot == KIndexW'(k)) begin
        slot_first     = first_q[k*SmW +: SmW];
        slot_count     = count_q[k*SmCountW +: SmCountW];
        slot_most      = ctas_q[k*CtaW +: CtaW];
        slot_base      = base_q[k*LevelW +: LevelW];
        slot_warps     = demand_warps_i[k*WarpW +: WarpW];
        slot_registers = demand_registers_i[k*RegW +: RegW];
        slot_shared    = demand_shared_i[k*SharedW +: SharedW];
      end
    end
  end

  logic            count_start, count_done;
  logic [CtaW-1:0] count_result;
  occupancy_counter #(
    .MAX_CTAS (MAX_CTAS)
  ) i_occupancy_counter (
    .clk_i,
    .rst_ni,
    .start_i            (count_start),
    .share_i            ((mode_i == sluice_pkg::ModeEven) ? num_q : KernelW'(1)),
    .capacity_warps_i,
    .capacity_registers_i,
    .capacity_shared_i,
    .capacity_slots_i,
    .demand_warps_i     (slot_warps),
    .demand_registers_i (slot_registers),
    .demand_shared_i    (slot_shared),
    .done_o             (count_done),
    .count_o            (count_result)
  );

  // Levels: the sm_q-th SM of the kernel under work runs base + sm_q + 1 CTAs, at most its occupancy.
  logic [LevelW-1:0] level;
  logic [CtaW-1:0]   level_cut;
  logic              level_sampled, last_sm, last_kernel;
  always_comb begin
    level         = slot_base + LevelW'(sm_q) + 1'b1;
    level_sampled = level <= LevelW'(slot_most);
    level_cut     = level_sampled ? CtaW'(level) : slot_most;
    last_sm       = sm_q + 1'b1 == slot_count;
    last_kernel   = index_q + 1'b1 == num_q;
  end

  logic restart, deciding, enforce;
  assign deciding = state_q == WarmUp || state_q == Profile || state_q == Scale || state_q == Allocate || state_q == Delay;
  assign restart  = change_i || mode_write_i || (reprofile_i && state_q == Monitor);

  // Decided counts, by kernel slot.
  logic [MAX_KERNELS*CtaW-1:0] decided;
  always_comb begin
    decided = ctas_q;
    for (int unsigned i = 0; i < MAX_KERNELS; i++)
      for (int unsigned k = 0; k < MAX_KERNELS; k++)
        if (KernelW'(i) < num_q && age_q[i*KIndexW +: KIndexW] == KIndexW'(k))
          decided[k*CtaW +: CtaW] = core_ctas_i[i*CtaW +: CtaW];
  end

  always_comb begin
    state_d         = state_q;
    layout_d        = layout_q;
    changed_d       = 1'b0;
    timer_d         = (timer_q == '0 || !deciding) ? '0 : timer_q - 1'b1;
    num_d           = num_q;
    index_d         = index_q;
    sm_d            = sm_q;
    next_first_d    = next_first_q;
    sum_d           = sum_q;
    again_d         = again_q;
    first_window_d  = first_window_q;
    spatial_d       = spatial_q;
    no_fit_d        = no_fit_q;
    decision_d      = 1'b0;
    planned_d       = planned_q;
    first_d         = first_q;
    count_d         = count_q;
    ctas_d          = ctas_q;
    base_d          = base_q;
    age_d           = age_q;
    count_start     = 1'b0;
    profile_clear_o = 1'b0;
    core_start_o    = 1'b0;
    prepare_valid_o = 1'b0;
    sample_valid_o  = 1'b0;
    enforce         = 1'b0;

    unique case (state_q)
      Plan: begin
        // One kernel: its range; then its occupancy where the mode needs it.
        next_first_d = next_first_q + share + SmCountW'(SmCountW'(index_q) < remainder);
        for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
          if (slot == KIndexW'(k)) begin
            planned_d[k]                    = 1'b1;
            first_d[k*SmW +: SmW]           = SmW'(next_first_q);
            count_d[k*SmCountW +: SmCountW] = share + SmCountW'(SmCountW'(index_q) < remainder);
          end
        end
        count_start = 1'b1;
        state_d     = PlanCount;
      end
      PlanCount: if (count_done) begin
        for (int unsigned k = 0; k < MAX_KERNELS; k++)
          if (slot == KIndexW'(k)) ctas_d[k*CtaW +: CtaW] = count_result;
        index_d = index_q + 1'b1;
        state_d = Plan;
        if (last_kernel) begin
          changed_d = 1'b1;
          state_d   = Idle;
          if (num_q == KernelW'(1)) begin
            layout_d = Alone;
          end else if (mode_i == sluice_pkg::ModeEven) begin
            layout_d = Counts;
          end else if (32'(num_q) > NUM_SM) begin
            layout_d = Free;   // fewer SMs than kernels: no ranges to give
          end else if (mode_i == sluice_pkg::ModeSpatial) begin
            layout_d = Ranges;
          end else begin
            layout_d       = Levels;
            base_d         = '0;
            first_window_d = 1'b1;
            timer_d        = warm_up_i;
            state_d        = WarmUp;
          end
        end
      end
      WarmUp: if (timer_q == '0) begin
        profile_clear_o = 1'b1;
        core_start_o    = first_window_q;
        timer_d         = TimerW'(window_i) - 1'b1;
        index_d         = '0;
        sm_d            = '0;
        sum_d           = '0;
        state_d         = Profile;
      end
      Profile: begin
        // Meanwhile: the CTAs over each kernel's SMs, one SM a cycle.
        if (index_q != num_q) begin
          if (sm_q != slot_count) begin
            sum_d = sum_q + CtaSumW'(level_cut);
            sm_d  = sm_q + 1'b1;
          end else begin
            prepare_valid_o = 1'b1;
            if (prepare_ready_i) begin
              index_d = index_q + 1'b1;
              sm_d    = '0;
              sum_d   = '0;
            end
          end
        end
        if (timer_q == '0) begin
          index_d = '0;
          sm_d    = '0;
          again_d = 1'b0;
          state_d = Scale;
        end
      end
      Scale: begin
        sample_valid_o = level_sampled;
        if (!level_sampled || sample_ready_i) begin
          sm_d = sm_q + 1'b1;
          if (last_sm || level >= LevelW'(slot_most)) begin
            again_d = again_q || level < LevelW'(slot_most);
            index_d = index_q + 1'b1;
            sm_d    = '0;
            if (last_kernel) begin
              index_d = '0;
              state_d = Allocate;
              if (again_d) begin
                for (int unsigned k = 0; k < MAX_KERNELS; k++)
                  base_d[k*LevelW +: LevelW] = base_q[k*LevelW +: LevelW] + LevelW'(count_q[k*SmCountW +: SmCountW]);
                changed_d      = 1'b1;
                first_window_d = 1'b0;
                timer_d        = warm_up_i >> 1;
                state_d        = WarmUp;
              end
            end
          end
        end
      end
      Allocate: if (core_done_i) begin
        timer_d = (delay_i == '0) ? '0 : TimerW'(delay_i) - 1'b1;
        enforce = delay_i == '0;
        state_d = (delay_i == '0) ? Monitor : Delay;
      end
      Delay: if (timer_q == '0) begin
        enforce = 1'b1;
        state_d = Monitor;
      end
      default: state_d = state_q;
    endcase

    if (enforce) begin
      changed_d  = 1'b1;
      decision_d = 1'b1;
      spatial_d  = core_spatial_i && !core_no_fit_i;
      no_fit_d   = core_no_fit_i;
      layout_d   = (core_no_fit_i || core_spatial_i) ? Ranges : Counts;
      if (!core_no_fit_i && !core_spatial_i) ctas_d = decided;
    end

    if (restart) begin
      num_d        = num_present_i;
      age_d        = age_i;
      index_d      = '0;
      next_first_d = '0;
      planned_d    = '0;
      timer_d      = '0;
      decision_d   = 1'b0;
      spatial_d    = spatial_q;
      no_fit_d     = no_fit_q;
      state_d      = Idle;
      if (mode_i == sluice_pkg::ModeLeftOver || mode_i == sluice_pkg::ModeFcfs) begin
        layout_d = Free;
      end else if (mode_i == sluice_pkg::ModeStatic) begin
        layout_d = Static;
      end else begin
        layout_d = Hold;
        state_d  = (num_present_i == '0) ? Idle : Plan;
      end
      changed_d = layout_d != layout_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= Idle;
      layout_q       <= Free;
      changed_q      <= 1'b0;
      timer_q        <= '0;
      num_q          <= '0;
      index_q        <= '0;
      sm_q           <= '0;
      next_first_q   <= '0;
      sum_q          <= '0;
      again_q        <= 1'b0;
      first_window_q <= 1'b0;
      spatial_q      <= 1'b0;
      no_fit_q       <= 1'b0;
      decision_q     <= 1'b0;
      planned_q      <= '0;
      first_q        <= '0;
      count_q        <= '0;
      ctas_q         <= '0;
      base_q         <= '0;
      age_q          <= '0;
    end else begin
      state_q        <= state_d;
      layout_q       <= layout_d;
      changed_q      <= changed_d;
      timer_q        <= timer_d;
      num_q          <= num_d;
      index_q        <= index_d;
      sm_q           <= sm_d;
      next_first_q   <= next_first_d;
      sum_q          <= sum_d;
      again_q        <= again_d;
      first_window_q <= first_window_d;
      spatial_q      <= spatial_d;
      no_fit_q       <= no_fit_d;
      decision_q     <= decision_d;
      planned_q      <= planned_d;
      first_q        <= first_d;
      count_q        <= count_d;
      ctas_q         <= ctas_d;
      base_q         <= base_d;
      age_q          <= age_d;
    end
  end

  // Quotas of the SM that the dispatcher looks at.
  logic [SmW-1:0]    relative;
  logic              in_range;
  logic [LevelW-1:0] query_level;
  logic [CtaW-1:0]   quota;
  always_comb begin
    query_quota_o = '0;
    relative      = '0;
    in_range      = 1'b0;
    query_level   = '0;
    quota         = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      relative    = query_sm_i - first_q[k*SmW +: SmW];
      in_range    = query_sm_i >= first_q[k*SmW +: SmW] && SmCountW'(relative) < count_q[k*SmCountW +: SmCountW];
      query_level = base_q[k*LevelW +: LevelW] + LevelW'(relative) + 1'b1;
      quota       = '0;
      unique case (layout_q)
        Free:    quota = CtaW'(MAX_CTAS);
        Alone:   if (planned_q[k]) quota = CtaW'(MAX_CTAS);
        Ranges:  if (planned_q[k] && in_range) quota = CtaW'(MAX_CTAS);
        Counts:  if (planned_q[k]) quota = ctas_q[k*CtaW +: CtaW];
        Levels:  if (planned_q[k] && in_range)
                   quota = (query_level > LevelW'(ctas_q[k*CtaW +: CtaW])) ? ctas_q[k*CtaW +: CtaW] : CtaW'(query_level);
        Static:  if (mask_i[k*NUM_SM + 32'(query_sm_i)]) quota = quota_i[k*CtaW +: CtaW];
        default: quota = '0;
      endcase
      query_quota_o[k*CtaW +: CtaW] = quota;
    end
  end

  // To the core: kernels by age.
  always_comb begin
    core_demand_warps_o     = '0;
    core_demand_registers_o = '0;
    core_demand_shared_o    = '0;
    for (int unsigned i = 0; i < MAX_KERNELS; i++) begin
      for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
        if (age_q[i*KIndexW +: KIndexW] == KIndexW'(k)) begin
          core_demand_warps_o[i*WarpW +: WarpW]        = demand_warps_i[k*WarpW +: WarpW];
          core_demand_registers_o[i*RegW +: RegW]      = demand_registers_i[k*RegW +: RegW];
          core_demand_shared_o[i*SharedW +: SharedW]   = demand_shared_i[k*SharedW +: SharedW];
        end
      end
    end
  end

  always_comb begin
    ctas_o     = '0;
    watch_sm_o = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      if (planned_q[k] && (layout_q == Counts || layout_q == Ranges)) ctas_o[k*CtaW +: CtaW] = ctas_q[k*CtaW +: CtaW];
      if (layout_q == Ranges) watch_sm_o[k*SmW +: SmW] = first_q[k*SmW +: SmW];
    end
  end

  assign core_abort_o       = restart;
  assign core_num_kernels_o = num_q;
  assign quota_changed_o    = changed_q || (static_write_i && layout_q == Static);
  assign regions_o          = layout_q == Free;
  assign round_robin_o      = layout_q == Free && mode_i == sluice_pkg::ModeFcfs;
  assign in_order_o         = layout_q == Free && mode_i != sluice_pkg::ModeFcfs;
  assign profile_enable_o   = state_q == Profile;
  assign sample_sm_o        = SmW'(SmCountW'(slot_first) + sm_q);
  assign prepare_kernel_o   = index_q;
  assign prepare_sum_o      = sum_q;
  assign sample_kernel_o    = index_q;
  assign sample_ctas_o      = CtaW'(level);
  assign num_samples_o      = slot_count;
  assign sample_final_o     = level == LevelW'(slot_most);
  assign state_o            = (state_q == PlanCount) ? Plan : state_q;
  assign decision_o         = decision_q;
  assign spatial_o          = spatial_q;
  assign no_fit_o           = no_fit_q;
  assign watch_o            = planned_q;
  assign monitoring_o       = state_q == Monitor;
  assign idle_o             = (state_q == Idle || state_q == Monitor) && !changed_q && !decision_q;
endmodule
