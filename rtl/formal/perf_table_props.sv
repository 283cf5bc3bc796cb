// SPDX-License-Identifier: Apache-2.0
// Properties of perf_table: any word, followed from its first write on.
module perf_table_props #(
  parameter int unsigned K = 3
) (
  input logic                         clk_i,
  input logic [$clog2(K)-1:0]         kernel_i,
  input logic [1:0]                   ctas_i,
  input logic                         write_i,
  input logic [sluice_pkg::WordW-1:0] word_i
);
  (* anyconst *) logic [$clog2(K)-1:0] kernel;
  (* anyconst *) logic [1:0] ctas;
  logic [sluice_pkg::WordW-1:0] word, kept_q;
  logic                         written_q;
  perf_table #(.MAX_KERNELS (K), .MAX_CTAS (3)) dut (
    .*,
    .word_o (word)
  );

  initial written_q = 1'b0;
  always_ff @(posedge clk_i)
    if (write_i && kernel_i == kernel && ctas_i == ctas && ctas != 2'd0) begin
      written_q <= 1'b1;
      kept_q    <= word_i;
    end
  always_comb begin
    assume (32'(kernel_i) < K && 32'(kernel) < K);
    if (written_q && kernel_i == kernel && ctas_i == ctas) word_is_what_was_written_last: assert (word == kept_q);
    if (ctas_i == 2'd0)                                    no_ctas_have_no_word: assert (word == '0);
  end
endmodule
