// SPDX-License-Identifier: Apache-2.0
// balance_rounds: mode `balance` beside partition_sequencer (docs/reference/blocks/balance_rounds.md). From a start,
// with Warped-Slicer's partition, it holds on SMs what balance_search wants measured, runs windows, hands over what SMs
// count, and holds what is kept. While active_o is high its outputs stand in for the sequencer's of the same names; an
// abort, by another plan, gives SMs back. Kernels are numbered by rank.
module balance_rounds #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned NUM_SCHED   = 2
) (
  input  logic                                          clk_i,
  input  logic                                          rst_ni,
  input  logic                                          start_i,         // pulse: base_i is in force
  input  logic                                          abort_i,         // pulse: it is no longer
  // Settings; all stand while it is active.
  input  logic [balance_pkg::EntryW-1:0]                candidates_i,    // in a round, at most
  input  logic [balance_pkg::KeepW-1:0]                 keep_i,
  input  logic [MAX_KERNELS*balance_pkg::WeightW-1:0]   weight_i,
  input  logic [MAX_KERNELS*balance_pkg::RateW-1:0]     floor_i,
  input  logic [sluice_pkg::TimerW-1:0]                 warm_up_i,
  input  logic [sluice_pkg::WindowW-1:0]                window_i,
  input  sluice_pkg::amounts_t                          capacity_i,
  input  logic [sluice_pkg::CtaW-1:0]                   capacity_slots_i,
  // The plan.
  input  logic [sluice_pkg::KernelW-1:0]                num_kernels_i,   // 2..MAX_KERNELS
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]    slots_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       base_i,
  input  sluice_pkg::amounts_t                          demand_i,        // of demand_kernel_o's CTA
  output logic [sluice_pkg::KernelW-1:0]                demand_kernel_o,
  input  logic [MAX_KERNELS-1:0]                        spent_i,         // kernel slots that dispatch no more
  input  logic [NUM_SM-1:0]                             settled_i,       // SMs that hold just their quotas
  input  logic [NUM_SM-1:0]                             sm_enable_i,
  // Samples: of the profile, the last level of a kernel is what it does alone.
  input  logic                                          sample_valid_i,
  input  sluice_pkg::sample_t                           sample_i,
  input  logic [sluice_pkg::InstW-1:0]                  sample_insts_i,  // or of the SM that was read a cycle before
  output logic                                          sample_read_o,
  output logic [sluice_pkg::SmW-1:0]                    sample_sm_o,
  output logic                                          profile_clear_o,
  output logic                                          profile_enable_o,
  output logic                                          profiling_o,
  output logic                                          on_all_o,        // no SM has to keep to its share of bandwidth
  output logic [NUM_SM*sluice_pkg::KIndexW-1:0]         owner_o,         // the kernel slot that an SM counts
  // Quotas, by kernel slot.
  input  logic [NUM_SM-1:0]                             query_sm_i,      // one-hot
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       query_quota_o,
  input  logic [NUM_SM-1:0]                             port_sm_i,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]       port_quota_o,
  output logic                                          quota_changed_o, // pulse: first cycle of new quotas
  output logic                                          free_o,          // no quotas:
  output logic                                          turns_o,         // CTAs in turn, else in order
  // Status.
  output logic                                          active_o,
  output logic                                          held_o,          // something is kept
  output logic                                          decision_o,      // pulse: from this cycle on
  output sequencer_pkg::state_e                         state_o,
  output logic                                          scored_o,        // balance_search's, for the host
  output logic [balance_pkg::EntryW-1:0]                scored_entry_o,
  output logic                                          measured_o,
  output logic [balance_pkg::W-1:0]                     time_o,
  output logic                                          floors_o
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS) || NUM_SCHED < 1 || NUM_SCHED > 4)
    $error("balance_rounds: size out of range");
  localparam int unsigned K       = MAX_KERNELS;
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned SmW     = sluice_pkg::SmW;
  localparam int unsigned TimerW  = sluice_pkg::TimerW;
  localparam int unsigned EntryW  = balance_pkg::EntryW;
  localparam int unsigned RowW    = balance_pkg::RowW;
  localparam int unsigned RankW   = $clog2(K);
  // Three eighths of the SMs are left to the base; the others hold entries in groups of two.
  localparam int unsigned Group   = NUM_SM < 8 ? 1 : 2;
  localparam int unsigned Left    = NUM_SM * 3 / 8 < 1 ? 1 : NUM_SM * 3 / 8;
  localparam int unsigned Most    = (NUM_SM - Left) / Group > 15 ? 15 : (NUM_SM - Left) / Group;
  localparam int unsigned MostSize = Most < 1 ? 1 : Most;
  localparam int unsigned Wait    = (1 << 16) - 1;   // cycles that a round waits for CTAs to leave, at most
  localparam int unsigned Counted = 15;              // SMs of the base in a window: 63 samples are the most of a kernel

  // Read: the next SM; Hand: its sample is offered; Whole: the last instructions are counted.
  typedef enum logic [3:0] {Idle, List, WarmUp, Settle, Window, Whole, Read, Hand, End, Held} rounds_e;

  rounds_e           state_d, state_q;
  logic [TimerW-1:0] timer_d, timer_q;
  logic [3:0]        window_d, window_q, taken_d, taken_q;
  logic [SmW-1:0]    sm_d, sm_q;
  logic [RankW-1:0]  turn_d, turn_q;      // the window, modulo the kernels
  logic              spoiled_d, spoiled_q;   // a kernel was spent in a window of the round
  logic              shares_d, shares_q, turns_d, turns_q, changed_d, changed_q, decided_q;

  // The search.
  logic                     ready, round, alone, on_all, turns, done, shares, hand, round_end, search_abort;
  logic [RankW-1:0]         alone_kernel, demand_kernel;
  logic [EntryW:0]          entries;
  logic [EntryW-1:0]        sm_entry, room;
  logic [RowW-1:0]          query_row, port_row;
  logic [(MostSize+1)*RowW-1:0] list_rows;
  logic [K*CtaW-1:0]        counts, port_counts;
  logic [balance_pkg::SampleW-1:0] sample;
  logic [RankW-1:0]         sm_rank;

  // The most that an SM can issue in a window is below 4,096 after this shift; what is cut off rounds, 4,096 to 4,095.
  localparam int unsigned InstW = sluice_pkg::InstW;
  logic [InstW-1:0] bound;
  logic [InstW:0]   shifted;
  logic [12:0]      rounded;
  always_comb begin
    bound   = InstW'(window_i) * InstW'(NUM_SCHED);
    shifted = {sample_insts_i, 1'b0};
    for (int unsigned b = balance_pkg::SampleW; b < InstW; b++)
      if (bound[b]) shifted = {sample_insts_i, 1'b0} >> (b + 1 - balance_pkg::SampleW);
    rounded = {1'b0, shifted[balance_pkg::SampleW:1]} + 13'(shifted[0]);
    sample  = rounded[12] ? '1 : rounded[11:0];
  end

  if (Most == 0 || Most == 15) begin : gen_room
    assign room = candidates_i & EntryW'(Most);
  end else begin : gen_less_room
    assign room = candidates_i > EntryW'(Most) ? EntryW'(Most) : candidates_i;
  end
  balance_search #(.MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .ROOM(MostSize)) i_balance_search (
    .clk_i,
    .rst_ni,
    .start_i,
    .abort_i          (search_abort),
    .num_kernels_i,
    .base_i,
    .room_i           (room),
    .capacity_i,
    .capacity_slots_i,
    .demand_i,
    .demand_kernel_o  (demand_kernel),
    .weight_i,
    .floor_i,
    .keep_i,
    .alone_valid_i    (sample_valid_i && sample_i.last && state_q == Idle),
    .sample_valid_i   (hand),
    .sample_ready_o   (ready),
    .sample_entry_i   (sm_entry),
    .sample_kernel_i  (state_q == Idle ? sample_i.kernel[RankW-1:0] : sm_rank),
    .sample_i         (sample),
    .round_end_i      (round_end),
    .round_o          (round),
    .on_all_o         (on_all),
    .turns_o          (turns),
    .alone_o          (alone),
    .alone_kernel_o   (alone_kernel),
    .entries_o        (entries),
    .list_rows_o      (list_rows),
    .query_row_i      (query_row),
    .counts_o         (counts),
    .port_row_i       (port_row),
    .port_counts_o    (port_counts),
    .scored_o,
    .scored_entry_o,
    .measured_o,
    .time_o,
    .done_o           (done),
    .shares_o         (shares),
    .floors_o
  );
  assign demand_kernel_o = sluice_pkg::KernelW'(demand_kernel);

  // Which entry an SM holds, and which rank it counts: constants for each number of entries, of kernels and turn.
  logic [NUM_SM*EntryW-1:0] entry;
  logic [NUM_SM*RankW-1:0]  rank;
  logic [NUM_SM*RowW-1:0]   row_q;   // of the list: the partition that an SM holds
  for (genvar m = 0; m < NUM_SM; m++) begin : gen_sm
    always_comb begin
      entry[m*EntryW +: EntryW] = '0;
      for (int unsigned others = 1; others <= Most; others++)
        if (entries == (EntryW+1)'(others + 1) && others * Group * m / NUM_SM != others * Group * (m + 1) / NUM_SM)
          entry[m*EntryW +: EntryW] = EntryW'(1 + others * Group * m / NUM_SM % others);
    end
    always_comb begin
      rank[m*RankW +: RankW] = alone ? alone_kernel : '0;
      for (int unsigned n = 2; n <= K; n++)
        for (int unsigned t = 0; t < n; t++)
          if (!alone && num_kernels_i == sluice_pkg::KernelW'(n) && turn_q == RankW'(t))
            rank[m*RankW +: RankW] = RankW'((m + t) % n);
      owner_o[m*KIndexW +: KIndexW] = '0;
      for (int unsigned r = 0; r < K; r++)
        if (rank[m*RankW +: RankW] == RankW'(r)) owner_o[m*KIndexW +: KIndexW] = slots_i[r*KIndexW +: KIndexW];
    end
  end
  always_comb begin
    query_row   = '0;
    port_row    = '0;
    sm_entry    = '0;
    sm_rank     = '0;
    for (int unsigned m = 0; m < NUM_SM; m++) begin
      if (query_sm_i[m])   query_row |= row_q[m*RowW +: RowW];
      if (port_sm_i[m])    port_row  |= row_q[m*RowW +: RowW];
      if (sm_q == SmW'(m)) sm_entry  |= entry[m*EntryW +: EntryW];
      if (sm_q == SmW'(m)) sm_rank   |= rank[m*RankW +: RankW];
    end
  end
  always_comb begin
    query_quota_o = {K{free_o ? CtaW'(MAX_CTAS) : CtaW'(0)}};
    port_quota_o  = {K{free_o ? CtaW'(MAX_CTAS) : CtaW'(0)}};
    for (int unsigned k = 0; k < K; k++)
      for (int unsigned r = 0; r < K; r++)
        if (!free_o && sluice_pkg::KernelW'(r) < num_kernels_i && slots_i[r*KIndexW +: KIndexW] == KIndexW'(k)) begin
          query_quota_o[k*CtaW +: CtaW] = counts[r*CtaW +: CtaW];
          port_quota_o[k*CtaW +: CtaW]  = port_counts[r*CtaW +: CtaW];
        end
  end

  logic       last_window, last_turn, takes, spent, all_settled;
  logic [3:0] windows;   // the least multiple of the kernels that is 8 or more, on all SMs 4 or more; 4 of one alone
  always_comb begin
    windows = 4'd4;
    for (int unsigned n = 2; n <= K; n++)
      if (!alone && num_kernels_i == sluice_pkg::KernelW'(n))
        windows = on_all ? 4'((3 + n) / n * n) : 4'((7 + n) / n * n);
    last_window = window_q + 1'b1 == windows;
    last_turn   = sluice_pkg::KernelW'(turn_q) + 1'b1 == num_kernels_i;
    all_settled = (settled_i | ~sm_enable_i) == '1;
    spent       = 1'b0;
    for (int unsigned r = 0; r < K; r++)
      for (int unsigned k = 0; k < K; k++)
        if (sluice_pkg::KernelW'(r) < num_kernels_i && slots_i[r*KIndexW +: KIndexW] == KIndexW'(k))
          spent |= spent_i[k];
  end
  always_comb begin   // the SM under work
    takes = 1'b0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (sm_q == SmW'(m)) takes = sm_enable_i[m] && (settled_i[m] || turns_q || alone);   // MAX_CTAS are no quota
    if (sm_entry == '0 && taken_q == 4'(Counted)) takes = 1'b0;
  end

  logic last_sm;
  assign last_sm = sm_q == SmW'(NUM_SM - 1);
  always_comb begin
    state_d      = state_q;
    timer_d      = timer_q - 1'b1;
    window_d     = window_q;
    turn_d       = turn_q;
    taken_d      = taken_q;
    sm_d         = sm_q;
    spoiled_d    = spoiled_q;
    shares_d     = shares_q;
    turns_d      = turns_q;
    changed_d    = 1'b0;
    hand         = 1'b0;
    round_end    = 1'b0;
    search_abort = abort_i;
    unique case (state_q)
      List: begin
        timer_d   = warm_up_i >> 2;
        window_d  = '0;
        turn_d    = '0;
        spoiled_d = 1'b0;
        if (round) begin
          changed_d = 1'b1;
          turns_d   = turns;
          state_d   = WarmUp;
        end
        if (done) begin
          changed_d    = 1'b1;
          shares_d     = shares;
          turns_d      = turns;
          state_d      = Held;
        end
      end
      WarmUp: if (timer_q == '0) begin
        timer_d = TimerW'(Wait);
        state_d = Settle;
      end
      Settle: if (all_settled || timer_q == '0 || window_q != '0) begin
        timer_d = TimerW'(window_i) - 1'b1;
        state_d = Window;
      end
      Window: begin
        spoiled_d = spoiled_q || spent;
        if (timer_q == '0) state_d = Whole;
      end
      Whole: begin
        sm_d    = '0;
        taken_d = '0;
        state_d = Read;
      end
      Read: begin
        state_d = takes ? Hand : Read;
        if (!takes) begin
          sm_d = sm_q + 1'b1;
          if (last_sm) state_d = End;
        end
      end
      Hand: begin
        hand = 1'b1;
        if (ready) begin
          if (sm_entry == '0) taken_d = taken_q + 1'b1;
          sm_d    = sm_q + 1'b1;
          state_d = last_sm ? End : Read;
        end
      end
      End: if (ready) begin
        window_d = window_q + 1'b1;
        turn_d   = last_turn ? '0 : turn_q + 1'b1;
        state_d  = Settle;
        if (last_window) begin
          round_end = 1'b1;
          state_d   = List;
        end
        if (spoiled_q) begin   // a kernel is about to end: the base stays
          round_end    = 1'b0;
          search_abort = 1'b1;
          changed_d    = 1'b1;
          shares_d     = 1'b1;
          turns_d      = 1'b0;
          state_d      = Held;
        end
      end
      default: ;
    endcase
    if (start_i) begin
      shares_d = 1'b1;
      turns_d  = 1'b0;
      state_d  = List;
    end
    if (abort_i) begin
      changed_d = 1'b0;   // the sequencer says so
      state_d   = Idle;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state_q   <= Idle;
      changed_q <= 1'b0;
      decided_q <= 1'b0;
    end else begin
      state_q   <= state_d;
      changed_q <= changed_d;
      decided_q <= changed_d && state_d == Held;
    end
  always_ff @(posedge clk_i) begin   // set before they are looked at: no reset
    timer_q      <= timer_d;
    window_q     <= window_d;
    turn_q       <= turn_d;
    taken_q      <= taken_d;
    sm_q         <= sm_d;
    spoiled_q    <= spoiled_d;
    shares_q     <= shares_d;
    turns_q      <= turns_d;
    for (int unsigned m = 0; m < NUM_SM; m++) begin
      if (changed_d) row_q[m*RowW +: RowW] <= list_rows[RowW-1:0];
      for (int unsigned e = 1; e <= Most; e++)
        if (changed_d && state_d == WarmUp && entry[m*EntryW +: EntryW] == EntryW'(e))
          row_q[m*RowW +: RowW] <= list_rows[e*RowW +: RowW];
    end
    if (start_i) row_q <= '0;
  end

  assign active_o         = state_q != Idle;
  assign held_o           = state_q == Held;
  assign decision_o       = decided_q;
  assign quota_changed_o  = changed_q;
  assign turns_o          = turns_q;
  assign free_o           = !shares_q || turns_q;
  assign on_all_o         = active_o && !held_o && on_all;
  assign profile_clear_o  = state_q == Settle;
  assign profile_enable_o = state_q == Window;
  assign profiling_o      = state_q == Window || state_q == Whole || state_q == Read || state_q == Hand
      || state_q == End || (state_q == Settle && window_q != '0);
  assign sample_read_o    = state_q == Read && takes;
  assign sample_sm_o      = sm_q;
  always_comb
    unique case (state_q)
      WarmUp:                state_o = sequencer_pkg::WarmUp;
      Settle:                state_o = sequencer_pkg::Drain;
      Window:                state_o = sequencer_pkg::Profile;
      Whole, Read, Hand, End: state_o = sequencer_pkg::Scale;
      Held:                  state_o = sequencer_pkg::Monitor;
      default:               state_o = sequencer_pkg::Allocate;
    endcase

  logic unused_bits;
  assign unused_bits = ^{sample_i, shifted, bound};
endmodule
