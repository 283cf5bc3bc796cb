// SPDX-License-Identifier: Apache-2.0
// Properties of balance_search that balance_rounds rests on, with narrow fields, two kernels and two entries beside the
// base: when a round begins and ends, what stands meanwhile, and that every answer is a partition of a list.
module balance_protocol_props (
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
  (* anyconst *) logic [balance_pkg::RowW-1:0] query;
  (* anyconst *) logic [CtaW-1:0]      capacity_slots;
  logic [EntryW:0]   entries;
  logic [2*CtaW-1:0] counts, port_counts;
  logic              ready, round, on_all, turns, alone, alone_kernel, done;
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
    .sample_ready_o   (ready),
    .sample_entry_i,
    .sample_kernel_i,
    .sample_i,
    .round_end_i,
    .round_o          (round),
    .on_all_o         (on_all),
    .turns_o          (turns),
    .alone_o          (alone),
    .alone_kernel_o   (alone_kernel),
    .entries_o        (entries),
    .query_row_i      (query),
    .counts_o         (counts),
    .port_row_i       (query),
    .port_counts_o    (port_counts),
    .done_o           (done)
  );
  balance_pkg::progress_t now;
  (* hierconn *) wire [$bits(now)-1:0]  \dut.now ;
  (* hierconn *) wire \dut.second_q ;
  assign now = \dut.now ;

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb begin
    assume (rst_ni == started);
    assume (room <= EntryW'(Room) && !(sample_valid_i && (round_end_i || !round_q))
      && (sample_entry_i == '0 || (EntryW+1)'(sample_entry_i) < entries));
  end

  // The cycle before.
  logic              round_q, ended_q, start_q, abort_q, all_q, turns_q, alone_q, alone_kernel_q;
  logic [3:0]        busy;   // cycles since a sample was taken
  always_ff @(posedge clk_i) begin
    round_q        <= round && rst_ni;
    ended_q        <= round_end_i && ready;
    start_q        <= start_i;
    abort_q        <= abort_i;
    all_q          <= on_all;
    turns_q        <= turns;
    alone_q        <= alone;
    alone_kernel_q <= alone_kernel;
    busy           <= round && !ready ? busy + 1'b1 : '0;
  end
  initial busy = '0;
  initial round_q = 1'b0;

  always_comb
    if (started && rst_ni) begin
      samples_are_taken_in_a_round: assert (!ready || round);
      a_sample_takes_nine_cycles: assert (busy <= 4'd8
        && (!round || ready || busy == {3'(now.state - balance_pkg::AddRead), \dut.second_q }));
      done_is_said_once: assert (!done || !round);
      if (round_q && !ended_q && !start_q && !abort_q) a_round_goes_on: assert (round);
      if (round_q && ended_q) a_round_ends: assert (!round && !done);
      if (start_q || abort_q) a_start_and_an_abort_end_it: assert (!round && !done);
      if (round && round_q && !start_q && !abort_q)
        a_round_stays_what_it_is: assert (on_all == all_q && turns == turns_q && alone == alone_q
          && (!alone || alone_kernel == alone_kernel_q) && !(alone && turns));
    end
endmodule
