// SPDX-License-Identifier: Apache-2.0
// Properties of CHURN, of a partition_sequencer with narrow fields: a curve is never used for another kernel, what is
// in force lives, a kernel that stays is not stopped, and the counts in force are those of one plan or decision. Any
// kernel (constant). Assumed: kernel slots are named once and exist; a present kernel fits an SM, and the core gives it
// a CTA at least; an SM that two share holds of each at most half its CTAs; the mode changes with mode_write_i.
module kept_profiles_props #(
  parameter int unsigned M = 3,
  parameter int unsigned K = 2,
  parameter int unsigned N = 4
) (
  input logic                               clk_i,
  input logic                               rst_ni,
  input logic [2:0]                         mode_i,
  input logic                               mode_write_i,
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
  input logic                               count_done_i,
  input logic [sluice_pkg::CtaW-1:0]        occupancy_i,
  input logic                               core_done_i,
  input logic                               core_no_fit_i,
  input logic                               core_spatial_i,
  input logic [K*sluice_pkg::CtaW-1:0]      core_ctas_i
);
  localparam int unsigned CtaW = sluice_pkg::CtaW, KIndexW = sluice_pkg::KIndexW, KernelW = sluice_pkg::KernelW,
    SmW = sluice_pkg::SmW;
  localparam int unsigned CHURN = 2, Life = 4;
  localparam logic [3:0] Profile = 4'd2, Scale = 4'd3, Allocate = 4'd4, Delay = 4'd5, Monitor = 4'd7, Drain = 4'd8,
    PlanCount = 4'd9;
  localparam logic [2:0] Free = 3'd0, Hold = 3'd1, Alone = 3'd2, Ranges = 3'd3, Counts = 3'd4, Levels = 3'd5;
  (* anyconst *) logic [KIndexW-1:0] slot;   // of the kernel

  logic [K*CtaW-1:0]    quota, ctas;
  logic                 sample_read, sample_drop, sample_valid, core_start, core_abort, decision, clear;
  logic [KernelW-1:0]   share;
  logic [K-1:0]         count_kernel, kept;
  logic [K*KIndexW-1:0] rows;
  sluice_pkg::sample_t  sample;
  partition_sequencer #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(N), .SM_ENABLE(1), .CHURN(CHURN)) dut (
    .clk_i,
    .rst_ni,
    .mode_i,
    .mode_write_i,
    .sm_enable_i,
    .enable_write_i,
    .core_demand_kernel_i ('0),
    .count_kernel_o       (count_kernel),
    .count_share_o        (share),
    .count_done_i,
    .occupancy_i,
    .demand_i             ('0),
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
    .query_sm_i           (M'(1) << query_sm_i),
    .query_quota_o        (quota),
    .port_sm_i            ('0),
    .spent_i,
    .settled_i,
    .sample_read_o        (sample_read),
    .sample_drop_o        (sample_drop),
    .sample_valid_o       (sample_valid),
    .sample_o             (sample),
    .profile_clear_o      (clear),
    .core_start_o         (core_start),
    .core_abort_o         (core_abort),
    .core_kept_o          (kept),
    .core_rows_o          (rows),
    .core_done_i,
    .core_no_fit_i,
    .core_spatial_i,
    .core_ctas_i,
    .ctas_o               (ctas),
    .decision_o           (decision)
  );
  (* hierconn *) wire [3:0] \dut.i_states.state_q ;
  (* hierconn *) wire [2:0] \dut.i_states.layout_q ;
  (* hierconn *) wire [KernelW-1:0] \dut.num ;
  (* hierconn *) wire \dut.ranged ;
  logic [3:0] state;
  logic [2:0] layout;
  assign state  = \dut.i_states.state_q ;
  assign layout = \dut.i_states.layout_q ;

  logic started, was_up, present, present_next, outside;
  assign outside = change_i || mode_write_i || enable_write_i;
  always_comb begin
    present_next = 1'b0;
    for (int unsigned i = 0; i < K; i++)
      if (KernelW'(i) < num_present_i && age_i[i*KIndexW +: KIndexW] == slot) present_next = 1'b1;
  end

  // What is known of the kernel, from the events.
  logic             clean, curve;        // in this profile, a sample of it counted; it took part in a decision so
  logic             forgotten;           // a new profile of all was asked for in MONITOR
  logic [2:0]       age;                 // cycles of this state before this one, up to Life; not in its first cycle
  logic [CtaW-1:0]  published, answer;   // its count by the last plan or decision; the counter's last answer
  logic [CtaW-1:0]  ctas_q, mine, mine_there, decided_q;
  logic [2:0]       layout_q, mode_q;
  logic [3:0]       state_q;
  logic             stays_q, restarted_q;
  logic [K-1:0]     kept_q;
  logic [KernelW+K*KIndexW-1:0] present_q;
  logic             rank_kept;
  always_comb begin
    mine       = '0;
    mine_there = '0;
    for (int unsigned k = 0; k < K; k++)
      if (slot == KIndexW'(k)) begin
        mine       = ctas[k*CtaW +: CtaW];
        mine_there = quota[k*CtaW +: CtaW];
      end
    rank_kept = 1'b0;
    for (int unsigned r = 0; r < K; r++)
      if (kept[r] && rows[r*KIndexW +: KIndexW] == slot) rank_kept = 1'b1;
  end

  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started     <= 1'b1;
    was_up      <= rst_ni;
    layout_q    <= layout;
    state_q     <= state;
    mode_q      <= mode_i;
    ctas_q      <= mine;
    kept_q      <= kept;
    present_q   <= {num_present_i, age_i};
    restarted_q <= core_abort;
    stays_q     <= core_abort && present && present_next && !mode_write_i;
    decided_q   <= '0;
    for (int unsigned r = 0; r < K; r++)
      if (rows[r*KIndexW +: KIndexW] == slot && KernelW'(r) < \dut.num ) decided_q <= core_ctas_i[r*CtaW +: CtaW];
    for (int unsigned k = 0; k < K; k++)
      if (slot == KIndexW'(k) && count_kernel[k] && state == PlanCount && count_done_i) answer <= occupancy_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      present   <= 1'b0;
      clean     <= 1'b0;
      curve     <= 1'b0;
      forgotten <= 1'b0;
      age       <= '0;
    end else begin
      if (core_start && clear) clean <= 1'b0;
      for (int unsigned k = 0; k < K; k++)
        if (slot == KIndexW'(k) && count_kernel[k] && sample_read && !sample_drop) clean <= 1'b1;
      if (decision && clean) curve <= 1'b1;
      forgotten <= (forgotten || (reprofile_i && state == Monitor)) && !core_abort;
      age       <= (state != state_q) ? 3'd1 : (age == 3'(Life)) ? age : age + 1'b1;
      if (core_abort) begin
        present <= present_next;
        if (!present_next || mode_write_i || forgotten || (reprofile_i && state == Monitor)) begin
          curve <= 1'b0;
          clean <= 1'b0;
        end
      end
    end

  always_comb begin
    if (!started) assume (!rst_ni);
    assume (slot < KIndexW'(K) && query_sm_i < SmW'(M) && mode_i <= 3'd5 && drain_limit_i < 8'd4);
    assume (num_present_i <= KernelW'(K));
    for (int unsigned i = 0; i < K; i++) begin
      assume (age_i[i*KIndexW +: KIndexW] < KIndexW'(K));
      for (int unsigned j = 0; j < i; j++)
        assume (KernelW'(i) >= num_present_i || age_i[i*KIndexW +: KIndexW] != age_i[j*KIndexW +: KIndexW]);
      assume (core_ctas_i[i*CtaW +: CtaW] != '0 && core_ctas_i[i*CtaW +: CtaW] <= CtaW'(N));
    end
    assume (occupancy_i <= CtaW'(N) && (share != KernelW'(1) || occupancy_i != '0));
    assume (share < KernelW'(2) || occupancy_i <= CtaW'(N / 2));
    if (started && !change_i) assume ({num_present_i, age_i} == present_q || !rst_ni);
    if (started && !mode_write_i) assume (mode_i == mode_q || !rst_ni);
    if (started && rst_ni && was_up) begin
      if (core_start && rank_kept)                     a_kept_curve_is_of_this_kernel:     assert (curve);
      if (core_start)
        the_core_begins_in_drain_or_allocate: assert (state == Drain || state == Allocate);
      if (rank_kept && sample_valid)                   a_kernel_with_a_curve_gives_no_sample: assert (!clean);
      if (state != PlanCount && !restarted_q && state_q != Monitor && state_q != Allocate && state_q != Delay)
        curves_do_not_change_in_a_profile:             assert (kept == kept_q);
      if (core_abort && !outside)
        a_profile_comes_when_the_life_is_over: assert (state == state_q && age >= 3'(Life - 1));
      if (stays_q && ctas_q != '0 && layout_q != Free && layout_q != Hold && layout_q != 3'd6 && mode_i != 3'd4
          && mode_i > 3'd1)
        a_kernel_that_stays_is_not_stopped:            assert (mine != '0 && (layout == Counts || layout == Ranges));
      if (stays_q && layout_q == Counts && mode_i != 3'd4 && mode_i > 3'd1)
        a_kernel_that_stays_keeps_its_count:           assert (layout == Counts && mine == ctas_q
            && mine_there == mine);
      if (layout == Counts && !present)                who_is_not_there_has_no_count:      assert (mine == '0);
      if (layout == Counts && layout_q == Counts && !restarted_q && !decision && state_q != PlanCount)
        counts_change_with_a_plan_or_a_decision:       assert (mine == ctas_q);
      if (layout == Levels && rank_kept && !\dut.ranged )
        beside_a_profile_a_count_is_an_even_share:     assert (mine <= CtaW'(N / 2));
      if (layout == Counts && decision && present)     counts_are_the_decided_ones:        assert (mine == decided_q);
      if (layout == Counts && state_q == PlanCount && state != PlanCount && !restarted_q && state != 4'd6
          && state != Allocate && present)
        counts_are_those_of_one_plan:                  assert (mine == answer);
    end
  end
endmodule
