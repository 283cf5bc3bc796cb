// SPDX-License-Identifier: Apache-2.0
// Properties of serial_unit: a schedule of steps as decision_steps has them, and what the registers hold after it.
// Words of the table and levels are constants, any ones; the table shows `anchored` while a step reads at the anchor.
module serial_unit_props (
  input logic clk_i
);
  localparam int unsigned PerfW     = sluice_pkg::PerfW;
  localparam int unsigned FractionW = sluice_pkg::MantissaW - 1;
  localparam int unsigned WordW     = sluice_pkg::WordW;

  (* anyconst *) logic [WordW-1:0]           first, second;   // words of the table
  (* anyconst *) logic [2:0]                 level, anchor;
  (* anyconst *) logic [sluice_pkg::LossW-1:0] limit;
  logic [4:0]             step_q;
  logic [WordW-1:0]       word, new_word;
  decision_pkg::control_t c;
  logic                   best, below;
  initial step_q = '0;
  always_ff @(posedge clk_i) step_q <= step_q + 5'd1;

  serial_unit #(.MAX_CTAS (4)) dut (
    .clk_i,
    .control_i        (c),
    .entry_i          ('0),
    .word_i           (word),
    .capacity_i       ('0),
    .capacity_slots_i ('0),
    .demand_i         ('0),
    .epsilon_i        ('0),
    .loss_limit_i     (limit),
    .level_i          (level),
    .anchor_i         (anchor),
    .word_o           (new_word),
    .best_o           (best),
    .below_o          (below)
  );

`ifdef QUOTIENT
  // NormBest, NormRead, NormDivide: first is the best entry, second another one.
  logic [2:0] mantissa, best_mantissa, places;
  assign mantissa      = {second[WordW-1:FractionW] != '0, second[FractionW-1:0]};
  assign best_mantissa = {first[WordW-1:FractionW] != '0, first[FractionW-1:0]};
  assign places        = 3'(PerfW) - 3'(first[WordW-1:FractionW] - second[WordW-1:FractionW]);
  always_comb begin
    assume (second <= first && first[WordW-1:FractionW] != '0 && places != '0);
    assume (second[WordW-1:FractionW] != '0 || second[FractionW-1:0] == '0);
    c    = '0;
    word = (step_q == '0) ? first : second;
    c.source = decision_pkg::FromMantissa;
    if (step_q == 5'd0) c.load_b = 1'b1;
    if (step_q == 5'd1) begin c.load_a = 1'b1; c.clear_q = 1'b1; end
    if (step_q > 5'd1 && step_q < 5'd2 + 5'(places)) c.divide = 1'b1;
    c.write_q = 1'b1;
    if (step_q == 5'd2 + 5'(places))
      performance_is_the_quotient: assert (6'(new_word) == ((6'(mantissa) << places) >> 1) / 6'(best_mantissa));
  end
`elsif LINE
  // HullLoad, HullMultiply, HullDivide: first is the anchor's performance.
  always_comb begin
    assume (level != '0 && level < anchor && anchor <= 3'd4 && first < WordW'(1 << PerfW));
    c    = '0;
    word = first;
    if (step_q == 5'd0) begin
      c.source = decision_pkg::FromLevel;
      c.load_b = 1'b1;
      c.clear_a = 1'b1;
      c.load_q = 1'b1;
    end
    if (step_q > 5'd0 && step_q <= 5'(PerfW)) c.multiply = 1'b1;
    if (step_q == 5'(PerfW)) begin c.source = decision_pkg::FromAnchor; c.load_b = 1'b1; end
    if (step_q > 5'(PerfW) && step_q <= 5'(2 * PerfW + 1)) c.divide = 1'b1;
    c.write_q = 1'b1;
    if (step_q == 5'(2 * PerfW + 2))
      line_is_the_anchors_share: assert (8'(new_word) == 8'(first) * 8'(level) / 8'(anchor));
  end
`else
  // A comparison of second with first, one that must exceed it, and what a kernel of performance `first` loses, three
  // times, against the limit.
  always_comb begin
    assume (first < WordW'(1 << sluice_pkg::PerfFracW));
    c    = '0;
    word = (step_q == 5'd1 || step_q == 5'd3) ? second : first;
    c.source = (step_q == 5'd5) ? decision_pkg::FromLimit : decision_pkg::FromWord;
    if (step_q == 5'd0) c.load_b = 1'b1;
    if (step_q == 5'd1 || step_q == 5'd3 || step_q == 5'd5) begin c.load_a = 1'b1; c.fresh = 1'b1; end
    if (step_q == 5'd2) c.subtract = 1'b1;
    if (step_q == 5'd4) c.exceed = 1'b1;
    if (step_q >= 5'd6 && step_q <= 5'd8) c.lose = 1'b1;
    if (step_q == 5'd3) below_tells_a_smaller_word: assert (below == (second < first));
    if (step_q == 5'd5) exceed_tells_a_greater_word: assert (below == (second <= first));
    if (step_q == 5'd9)
      loss_is_told_against_the_limit: assert (below == (7'd3 * (7'(sluice_pkg::PerfOne) - 7'(first)) > 7'(limit)));
    if (step_q > 5'd0) best_tells_one: assert (best == first[sluice_pkg::PerfFracW]);
  end
`endif
endmodule
