// SPDX-License-Identifier: Apache-2.0
// balance_table: joint rates, a memory of one port: a word for each entry of a round and each kernel. A word is the sum
// of a kernel's samples first, then their mean.
module balance_table #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned ENTRIES     = 6
) (
  input  logic                           clk_i,
  input  logic [$clog2(MAX_KERNELS)-1:0] kernel_i,
  input  logic [balance_pkg::EntryW-1:0] entry_i,    // below ENTRIES; otherwise the word is 0
  input  logic                           write_i,
  input  logic [balance_pkg::W-1:0]      word_i,
  output logic [balance_pkg::W-1:0]      word_o      // as it stands, combinational
);
  if (MAX_KERNELS < 2 || ENTRIES < 1) $error("balance_table: size out of range");
  localparam int unsigned W = balance_pkg::W;

  logic [MAX_KERNELS*W-1:0] rows;   // the word of that entry, of each kernel
  for (genvar k = 0; k < MAX_KERNELS; k++) begin : gen_row
    logic         mine;
    logic [W-1:0] word_q [ENTRIES];
    logic [W-1:0] word;
    assign mine = kernel_i == $bits(kernel_i)'(k);
    for (genvar e = 0; e < ENTRIES; e++) begin : gen_word
      always_ff @(posedge clk_i)   // written before it is read: no reset
        if (write_i && mine && entry_i == balance_pkg::EntryW'(e)) word_q[e] <= word_i;
    end
    always_comb begin
      word = '0;
      for (int unsigned e = 0; e < ENTRIES; e++) if (entry_i == balance_pkg::EntryW'(e)) word |= word_q[e];
    end
    assign rows[k*W +: W] = word & {W{mine}};
  end

  always_comb begin
    word_o = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) word_o |= rows[k*W +: W];
  end
endmodule
