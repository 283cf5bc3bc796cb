// SPDX-License-Identifier: Apache-2.0
// Part of cta_dispatcher_props: what the tables hold in each cycle: CTAs, resources, quotas, indices, and what the
// lanes carry.
  struct packed {
    logic last_index_is_known, lane_a_is_of_its_sm, lane_d_is_of_its_sm, answer_is_not_optimistic,
      verdict_is_not_optimistic, an_end_names_its_slot, used_is_the_sum_over_ctas, no_resource_over_allocated,
      slot_is_one_of_the_sm, remembered_room_is_there, charge_knows_the_quotas, quota_never_exceeded,
      resident_counts_all_sms, a_free_slot_has_no_cta, slot_state_exists, a_launched_cta_fits_an_empty_sm,
      no_cta_lost_or_sent_twice, index_is_next, index_stays_in_the_grid, in_order_the_older_go_first;
  } ok;
  always_comb begin
    ok = '1;
    // The slot that is left is the one that ended, or there is none.
    ok.an_end_names_its_slot = !leaves_q
        || (\dut.i_sm_resource_table.i_end.end_valid_q && !\dut.i_sm_resource_table.i_end.end_wait_q );
    for (int unsigned m = 0; m < M; m++)
      for (int unsigned s = 0; s < N; s++)
        if (\dut.i_sm_resource_table.i_end.end_valid_q && !\dut.i_sm_resource_table.i_end.end_wait_q
            && \dut.i_sm_resource_table.i_end.end_sm_q [m]
          && \dut.i_sm_resource_table.i_end.end_slot_q [s] && slot_used[m*N + s]
          && !(leaves_q && leaves_place_q == 3'(m*N + s)))
          ok.an_end_names_its_slot = 1'b0;
    if (leaves_q && (\dut.i_sm_resource_table.i_end.end_sm_q != M'(1) << (leaves_place_q >= 3'(N))
      || \dut.i_sm_resource_table.i_end.end_slot_q
      != N'(1) << (leaves_place_q >= 3'(N) ? leaves_place_q - 3'(N) : leaves_place_q)))
      ok.an_end_names_its_slot = 1'b0;
    ok.in_order_the_older_go_first =
        !(in_order_i && \dut.pick_valid  && ((\dut.pick_kernel [0] && \dut.can_admit [1] && \dut.older [2])
            || (\dut.pick_kernel [1] && \dut.can_admit [0]
            && \dut.older [1])));
    // The table is the sum of its CTAs, less the one that is charged in this cycle, with those whose end is not
    // credited.
    for (int unsigned m = 0; m < M; m++) begin
      if (widened(row[m*AmountW +: AmountW]) + holding[m*SumW +: SumW] + owed[m*SumW +: SumW]
        != widened(capacity_left) + (\dut.i_sm_resource_table.charge_sm_q [m] ? widened(charge_demand) : '0))
        ok.used_is_the_sum_over_ctas = 1'b0;
      if (state != '0 && !(within(holding[m*SumW +: SumW] + owed[m*SumW +: SumW] + fresh[m*SumW +: SumW], capacity_sum)
          && ctas[m*CtaW +: CtaW] + CtaW'(\dut.fresh && \dut.port_sm [m]) <=
          capacity_slots_i)) ok.no_resource_over_allocated = 1'b0;
      for (int unsigned s = 0; s < N; s++)
        if (!(!(slot_used[m*N + s] || waiting[m*N + s]) || CtaW'(s) < capacity_slots_i || state == '0))
          ok.slot_is_one_of_the_sm = 1'b0;
      // What the lanes carry from one cycle to the next.
      if (\dut.i_sm_resource_table.charge_sm_q [m] && (\dut.i_sm_resource_table.a_left_q != row[m*AmountW +: AmountW]
        || \dut.i_sm_resource_table.admit_q != charge_demand || a_ctas < ctas[m*CtaW +: CtaW] || a_ctas > CtaW'(N)))
        ok.lane_a_is_of_its_sm = 1'b0;
      if (\dut.i_sm_resource_table.i_end.credit_sm_q [m]
          && (\dut.i_sm_resource_table.i_end.left_q != row[m*AmountW +: AmountW]
        || \dut.i_sm_resource_table.i_end.change_q
        != (\dut.i_sm_resource_table.charge_sm_q [m]
        ? {credit_demand[WarpW+RegW +: SharedW] - charge_demand[WarpW+RegW +: SharedW],
             credit_demand[WarpW +: RegW] - charge_demand[WarpW +: RegW],
             credit_demand[0 +: WarpW] - charge_demand[0 +: WarpW]} : credit_demand)))
        ok.lane_d_is_of_its_sm = 1'b0;
      if ((slot_used[m*N +: N] != '0 || \dut.i_sm_resource_table.i_end.release_sm_q [m])
          && !\dut.i_sm_resource_table.written_q [m] && !\dut.i_sm_resource_table.charge_sm_q [m])
        ok.lane_d_is_of_its_sm = 1'b0;   // a row that has a CTA was written, and so one where a CTA ended
      if (\dut.i_dispatch_picker.answer_q [m] && !\dut.i_dispatch_picker.busy_q [m]
        && ((state != '0 && !within(holding[m*SumW +: SumW] + owed[m*SumW +: SumW]
        + widened(\dut.i_sm_resource_table.b_left_q ), capacity_sum))
        || CtaW'(\dut.i_sm_resource_table.b_count_q ) < ctas[m*CtaW +: CtaW]))
        ok.answer_is_not_optimistic = 1'b0;
      if (\dut.i_sm_resource_table.charged_sm_q [m] && state != '0
        && !within(holding[m*SumW +: SumW] + owed[m*SumW +: SumW] + widened(\dut.i_sm_resource_table.charged_q ),
        capacity_sum)) ok.verdict_is_not_optimistic = 1'b0;
      for (int unsigned k = 0; k < K; k++) begin
        if (\dut.i_sm_resource_table.charge_sm_q [m] && a_count[k*CtaW +: CtaW] < count[(m*K + k)*CtaW +: CtaW])
          ok.lane_a_is_of_its_sm = 1'b0;
        if (\dut.i_dispatch_picker.answer_q [m] && !\dut.i_dispatch_picker.busy_q [m]
          && (CtaW'(\dut.i_sm_resource_table.b_resident_q [k*CountW +: CountW]) < count[(m*K + k)*CtaW +: CtaW]
            || CtaW'(\dut.i_sm_resource_table.b_quota_q [k*CountW +: CountW]) != quota_q[(m*K + k)*CtaW +: CtaW]))
          ok.answer_is_not_optimistic = 1'b0;
        if (\dut.i_sm_resource_table.charged_sm_q [m] && !\dut.charged_stale_q && \dut.i_sm_resource_table.a_room_q [k]
          && !(ctas[m*CtaW +: CtaW] < capacity_slots_i
          && count[(m*K + k)*CtaW +: CtaW] < quota_q[(m*K + k)*CtaW +: CtaW]) && state != '0)
          ok.verdict_is_not_optimistic = 1'b0;
        // The quotas of the SM that is charged are those of the cycle before.
        if (\dut.i_sm_resource_table.charge_sm_q [m]
            && CtaW'(\dut.i_sm_resource_table.a_quota_q [k*CountW +: CountW]) != quota_q[(m*K + k)*CtaW +: CtaW])
          ok.charge_knows_the_quotas = 1'b0;
        // What the picker remembers is true: one more fits, under the quota in force.
        if (!(!\dut.i_dispatch_picker.room_q [k*M + m] || \dut.i_dispatch_picker.busy_q [m] || state[k*2 +: 2] == 2'd0
            || (within(holding[m*SumW +: SumW] + owed[m*SumW +: SumW] + widened(demand_i[k*AmountW +: AmountW]),
            capacity_sum)
             && ctas[m*CtaW +: CtaW] < capacity_slots_i
             && count[(m*K + k)*CtaW +: CtaW] < quota_q[(m*K + k)*CtaW +: CtaW]))) ok.remembered_room_is_there = 1'b0;
        if (!(!(\dut.pick_valid && \dut.pick_sm [m] && \dut.pick_kernel [k])
            || count[(m*K + k)*CtaW +: CtaW] < quota_i[(m*K + k)*CtaW +: CtaW])) ok.quota_never_exceeded = 1'b0;
      end
    end
    for (int unsigned k = 0; k < K; k++) begin
      if (resident[k*ResidentW +: ResidentW]
          != total[k*ResidentW +: ResidentW]
          + ResidentW'(counted_q && counted_kernel_q == k[0])) ok.resident_counts_all_sms = 1'b0;
      if (!(state[k*2 +: 2] != 2'd0 || (total[k*ResidentW +: ResidentW] == '0
          && !(counted_q && counted_kernel_q == k[0]) && !(credited_q && credited_kernel_q == k[0])
          && !(valid && kernel == KIndexW'(k))
          && !(\dut.i_sm_resource_table.charge_q
          && \dut.i_sm_resource_table.charge_kernel_q [k])))) ok.a_free_slot_has_no_cta = 1'b0;
      if (state[k*2 +: 2] == 2'd3 || (rst_ni
          && \dut.can_admit [k] != (state[k*2 +: 2] == 2'd1 && !finished[k] && !hold[k])))
        ok.slot_state_exists = 1'b0;
      if (state[k*2 +: 2] != 2'd0 && !within(widened(demand_i[k*AmountW +: AmountW]), capacity_sum))
        ok.a_launched_cta_fits_an_empty_sm = 1'b0;
      // Indices leave in order: with the one at the port they are exactly those admitted.
      if (!(state[k*2 +: 2] == 2'd0
          || index[k*GridW +: GridW]
          == ((valid && kernel == KIndexW'(k)) ? ((cta + 1'b1 == grid[k*GridW +: GridW]) ? '0 : cta + 1'b1)
          : expected[k*GridW +: GridW]))) ok.no_cta_lost_or_sent_twice = 1'b0;
      if (state[k*2 +: 2] != 2'd0 && (given[k*GridW +: GridW] >= grid[k*GridW +: GridW]
          || \dut.i_kernel_slots.i_grid_index.next_ones_q [k] != given[k*GridW]
          || \dut.i_kernel_slots.i_grid_index.last_q [k] != (given[k*GridW +: GridW] + 1'b1 == grid[k*GridW +: GridW])
          || \dut.i_kernel_slots.i_grid_index.second_q [k]
          != (given[k*GridW +: GridW] + 1'b1 == grid[k*GridW +: GridW] ? grid[k*GridW +: GridW] == GridW'(1)
          : given[k*GridW +: GridW] + GridW'(2) == grid[k*GridW +: GridW])))
        ok.last_index_is_known = 1'b0;
      if (!(!(valid && kernel == KIndexW'(k)) || (cta == expected[k*GridW +: GridW] && cta < grid[k*GridW +: GridW])))
        ok.index_is_next = 1'b0;
      if (!(state[k*2 +: 2] == 2'd0 || expected[k*GridW +: GridW] < grid[k*GridW +: GridW]))
        ok.index_stays_in_the_grid = 1'b0;
    end
    if (started) begin
      slots_are_the_ctas_that_run_or_wait: assert (slot_used
          == (runs | (\dut.fresh ? '0 : waiting) | (leaves_q ? (M*N)'(1) << leaves_place_q : '0)));
      a_cta_waits_where_none_runs: assert ((runs & waiting) == '0 && (!\dut.fresh || (slot_used & waiting) == '0)
          && (!leaves_q
        || !runs[leaves_place_q]) && (!leaves_q || !waiting[leaves_place_q]));
      port_names_what_exists: assert (valid
          ? sm < SmW'(M) && slot < SlotW'(N) && kernel < KIndexW'(K) && state[kernel[0]*2 +: 2] != 2'd0
        && (\dut.fresh || owner[place] == kernel[0]) && \dut.port_sm == M'(1) << sm[0]
        && (\dut.fresh || \dut.i_dispatch_port.slot_q == N'(1) << slot[1:0])
        && \dut.port_kernel == K'(1) << kernel[0] : \dut.port_sm == '0 && \dut.port_kernel == '0);
      busy_is_what_is_on_its_way: assert (\dut.i_dispatch_picker.busy_q == ((\dut.fresh ? \dut.port_sm 
        : '0) | \dut.i_sm_resource_table.charge_sm_q | \dut.i_sm_resource_table.charged_sm_q )
        && (!\dut.fresh || (\dut.port_sm
        & (\dut.i_sm_resource_table.charge_sm_q | \dut.i_sm_resource_table.charged_sm_q )) == '0)
        && (\dut.i_sm_resource_table.charge_sm_q & \dut.i_sm_resource_table.charged_sm_q ) == '0
        && (\dut.i_sm_resource_table.charge_sm_q & (\dut.i_sm_resource_table.charge_sm_q - 1'b1)) == '0
        && (\dut.i_sm_resource_table.charged_sm_q & (\dut.i_sm_resource_table.charged_sm_q - 1'b1)) == '0
        && \dut.i_sm_resource_table.charge_q == (\dut.i_sm_resource_table.charge_sm_q != '0)
        && (\dut.i_sm_resource_table.charge_q
        ? \dut.i_kernel_slots.i_grid_index.count_q == \dut.i_sm_resource_table.charge_kernel_q
          && (\dut.i_sm_resource_table.charge_kernel_q == K'(1) || \dut.i_sm_resource_table.charge_kernel_q == K'(2))
        : \dut.i_kernel_slots.i_grid_index.count_q == '0));
      each_end_is_counted_and_credited: assert ((!leaves_q || {1'b0, leaves_place_q} < 4'(M * N))
          && (!counted_q || (counted_sm_q != '0
        && (counted_sm_q & (counted_sm_q - 1'b1)) == '0))
        && (!credited_q || (credited_sm_q != '0 && (credited_sm_q & (credited_sm_q - 1'b1)) == '0))
        && \dut.i_sm_resource_table.i_end.release_sm_q == (counted_q ? counted_sm_q : '0)
        && \dut.i_sm_resource_table.i_end.release_kernel_q == (counted_q ? K'(1) << counted_kernel_q : '0)
        && \dut.i_sm_resource_table.i_end.credit_sm_q == (credited_q ? credited_sm_q : '0));
      an_end_names_its_slot: assert (ok.an_end_names_its_slot
        && (!rst_ni || (\dut.i_sm_resource_table.i_end.end_valid_q == (leaves_q || bad_done_before)
        && !(leaves_q && bad_done_before))));
      lane_a_is_of_its_sm: assert (ok.lane_a_is_of_its_sm);
      lane_d_is_of_its_sm: assert (ok.lane_d_is_of_its_sm);
      answer_is_not_optimistic: assert (ok.answer_is_not_optimistic);
      verdict_is_not_optimistic: assert (ok.verdict_is_not_optimistic);
      one_sm_is_read: assert (query_sm == \dut.i_dispatch_picker.eval_q
          && (!rst_ni || query_sm == '0 || \dut.eval_slots_sm == query_sm)
        && (\dut.i_dispatch_picker.eval_q & (\dut.i_dispatch_picker.eval_q - 1'b1)) == '0
        && (\dut.i_dispatch_picker.answer_q & (\dut.i_dispatch_picker.answer_q - 1'b1)) == '0);
      last_index_is_known: assert (ok.last_index_is_known);
      what_is_fresh_is_valid: assert ((!\dut.fresh || valid)
          && (!rst_ni || \dut.i_kernel_slots.i_grid_index.port_q == \dut.port_kernel ));
      when_nothing_runs_all_is_free: assert ((runs | waiting) != '0 || leaves_q || counted_q || credited_q
          || \dut.i_sm_resource_table.charge_q || (row == {M{capacity_left}}
        && resident == '0));
      reset_is_clean: assert (rst_ni
          || (state == '0 && resident == '0 && !valid && !change && error == '0
        && evict_done == '0 && kernel_done == '0 && num_present == '0 && slot_used == '0
        && \dut.i_dispatch_picker.busy_q == '0
        && \dut.i_sm_resource_table.i_end.release_sm_q == '0 && \dut.i_sm_resource_table.i_end.credit_sm_q == '0
        && \dut.i_dispatch_picker.room_q == '0
        && settled == '0 && gives_none == '0));
      used_is_the_sum_over_ctas: assert (ok.used_is_the_sum_over_ctas);
      no_resource_over_allocated: assert (ok.no_resource_over_allocated);
      slot_is_one_of_the_sm: assert (ok.slot_is_one_of_the_sm);
      remembered_room_is_there: assert (ok.remembered_room_is_there);
      charge_knows_the_quotas: assert (ok.charge_knows_the_quotas);
      age_is_an_order: assert (!\dut.older [0] && !\dut.older [3] && (state == '0 || \dut.older [1] != \dut.older [2]));
      quota_never_exceeded: assert (ok.quota_never_exceeded);
      resident_counts_all_sms: assert (ok.resident_counts_all_sms);
      a_free_slot_has_no_cta: assert (ok.a_free_slot_has_no_cta);
      slot_state_exists: assert (ok.slot_state_exists);
      a_launched_cta_fits_an_empty_sm: assert (ok.a_launched_cta_fits_an_empty_sm);
      no_cta_lost_or_sent_twice: assert (ok.no_cta_lost_or_sent_twice);
      index_is_next: assert (ok.index_is_next);
      index_stays_in_the_grid: assert (ok.index_stays_in_the_grid);
      in_order_the_older_go_first: assert (ok.in_order_the_older_go_first);
    end
  end
