// SPDX-License-Identifier: Apache-2.0
// parity_guard: one bit of parity beside each word of a table, compared with the word in every cycle (docs/reference/blocks/parity.md). The table keeps
// its words; it tells the parity of what it writes. One bit that turns over, of a word that means something or of its parity, is seen in that cycle.
module parity_guard #(
  parameter int unsigned       WORDS = 1,
  parameter int unsigned       W     = 8,    // bits of a word
  parameter logic [WORDS-1:0]  RESET = '0    // parity of each word after a reset
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [WORDS-1:0]   write_i,    // the word is written with the next edge,
  input  logic [WORDS-1:0]   parity_i,   // and has this parity from then on
  input  logic [WORDS*W-1:0] word_i,     // what it holds
  input  logic [WORDS-1:0]   live_i,     // it means something
  output logic [WORDS-1:0]   bad_o       // combinational: word and parity disagree
);
  logic [WORDS-1:0] parity_d, parity_q;
  always_comb
    for (int unsigned w = 0; w < WORDS; w++) begin
      parity_d[w] = write_i[w] ? parity_i[w] : parity_q[w];
      bad_o[w]    = live_i[w] && ^{word_i[w*W +: W], parity_q[w]};
    end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) parity_q <= RESET;
    else         parity_q <= parity_d;
endmodule
