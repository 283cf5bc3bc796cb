// SPDX-License-Identifier: Apache-2.0
// Part of partition_sequencer_props: what quotas it answers, for any SM.
  logic shared_layout, ok_disjoint, ok_absent;   // shared: more than one kernel may be on an SM
  assign shared_layout = \dut.i_states.layout_q == Free || \dut.i_states.layout_q == Static
      || \dut.i_states.layout_q == Counts;
  always_comb begin
    ok_absent = 1'b1;
    for (int unsigned k = 0; k < K; k++)
      if (\dut.i_states.layout_q != Free && \dut.i_states.layout_q != Static && !present[k]
          && quota[k*CtaW +: CtaW] != '0) ok_absent = 1'b0;
    ok_disjoint = shared_layout || quota[0 +: CtaW] == '0 || quota[CtaW +: CtaW] == '0;
  end

  // The quota in force of each kernel slot, by the layout.
  logic ok_ctas, ok_bound;
  logic [CtaW-1:0] in_force;
  always_comb begin
    ok_ctas  = 1'b1;
    ok_bound = 1'b1;
    in_force = '0;
    for (int unsigned k = 0; k < K; k++) begin
      in_force = '0;
      if (\dut.i_states.layout_q == Free) in_force = CtaW'(N);
      if (\dut.i_states.layout_q == Static && mask_i[k*M +: M] != '0) in_force = quota_i[k*CtaW +: CtaW];
      for (int unsigned r = 0; r < K; r++)
        if (KernelW'(r) < num && slot[r] == k[0]) begin
          if (\dut.i_states.layout_q == Alone || \dut.i_states.layout_q == Ranges)  in_force = CtaW'(N);
          if (\dut.i_states.layout_q == Counts || \dut.i_states.layout_q == Levels)
            in_force = \dut.ctas [r*CtaW +: CtaW];
        end
      if (ctas[k*CtaW +: CtaW] != in_force) ok_ctas = 1'b0;
      if (quota[k*CtaW +: CtaW] > ctas[k*CtaW +: CtaW]) ok_bound = 1'b0;
    end
  end

  logic ok_static, ok_counts, ok_watch, given_up;   // given_up: no ranges, for want of SMs that are enabled
  assign given_up = dead && num == KernelW'(2) && !planning && plan_mode != 3'd4 && plan_mode > 3'd1
                    && (plan_mode != 3'd2 || \dut.ctas [0 +: CtaW] == '0 || \dut.ctas [CtaW +: CtaW] == '0);
  always_comb begin
    ok_watch = 1'b1;
    for (int unsigned k = 0; k < K; k++)
      for (int unsigned m = 0; m < M; m++)
        if (watch[k] && watch_sm[k*SmW +: SmW] == SmW'(m)
            && (!sm_enable_i[m] || (\dut.i_states.layout_q == Ranges && slot[m == 2] != k[0]))) ok_watch = 1'b0;
  end
  always_comb begin
    ok_static = 1'b1;
    ok_counts = 1'b1;
    for (int unsigned k = 0; k < K; k++) begin
      if (quota[k*CtaW +: CtaW] != (mask_i[k*M + 32'(query_sm_i)] ? quota_i[k*CtaW +: CtaW] : CtaW'(0)))
        ok_static = 1'b0;
      if (\dut.i_states.layout_q == Counts && quota[k*CtaW +: CtaW] != ctas[k*CtaW +: CtaW]) ok_counts = 1'b0;
    end
    if (started) begin
      if (plan_mode <= 3'd1)
        left_over_and_fcfs_have_no_limit: assert (quota == {CtaW'(N), CtaW'(N)});
      if (plan_mode == 3'd4)                    static_quota_is_the_hosts_and_zero_off_the_mask: assert (ok_static);
      nothing_may_start_while_planning:         assert (!planning || quota == '0);
      absent_kernels_have_no_quota:             assert (ok_absent);
      one_kernel_an_sm_unless_shared:           assert (ok_disjoint);
      counts_are_in_force_on_every_sm:          assert (ok_counts);
      if (was_up && rst_ni && query_sm_i == query_sm_q && !changed)
        quotas_change_with_the_pulse: assert (quota == quota_q);
      if (was_up && rst_ni && !changed) regions_change_with_the_pulse: assert (regions == regions_q);
      if (port_sm_i == query_sm_i)              both_sms_are_answered_alike: assert (port_quota == quota);
      if (plan_mode == 3'd2 && num == KernelW'(2) && !planning)
        even_gives_every_kernel_a_cta_or_ranges: assert ((\dut.i_states.layout_q == Counts && !no_fit
            && \dut.ctas [0 +: CtaW] != '0 && \dut.ctas [CtaW +: CtaW] != '0)
                || (\dut.i_states.layout_q == (dead ? Free : Ranges) && no_fit
                  && (\dut.ctas [0 +: CtaW] == '0
                  || \dut.ctas [CtaW +: CtaW] == '0)));
      if (\dut.i_states.layout_q == Ranges || \dut.i_states.layout_q == Levels)
        a_range_has_an_sm_that_is_enabled: assert (!dead);
      if (monitoring && !enable_write_i && sm_enable_i != '0)
        the_watched_sm_is_an_enabled_one_of_the_kernel: assert (ok_watch);
      ctas_tell_the_quota_in_force:             assert (ok_ctas);
      no_sm_has_more_than_ctas_tell:            assert (ok_bound);
    end
  end
