// SPDX-License-Identifier: Apache-2.0
// balance_search: what mode `balance` measures after Warped-Slicer's partition, and what it keeps
// (docs/reference/blocks/balance_search.md). A start makes the list of the first round; while round_o is high the
// caller holds entry e on the SMs that it gives to e, and hands over their samples; after round_end_i comes another
// list, something that all SMs hold, or done_o, once. The registers that its four sub-programs count with are here.
module balance_search #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned ROOM        = 5   // entries of a round beside the base, 1..15
) (
  input  logic                                              clk_i,
  input  logic                                              rst_ni,
  input  logic                                              start_i,          // drops what is under way
  input  logic                                              abort_i,
  input  logic [sluice_pkg::KernelW-1:0]                    num_kernels_i,    // 2..MAX_KERNELS; all below stand
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]           base_i,           // Warped-Slicer's partition
  input  logic [balance_pkg::EntryW-1:0]                    room_i,           // 0..ROOM
  input  sluice_pkg::amounts_t                              capacity_i,       // of an SM
  input  logic [sluice_pkg::CtaW-1:0]                       capacity_slots_i,
  input  sluice_pkg::amounts_t                              demand_i,         // of demand_kernel_o's CTA
  output logic [$clog2(MAX_KERNELS)-1:0]                    demand_kernel_o,
  input  logic [MAX_KERNELS*balance_pkg::WeightW-1:0]       weight_i,         // 1 or more
  input  logic [MAX_KERNELS*balance_pkg::RateW-1:0]         floor_i,
  input  logic [balance_pkg::KeepW-1:0]                     keep_i,
  // What kernels have done alone, with all CTAs that fit, before a start; then a round's samples, of any entry and
  // kernel in any order, equally many of each kernel of an entry, 63 at most.
  input  logic                                              alone_valid_i,
  input  logic                                              sample_valid_i,   // taken while sample_ready_o is high
  output logic                                              sample_ready_o,
  input  logic [balance_pkg::EntryW-1:0]                    sample_entry_i,   // ignored where all SMs hold the same
  input  logic [$clog2(MAX_KERNELS)-1:0]                    sample_kernel_i,
  input  logic [balance_pkg::SampleW-1:0]                   sample_i,
  input  logic                                              round_end_i,      // while sample_ready_o is high
  output logic                                              round_o,
  output logic                                              on_all_o,         // all SMs hold the same: the base,
  output logic                                              turns_o,          // CTAs in turn, without quotas,
  output logic                                              alone_o,          // a kernel alone
  output logic [$clog2(MAX_KERNELS)-1:0]                    alone_kernel_o,
  // The list: its entries, and their rows. While round_o is high and with done_o they stand.
  output logic [balance_pkg::EntryW:0]                      entries_o,
  output logic [(ROOM+1)*balance_pkg::RowW-1:0]             list_rows_o,      // the base's first, and after the last
  // CTAs of a row, which stand until a start, when row 0 is base_i; but while a kernel is alone, MAX_CTAS of that, from
  // the cycle after the first of round_o to the one after the first of the next, or done_o.
  input  logic [balance_pkg::RowW-1:0]                      query_row_i,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]           counts_o,
  input  logic [balance_pkg::RowW-1:0]                      port_row_i,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]           port_counts_o,
  output logic                                              scored_o,         // pulse: of this entry
  output logic [balance_pkg::EntryW-1:0]                    scored_entry_o,
  output logic                                              measured_o,       // every kernel has a rate;
  output logic [balance_pkg::W-1:0]                         time_o,           // W / score
  output logic                                              done_o,           // pulse; until the next start
  output logic                                              shares_o,         // the base is kept, or with turns_o CTAs
                                                                              // in turn; else in order
  output logic                                              floors_o          // all are kept, if it was measured
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, MAX_CTAS) || ROOM < 1 || ROOM > 15)
    $error("balance_search: size out of range");
  localparam int unsigned K       = MAX_KERNELS;
  localparam int unsigned KIndexW = $clog2(K);
  localparam int unsigned CountW  = $clog2(MAX_CTAS + 2);   // one more is tried
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  // The list of a round after the first begins with two that are known.
  localparam int unsigned Rows        = 1 + ROOM + (balance_pkg::Rounds - 1) * (ROOM - 1);
  localparam int unsigned RowIndexW   = $clog2(Rows);
  localparam int unsigned RowCountW   = $clog2(Rows + 1);
  localparam int unsigned KCountW     = $clog2(K + 1) > 3 ? 3 : $clog2(K + 1);
  localparam int unsigned Entries     = ROOM < 2 ? 3 : ROOM + 1;   // AloneEntry is the last that must be
  localparam int unsigned EntryIndexW = $clog2(Entries);
  localparam int unsigned EntryCountW = $clog2(Entries + 1);
  localparam int unsigned W       = balance_pkg::W;
  localparam int unsigned MeanW   = balance_pkg::MeanW;
  localparam int unsigned EntryW  = balance_pkg::EntryW;

  balance_pkg::state_e    state_q;
  balance_pkg::progress_t progress_q, now, next, list, rates, step, keep;
  balance_pkg::control_t  decoded, control_q, list_control, rates_control, step_control, keep_control;
  logic [K*CountW-1:0]             rows_q [Rows];            // counts of CTAs: what was ever in a list
  logic [CountW-1:0]               work_q [K];               // the candidate that is made
  logic [W-1:0]                    sum_q, time_q, best_time_q, before_time_q;
  logic [balance_pkg::RateW-1:0]   short_q, best_short_q, before_short_q;
  logic [MeanW-1:0]                alone_q [K];
  logic [balance_pkg::CountW-1:0]  count_q [Entries];        // samples of an entry
  logic [balance_pkg::SampleW-1:0] sample_q;

  // A state has two cycles: it is decoded in the first, and done in the second. Wait and Idle have only the second.
  logic second_q, takes, single;
  always_comb begin
    now       = progress_q;
    now.state = state_q;
  end
  // floor(2 n / 3)
  function automatic logic [CountW-1:0] two_thirds(input logic [CountW-1:0] ctas);
    two_thirds = '0;
    for (int unsigned n = 2; n <= MAX_CTAS; n++) if (ctas == CountW'(n)) two_thirds = CountW'(2 * n / 3);
  endfunction

  // An entry's row: the base, the one before it, new ones.
  function automatic logic [balance_pkg::RowW-1:0] row_of(
    input logic [EntryW-1:0]            entry,
    input logic [balance_pkg::RowW-1:0] first,
    input logic [balance_pkg::RowW-1:0] base,
    input logic [balance_pkg::RowW-1:0] earlier,
    input logic                         has_before,
    input logic [EntryW:0]              entries
  );
    row_of = first + balance_pkg::RowW'(entry) - (has_before ? 6'd2 : 6'd1);
    if (has_before && entry == EntryW'(1)) row_of = earlier;
    if (entry == '0 || (EntryW+1)'(entry) >= entries) row_of = base;
  endfunction
  logic [K-1:0]       only_q;   // the kernel that is alone

  logic                            last_kernel, last_left, below, a_zero, b_zero, same_q, promised, first;
  logic [KIndexW-1:0]              kernel;
  logic [K*CountW-1:0]             work, row;
  logic [W-1:0]                    bus, result, word, a, q;
  logic [balance_pkg::WeightW-1:0] weight;
  assign kernel      = KIndexW'(now.kernel);
  assign weight      = weight_i[32'(kernel)*balance_pkg::WeightW +: balance_pkg::WeightW];
  assign last_kernel = sluice_pkg::KernelW'(now.kernel) + 1'b1 == num_kernels_i;
  assign last_left   = now.left == 6'd1;
  assign promised    = floor_i != '0;
  assign first       = now.rows == balance_pkg::RowW'(1);
  assign row         = rows_q[RowIndexW'(state_q == balance_pkg::ListLoad ? now.base : now.row)];
  always_comb
    for (int unsigned k = 0; k < K; k++) work[k*CountW +: CountW] = work_q[k];

  balance_list i_balance_list (
    .now_i         (now),
    .num_kernels_i,
    .last_kernel_i (last_kernel),
    .last_i        (last_left),
    .below_i       (below),
    .ctas_i        (CtaW'(work_q[kernel])),
    .off_ctas_i    (CtaW'(work_q[KIndexW'(now.off)])),
    .to_ctas_i     (CtaW'(work_q[KIndexW'(now.to)])),
    .same_i        (same_q),
    .room_i,
    .next_o        (list),
    .control_o     (list_control)
  );
  balance_rates i_balance_rates (
    .now_i         (now),
    .last_kernel_i (last_kernel),
    .last_i        (last_left),
    .below_i       (below),
    .b_zero_i      (b_zero),
    .next_o        (rates),
    .control_o     (rates_control)
  );
  balance_step i_balance_step (
    .now_i         (now),
    .last_kernel_i (last_kernel),
    .last_i        (last_left),
    .below_i       (below),
    .a_zero_i      (a_zero),
    .first_i       (first),
    .best_row_i    (row_of(now.best, now.first, now.base, now.earlier, now.has_before, now.entries)),
    .next_o        (step),
    .control_o     (step_control)
  );
  balance_keep i_balance_keep (
    .now_i         (now),
    .last_kernel_i (last_kernel),
    .last_i        (last_left),
    .below_i       (below),
    .promised_i    (promised),
    .first_i       (first),
    .sampled_i     (count_q[EntryIndexW'(now.entry)] != '0),
    .next_o        (keep),
    .control_o     (keep_control)
  );

  assign single = now.phase == balance_pkg::Alone;
  assign takes  = sample_ready_o && sample_valid_i;
  always_comb begin
    decoded = list_control | rates_control | step_control | keep_control;
    next    = list;
    if (now.state >= balance_pkg::MeanCount) next = rates;
    if (now.state >= balance_pkg::StepStart) next = step;
    if (now.state >= balance_pkg::KeepStart) next = keep;
    unique case (now.state)
      balance_pkg::Wait: begin
        if (!single && (takes || round_end_i)) begin
          next.entry  = takes && now.phase == balance_pkg::SideBySide ? sample_entry_i : '0;
          if (now.phase == balance_pkg::InTurn) next.entry = balance_pkg::TurnsEntry;
          next.kernel = takes ? sluice_pkg::KIndexW'(sample_kernel_i) : '0;
        end
        if (takes)            next.state = balance_pkg::AddRead;
        else if (round_end_i) next.state = balance_pkg::MeanCount;
      end
      balance_pkg::AddRead: begin
        decoded.source  = balance_pkg::FromWord;
        decoded.load_a  = 1'b1;
        decoded.sampled = single || now.kernel == '0;
        next.state      = balance_pkg::AddSum;
      end
      balance_pkg::AddSum: begin
        decoded.source = balance_pkg::FromSample;
        decoded.load_b = 1'b1;
        next.state     = balance_pkg::AddTake;
      end
      balance_pkg::AddTake: begin
        decoded.add = 1'b1;
        next.state  = balance_pkg::AddWrite;
      end
      balance_pkg::AddWrite: begin
        decoded.source = balance_pkg::FromA;
        decoded.write  = 1'b1;
        next.state     = balance_pkg::Wait;
      end
      default: ;
    endcase
    if (start_i) begin
      next       = '0;
      next.rows  = balance_pkg::RowW'(1);
      next.state = balance_pkg::ListStart;
    end
    if (abort_i) next.state = balance_pkg::Idle;
  end

  // What is kept never comes from what keeps it.
  always_comb begin
    result = '0;
    if (control_q.source == balance_pkg::FromA)        result = a;
    if (control_q.source == balance_pkg::FromQuotient) result = q;
    if (control_q.source == balance_pkg::FromMostTime) result = W'((1 << 17) - 1);
  end
  always_comb begin
    bus = '0;
    unique case (control_q.source)
      balance_pkg::FromSample:      bus = W'(sample_q);
      balance_pkg::FromWord:        bus = word;
      balance_pkg::FromCount:       bus = W'({count_q[EntryIndexW'(now.entry)], 11'b0});
      balance_pkg::FromAlone2:      bus = W'({alone_q[kernel], 1'b0});
      balance_pkg::FromAlone4:      bus = W'({alone_q[kernel], 2'b0});
      balance_pkg::FromQuotient:    bus = q;
      balance_pkg::FromProduct:     bus = {a[12:0], q[17:13]};
      balance_pkg::FromSum:         bus = sum_q;
      balance_pkg::FromFloor:       bus = W'(floor_i[32'(kernel)*balance_pkg::RateW +: balance_pkg::RateW]);
      balance_pkg::FromShort:       bus = W'(short_q);
      balance_pkg::FromTime:        bus = time_q;
      balance_pkg::FromTime64th:    bus = W'(time_q[W-1:6]);
      balance_pkg::FromWeight3:     bus = W'({weight, 3'b0});
      balance_pkg::FromWeight4:     bus = W'({weight, 4'b0});
      balance_pkg::FromWeight7:     bus = W'({weight, 7'b0});
      balance_pkg::FromBestShort:   bus = W'(best_short_q);
      balance_pkg::FromBestTime:    bus = best_time_q;
      balance_pkg::FromBeforeShort: bus = W'(before_short_q);
      balance_pkg::FromBeforeTime:  bus = before_time_q;
      balance_pkg::FromKeep:        bus = W'(keep_i);
      balance_pkg::FromOne:         bus = W'(1 << 14);
      balance_pkg::FromSevenEighths: bus = W'(7 << 11);
      balance_pkg::FromMostRate:    bus = W'((1 << balance_pkg::RateW) - 1);
      balance_pkg::FromCapacity:
        unique case (now.resource)
          2'd0:    bus = W'(capacity_slots_i);
          2'd1:    bus = W'(capacity_i.warps);
          2'd2:    bus = W'(capacity_i.registers);
          default: bus = W'(capacity_i.shared);
        endcase
      balance_pkg::FromDemand:
        unique case (now.resource)
          2'd0:    bus = W'(1);
          2'd1:    bus = W'(demand_i.warps);
          2'd2:    bus = W'(demand_i.registers);
          default: bus = W'(demand_i.shared);
        endcase
      default: bus = '0;
    endcase
  end

  balance_arithmetic i_balance_arithmetic (
    .clk_i,
    .control_i (control_q),
    .bus_i     (bus),
    .a_o       (a),
    .q_o       (q),
    .a_zero_o  (a_zero),
    .b_zero_o  (b_zero),
    .below_o   (below)
  );
  balance_table #(.MAX_KERNELS(K), .ENTRIES(Entries)) i_balance_table (
    .clk_i,
    .kernel_i (kernel),
    .entry_i  (control_q.at_base ? '0 : now.entry),
    .write_i  (control_q.write),
    .word_i   (result),
    .word_o   (word)
  );

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state_q  <= balance_pkg::Idle;
      second_q <= 1'b0;
    end else begin
      if (second_q || start_i || abort_i) state_q <= next.state;
      second_q <= !start_i && !abort_i && (!second_q || next.state <= balance_pkg::Wait);
    end
  always_ff @(posedge clk_i) control_q <= second_q || start_i || abort_i ? '0 : decoded;

  // As wide as there is use for.
  balance_pkg::progress_t kept;
  always_comb begin
    kept         = next;
    kept.kernel  = 3'(KCountW'(next.kernel));
    kept.to      = 3'(KIndexW'(next.to));
    kept.off     = 3'(KIndexW'(next.off));
    kept.grown   = 3'(KIndexW'(next.grown));
    kept.row     = balance_pkg::RowW'(RowCountW'(next.row));
    kept.rows    = balance_pkg::RowW'(RowCountW'(next.rows));
    kept.first   = balance_pkg::RowW'(RowCountW'(next.first));
    kept.base    = balance_pkg::RowW'(RowCountW'(next.base));
    kept.earlier = balance_pkg::RowW'(RowCountW'(next.earlier));
    kept.entry   = EntryW'(EntryIndexW'(next.entry));
    kept.best    = EntryW'(EntryIndexW'(next.best));
    kept.entries = (EntryW+1)'(EntryCountW'(next.entries));
  end

  // Set before they are looked at: no reset.
  always_ff @(posedge clk_i) begin
    if (second_q || start_i) progress_q <= kept;
    same_q     <= row == work;
    if (takes)              sample_q <= sample_i;
    if (control_q.keep_sum)   sum_q    <= result;
    if (control_q.keep_short) short_q  <= result[balance_pkg::RateW-1:0];
    if (control_q.keep_time)  time_q   <= result;
    if (control_q.best)       {best_short_q, best_time_q}     <= {short_q, time_q};
    if (control_q.earlier)    {before_short_q, before_time_q} <= {short_q, time_q};
    for (int unsigned k = 0; k < K; k++) begin
      if (alone_valid_i && sample_kernel_i == KIndexW'(k))      alone_q[k] <= {sample_i, 3'b0};
      else if (control_q.keep_alone && kernel == KIndexW'(k)) alone_q[k] <= result[MeanW-1:0];
      unique case (control_q.work)
        balance_pkg::IsBase: work_q[k] <= row[k*CountW +: CountW];
        balance_pkg::HasMore:
          if (control_q.work_kernel == 3'(k)) work_q[k] <= work_q[k] + 1'b1;
        balance_pkg::HasLess:
          if (control_q.work_kernel == 3'(k)) work_q[k] <= work_q[k] - 1'b1;
        balance_pkg::HasTwoThirds:
          if (control_q.work_kernel == 3'(k)) work_q[k] <= two_thirds(work_q[k]);
        default: ;
      endcase
    end
  end
  for (genvar e = 0; e < Entries; e++) begin : gen_count
    always_ff @(posedge clk_i)
      if (now.entry == EntryW'(e)) begin
        if (control_q.no_samples)   count_q[e] <= '0;
        else if (control_q.sampled) count_q[e] <= count_q[e] + 1'b1;
      end
  end
  logic [K*CountW-1:0] base;
  always_comb for (int unsigned k = 0; k < K; k++) base[k*CountW +: CountW] = CountW'(base_i[k*CtaW +: CtaW]);
  for (genvar r = 0; r < Rows; r++) begin : gen_row
    always_ff @(posedge clk_i)
      if (r == 0 ? start_i : control_q.add_row && now.rows == balance_pkg::RowW'(r)) rows_q[r] <= r == 0 ? base : work;
  end
  logic asks;   // a round
  assign asks = state_q >= balance_pkg::Wait && state_q <= balance_pkg::AddWrite;
  always_ff @(posedge clk_i)   // set by a start: no reset
    if (start_i || abort_i) only_q <= '0;
    else if (asks || state_q == balance_pkg::Done)
      for (int unsigned k = 0; k < K; k++) only_q[k] <= alone_o && now.kernel == 3'(k);
  logic [K*CountW-1:0] asked, port_asked;
  logic [K*CtaW-1:0]   most;
  always_comb begin
    asked      = rows_q[RowIndexW'(query_row_i)];
    port_asked = rows_q[RowIndexW'(port_row_i)];
    for (int unsigned e = 0; e <= ROOM; e++) list_rows_o[e*balance_pkg::RowW +: balance_pkg::RowW]
      = row_of(EntryW'(e), now.first, now.base, now.earlier, now.has_before, now.entries);
    for (int unsigned k = 0; k < K; k++) begin
      most[k*CtaW +: CtaW]          = only_q[k] ? CtaW'(MAX_CTAS) : '0;
      counts_o[k*CtaW +: CtaW]      = CtaW'(asked[k*CountW +: CountW]);
      port_counts_o[k*CtaW +: CtaW] = CtaW'(port_asked[k*CountW +: CountW]);
    end
    if (only_q != '0) {counts_o, port_counts_o} = {most, most};
  end

  assign demand_kernel_o = kernel;
  assign sample_ready_o  = state_q == balance_pkg::Wait && second_q;
  assign round_o         = asks;
  assign on_all_o        = asks && now.phase != balance_pkg::SideBySide;
  assign turns_o         = asks ? now.phase == balance_pkg::InTurn
                                : now.shares && now.phase >= balance_pkg::InTurn && now.best != '0;
  assign alone_o         = asks && single;
  assign alone_kernel_o  = KIndexW'(now.kernel);
  assign entries_o       = now.entries;
  assign scored_o        = state_q == balance_pkg::StepStart && !second_q;
  assign scored_entry_o  = now.entry;
  assign measured_o      = now.measured;
  assign time_o          = time_q;
  assign done_o          = state_q == balance_pkg::Done && !second_q;
  assign shares_o        = now.shares;
  assign floors_o        = best_short_q == '0;

  logic unused_bits;   // of fields that are as wide as the largest machine
  assign unused_bits = ^{base_i, query_row_i, port_row_i, next, progress_q.state};
endmodule
