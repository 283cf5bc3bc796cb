// Properties of partition_sequencer with narrow fields, three SMs, two kernels, four CTAs: it can't deadlock, and what quotas it answers.
// Assumed of its neighbours: the core answers within Patience cycles of being asked; kernel slots are named once and exist; the mode changes
// with mode_write_i, the host's quotas and masks with static_write_i; no more than N demands fit.
module partition_sequencer_props #(
  parameter int unsigned M = 3,
  parameter int unsigned K = 2,
  parameter int unsigned N = 4
) (
  input logic                               clk_i,
  input logic                               rst_ni,
  input logic [2:0]                         mode_i,
  input logic                               mode_write_i,
  input logic [K*sluice_pkg::WarpW-1:0]     demand_warps_i,
  input logic [K*sluice_pkg::RegW-1:0]      demand_registers_i,
  input logic [K*sluice_pkg::SharedW-1:0]   demand_shared_i,
  input logic [K*sluice_pkg::CtaW-1:0]      quota_i,
  input logic [K*M-1:0]                     mask_i,
  input logic                               static_write_i,
  input logic [sluice_pkg::TimerW-1:0]      warm_up_i,
  input logic [sluice_pkg::WindowW-1:0]     window_i,
  input logic [sluice_pkg::WindowW-1:0]     delay_i,
  input logic                               reprofile_i,
  input logic [sluice_pkg::KernelW-1:0]     num_present_i,
  input logic [K*sluice_pkg::KIndexW-1:0]   age_i,
  input logic                               change_i,
  input logic [sluice_pkg::SmW-1:0]         query_sm_i,
  input logic [sluice_pkg::KernelW-1:0]     core_demand_kernel_i,
  input logic                               core_count_fits_i,
  input logic                               prepare_ready_i,
  input logic                               sample_ready_i,
  input logic                               core_done_i,
  input logic                               core_no_fit_i,
  input logic                               core_spatial_i,
  input logic [K*sluice_pkg::CtaW-1:0]      core_ctas_i
);
  localparam int unsigned CtaW = sluice_pkg::CtaW, KIndexW = sluice_pkg::KIndexW, KernelW = sluice_pkg::KernelW, SmW = sluice_pkg::SmW;
  localparam int unsigned SmCountW = sluice_pkg::SmCountW, Patience = 2;
  localparam logic [1:0] Load = 2'd0, Walk = 2'd1, Rest = 2'd3;   // of the walk over the kernels
  localparam logic [3:0] Idle = 4'd0, WarmUp = 4'd1, Profile = 4'd2, Scale = 4'd3, Allocate = 4'd4, Delay = 4'd5, Plan = 4'd6, Monitor = 4'd7,
    PlanCount = 4'd8;
  localparam logic [2:0] Free = 3'd0, Hold = 3'd1, Alone = 3'd2, Ranges = 3'd3, Counts = 3'd4, Levels = 3'd5, Static = 3'd6;

  logic [K*CtaW-1:0] quota, ctas;
  logic              count_start, count, changed, prepare_valid, sample_valid, decision, monitoring, idle, core_start, enable, regions, regions_q;
  logic [3:0]        state;
  logic [K-1:0]      watch;
  partition_sequencer #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(N)) dut (
    .clk_i, .rst_ni, .mode_i, .mode_write_i, .core_demand_kernel_i, .core_count_start_o(count_start), .core_count_o(count),
    .core_count_fits_i, .demand_warps_i, .demand_registers_i, .demand_shared_i, .quota_i, .mask_i, .static_write_i, .warm_up_i, .window_i, .delay_i, .reprofile_i,
    .num_present_i, .age_i, .change_i, .query_sm_i, .query_quota_o(quota), .quota_changed_o(changed), .prepare_valid_o(prepare_valid),
    .prepare_ready_i, .sample_valid_o(sample_valid), .sample_ready_i, .core_start_o(core_start), .core_done_i, .core_no_fit_i, .core_spatial_i, .core_ctas_i, .state_o(state),
    .ctas_o(ctas), .decision_o(decision), .monitoring_o(monitoring), .watch_o(watch), .profile_enable_o(enable), .regions_o(regions), .idle_o(idle));

  (* hierconn *) wire [3:0]            \dut.state_q ;
  (* hierconn *) wire [2:0]            \dut.layout_q ;
  (* hierconn *) wire [sluice_pkg::TimerW-1:0] \dut.timer_q ;
  (* hierconn *) wire [1:0]            \dut.rank_q , \dut.walk_q , \dut.sms_q , \dut.i_partition_plan.num_q ;   // num_q: one-hot
  (* hierconn *) wire [2:0]            \dut.rest_q ;
  (* hierconn *) wire                  \dut.again_q , \dut.restart , \dut.changed_q , \dut.last_q ;
  (* hierconn *) wire [K*SmW-1:0]      \dut.firsts ;       // by rank, as all that follows
  (* hierconn *) wire [K*SmCountW-1:0] \dut.counts ;
  (* hierconn *) wire [K*CtaW-1:0]     \dut.ctas ;
  (* hierconn *) wire [K*CtaW-1:0]     \dut.rests ;
  (* hierconn *) wire [K-1:0]          \dut.i_partition_plan.slot_q ;
  (* hierconn *) wire                  \dut.i_occupancy_counter.load_q ;
  (* hierconn *) wire                  \dut.i_occupancy_counter.busy_q , \dut.i_occupancy_counter.done_q ;
  (* hierconn *) wire [2:0]            \dut.i_occupancy_counter.count_q ;

  logic [KernelW-1:0] num, rank;
  logic [K-1:0]       slot;   // by rank
  assign num  = KernelW'(\dut.i_partition_plan.num_q );   // of two kernels: one-hot is binary
  assign rank = KernelW'(\dut.rank_q );
  assign slot = \dut.i_partition_plan.slot_q ;

  logic       started, was_up, past_restart;
  logic [2:0] demands_left;             // that may fit yet
  logic [1:0] sample_wait, core_wait;   // cycles that the core has kept it waiting
  logic [2:0] mode_q, plan_mode;        // plan_mode: of the last restart
  logic [K-1:0] present;                // kernel slots of the last restart
  logic [K*CtaW+K*M-1:0] host_q;
  logic [K*CtaW-1:0]     quota_q;
  logic [SmW-1:0]        query_sm_q;
  logic                  host_writes;
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started      <= 1'b1;
    was_up       <= rst_ni;
    past_restart <= \dut.restart ;
    demands_left <= count_start ? 3'(N) : (count && !\dut.i_occupancy_counter.load_q && core_count_fits_i) ? demands_left - 1'b1 : demands_left;
    mode_q       <= mode_i;
    host_q       <= {quota_i, mask_i};
    quota_q      <= quota;
    regions_q    <= regions;
    query_sm_q   <= query_sm_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      sample_wait <= '0;
      core_wait   <= '0;
      plan_mode   <= '0;
      present     <= '0;
    end else begin
      sample_wait <= (sample_valid && !sample_ready_i && !\dut.restart ) ? sample_wait + 1'b1 : '0;
      core_wait   <= (\dut.state_q == Allocate && !core_done_i && !\dut.restart ) ? core_wait + 1'b1 : '0;
      if (\dut.restart ) begin
        plan_mode <= mode_i;
        present   <= '0;
        for (int unsigned i = 0; i < K; i++)
          if (KernelW'(i) < num_present_i) present[age_i[i*KIndexW]] <= 1'b1;
      end
    end

  always_comb begin
    if (!started) assume (!rst_ni);
    if (demands_left == '0) assume (!core_count_fits_i);
    assume (num_present_i <= KernelW'(K) && age_i[2:1] == 2'd0 && age_i[5:4] == 2'd0 && (num_present_i < KernelW'(2) || age_i[0] != age_i[3]));
    assume (mode_i <= 3'd5 && query_sm_i < SmW'(M));
    if (started && !mode_write_i) assume (mode_i == mode_q || !rst_ni);
    if (!rst_ni) assume (mode_i == 3'd0);
    if (started && !static_write_i) assume ({quota_i, mask_i} == host_q || !rst_ni);
    if (sample_wait == 2'(Patience)) assume (sample_ready_i);
    if (core_wait == 2'(Patience)) assume (core_done_i);
  end

  // How far it is from having settled (Idle or Monitor), field by field: part, levels that are left, step, and what the step waits for.
  logic [CtaW-1:0]     levels_left, kernel_rest;
  logic [SmCountW-1:0] slot_count;
  logic [KernelW-1:0]  kernels_left;
  logic [24:0]         distance, distance_q;
  assign slot_count   = \dut.counts [32'(rank[0])*SmCountW +: SmCountW];
  assign kernel_rest  = \dut.rests [32'(rank[0])*CtaW +: CtaW];
  assign kernels_left = num - rank;
  always_comb begin
    levels_left = '0;
    for (int unsigned r = 0; r < K; r++)
      if (KernelW'(r) < num && \dut.rests [r*CtaW +: CtaW] > levels_left) levels_left = \dut.rests [r*CtaW +: CtaW];
    case (\dut.state_q )
      Plan:      distance = {2'd3, 3'd0, kernels_left, 1'b1, 15'd0};
      PlanCount: distance = {2'd3, 3'd0, kernels_left, 1'b0, 12'd0, \dut.i_occupancy_counter.done_q ? 3'd0
                                                               : !\dut.i_occupancy_counter.busy_q ? 3'd7
                                                               : \dut.i_occupancy_counter.load_q ? 3'd6 : 3'd1 + demands_left};
      WarmUp:    distance = {2'd2, levels_left, 5'd3, 12'd0, \dut.timer_q };
      Profile:   distance = {2'd2, levels_left, 5'd2, 12'd0, \dut.timer_q };
      Scale:     distance = {2'd2, levels_left, 5'd1, 6'd0, kernels_left, (\dut.walk_q == Walk) ? {1'b0, \dut.sms_q } : {\dut.walk_q == Load, 2'd0}, 2'd2 - sample_wait};
      Allocate:  distance = {2'd1, 3'd0, 5'd1, 13'd0, 2'd2 - core_wait};
      Delay:     distance = {2'd1, 3'd0, 5'd0, 12'd0, \dut.timer_q };
      default:   distance = '0;
    endcase
  end
  always_ff @(posedge clk_i) distance_q <= distance;

  // The plan so far: kernels by age have ranges of SMs, one behind the other.
  logic ok_plan, beyond, ok_disjoint, ok_absent, planning, profiling, reading;
  assign reading   = \dut.state_q == Scale || (\dut.state_q == Profile && \dut.last_q );
  assign planning  = \dut.state_q == Plan || \dut.state_q == PlanCount;
  assign profiling = \dut.state_q >= WarmUp && \dut.state_q <= Delay;
  always_comb begin
    ok_plan = num <= KernelW'(K) && (num < KernelW'(2) || slot[0] != slot[1]);
    if (planning && (rank >= num || \dut.layout_q != Hold)) ok_plan = 1'b0;
    if (profiling && (num != KernelW'(2) || \dut.layout_q != Levels)) ok_plan = 1'b0;
    // The walk over the samples: SMs and levels that are left go down together, and at the end of the range levels may be left.
    if (\dut.state_q == Scale && ((\dut.walk_q == Rest) ? rank != num : (rank >= num || \dut.walk_q > Walk))) ok_plan = 1'b0;
    if (reading && \dut.walk_q == Walk && (\dut.sms_q == '0 || SmCountW'(\dut.sms_q ) > slot_count)) ok_plan = 1'b0;
    if (reading && \dut.walk_q == Walk && (\dut.rest_q == '0) != (kernel_rest == '0)) ok_plan = 1'b0;
    if (reading && \dut.walk_q == Walk && \dut.rest_q != '0
        && 5'(\dut.rest_q ) + 5'(slot_count) != 5'(kernel_rest) + 5'(\dut.sms_q )) ok_plan = 1'b0;
    // The last cycle of what is timed is known; in the one before that of the window the oldest kernel is loaded.
    if (\dut.state_q == WarmUp && \dut.last_q != (\dut.timer_q == '0)) ok_plan = 1'b0;
    if ((\dut.state_q == Profile || \dut.state_q == Delay) && \dut.last_q != (\dut.timer_q <= 1)) ok_plan = 1'b0;
    if (\dut.state_q == Profile && \dut.timer_q == 2 && (rank != '0 || \dut.walk_q != Load)) ok_plan = 1'b0;
    if (\dut.state_q == Profile && \dut.last_q && (rank != '0 || \dut.walk_q > Walk)) ok_plan = 1'b0;
    if (\dut.layout_q == Hold && !planning && num != '0) ok_plan = 1'b0;
    if (\dut.state_q == Monitor && ((\dut.layout_q != Ranges && \dut.layout_q != Counts) || num != KernelW'(2))) ok_plan = 1'b0;
    if (\dut.layout_q == Ranges && num != KernelW'(2)) ok_plan = 1'b0;
    if (\dut.layout_q == Alone && num != KernelW'(1)) ok_plan = 1'b0;
    // Two kernels on three SMs: the older has two.
    if (num == KernelW'(1) && (\dut.firsts [0 +: SmW] != '0 || \dut.counts [0 +: SmCountW] != SmCountW'(3))) ok_plan = 1'b0;
    if (num == KernelW'(2) && (\dut.firsts != {SmW'(2), SmW'(0)} || \dut.counts != {SmCountW'(1), SmCountW'(2)})) ok_plan = 1'b0;
    beyond = 1'b0;
    for (int unsigned r = 0; r < K; r++)
      if (SmCountW'(\dut.rests [r*CtaW +: CtaW]) > \dut.counts [r*SmCountW +: SmCountW]) beyond = 1'b1;
    if (\dut.state_q == Scale && \dut.again_q && !beyond) ok_plan = 1'b0;
    for (int unsigned r = 0; r < K; r++)
      if (\dut.ctas [r*CtaW +: CtaW] > CtaW'(N) && (profiling || (planning && rank > KernelW'(r)))) ok_plan = 1'b0;
  end

  logic shared_layout;   // more than one kernel may be on an SM
  assign shared_layout = \dut.layout_q == Free || \dut.layout_q == Static || \dut.layout_q == Counts;
  always_comb begin
    ok_absent = 1'b1;
    for (int unsigned k = 0; k < K; k++)
      if (\dut.layout_q != Free && \dut.layout_q != Static && !present[k] && quota[k*CtaW +: CtaW] != '0) ok_absent = 1'b0;
    ok_disjoint = shared_layout || quota[0 +: CtaW] == '0 || quota[CtaW +: CtaW] == '0;
  end

  logic ok_static, ok_counts;
  always_comb begin
    ok_static = 1'b1;
    ok_counts = 1'b1;
    for (int unsigned k = 0; k < K; k++) begin
      if (quota[k*CtaW +: CtaW] != (mask_i[k*M + 32'(query_sm_i)] ? quota_i[k*CtaW +: CtaW] : CtaW'(0))) ok_static = 1'b0;
      if (\dut.layout_q == Counts && quota[k*CtaW +: CtaW] != ctas[k*CtaW +: CtaW]) ok_counts = 1'b0;
    end
    if (started) begin
      // Progress.
      state_exists:                             assert (\dut.state_q <= PlanCount && \dut.layout_q <= Static);
      counter_runs_while_it_is_waited_for:      assert (\dut.state_q != PlanCount || ((\dut.i_occupancy_counter.busy_q ^ \dut.i_occupancy_counter.done_q )
                                                        && \dut.i_occupancy_counter.count_q <= 3'(N) - (\dut.i_occupancy_counter.busy_q ? demands_left : 3'd0) && (\dut.i_occupancy_counter.done_q || demands_left <= 3'(N))));
      core_is_patiently_waited_for:             assert (sample_wait <= 2'(Patience) && core_wait <= 2'(Patience)
                                                        && (!sample_valid || \dut.state_q == Scale) && (sample_wait == '0 || sample_valid) && (core_wait == '0 || \dut.state_q == Allocate));
      plan_is_of_the_present_kernels:           assert (ok_plan);
      plan_is_remembered:                       assert ((\dut.layout_q == Static) == (plan_mode == 3'd4)
                                                        && ((\dut.layout_q == Free) == (plan_mode <= 3'd1))
                                                        && (\dut.layout_q == Free || \dut.layout_q == Static || ((num == '0 || present[slot[0]]) && (num < KernelW'(2) || present[slot[1]]))));
      if (was_up && rst_ni && !past_restart && distance_q != '0)
        every_cycle_brings_it_nearer_to_settling: assert (distance < distance_q);
      if (was_up && rst_ni && !past_restart && distance_q == '0) settled_it_stays: assert (distance == '0);
      // Quotas of any SM.
      if (plan_mode <= 3'd1)                    left_over_and_fcfs_have_no_limit: assert (quota == {CtaW'(N), CtaW'(N)});
      if (plan_mode == 3'd4)                    static_quota_is_the_hosts_and_zero_off_the_mask: assert (ok_static);
      nothing_may_start_while_planning:         assert (!planning || quota == '0);
      absent_kernels_have_no_quota:             assert (ok_absent);
      one_kernel_an_sm_unless_shared:           assert (ok_disjoint);
      counts_are_in_force_on_every_sm:          assert (ok_counts);
      if (was_up && rst_ni && query_sm_i == query_sm_q && !changed) quotas_change_with_the_pulse: assert (quota == quota_q);
      if (was_up && rst_ni && !changed) regions_change_with_the_pulse: assert (regions == regions_q);
      reset_is_clean:                           assert (rst_ni || (state == Idle && quota == {CtaW'(N), CtaW'(N)} && !decision && !monitoring && watch == '0 && ctas == '0 && idle));
    end
  end
endmodule
