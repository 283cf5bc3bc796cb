// SPDX-License-Identifier: Apache-2.0
// perf_table: P[k][j] of Warped-Slicer's algorithm 1, a memory of one port: a word for each kernel and CTA count. A
// word is a sample's entry first, then the normalised performance, and at last that on the star hull
// (docs/reference/blocks/partition_core.md).
module perf_table #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32
) (
  input  logic                               clk_i,
  input  logic [$clog2(MAX_KERNELS)-1:0]     kernel_i,
  input  logic [$clog2(MAX_CTAS+1)-1:0]      ctas_i,    // 1..MAX_CTAS; otherwise the word is 0
  input  logic                               write_i,
  input  logic [sluice_pkg::WordW-1:0]     word_i,
  output logic [sluice_pkg::WordW-1:0]     word_o     // as it stands, combinational
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, MAX_CTAS)) $error("perf_table: size out of range");
  localparam int unsigned WordW = sluice_pkg::WordW;

  logic [MAX_CTAS-1:0] at;   // the CTA count, one-hot
  always_comb
    for (int unsigned i = 0; i < MAX_CTAS; i++) at[i] = ctas_i == $bits(ctas_i)'(i + 1);

  logic [MAX_KERNELS*WordW-1:0] rows;   // the word of that count, of each kernel
  for (genvar k = 0; k < MAX_KERNELS; k++) begin : gen_row
    logic             mine;
    logic [WordW-1:0] word_q [MAX_CTAS];
    logic [WordW-1:0] word;
    assign mine = kernel_i == $bits(kernel_i)'(k);
    for (genvar i = 0; i < MAX_CTAS; i++) begin : gen_word
      always_ff @(posedge clk_i)   // written before it is read: no reset
        if (write_i && mine && at[i]) word_q[i] <= word_i;
    end
    always_comb begin
      word = '0;
      for (int unsigned i = 0; i < MAX_CTAS; i++) if (at[i]) word |= word_q[i];
    end
    assign rows[k*WordW +: WordW] = word & {WordW{mine}};
  end

  always_comb begin
    word_o = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) word_o |= rows[k*WordW +: WordW];
  end
endmodule
