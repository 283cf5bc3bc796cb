// SPDX-License-Identifier: Apache-2.0
// Part of partition_sequencer_props: which samples of a profile count.
  // From the ports. The drain: its cycles, and how many more than one it may take. The window: what had
  // settled when it began, who was spent in it.
  logic [2:0]   drain_age, drain_limit;
  logic [3:0]   state_before;
  logic         ready_q, over_q, profiling_q, lost, unclean;
  logic [M-1:0] settled_q, settled_first;
  logic [K-1:0] spent_window, clean;   // clean: by rank, a sample of it counts
  logic         all_ready;
  always_comb begin
    all_ready = 1'b1;
    for (int unsigned m = 0; m < M; m++)
      if (!settled_i[m] && sm_enable_i[m] && !spent_i[slot[m == 2]]) all_ready = 1'b0;
  end
  always_ff @(posedge clk_i) begin
    state_before <= \dut.i_states.state_q ;
    settled_q    <= settled_i;
    ready_q      <= all_ready;
    over_q       <= drain_age == drain_limit;
    if (enable && !profiling_q) settled_first <= settled_i;
    if (\dut.i_states.state_q == WarmUp) begin
      drain_age   <= '0;
      drain_limit <= {drain_limit_i[1:0], 1'b0};
    end
    if (clear) begin
      drain_age    <= drain_age + 1'b1;
      spent_window <= '0;
    end
    if (enable) spent_window <= spent_window | spent_i;
    clean <= (core_start ? 2'b00 : clean) | ((sample_read && !sample_drop) ? 2'd1 << rank[0] : 2'b00);
    lost  <= (lost && !core_start) || (sample_read && sample_drop);
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) profiling_q <= 1'b0;
    else         profiling_q <= profiling;
  logic profiled;   // what is kept is of this profile
  assign profiled = profiling || \dut.i_states.state_q == Allocate || \dut.i_states.state_q == Delay
      || \dut.i_states.state_q == Monitor
                 || ((\dut.i_states.state_q == WarmUp || \dut.i_states.state_q == Drain) && !\dut.i_states.in_first_q );
  assign unclean  = clean != '1;

  always_comb
    if (started) begin
      if (num == KernelW'(2))
        owner_is_the_kernel_of_the_range: assert (owner == {2'd0, slot[1], 2'd0, slot[0], 2'd0, slot[0]});
      what_is_kept_of_a_profile_is_its_own:     assert ((!profiling || !profiling_q || settled_first == settled_q)
          && (!profiled || (clean == \dut.i_walker.sampled_q
        && lost == dropped))
            && (!profiling || spent_window == \dut.i_walker.spent_q )
            && (!profiling_q || profiling
            || state_before == Profile || state_before == Scale)
            && (\dut.i_states.state_q != Scale || profiling_q || !rst_ni));
      quotas_do_not_change_in_a_window:         assert (!profiling || !changed);
      if (sample_read)
        sample_counts_only_if_its_sm_had_settled: assert (sample_drop
            == (!settled_first[sample_sm] || !sm_enable_i[sample_sm]
        || spent_window[slot[sample_sm == SmW'(2)]]));
      if (sample_read && query_sm_i == sample_sm)
        label_is_the_quota_of_its_sm: assert (quota[32'(slot[rank[0]])*CtaW +: CtaW] == \dut.i_walker.level_q
        && slot[rank[0]] == slot[sample_sm == SmW'(2)]);
      if (was_up && rst_ni && \dut.i_states.state_q == Profile && state_before != Profile)
        window_begins_when_all_have_settled_or_the_limit_is_over: assert (state_before == Drain && (ready_q || over_q));
      if (decision && unclean)
        no_decision_without_a_sample_of_each: assert (\dut.i_states.layout_q == Ranges && no_profile == !no_fit);
      if (decision && !unclean)                 no_profile_only_without_a_sample: assert (!no_profile);
    end
