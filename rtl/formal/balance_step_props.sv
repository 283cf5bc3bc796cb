// SPDX-License-Identifier: Apache-2.0
// Properties of balance_search, for any rates: what is kept of a round is the best by the rule of
// docs/user/policies.md#balance, and Short says how far the worst-off kernel is below its floor. One step at a time:
// an entry's Short and Time against the best so far, which is the base at first; the end of the product, which says
// whether a kernel pays; a kernel's rate against its floor.
module balance_step_props (
  input logic clk_i,
  input logic rst_ni,
  input logic start_i,
  input logic abort_i
);
  localparam int unsigned CtaW = sluice_pkg::CtaW, W = balance_pkg::W, RateW = balance_pkg::RateW;

  (* anyconst *) logic [2*RateW-1:0]   floors;
  logic met;
  balance_search #(.MAX_KERNELS(2), .MAX_CTAS(3), .ROOM(2)) dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .abort_i,
    .num_kernels_i (sluice_pkg::KernelW'(2)),
    .floor_i       (floors),
    .floors_o      (met)
  );
  balance_pkg::progress_t now;
  balance_pkg::control_t  control;
  (* hierconn *) wire [$bits(now)-1:0]     \dut.now ;
  (* hierconn *) wire [$bits(control)-1:0] \dut.control_q ;
  (* hierconn *) wire [W-1:0]     \dut.time_q , \dut.best_time_q , \dut.before_time_q , \dut.q ,
    \dut.i_balance_arithmetic.b_q ;
  (* hierconn *) wire [RateW-1:0] \dut.short_q , \dut.best_short_q , \dut.before_short_q ;
  assign now     = \dut.now ;
  assign control = \dut.control_q ;

  // What there was at first.
  logic                   started;
  balance_pkg::progress_t was;
  logic [W-1:0]           time_was, best_time, before_time, q_was;
  logic [RateW-1:0]       short_was, best_short, before_short, floor;
  logic                   over_q, base_q, takes_q;   // it is over, or goes on elsewhere; was in BaseA; in StepTake
  initial {started, over_q, base_q, takes_q} = '0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    over_q  <= over_q || now.state == balance_pkg::StepNext || now.state == balance_pkg::PaidHere
      || now.state == balance_pkg::KeepStart || now.state == balance_pkg::MeanCount
      || now.state == balance_pkg::TimeRate;
    base_q  <= base_q || now.state == balance_pkg::BaseA;
    takes_q <= takes_q || now.state == balance_pkg::StepTake;
    if (!started) begin
      was          <= now;
      time_was     <= \dut.time_q ;
      short_was    <= \dut.short_q ;
      best_time    <= \dut.best_time_q ;
      best_short   <= \dut.best_short_q ;
      before_time  <= \dut.before_time_q ;
      before_short <= \dut.before_short_q ;
      q_was        <= \dut.q ;
    end
  end
  assign floor = was.kernel[0] ? floors[2*RateW-1:RateW] : floors[RateW-1:0];

  // The rule. Of the base 1 / 64 of a score more is asked for, of another entry more at all.
  logic steps, pays, rates, gains, back;
  assign steps = was.state == balance_pkg::StepStart;
  assign pays  = was.state == balance_pkg::PaidA;
  assign rates = was.state == balance_pkg::FloorLoad;
  assign gains = was.measured && (short_was < best_short || (short_was == best_short
    && best_time > time_was + (was.best == '0 ? time_was >> 6 : '0)));
  assign back  = was.has_before && before_short <= short_was && time_was > before_time + (time_was >> 6);

  always_comb begin
    assume (rst_ni && !start_i && !abort_i);
    if (!started) begin
      assume (control == '0 && now.phase == balance_pkg::SideBySide && !now.returned && now.entry <= 4'd2);
      assume (now.best <= now.entry && now.kernel <= 3'd1);
      assume (now.state == balance_pkg::StepStart || now.state == balance_pkg::PaidA
        || now.state == balance_pkg::FloorLoad);
      // The rate is in Q and B since RateHave.
      if (now.state == balance_pkg::FloorLoad) assume (\dut.q < W'(1 << RateW)
        && \dut.i_balance_arithmetic.b_q == \dut.q );
    end
    // Times are below 2**17 + 8 * 127, so that 1 / 64 more is no overflow.
    if (started) assume (time_was < W'(3 << 16) && before_time < W'(3 << 16));
    floors_are_met_where_nothing_is_short: assert (met == (\dut.best_short_q == '0));
    if (started && !over_q && steps && was.entry != '0) begin
      if (now.state == balance_pkg::BaseA) only_what_is_better_goes_on: assert (gains);
      if (now.state == balance_pkg::StepNext && !base_q) what_is_better_goes_on: assert (!gains);
      if (now.state == balance_pkg::PaidOne) who_pays_is_asked_at_the_same_floors: assert (short_was == before_short);
      if (now.state == balance_pkg::StepTake) nearer_to_the_floors_may_cost: assert (short_was != before_short);
      if (now.state == balance_pkg::StepNext && takes_q) the_better_one_is_the_best: assert (now.best == was.entry
        && \dut.best_short_q == short_was && \dut.best_time_q == time_was);
      if (now.state == balance_pkg::StepNext && !takes_q) the_best_stays: assert (now.best == was.best
        && \dut.best_short_q == best_short && \dut.best_time_q == best_time);
    end
    if (started && !over_q && steps && was.entry == '0) begin
      if (now.state == balance_pkg::StepNext || now.state == balance_pkg::MeanCount)
        back_where_it_was_better: assert ((now.state == balance_pkg::MeanCount) == back && was.measured);
      if (now.state == balance_pkg::MeanCount) back_is_the_one_before: assert (now.base == was.earlier
        && now.entry == 4'd1 && now.returned);
      if (now.state == balance_pkg::StepNext) the_base_is_the_first_best: assert (now.best == '0
        && \dut.best_short_q == short_was && \dut.best_time_q == time_was
        && \dut.before_short_q == short_was && \dut.before_time_q == time_was);
      if (now.state == balance_pkg::KeepStart) only_unknown_rates_end_a_round: assert (!was.measured && !now.known);
    end
    if (started && !over_q && pays && now.state == balance_pkg::StepNext)
      a_kernel_pays_below_seven_eighths: assert (takes_q == (q_was >= W'(7 << 11)));
    if (started && !over_q && rates && now.state == balance_pkg::TimeRate)
      short_is_the_worst_off_kernel_s: assert (\dut.short_q >= short_was
        && {1'b0, q_was[RateW-1:0]} + \dut.short_q >= {1'b0, floor}
        && (\dut.short_q == short_was || {1'b0, q_was[RateW-1:0]} + \dut.short_q == {1'b0, floor}));
    // Each comes to its end within the bound, the product left out.
    a_step_ends: assert (!ended_late);
  end
  logic [5:0] cycles;
  initial cycles = '0;
  logic ended_late;
  always_ff @(posedge clk_i) if (!over_q) cycles <= cycles + 1'b1;
  assign ended_late = cycles > 6'd48;
endmodule
