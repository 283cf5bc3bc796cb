// SPDX-License-Identifier: Apache-2.0
// Part of cta_dispatcher_props: what happens from one cycle to the next: evictions, ends of kernels, SMs that have
// settled or can be given a CTA.
  // Pairs of cycles.
  logic                   was_up, waited, past_bad_done;
  logic [SmW+KIndexW+SlotW+GridW+RegW+SharedW-1:0] port, port_q;
  logic [K*2-1:0]         state_q;
  logic [K*ResidentW-1:0] resident_q;
  logic [K-1:0]           asked_q;                 // to evict, and not FREE
  logic [K-1:0]           held, over, over_q;      // held: an eviction and no resume since
  logic [K*16-1:0]        left;                    // CTAs that an eviction still waits for
  logic [K-1:0]           evicting;
  logic [K-1:0]           empty, empty_q;
  logic [K-1:0]           spent, spent_q;                   // its last CTA was admitted, and it does not repeat
  logic [K-1:0]           evicting_q, ended, ended_q;
  logic [K*16-1:0]        evict_left, present;
  logic [K*16-1:0]        rank, rank_q;            // ends that an eviction waits for, at most
  assign port = {sm, kernel, slot, cta, register_base, shared_base};
  always_ff @(posedge clk_i) begin
    was_up        <= rst_ni;
    waited        <= valid && !dispatch_ready_i;
    port_q        <= port;
    past_bad_done <= bad_done_before;
    state_q       <= state;
    resident_q    <= resident;
    rank_q        <= rank;
    evicting_q    <= evicting & ~resume_i & ~evict_i;
    ended_q       <= ended;
    spent_q       <= spent;
    empty_q       <= empty;
    over_q        <= over & ~resume_i & ~evict_i;
  end
  for (genvar k = 0; k < K; k++) begin : gen_evict
    logic taken;
    assign taken   = evict_i[k] && state[k*2 +: 2] != 2'd0;
    always_ff @(posedge clk_i) asked_q[k] <= taken;
    assign ended[k] = counted_q && counted_kernel_q == k[0];   // that its kernel gets to know
    assign present[k*16 +: 16] = 16'(resident[k*ResidentW +: ResidentW]) + 16'(\dut.fresh && kernel == KIndexW'(k));
    assign rank[k*16 +: 16] = (evict_left[k*16 +: 16] < present[k*16 +: 16]) ? evict_left[k*16 +: 16]
        : present[k*16 +: 16];
    assign empty[k] = resident[k*ResidentW +: ResidentW] == '0 && !(\dut.fresh && kernel == KIndexW'(k));
    assign over[k] = evicting[k] && state[k*2 +: 2] != 2'd0 && (left[k*16 +: 16] == '0 || empty[k]);
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) begin
        held[k]          <= 1'b0;
        evicting[k]      <= 1'b0;
        spent[k]         <= 1'b0;
        left[k*16 +: 16] <= '0;
      end else begin
        if (state[k*2 +: 2] == 2'd0) spent[k] <= 1'b0;
        else if (\dut.pick_valid  && \dut.pick_kernel [k] && !repeat_i[k]
            && index[k*GridW +: GridW] + 1'b1 == grid[k*GridW +: GridW])
          spent[k] <= 1'b1;
        if (resume_i[k] || state[k*2 +: 2] == 2'd0) held[k] <= 1'b0;
        if (resume_i[k] || state[k*2 +: 2] == 2'd0 || over[k]) evicting[k] <= 1'b0;
        if (ended[k] && left[k*16 +: 16] != '0) left[k*16 +: 16] <= left[k*16 +: 16] - 1'b1;
        if (taken) begin
          held[k]          <= 1'b1;
          evicting[k]      <= 1'b1;
          left[k*16 +: 16] <= (evict_count_i > 16'(M * N)) ? 16'(M * N) : evict_count_i;   // as good as all
        end
      end
  end
  struct packed {
    logic evicted_kernel_is_not_refilled, eviction_is_reported_when_enough_ended, only_running_kernels_dispatch,
      slot_is_freed_only_when_empty, a_grid_is_sent_once, a_kernel_ends_by_itself_only_after_its_grid,
      a_drained_kernel_leaves, each_end_brings_an_eviction_nearer, no_cta_is_killed, an_eviction_ends_with_its_kernel;
  } ok_next;
  always_comb begin
    ok_next = '1;
    for (int unsigned k = 0; k < K; k++) begin
      if (spent[k] && state[k*2 +: 2] != 2'd0 && \dut.pick_valid  && \dut.pick_kernel [k])
        ok_next.a_grid_is_sent_once = 1'b0;
      if (state_q[k*2 +: 2] == 2'd1 && state[k*2 +: 2] == 2'd0 && !spent_q[k])
        ok_next.a_kernel_ends_by_itself_only_after_its_grid = 1'b0;
      if ((state_q[k*2 +: 2] == 2'd2 || (state_q[k*2 +: 2] == 2'd1 && spent_q[k])) && empty_q[k]
          && state[k*2 +: 2] != 2'd0) ok_next.a_drained_kernel_leaves = 1'b0;
      if (evicting_q[k] && state_q[k*2 +: 2] != 2'd0
          && rank[k*16 +: 16] + 16'(ended_q[k] && rank_q[k*16 +: 16] != '0) > rank_q[k*16 +: 16])
        ok_next.each_end_brings_an_eviction_nearer = 1'b0;
      if (resident[k*ResidentW +: ResidentW] + ResidentW'(ended_q[k]) < resident_q[k*ResidentW +: ResidentW])
        ok_next.no_cta_is_killed = 1'b0;
      if (!(!(held[k] && state[k*2 +: 2] != 2'd0 && \dut.pick_valid && \dut.pick_kernel [k])))
        ok_next.evicted_kernel_is_not_refilled = 1'b0;
      if (!(!over_q[k] || evict_done[k])) ok_next.eviction_is_reported_when_enough_ended = 1'b0;
      // asked for when it left
      if (asked_q[k] && state[k*2 +: 2] == 2'd0 && !evict_done[k]) ok_next.an_eviction_ends_with_its_kernel = 1'b0;
      if (!(!(\dut.pick_valid && \dut.pick_kernel [k]) || state[k*2 +: 2] == 2'd1))
        ok_next.only_running_kernels_dispatch = 1'b0;
      if (!(!(state_q[k*2 +: 2] != 2'd0 && state[k*2 +: 2] == 2'd0) || (kernel_done[k] && empty_q[k])))
        ok_next.slot_is_freed_only_when_empty = 1'b0;
    end
    if (started && was_up && rst_ni) begin
      port_is_stable_while_it_waits: assert (!waited || (valid && port == port_q));
      an_end_that_was_never_started_is_an_error: assert (error.bad_done == past_bad_done);
      evicted_kernel_is_not_refilled: assert (ok_next.evicted_kernel_is_not_refilled);
      eviction_is_reported_when_enough_ended: assert (ok_next.eviction_is_reported_when_enough_ended);
      an_eviction_ends_with_its_kernel: assert (ok_next.an_eviction_ends_with_its_kernel);
      only_running_kernels_dispatch: assert (ok_next.only_running_kernels_dispatch);
      slot_is_freed_only_when_empty: assert (ok_next.slot_is_freed_only_when_empty);
      a_grid_is_sent_once: assert (ok_next.a_grid_is_sent_once);
      a_kernel_ends_by_itself_only_after_its_grid: assert (ok_next.a_kernel_ends_by_itself_only_after_its_grid);
      a_drained_kernel_leaves: assert (ok_next.a_drained_kernel_leaves);
      each_end_brings_an_eviction_nearer: assert (ok_next.each_end_brings_an_eviction_nearer);
      no_cta_is_killed: assert (ok_next.no_cta_is_killed);
    end
  end

  // SMs that have held just their quotas since these changed, in some cycle: the CTAs in slots and the one that is new
  // at the port.
  logic [M-1:0] holds_quotas, held_quotas, settled_q;
  logic         quota_changed_q, profiling_q, ok_settled, ok_full;
  always_comb
    for (int unsigned m = 0; m < M; m++) begin
      holds_quotas[m] = 1'b1;
      for (int unsigned k = 0; k < K; k++)
        if (count[(m*K + k)*CtaW +: CtaW] + CtaW'(\dut.fresh && \dut.port_sm [m] && \dut.port_kernel [k])
            != quota_i[(m*K + k)*CtaW +: CtaW]) holds_quotas[m] = 1'b0;
    end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) held_quotas <= '0;
    else         held_quotas <= holds_quotas | (held_quotas & {M{!quota_changed_i}});
  always_ff @(posedge clk_i) begin
    settled_q       <= settled;
    quota_changed_q <= quota_changed_i;
    profiling_q     <= profiling_i;
  end
  always_comb begin
    ok_settled = (settled & ~held_quotas) == '0;
    ok_full    = 1'b1;
    for (int unsigned m = 0; m < M; m++)
      if (!held_quotas[m]) begin
        // Lane A's verdict, before and after it is compared; lane B's.
        if (\dut.i_sm_resource_table.charge_sm_q [m] && !\dut.charge_stale_q && a_count == quota_q[m*K*CtaW +: K*CtaW])
          ok_full = 1'b0;
        if (\dut.i_sm_resource_table.charged_sm_q [m] && !\dut.charged_stale_q
            && \dut.i_sm_resource_table.charged_full_q ) ok_full = 1'b0;
        if (\dut.i_dispatch_picker.answer_q [m] && !\dut.i_dispatch_picker.busy_q [m] && \dut.i_dispatch_picker.new_q
            && \dut.i_sm_resource_table.b_resident_q == \dut.i_sm_resource_table.b_quota_q ) ok_full = 1'b0;
      end
    if (started) begin
      settled_only_after_it_held_its_quotas: assert (ok_settled);
      full_is_told_of_what_was_full:         assert (ok_full);
    end
    if (started && was_up && rst_ni) begin
      if (!quota_changed_q)                settled_stays_until_the_quotas_change: assert ((settled_q & ~settled) == '0);
      if (!quota_changed_q && profiling_q) settled_stays_as_it_is_while_profiling: assert (settled == settled_q);
    end
  end

  // SMs that can be given a CTA: enabled now, and a cycle ago ready, with none waiting for them at the port.
  (* hierconn *) logic [M-1:0] \dut.i_sm_available.gen_ready.ready_q ;
  logic [M-1:0] was_ready, available, occupied, stays_empty;
  logic         ok_available_room_is_picked;
  assign available = sm_enable_i & was_ready;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) was_ready <= '0;
    else         was_ready <= sm_ready_i & ~(M'(valid) << sm[0]);
  always_ff @(posedge clk_i) stays_empty <= ~sm_enable_i & ~sm_busy;
  always_comb begin
    ok_available_room_is_picked = 1'b1;
    for (int unsigned m = 0; m < M; m++) begin
      occupied[m] = (slot_used[m*N +: N] | waiting[m*N +: N]) != '0 || \dut.port_sm [m];
      for (int unsigned k = 0; k < K; k++)
        if (available[m] && \dut.i_dispatch_picker.room_q [k*M + m] && !\dut.i_dispatch_picker.busy_q [m]
            && \dut.can_admit [k] && !quota_changed_i
            && (!valid || dispatch_ready_i) && !(in_order_i && \dut.can_admit [1-k] && \dut.older [(1-k)*K + k])
            && !\dut.pick_valid )
          ok_available_room_is_picked = 1'b0;
    end
    if (started) begin
      only_available_sms_are_picked: assert (!\dut.pick_valid || (\dut.pick_sm & ~available) == '0);
      readiness_is_a_cycle_old: assert (\dut.i_sm_available.gen_ready.ready_q == was_ready);
      an_sm_with_room_waits_for_no_other: assert (ok_available_room_is_picked);
      busy_tells_what_an_sm_holds: assert (sm_busy == occupied);
    end
    if (started && was_up && rst_ni) a_disabled_sm_that_is_empty_stays_empty: assert ((stays_empty & sm_busy) == '0);
  end

  // In order, a grid that starts again is behind all that run.
  logic [K-1:0] again_q;
  logic         ok_spent, ok_again;
  always_ff @(posedge clk_i)
    for (int unsigned k = 0; k < K; k++)
      again_q[k] <= in_order_i && \dut.pick_valid && \dut.pick_kernel [k] && repeat_i[k]
          && index[k*GridW +: GridW] + 1'b1 == grid[k*GridW +: GridW];
  always_comb begin
    ok_spent = 1'b1;
    ok_again = 1'b1;
    for (int unsigned k = 0; k < K; k++) begin
      if (gives_none[k] != (state[k*2 +: 2] == 2'd1 && !\dut.can_admit [k])
          || gives_none[k] != (state[k*2 +: 2] == 2'd1 && (spent[k] || held[k]))) ok_spent = 1'b0;
      if (again_q[k] && state[(1-k)*2 +: 2] == 2'd1 && state_q[(1-k)*2 +: 2] == 2'd1
          && (\dut.older [k*K + 1 - k] || !\dut.older [(1-k)*K + k])) ok_again = 1'b0;
    end
    if (started) spent_is_running_without_a_cta_to_give: assert (ok_spent);
    if (started) nothing_is_charged_while_ctas_are_counted: assert (!count_i || !\dut.fresh );
    if (started && was_up && rst_ni) a_grid_that_starts_again_is_the_youngest: assert (ok_again);
  end

  // Whether a kernel fits is known a cycle ahead.
  (* hierconn *) logic \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.fits_q ,
    \dut.i_kernel_slots.gen_slot[1].i_kernel_slot.fits_q ;
  logic [K-1:0] fitted, regions_fitted;   // by the descriptors and the capacity of the cycle before
  always_comb begin
    fitted = regions_fitted;
    for (int unsigned k = 0; k < K; k++)
      if (descriptor_q[k*AmountW +: WarpW] == '0 || grid_before_q[k*GridW +: GridW] == '0 || capacity_q[CtaW-1:0] == '0
          || descriptor_q[k*AmountW +: WarpW] > capacity_left[0 +: WarpW]
          || descriptor_q[k*AmountW + WarpW +: RegW] > capacity_left[WarpW +: RegW]
          || descriptor_q[k*AmountW + WarpW + RegW +: SharedW] > capacity_left[WarpW + RegW +: SharedW])
        fitted[k] = 1'b0;
    if (started && up_q && rst_ni)
      fit_is_known_a_cycle_ahead: assert ({\dut.i_kernel_slots.gen_slot[1].i_kernel_slot.fits_q ,
          \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.fits_q } == fitted);
  end
`ifndef REGIONS
  assign regions_fitted = '1;
`endif

  // The records kept here are those of the design.
  logic [K-1:0]       hold, evict, finished;
  assign finished   = {\dut.i_kernel_slots.gen_slot[1].i_kernel_slot.finished_q ,
      \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.finished_q };
  assign hold       = {\dut.i_kernel_slots.gen_slot[1].i_kernel_slot.hold_q ,
      \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.hold_q };
  assign evict      = {\dut.i_kernel_slots.gen_slot[1].i_kernel_slot.evict_q ,
      \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.evict_q };
  assign evict_left = {16'(\dut.i_kernel_slots.gen_slot[1].i_kernel_slot.evict_left_q ),
      16'(\dut.i_kernel_slots.gen_slot[0].i_kernel_slot.evict_left_q )};
  logic ok_records;
  always_comb begin
    ok_records = 1'b1;
    for (int unsigned k = 0; k < K; k++)
      if (state[k*2 +: 2] != 2'd0
          && (grid[k*GridW +: GridW] != grid_before_q[k*GridW +: GridW] || hold[k] != held[k] || (evict[k] && !hold[k])
        || evict[k] != evicting[k] || (evict[k] && evict_left[k*16 +: 16] != left[k*16 +: 16])
        || finished[k] != spent[k] || grid[k*GridW +: GridW] == '0)) ok_records = 1'b0;
    if ((hold & {state[3:2] == 2'd0, state[1:0] == 2'd0}) != '0
        || (evict & {state[3:2] == 2'd0, state[1:0] == 2'd0}) != '0) ok_records = 1'b0;
    if (started) records_agree: assert (ok_records);
  end
