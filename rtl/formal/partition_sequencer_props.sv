// SPDX-License-Identifier: Apache-2.0
// Properties of partition_sequencer with narrow fields, three SMs, two kernels, four CTAs: it can't deadlock, what
// quotas it answers, and which samples count. Assumed of its neighbours: the core answers within Patience cycles of
// being asked; kernel slots are named once and exist; the mode changes with mode_write_i, the SMs that are enabled with
// enable_write_i, the host's quotas and masks with static_write_i; no more than N demands fit; settled_i stays while
// profiling_o; the drain limit, whose unit is 2 cycles here, is below 4.
module partition_sequencer_props #(
  parameter int unsigned M = 3,
  parameter int unsigned K = 2,
  parameter int unsigned N = 4
) (
  input logic                               clk_i,
  input logic                               rst_ni,
  input logic [2:0]                         mode_i,
  input logic                               mode_write_i,
  input logic [K*sluice_pkg::AmountW-1:0]   demand_i,
  input logic [K*sluice_pkg::CtaW-1:0]      quota_i,
  input logic [K*M-1:0]                     mask_i,
  input logic                               static_write_i,
  input logic [sluice_pkg::TimerW-1:0]      warm_up_i,
  input logic [sluice_pkg::WindowW-1:0]     window_i,
  input logic [7:0]                         drain_limit_i,
  input logic [sluice_pkg::WindowW-1:0]     delay_i,
  input logic                               reprofile_i,
  input logic [M-1:0]                       sm_enable_i,
  input logic                               enable_write_i,
  input logic [sluice_pkg::KernelW-1:0]     num_present_i,
  input logic [K*sluice_pkg::KIndexW-1:0]   age_i,
  input logic                               change_i,
  input logic [K-1:0]                       spent_i,
  input logic [M-1:0]                       settled_i,
  input logic [sluice_pkg::SmW-1:0]         query_sm_i,
  input logic [sluice_pkg::SmW-1:0]         port_sm_i,
  input logic [sluice_pkg::KernelW-1:0]     core_demand_kernel_i,
  input logic                               count_done_i,
  input logic [sluice_pkg::CtaW-1:0]        occupancy_i,
  input logic                               core_done_i,
  input logic                               core_no_fit_i,
  input logic                               core_spatial_i,
  input logic [K*sluice_pkg::CtaW-1:0]      core_ctas_i
);
  localparam int unsigned CtaW = sluice_pkg::CtaW, KIndexW = sluice_pkg::KIndexW, KernelW = sluice_pkg::KernelW,
    SmW = sluice_pkg::SmW;
  localparam int unsigned SmCountW = sluice_pkg::SmCountW, Patience = 2;
  localparam logic [1:0] Load = 2'd0, Walk = 2'd1, Rest = 2'd2;   // of the walk over the kernels
  localparam logic [3:0] Idle = 4'd0, WarmUp = 4'd1, Profile = 4'd2, Scale = 4'd3, Allocate = 4'd4, Delay = 4'd5,
    Plan = 4'd6, Monitor = 4'd7,
    Drain = 4'd8, PlanCount = 4'd9;
  localparam logic [2:0] Free = 3'd0, Hold = 3'd1, Alone = 3'd2, Ranges = 3'd3, Counts = 3'd4, Levels = 3'd5,
    Static = 3'd6;

  logic [K*CtaW-1:0] quota, port_quota, ctas;
  logic              count_start, changed, sample_valid, sample_read, sample_drop, profiling, no_fit, dropped,
    no_profile, decision,
    monitoring, idle, core_start, enable, clear, regions, regions_q;
  logic [SmW-1:0]    sample_sm;
  sluice_pkg::sample_t sample;
  logic [M*KIndexW-1:0] owner;
  logic [K*SmW-1:0]  watch_sm;
  logic [3:0]        state;
  logic [K-1:0]      watch, count_kernel;
  partition_sequencer #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(N), .SM_ENABLE(1)) dut (
    .clk_i,
    .rst_ni,
    .mode_i,
    .mode_write_i,
    .sm_enable_i,
    .enable_write_i,
    .watch_sm_o       (watch_sm),
    .core_demand_kernel_i,
    .count_start_o    (count_start),
    .count_kernel_o   (count_kernel),
    .count_done_i,
    .occupancy_i,
    .demand_i,
    .quota_i,
    .mask_i,
    .static_write_i,
    .warm_up_i,
    .window_i,
    .drain_limit_i,
    .delay_i,
    .reprofile_i,
    .num_present_i,
    .age_i,
    .change_i,
    .query_sm_i       (M'(1) << query_sm_i),
    .query_quota_o    (quota),
    .port_sm_i        (M'(1) << port_sm_i),
    .port_quota_o     (port_quota),
    .quota_changed_o  (changed),
    .spent_i,
    .settled_i,
    .profiling_o      (profiling),
    .owner_o          (owner),
    .sample_read_o    (sample_read),
    .sample_sm_o      (sample_sm),
    .sample_drop_o    (sample_drop),
    .profile_clear_o  (clear),
    .no_fit_o         (no_fit),
    .dropped_o        (dropped),
    .no_profile_o     (no_profile),
    .sample_valid_o   (sample_valid),
    .sample_o         (sample),
    .core_start_o     (core_start),
    .core_done_i,
    .core_no_fit_i,
    .core_spatial_i,
    .core_ctas_i,
    .state_o          (state),
    .ctas_o           (ctas),
    .decision_o       (decision),
    .monitoring_o     (monitoring),
    .watch_o          (watch),
    .profile_enable_o (enable),
    .regions_o        (regions),
    .idle_o           (idle)
  );

  (* hierconn *) wire [3:0]            \dut.i_states.state_q ;
  (* hierconn *) wire [2:0]            \dut.i_states.layout_q ;
  (* hierconn *) wire [sluice_pkg::TimerW-1:0] \dut.i_timer.timer_q ;
  (* hierconn *) wire                  \dut.i_walker.rank_q ;
  // num_q: one-hot
  (* hierconn *) wire [1:0]            \dut.i_walker.walk_q , \dut.i_walker.sms_q , \dut.i_partition_plan.num_q ;
  (* hierconn *) wire [2:0]            \dut.i_walker.rest_q , \dut.i_walker.level_q ;
  (* hierconn *) wire [1:0]            \dut.i_walker.sm_q , \dut.i_walker.sampled_q , \dut.i_walker.spent_q ;
  (* hierconn *) wire                  \dut.i_states.in_first_q , \dut.i_states.starved_q ;
  (* hierconn *) wire                  \dut.i_walker.again_q , \dut.restart , \dut.i_states.changed_q ;
  (* hierconn *) wire [K*SmW-1:0]      \dut.firsts ;       // by rank, as all that follows
  (* hierconn *) wire [K*SmCountW-1:0] \dut.counts ;
  (* hierconn *) wire [K*CtaW-1:0]     \dut.ctas ;
  (* hierconn *) wire [K-1:0]          \dut.larger ;
  (* hierconn *) wire [K-1:0]          \dut.i_partition_plan.slot_q ;
  (* hierconn *) wire [2:0]            \dut.i_partition_plan.small_q , \dut.i_partition_plan.large_q ;

  // Levels by rank: the first of this window, and how many earlier windows left.
  logic [K*CtaW-1:0]  rests, levels;
  always_comb
    for (int unsigned r = 0; r < K; r++) begin
      levels[r*CtaW +: CtaW] = CtaW'(\dut.larger [r] ? \dut.i_partition_plan.large_q : \dut.i_partition_plan.small_q );
      rests[r*CtaW +: CtaW]  = (\dut.ctas [r*CtaW +: CtaW] < levels[r*CtaW +: CtaW]) ? '0
          : \dut.ctas [r*CtaW +: CtaW] - levels[r*CtaW +: CtaW] + 1'b1;
    end

  logic [KernelW-1:0] num, rank;
  logic [K-1:0]       slot;   // by rank
  assign num  = KernelW'(\dut.i_partition_plan.num_q );   // of two kernels: one-hot is binary
  // which wraps behind the last
  assign rank = (\dut.i_states.state_q == Scale && \dut.i_walker.walk_q == Rest) ? num
      : KernelW'(\dut.i_walker.rank_q );
  assign slot = \dut.i_partition_plan.slot_q ;

  logic       started, was_up, past_restart;
  logic       counting;                 // the counter was asked and has not answered
  logic [1:0] core_wait, count_wait;    // cycles that core and counter have kept it waiting
  logic [2:0] mode_q, plan_mode;        // plan_mode: of the last restart
  logic [K-1:0] present;                // kernel slots of the last restart
  logic [K*CtaW+K*M-1:0] host_q;
  logic [K*CtaW-1:0]     quota_q;
  logic [SmW-1:0]        query_sm_q;
  logic                  host_writes;
  logic [M-1:0]          sm_enable_q, enabled;   // enabled: by the plan in force
  logic                  dead;                   // one of two kernels has no such SM
  assign enabled = enable_write_i ? sm_enable_q : sm_enable_i;
  assign dead    = enabled[1:0] == '0 || !enabled[2];
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started      <= 1'b1;
    was_up       <= rst_ni;
    past_restart <= \dut.restart ;
    counting     <= count_start || (counting && !count_done_i);
    mode_q       <= mode_i;
    host_q       <= {quota_i, mask_i};
    sm_enable_q  <= sm_enable_i;
    quota_q      <= quota;
    regions_q    <= regions;
    query_sm_q   <= query_sm_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      core_wait   <= '0;
      count_wait  <= '0;
      plan_mode   <= '0;
      present     <= '0;
    end else begin
      core_wait   <= (\dut.i_states.state_q == Allocate && !core_done_i && !\dut.restart ) ? core_wait + 1'b1 : '0;
      count_wait  <= (\dut.i_states.state_q == PlanCount && !count_done_i && !\dut.restart ) ? count_wait + 1'b1 : '0;
      if (\dut.restart ) begin
        plan_mode <= mode_i;
        present   <= '0;
        for (int unsigned i = 0; i < K; i++)
          if (KernelW'(i) < num_present_i) present[age_i[i*KIndexW]] <= 1'b1;
      end
    end

  always_comb begin
    if (!started) assume (!rst_ni);
    assume (occupancy_i <= CtaW'(N) && drain_limit_i < 8'd4);
    assume (num_present_i <= KernelW'(K) && age_i[2:1] == 2'd0 && age_i[5:4] == 2'd0
        && (num_present_i < KernelW'(2) || age_i[0] != age_i[3]));
    assume (mode_i <= 3'd5 && query_sm_i < SmW'(M) && port_sm_i < SmW'(M));
    if (started && !mode_write_i) assume (mode_i == mode_q || !rst_ni);
    if (!rst_ni) assume (mode_i == 3'd0);
    if (started && !static_write_i) assume ({quota_i, mask_i} == host_q || !rst_ni);
    if (started && !enable_write_i) assume (sm_enable_i == sm_enable_q || !rst_ni);
    if (started && profiling_q) assume (settled_i == settled_q || !rst_ni);
    if (core_wait == 2'(Patience)) assume (core_done_i);
    if (count_wait == 2'(Patience) && counting) assume (count_done_i);
  end

  // How far it is from having settled (Idle or Monitor), field by field: part, levels that are left, step, and what the
  // step waits for.
  logic [CtaW-1:0]     levels_left, kernel_rest;
  logic [SmCountW-1:0] slot_count;
  logic [KernelW-1:0]  kernels_left;
  logic [24:0]         distance, distance_q;
  assign slot_count   = \dut.counts [32'(rank[0])*SmCountW +: SmCountW];
  assign kernel_rest  = rests[32'(rank[0])*CtaW +: CtaW];
  assign kernels_left = num - rank;
  always_comb begin
    levels_left = '0;
    for (int unsigned r = 0; r < K; r++)
      if (KernelW'(r) < num && rests[r*CtaW +: CtaW] > levels_left) levels_left = rests[r*CtaW +: CtaW];
    case (\dut.i_states.state_q )
      Plan:      distance = {2'd3, 3'd0, kernels_left, 1'b1, 15'd0};
      PlanCount: distance = {2'd3, 3'd0, kernels_left, 1'b0, 13'd0, 2'd2 - count_wait};
      WarmUp:    distance = {2'd2, levels_left, 5'd4, 12'd0, \dut.i_timer.timer_q };
      Drain:     distance = {2'd2, levels_left, 5'd3, 12'd0, \dut.i_timer.timer_q };
      Profile:   distance = {2'd2, levels_left, 5'd2, 12'd0, \dut.i_timer.timer_q };
      Scale:     distance = {2'd2, levels_left, 5'd1, 6'd0, kernels_left, (\dut.i_walker.walk_q == Walk)
          ? {1'b0, \dut.i_walker.sms_q } : {\dut.i_walker.walk_q == Load,
        2'd0}, 2'd0};
      Allocate:  distance = {2'd1, 3'd0, 5'd1, 13'd0, 2'd2 - core_wait};
      Delay:     distance = {2'd1, 3'd0, 5'd0, 12'd0, \dut.i_timer.timer_q };
      default:   distance = '0;
    endcase
  end
  always_ff @(posedge clk_i) distance_q <= distance;

  // The plan so far: kernels by age have ranges of SMs, one behind the other.
  logic ok_plan, beyond, planning, deciding, reading;
  assign reading   = \dut.i_states.state_q == Scale;
  assign planning  = \dut.i_states.state_q == Plan || \dut.i_states.state_q == PlanCount;
  assign deciding  = (\dut.i_states.state_q >= WarmUp && \dut.i_states.state_q <= Delay)
      || \dut.i_states.state_q == Drain;
  always_comb begin
    ok_plan = num <= KernelW'(K) && (num < KernelW'(2) || slot[0] != slot[1]);
    if (planning && (rank >= num || \dut.i_states.layout_q != Hold)) ok_plan = 1'b0;
    if (deciding && (num != KernelW'(2) || \dut.i_states.layout_q != Levels)) ok_plan = 1'b0;
    // The walk over the samples: SMs and levels that are left go down together, and at the end of the range levels may
    // be left.
    if (\dut.i_states.state_q == Scale
        && ((\dut.i_walker.walk_q == Rest) ? \dut.i_walker.rank_q
        : (rank >= num || \dut.i_walker.walk_q > Walk))) ok_plan = 1'b0;
    if (reading && \dut.i_walker.walk_q == Walk
        && (\dut.i_walker.sms_q == '0 || SmCountW'(\dut.i_walker.sms_q ) > slot_count)) ok_plan = 1'b0;
    if (reading && \dut.i_walker.walk_q == Walk && (\dut.i_walker.rest_q == '0) != (kernel_rest == '0)) ok_plan = 1'b0;
    if (reading && \dut.i_walker.walk_q == Walk && \dut.i_walker.rest_q != '0
        && 5'(\dut.i_walker.rest_q ) + 5'(slot_count) != 5'(kernel_rest) + 5'(\dut.i_walker.sms_q )) ok_plan = 1'b0;
    // The SM and its label: as far behind the first of the range.
    if (reading && \dut.i_walker.walk_q == Walk
      && 5'(\dut.i_walker.sm_q ) + 5'(\dut.i_walker.sms_q )
      != 5'(\dut.firsts [32'(rank[0])*SmW +: SmW]) + 5'(slot_count)) ok_plan = 1'b0;
    if (reading && \dut.i_walker.walk_q == Walk && \dut.i_walker.rest_q != '0
        && 5'(\dut.i_walker.level_q ) + 5'(\dut.i_walker.sms_q )
        != 5'(levels[32'(rank[0])*CtaW +: CtaW]) + 5'(slot_count)) ok_plan = 1'b0;
    // Levels that are done and levels that are left are those of the occupancy. The first level of this window follows
    // from the windows before, and does not wrap.
    if (deciding && (\dut.i_partition_plan.small_q == '0 || \dut.i_partition_plan.small_q > 3'(N)
        || 4'(\dut.i_partition_plan.large_q ) != {\dut.i_partition_plan.small_q , 1'b0} - 4'd1)) ok_plan = 1'b0;
    for (int unsigned r = 0; r < K; r++) begin
      if (deciding && rests[r*CtaW +: CtaW] != '0
          && 5'(levels[r*CtaW +: CtaW]) + 5'(rests[r*CtaW +: CtaW])
          != 5'(\dut.ctas [r*CtaW +: CtaW]) + 5'd1) ok_plan = 1'b0;
    end
    // of two kernels
    if (planning && rank != '0 && \dut.i_states.starved_q != (\dut.ctas [0 +: CtaW] == '0)) ok_plan = 1'b0;
    if (\dut.i_states.state_q == Drain && (\dut.i_timer.timer_q != drain_limit - drain_age || drain_age > drain_limit))
      ok_plan = 1'b0;
    if (\dut.i_states.layout_q == Levels && !deciding) ok_plan = 1'b0;
    if (\dut.i_states.layout_q == Hold && !planning && num != '0) ok_plan = 1'b0;
    if (\dut.i_states.state_q == Monitor
        && ((\dut.i_states.layout_q != Ranges && \dut.i_states.layout_q != Counts)
        || num != KernelW'(2))) ok_plan = 1'b0;
    if (\dut.i_states.layout_q == Ranges && num != KernelW'(2)) ok_plan = 1'b0;
    if (\dut.i_states.layout_q == Alone && num != KernelW'(1)) ok_plan = 1'b0;
    // Two kernels on three SMs: the older has two.
    if (num == KernelW'(1) && (\dut.firsts [0 +: SmW] != '0 || \dut.counts [0 +: SmCountW] != SmCountW'(3)))
      ok_plan = 1'b0;
    if (num == KernelW'(2) && (\dut.firsts != {SmW'(2), SmW'(0)} || \dut.counts != {SmCountW'(1), SmCountW'(2)}))
      ok_plan = 1'b0;
    beyond = 1'b0;
    for (int unsigned r = 0; r < K; r++)
      if (SmCountW'(rests[r*CtaW +: CtaW]) > \dut.counts [r*SmCountW +: SmCountW]) beyond = 1'b1;
    if (\dut.i_states.state_q == Scale && \dut.i_walker.again_q && !beyond) ok_plan = 1'b0;
    for (int unsigned r = 0; r < K; r++)
      if (\dut.ctas [r*CtaW +: CtaW] > CtaW'(N) && (deciding || (planning && rank > KernelW'(r)))) ok_plan = 1'b0;
  end

  always_comb
    if (started) begin
      // Progress.
      state_exists:                             assert (\dut.i_states.state_q <= PlanCount
          && (state == \dut.i_states.state_q || (state == Plan
        && \dut.i_states.state_q == PlanCount)) && \dut.i_states.layout_q <= Static);
      counter_runs_while_it_is_waited_for:      assert ((\dut.i_states.state_q != PlanCount || counting)
          && count_wait <= 2'(Patience) && (count_wait == '0
        || \dut.i_states.state_q == PlanCount));
      if (planning)
        kernel_of_the_rank_is_counted: assert ((\dut.i_states.state_q == Plan || count_kernel == K'(1) << slot[rank[0]])
            && quota == '0);
      if (reading && \dut.i_walker.walk_q == Walk)
        kernel_of_the_rank_is_sampled: assert (count_kernel == K'(1) << slot[rank[0]]);
      core_is_patiently_waited_for:             assert (core_wait <= 2'(Patience)
          && (!sample_valid || \dut.i_states.state_q == Scale) && (core_wait == '0
        || \dut.i_states.state_q == Allocate));
      plan_is_of_the_present_kernels:           assert (ok_plan);
      plan_is_remembered:                       assert ((!rst_ni || plan_mode == mode_q)
          && (\dut.i_states.layout_q == Static) == (plan_mode == 3'd4)
              && ((\dut.i_states.layout_q == Free)
              == (plan_mode <= 3'd1 || given_up))
              && (\dut.i_states.layout_q == Free
              || \dut.i_states.layout_q == Static
              || ((num == '0 || present[slot[0]])
              && (num < KernelW'(2) || present[slot[1]]))));
      if (was_up && rst_ni && !past_restart && distance_q != '0)
        every_cycle_brings_it_nearer_to_settling: assert (distance < distance_q);
      if (was_up && rst_ni && !past_restart && distance_q == '0) settled_it_stays: assert (distance == '0);
      reset_is_clean:                           assert (rst_ni
          || (state == Idle && quota == {CtaW'(N), CtaW'(N)} && !decision && !monitoring
        && watch == '0 && ctas == {CtaW'(N), CtaW'(N)} && !dropped && !no_profile && idle));
    end

  `include "partition_sequencer_quotas_props.sv"
  `include "partition_sequencer_samples_props.sv"
endmodule
