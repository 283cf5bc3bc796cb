// SPDX-License-Identifier: Apache-2.0
// Properties of balance_rounds, for any search that keeps to its protocol: which SM holds what, what a round counts,
// and that it ends. SMs settle when they like, and stay settled while they are counted, as cta_dispatcher promises.
module balance_rounds_props #(
  parameter int unsigned M = 16,
  parameter int unsigned K = 3
) (
  input logic         clk_i,
  input logic         rst_ni,
  input logic         start_i,
  input logic         abort_i,
  input logic [K-1:0] spent_i,   // by kernel slot
  input logic [M-1:0] settled_i
);
  localparam int unsigned KIndexW = sluice_pkg::KIndexW, EntryW = balance_pkg::EntryW, RankW = $clog2(K),
    RowW = balance_pkg::RowW;
  localparam int unsigned Group = M < 8 ? 1 : 2, Left = M * 3 / 8, Most = (M - Left) / Group, Counted = 15;
  localparam logic [3:0] Idle = 4'd0, List = 4'd1, WarmUp = 4'd2, Settle = 4'd3, Window = 4'd4, Whole = 4'd5,
    Read = 4'd6, Hand = 4'd7, End = 4'd8, Held = 4'd9;

  (* anyconst *) logic [3:0]           num_kernels;
  (* anyconst *) logic [K*KIndexW-1:0] slots;
  (* anyconst *) logic [M-1:0]         sm_enable;
  (* anyconst *) logic [19:0]          warm_up;
  (* anyconst *) logic [15:0]          window;
  (* anyconst *) logic [7:0]           x;   // any SM,
  (* anyconst *) logic [EntryW-1:0]    e;   // and any entry of a list but the base

  logic [M*KIndexW-1:0] owner;
  logic [7:0]           sample_sm;
  logic sample_read, clear, enable, profiling, changed, free, in_turn, active, held, decision, on_all;
  balance_rounds #(.NUM_SM(M), .MAX_KERNELS(K)) dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .abort_i,
    .warm_up_i        (warm_up),
    .window_i         (window),
    .num_kernels_i    (num_kernels),
    .slots_i          (slots),
    .spent_i,
    .settled_i,
    .sm_enable_i      (sm_enable),
    .sample_read_o    (sample_read),
    .sample_sm_o      (sample_sm),
    .profile_clear_o  (clear),
    .profile_enable_o (enable),
    .profiling_o      (profiling),
    .on_all_o         (on_all),
    .owner_o          (owner),
    .quota_changed_o  (changed),
    .free_o           (free),
    .turns_o          (in_turn),
    .active_o         (active),
    .held_o           (held),
    .decision_o       (decision)
  );
  (* hierconn *) wire [3:0]          \dut.state_q , \dut.window_q , \dut.taken_q ;
  (* hierconn *) wire [19:0]         \dut.timer_q ;
  (* hierconn *) wire [RankW-1:0]    \dut.turn_q , \dut.alone_kernel ;
  (* hierconn *) wire [7:0]          \dut.sm_q ;
  (* hierconn *) wire [M*EntryW-1:0] \dut.entry ;
  (* hierconn *) wire [EntryW:0]     \dut.entries ;
  (* hierconn *) wire [M*RowW-1:0]   \dut.row_q ;
  (* hierconn *) wire [(Most+1)*RowW-1:0] \dut.list_rows ;
  (* hierconn *) wire \dut.round , \dut.on_all , \dut.turns , \dut.alone , \dut.ready , \dut.done , \dut.shares ,
    \dut.round_end , \dut.search_abort , \dut.spoiled_q , \dut.shares_q , \dut.turns_q ;
  logic [3:0]        state;
  logic [EntryW:0]   entries;
  logic [EntryW-1:0] entry_x;
  logic [RowW-1:0]   asked;   // what x holds
  logic              round, alone, in_round, taken;
  assign state    = \dut.state_q ;
  assign entries  = \dut.entries ;
  assign round    = \dut.round ;
  assign alone    = \dut.alone ;
  assign entry_x  = \dut.entry [x[3:0]*EntryW +: EntryW];
  assign asked    = \dut.row_q [x[3:0]*RowW +: RowW];
  assign in_round = state >= WarmUp && state <= End;
  assign taken    = state == Hand && \dut.ready ;   // a sample

  logic started, before;   // the cycle before was no reset
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb begin
    assume (rst_ni == started);
    assume (num_kernels >= 4'd2 && num_kernels <= 4'(K) && window != '0 && x < 8'(M) && e != '0);
    for (int unsigned r = 0; r < K; r++) begin
      assume (slots[r*KIndexW +: KIndexW] < KIndexW'(K));
      for (int unsigned s = 0; s < r; s++) assume (slots[r*KIndexW +: KIndexW] != slots[s*KIndexW +: KIndexW]);
    end
  end

  // The cycle before.
  logic [3:0]        state_q;
  logic [M-1:0]      settled_q;
  logic [EntryW:0]   entries_q;
  logic [EntryW-1:0] entry_q;
  logic [RowW-1:0]   asked_q;
  logic [(Most+1)*RowW-1:0] rows_q;
  logic [RankW-1:0]  alone_kernel_q;
  logic              start_q, round_q, round_end_q, drop_q, done_q, shares_q, all_q, turns_q, alone_q,
    active_q, free_q, profiling_q, stalls_q, abort_q;
  always_ff @(posedge clk_i) begin
    before         <= rst_ni;
    state_q        <= state;
    settled_q      <= settled_i;
    entries_q      <= entries;
    asked_q        <= asked;
    entry_q        <= entry_x;
    rows_q         <= \dut.list_rows ;
    alone_kernel_q <= \dut.alone_kernel ;
    start_q        <= start_i;
    abort_q        <= abort_i;
    round_q        <= round;
    round_end_q    <= \dut.round_end ;
    drop_q         <= \dut.search_abort || start_i;
    done_q         <= \dut.done ;
    shares_q       <= \dut.shares ;
    all_q          <= \dut.on_all ;
    turns_q        <= \dut.turns ;
    alone_q        <= alone;
    active_q       <= active;
    free_q         <= free;
    profiling_q    <= profiling;
    stalls_q       <= (state == Hand || state == End) && !\dut.ready ;
  end
  initial before = 1'b0;

  // Promises of the search (balance_protocol; how many entries there are, and that they stand, its bench shows), and of
  // cta_dispatcher.
  always_comb begin
    assume (entries <= (EntryW+1)'(Most + 1));
    assume (!\dut.ready || round);
    assume (!\dut.done || (!round && !done_q));
    assume (!round || !alone || \dut.alone_kernel < 4'(num_kernels));
    assume (!round || !alone || !\dut.turns );
    if (!before) assume (!round && !\dut.done );
    if (before) begin
      if (round_q && !round_end_q && !drop_q) assume (round);
      if (round_end_q || drop_q) assume (!round && !\dut.done );
      if (round && round_q) begin
        assume (\dut.on_all == all_q && \dut.turns == turns_q && alone == alone_q);
        if (alone) assume (\dut.alone_kernel == alone_kernel_q);
      end
      if (round && round_q) assume (entries == entries_q);
      if (round && \dut.on_all ) assume (entries == (EntryW+1)'(1));
      if (profiling && profiling_q) assume (settled_i == settled_q);
    end
  end

  // Which SM holds what.
  logic [7:0] sms_of_e, sms_of_base;
  always_comb begin
    sms_of_e    = '0;
    sms_of_base = '0;
    for (int unsigned m = 0; m < M; m++) begin
      sms_of_e    = sms_of_e + 8'(\dut.entry [m*EntryW +: EntryW] == e);
      sms_of_base = sms_of_base + 8'(\dut.entry [m*EntryW +: EntryW] == '0);
    end
    an_sm_holds_an_entry_of_the_list: assert (entry_x == '0 || (EntryW+1)'(entry_x) < entries);
    if ((EntryW+1)'(e) < entries)
      every_other_entry_has_its_sms: assert (sms_of_e == 8'(Group));
    the_base_has_its_share_of_sms: assert (sms_of_base >= 8'(Left) && sms_of_base != '0);
  end
  always_comb
    if (started && before && active && active_q && !start_q)
      quotas_change_only_when_it_is_said: assert (changed || (asked == asked_q && free == free_q));
  always_comb
    if (started && before && changed && !start_q)
      an_sm_holds_its_entry_of_the_list: assert (
        asked == rows_q[(state == WarmUp ? entry_q : EntryW'(0))*RowW +: RowW]);

  // What x counts: a sample of each kernel, since the round began.
  logic [K*4-1:0] counts;
  logic           spent, spent_q, taken_x;
  logic [15:0]    ran;
  logic [3:0]     passes;   // windows in which x has had its turn
  logic [K-1:0]   mine;     // x counts this rank, as its owner says
  logic [7:0]     base_before, base_here;   // SMs of the base that could be read before this one
  logic [M-1:0]   base_ready;
  logic           can_here, base_at;   // the SM under work may be read, is the base's
  always_comb begin
    spent = 1'b0;
    for (int unsigned r = 0; r < K; r++) begin
      mine[r] = 4'(r) < num_kernels && owner[x[3:0]*KIndexW +: KIndexW] == slots[r*KIndexW +: KIndexW];
      for (int unsigned k = 0; k < K; k++)
        if (4'(r) < num_kernels && slots[r*KIndexW +: KIndexW] == KIndexW'(k) && spent_i[k]) spent = 1'b1;
    end
    base_before = '0;
    base_here   = '0;
    {can_here, base_at} = '0;
    for (int unsigned m = 0; m < M; m++) begin
      base_ready[m] = \dut.entry [m*EntryW +: EntryW] == '0 && sm_enable[m] && (settled_i[m] || in_turn || alone);
      if (8'(m) < \dut.sm_q ) base_before = base_before + 8'(base_ready[m]);
      if (\dut.sm_q == 8'(m)) begin
        can_here = sm_enable[m] && (settled_i[m] || in_turn || alone);
        base_at  = \dut.entry [m*EntryW +: EntryW] == '0;
      end
      if (8'(m) < x)          base_here   = base_here + 8'(base_ready[m]);
    end
    taken_x = sm_enable[x[3:0]] && (settled_i[x[3:0]] || in_turn || alone)
      && (entry_x != '0 || base_here < 8'(Counted));
    passes  = \dut.window_q + 4'(((state == Read || state == Hand) && \dut.sm_q > x) || state == End);
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned r = 0; r < K; r++)
      if (taken && \dut.sm_q == x && mine[r]) counts[r*4 +: 4] <= counts[r*4 +: 4] + 1'b1;
    if (state == Window) spent_q <= spent_q || spent;
    ran <= enable ? ran + 1'b1 : '0;
    if (state == List) {counts, spent_q, ran} <= '0;
  end
  // Windows of the first `done` in which SM x counts rank r.
  function automatic logic [3:0] turns_of(input logic [7:0] sm, input int unsigned r, input logic [3:0] done);
    turns_of = '0;
    for (int unsigned w = 0; w < 9; w++)
      for (int unsigned n = 2; n <= K; n++)
        if (4'(w) < done && num_kernels == 4'(n) && (sm + 8'(w)) % 8'(n) == 8'(r)) turns_of = turns_of + 4'd1;
  endfunction
  logic [K*4-1:0] in_turns, as_often;
  always_comb
    for (int unsigned r = 0; r < K; r++) begin
      in_turns[r*4 +: 4] = alone ? passes & {4{\dut.alone_kernel == RankW'(r)}} : turns_of(x, r, passes);
      if (!taken_x || 4'(r) >= num_kernels) in_turns[r*4 +: 4] = '0;
      as_often[r*4 +: 4] = counts[3:0] & {4{4'(r) < num_kernels}};
    end
  logic [3:0] windows;   // the least number that is a multiple of the kernels, and 8 or more, or 4 on all SMs
  always_comb begin
    windows = 4'd4;
    if (!alone && num_kernels == 4'd3) windows = \dut.on_all ? 4'd6 : 4'd9;
    if (!alone && num_kernels == 4'd2) windows = \dut.on_all ? 4'd4 : 4'd8;
  end
  always_comb
    if (started) begin
      states_exist: assert (state <= Held);
      a_round_is_the_search_s: assert (!in_round || round);
      if (in_round) begin
        windows_are_counted: assert (\dut.window_q < windows);
        turns_follow_the_windows: assert (4'(\dut.turn_q )
          == (num_kernels == 4'd2 ? \dut.window_q % 4'd2 : \dut.window_q % 4'd3));
      end
      if (state == WarmUp) the_first_window_is_before_it: assert (\dut.window_q == '0);
      if (state == Read || state == Hand) begin
        an_sm_is_read: assert (\dut.sm_q < 8'(M));
        the_base_is_counted_on_so_many: assert (8'(\dut.taken_q )
          == (base_before < 8'(Counted) ? base_before : 8'(Counted)));
      end
      if (state == Hand) only_what_has_settled_is_read: assert (can_here && (!base_at || base_before < 8'(Counted)));
      if (in_round) an_sm_counts_in_turn: assert (counts == in_turns);
      if (\dut.round_end && !alone) each_kernel_is_counted_as_often: assert (counts == as_often);
      if (\dut.round_end ) a_round_has_its_windows: assert (passes == windows);
      if (state == Window) a_window_is_as_long_as_it_is_set: assert (ran + 16'(\dut.timer_q ) + 16'd1 == window
        && \dut.timer_q < 20'h10000);
      if (state == Whole) the_window_was_as_long: assert (ran == window);
      if (in_round) spent_is_kept: assert (spent_q == \dut.spoiled_q );
      if (\dut.round_end ) no_round_with_a_kernel_that_ends: assert (!spent_q);
    end

  // What a round has left to do is one number, and falls in every cycle in which the search does not keep it waiting.
  function automatic logic [27:0] left(input logic [3:0] at, input logic [3:0] window_of, input logic [19:0] timer,
                                       input logic [7:0] sm);
    logic [3:0]  order;
    logic [19:0] within;
    order = 4'd8 - (at - WarmUp);
    if (at == Hand) order = 4'd8 - (Read - WarmUp);
    within = timer;
    if (at == Whole || at == End) within = '0;
    if (at == Read || at == Hand) within = {11'd0, 8'(M) - sm, at == Read};
    left = {4'd9 - window_of, order, within};
  endfunction
  logic [27:0] left_now, left_q;
  logic        counting_q;
  assign left_now = left(state, \dut.window_q , \dut.timer_q , \dut.sm_q );
  always_ff @(posedge clk_i) begin
    left_q     <= left_now;
    counting_q <= in_round && rst_ni;
  end
  initial counting_q = 1'b0;
  always_comb
    if (started && before) begin
      if (counting_q && in_round && !start_q)
        every_cycle_brings_a_round_nearer_to_its_end: assert (left_now < left_q || (stalls_q && left_now == left_q));
      if (counting_q && !in_round && !start_q && !abort_q)
        a_round_ends_with_a_list_or_what_is_kept: assert (state == List || state == Held);
      if (state == Held && state_q == List) what_is_kept_is_the_search_s: assert (done_q && in_turn == turns_q
        && free == (!shares_q || turns_q));
      if (state == Held && state_q == End) a_kernel_that_ends_leaves_the_base: assert (spent_q && !free && !in_turn);
      a_decision_is_said_once: assert (decision == (state == Held && state_q != Held && before));
      if (abort_q) an_abort_gives_sms_back: assert (!active && !changed);
      if (start_q && !abort_q) a_start_holds_the_base: assert (state == List && !free && !in_turn
        && asked == '0);
    end
endmodule
