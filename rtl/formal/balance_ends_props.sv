// SPDX-License-Identifier: Apache-2.0
// A search of balance_search ends, with narrow fields, two kernels of at most three CTAs and two entries beside the
// base, for any samples, demands and settings: a rank, which says how far it still is from the end, falls with every
// state that is left, whatever samples and arithmetic say. Only a round that goes on keeps it. What a try tells is
// proven by balance_search_props.
module balance_ends_props (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        start_i,
  input logic        abort_i,
  input logic        sample_valid_i,
  input logic [3:0]  sample_entry_i,
  input logic        sample_kernel_i,
  input logic [11:0] sample_i,
  input logic        round_end_i
);
  localparam int unsigned CtaW = sluice_pkg::CtaW, EntryW = balance_pkg::EntryW;
  localparam int unsigned Room = 2;

  (* anyconst *) sluice_pkg::amounts_t capacity, demand;
  (* anyconst *) logic [2*CtaW-1:0]    base;
  (* anyconst *) logic [EntryW-1:0]    room;
  (* anyconst *) logic [CtaW-1:0]      capacity_slots;
  logic [EntryW:0] entries;
  balance_search #(.MAX_KERNELS(2), .MAX_CTAS(3), .ROOM(Room)) dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .abort_i,
    .num_kernels_i    (sluice_pkg::KernelW'(2)),
    .base_i           (base),
    .room_i           (room),
    .capacity_i       (capacity),
    .capacity_slots_i (capacity_slots),
    .demand_i         (demand),
    .alone_valid_i    (1'b0),
    .sample_valid_i,
    .sample_entry_i,
    .sample_kernel_i,
    .sample_i,
    .round_end_i,
    .entries_o        (entries)
  );
  balance_pkg::progress_t now;
  logic started;
  (* hierconn *) wire [$bits(now)-1:0] \dut.now ;
  (* hierconn *) wire                  \dut.second_q ;
  (* hierconn *) wire [5:0]            \dut.work ;
  (* hierconn *) wire                  \dut.below , \dut.a_zero , \dut.b_zero , \dut.same_q ;
  (* hierconn *) wire [6:0]            \dut.state_q ;
  logic [2:0] work0, work1, off, grown;   // CTAs of the candidate
  assign now            = \dut.now ;
  assign {work1, work0} = \dut.work ;
  assign off            = now.off[0] ? work1 : work0;
  assign grown          = now.grown[0] ? work1 : work0;

  // The rank: rounds to come, then what of a round is to come, and in each part its loops, outer ones first; states
  // that are in no loop stand in the order in which they follow each other.
  logic       lists, clears, waits, means, steps, keeps, loops;
  logic [4:0] rounds;
  logic [2:0] part, kernels, tries;
  logic [5:0] left, candidate;
  logic [6:0] later;
  assign lists   = now.state >= balance_pkg::ListStart && now.state <= balance_pkg::ListNext;
  assign tries   = {now.state == balance_pkg::ListStart || now.state == balance_pkg::ListLoad,
    now.state >= balance_pkg::ListMore && now.state <= balance_pkg::ListFewer,
    now.state == balance_pkg::ListLook || now.state == balance_pkg::ListSame};
  assign clears  = now.state == balance_pkg::ListClear;
  assign waits   = now.state >= balance_pkg::Wait && now.state <= balance_pkg::AddWrite;
  assign means   = now.phase == balance_pkg::Alone
    && ((now.state >= balance_pkg::MeanCount && now.state <= balance_pkg::MeanStore)
        || now.state == balance_pkg::AloneMean || now.state == balance_pkg::AloneNext);
  assign steps   = !means && now.state >= balance_pkg::MeanCount && now.state <= balance_pkg::TurnsTake;
  assign keeps   = !means && now.state >= balance_pkg::KeepStart && now.state <= balance_pkg::AloneStart;
  assign loops   = now.state == balance_pkg::MeanDivide || now.state == balance_pkg::RateDivide
    || now.state == balance_pkg::TimeDivide || now.state == balance_pkg::UseMultiply
    || now.state == balance_pkg::PaidMultiply || now.state == balance_pkg::PaidDivide
    || now.state == balance_pkg::KeepMultiply || now.state == balance_pkg::ListTake;
  assign later   = ~now.state;
  assign kernels = ~now.kernel;
  assign left    = loops ? now.left : 6'd0;

  logic [2:0]  stage, counted, resources;
  logic [5:0]  rows;
  logic [20:0] fit;    // of a try
  logic [31:0] fine;
  always_comb begin
    rounds = 5'd0;
    if (now.phase == balance_pkg::SideBySide) rounds = 5'd16 + 5'(2'd3 - now.round);
    if (now.phase == balance_pkg::OnAll)      rounds = 5'd15;
    if (now.phase == balance_pkg::InTurn)     rounds = 5'd14;
    if (now.phase == balance_pkg::Alone && (clears || waits || means)) rounds = 5'd1 + 5'(kernels);
    part = 3'd0;
    if (lists)  part = 3'd6;
    if (clears) part = 3'd5;
    if (waits)  part = 3'd4;
    if (means)  part = 3'd3;
    if (steps)  part = 3'd2;
    if (keeps)  part = 3'd1;

    candidate = {2'd1, ~now.distant, 2'd0};
    if (now.kind == balance_pkg::Near)  candidate = {2'd3, ~now.to[0], ~now.off};
    if (now.kind == balance_pkg::Fewer) candidate = {2'd2, ~now.to[0], 3'd0};
    counted   = now.fills ? (now.state == balance_pkg::ListMore ? 3'd7 : 3'd7 - grown) : off;
    resources = now.state == balance_pkg::ListFit ? 3'd0 : 3'd4 - 3'(now.resource);
    fit       = {!now.second, !now.fills, now.fills && now.grown == now.to, counted, now.state == balance_pkg::ListMore,
      resources, kernels, 2'd0, left};
    if (now.state == balance_pkg::ListSm)     fit[10:6] = {3'd7, 2'd3};
    if (now.state == balance_pkg::ListKernel) fit[7:6]  = 2'd2;
    if (now.state == balance_pkg::ListTake)   fit[7:6]  = 2'd1;
    if (now.state == balance_pkg::ListFit)    fit[10:0] = '0;
    rows = now.rows - now.row;

    stage = 3'd0;
    if (now.state <= balance_pkg::PaidDivide) stage = 3'd1;
    if (now.state <= balance_pkg::BaseCheck)  stage = 3'd2;
    if (now.state <= balance_pkg::UseAdd)     stage = 3'd3;
    if (now.state <= balance_pkg::UseLoad)    stage = 3'd4;
    if (now.state <= balance_pkg::TimeKeep)   stage = 3'd5;
    if (keeps) begin
      stage = 3'd0;
      if (now.state <= balance_pkg::KeepTake)     stage = 3'd1;
      if (now.state <= balance_pkg::KeepMultiply) stage = 3'd2;
    end

    fine = '0;
    if (lists)  fine = {now.state == balance_pkg::ListStart, candidate, tries, fit & {21{tries[1]}}, 1'b0};
    if (tries[0]) fine[21:15] = {rows, now.state == balance_pkg::ListLook};
    if (clears) fine = {~now.entry, kernels, 25'd0};
    if (means)  fine = {later, left, 19'd0};
    if (steps)  fine = {!now.returned, ~now.entry, stage, stage[0] ? kernels : 3'd0, later, left, 8'd0};
    if (keeps)  fine = {stage, stage[0] ? kernels : 3'd0, later, left, 13'd0};
  end
  logic [39:0] rank, rank_q;
  assign rank = {rounds, part, fine};

  (* hierconn *) wire [5:0] \dut.rows_q[0] , \dut.rows_q[1] , \dut.rows_q[2] , \dut.rows_q[3] , \dut.rows_q[4] ;
  // What the arithmetic says stands while a state is decoded and done.
  logic below_q, a_zero_q, b_zero_q;
  always_ff @(posedge clk_i) {below_q, a_zero_q, b_zero_q} <= {\dut.below , \dut.a_zero , \dut.b_zero };
  always_comb if (\dut.second_q && now.state > balance_pkg::Wait)
    assume (\dut.below == below_q && \dut.a_zero == a_zero_q && \dut.b_zero == b_zero_q);

  balance_pkg::control_t control, decoded;
  (* hierconn *) wire [$bits(control)-1:0] \dut.control_q , \dut.decoded ;
  assign control = \dut.control_q ;
  assign decoded = \dut.decoded ;

  function automatic fits(input logic [2:0] a, input logic [2:0] b);
    fits = 4'(a) + 4'(b) <= 4'(capacity_slots) && 4'(a) + 4'(b) <= 4'd3;
  endfunction
  function automatic fits_all(input logic [5:0] row);
    fits_all = row[2:0] != '0 && row[5:3] != '0 && fits(row[2:0], row[5:3]);
  endfunction
  // How registers agree with each other, without which the induction does not go through.
  logic runs, side, in_round, lists_on;   // in_round: of the rounds; lists_on: after a list's first state
  assign runs = now.state != balance_pkg::Idle && now.state != balance_pkg::Done;
  assign side = now.phase == balance_pkg::SideBySide;
  assign in_round = side && (lists || clears || waits || steps);
  assign lists_on = lists && now.state != balance_pkg::ListStart;
  logic agree;
  always_comb begin
    agree = 1'b1;
    agree &= control == (\dut.second_q && now.state > balance_pkg::Wait ? decoded : '0);
    agree &= now.state <= balance_pkg::Done;
    agree &= now.rows >= 6'd1 && now.rows <= 6'd5 && now.base < now.rows && now.first <= now.rows
      && (!now.has_before || now.earlier < now.rows);
    agree &= (!in_round || now.round < 2'd3) && (!side || now.has_before == (now.round != '0));
    agree &= !lists || side;
    agree &= now.state == balance_pkg::ListStart
      || (now.entries != '0 && (now.entries <= 5'(room) + 5'd1 || now.entries == 5'd1));
    agree &= now.kernel <= 3'd2;
    agree &= now.to <= 3'd1 && now.off <= 3'd1 && now.grown <= 3'd1 && now.kind != 2'd3;
    if (in_round && now.state != balance_pkg::ListStart)
      agree &= now.rows + 6'd1 + 6'(now.has_before) == now.first + 6'(now.entries);
    if (in_round)
      agree &= (now.state == balance_pkg::ListStart ? now.rows : now.first)
        <= (now.round == '0 ? 6'd1 : now.round == 2'd1 ? 6'd1 + 6'(room) : 6'd2 * 6'(room));
    if (lists_on) agree &= now.off != now.to || now.kind == balance_pkg::Fewer;
    if (now.state == balance_pkg::ListLook || now.state == balance_pkg::ListSame) begin
      agree &= now.row < now.rows;
      agree &= fits_all({work1, work0});
      agree &= now.entries <= 5'(room);
    end
    if (tries[1]) begin
      agree &= work0 != '0 && work1 != '0 && 4'(work0) + 4'(work1) <= 4'd4;
      agree &= now.entries <= 5'(room);
    end
    if (now.state >= balance_pkg::ListSm && now.state <= balance_pkg::ListFit) begin
      agree &= now.fills ? grown >= 3'd2 : (now.to[0] ? work1 : work0) >= 3'd2;
      agree &= now.state != balance_pkg::ListFit || now.kernel == 3'd2;
    end
    if (now.state == balance_pkg::ListMore || now.state == balance_pkg::ListFewer)
      agree &= fits_all({work1, work0});
    if (now.state >= balance_pkg::ListSm && now.state <= balance_pkg::ListFit && now.fills)
      agree &= fits(work0 - 3'(!now.grown[0]), work1 - 3'(now.grown[0]));
    if (tries[1]) agree &= (now.state == balance_pkg::ListFewer) == (now.kind == balance_pkg::Fewer);
    if (means || now.state == balance_pkg::AloneMean || now.state == balance_pkg::AloneNext)
      agree &= now.phase == balance_pkg::Alone && now.kernel <= 3'd1;
    if (now.state == balance_pkg::TurnsStart || now.state == balance_pkg::UseTake || now.state == balance_pkg::PaidOne
        || now.state == balance_pkg::StepStart || (now.state >= balance_pkg::KeepTime
        && now.state <= balance_pkg::KeepMultiply) || now.state == balance_pkg::RateStart)
      agree &= now.kernel == '0;
    if (in_round && now.has_before && now.state != balance_pkg::ListStart)
      agree &= now.entries >= 5'd2;
    if (side && (waits || steps)) agree &= now.entries >= 5'd2;
    agree &= room != '0 || (now.round == '0 && !now.has_before);
    if (tries[1] && !now.fills && now.kind != balance_pkg::Fewer) agree &= now.grown == now.to;
    if (lists_on && now.kind == balance_pkg::Far)
      agree &= now.off[0] == !now.to[0] && (now.state == balance_pkg::ListNext || tries[0]
      || now.to[0] == ((now.second && now.state != balance_pkg::ListLoad) ? now.distant[0] : now.distant[1]));
    if (now.state >= balance_pkg::BackShortA && now.state <= balance_pkg::StepBase)
      agree &= now.entry == '0 && (now.has_before || now.state == balance_pkg::StepBase);
    if (now.state == balance_pkg::ListLoad) agree &= now.entries <= 5'(room);
    agree &= side || now.entries == 5'd1;
    if (now.state == balance_pkg::OnAllStart) agree &= side;
    if (now.state == balance_pkg::TurnsStart) agree &= now.phase == balance_pkg::OnAll;
    if (now.state == balance_pkg::AloneStart)
      agree &= now.phase == balance_pkg::OnAll || now.phase == balance_pkg::InTurn;
    if (now.state == balance_pkg::ListSame) agree &= \dut.same_q == ({work1, work0}
      == (now.row == '0 ? \dut.rows_q[0] : now.row == 6'd1 ? \dut.rows_q[1] : now.row == 6'd2 ? \dut.rows_q[2]
        : now.row == 6'd3 ? \dut.rows_q[3] : \dut.rows_q[4] ));
    if (lists_on) agree &= now.entry == '0;
    if (waits) agree &= now.kernel <= 3'd1
      && (now.state != balance_pkg::Wait || \dut.second_q );
    if (side && (lists || clears || waits)) agree &= !now.returned;
    if (now.phase == balance_pkg::Alone && (clears || waits || means)) agree &= now.entry == balance_pkg::AloneEntry;
    if (clears && now.phase == balance_pkg::OnAll) agree &= now.entry == '0;
    if (clears && now.phase == balance_pkg::InTurn) agree &= now.entry == balance_pkg::TurnsEntry;
    if (waits && now.state != balance_pkg::Wait && side) agree &= now.entry < 4'(now.entries);
    if (loops && now.state != balance_pkg::ListTake) agree &= now.left != '0;
    if (steps) begin
      agree &= now.state == balance_pkg::StepEnd ? now.entry == 4'(now.entries)
        : side ? now.entry < 4'(now.entries) || (now.returned && now.entry == 4'd1)
        : now.entry <= 4'd1;
      agree &= !now.returned || !side
        || (now.entry == 4'd1 && now.state <= balance_pkg::StepStart);
      agree &= side || now.state <= balance_pkg::StepStart
        || (now.state >= balance_pkg::GainA && now.state <= balance_pkg::GainCheck)
        || now.state == balance_pkg::TurnsTake;
    end
    if ((now.state >= balance_pkg::MeanCount && now.state <= balance_pkg::TimeKeep)
        || now.state == balance_pkg::UseWeight || now.state == balance_pkg::UseAdd
        || (now.state >= balance_pkg::PaidHere && now.state <= balance_pkg::PaidDivide)
        || now.state == balance_pkg::KeepWeight || now.state == balance_pkg::KeepTake)
      agree &= now.kernel <= 3'd1;
    if (clears && side) agree &= now.entry < 4'(now.entries);
    if (now.state == balance_pkg::ListKernel || now.state == balance_pkg::ListTake || clears)
      agree &= now.kernel <= 3'd1;
  end
  always_comb if (started && rst_ni && runs) registers_agree: assert (agree);

  logic works_q, second_q, waits_q;
  initial started = 1'b0;
  initial works_q = 1'b0;
  always_ff @(posedge clk_i) begin
    started  <= 1'b1;
    rank_q   <= rank;
    second_q <= \dut.second_q ;
    waits_q  <= waits;
    works_q  <= rst_ni && !start_i && !abort_i && now.state != balance_pkg::Idle;
  end
  always_comb begin
    assume (rst_ni == started);
    assume (room <= EntryW'(Room) && (sample_entry_i == '0 || (EntryW+1)'(sample_entry_i) < entries));
    assume (base[2:0] != '0 && base[CtaW+2:CtaW] != '0 && fits(base[2:0], base[CtaW+2:CtaW]));
    // a_try_tells_what_fits, of balance_search_props
    if (now.state == balance_pkg::ListFit) assume (\dut.below || fits(work0, work1));
    if (started && rst_ni && now.state != balance_pkg::Idle) begin
      every_partition_of_the_list_fits: assert (
        (now.rows == '0 || fits_all(\dut.rows_q[0] )) && (now.rows < 6'd2 || fits_all(\dut.rows_q[1] ))
        && (now.rows < 6'd3 || fits_all(\dut.rows_q[2] )) && (now.rows < 6'd4 || fits_all(\dut.rows_q[3] ))
        && (now.rows < 6'd5 || fits_all(\dut.rows_q[4] )));
    end
    if (started && works_q && now.state != balance_pkg::Idle) begin
      every_state_is_nearer_to_the_end: assert (rank < rank_q || (rank == rank_q && (!second_q || waits_q)));
    end
  end
endmodule
