// SPDX-License-Identifier: Apache-2.0
// product_rows: a product as two rows that are still to be added: partial products through carry-save adders, three rows to two at a time.
// sum_o + carry_o, modulo their width, is left * right.
// Combinational; the adder is a cycle of its own.
module product_rows #(
  parameter int unsigned LeftW  = 13,   // as many rows
  parameter int unsigned RightW = 14
) (
  input  logic [LeftW-1:0]        left_i,
  input  logic [RightW-1:0]       right_i,
  output logic [LeftW+RightW-1:0] sum_o,
  output logic [LeftW+RightW-1:0] carry_o
);
  localparam int unsigned W = LeftW + RightW;

  // Rows that are left after so many levels of adders.
  function automatic int unsigned rows_after(input int unsigned levels);
    rows_after = LeftW;
    for (int unsigned l = 0; l < levels; l++) rows_after = rows_after - rows_after / 3;
  endfunction
  function automatic int unsigned levels_to_two();
    levels_to_two = 0;
    for (int unsigned l = 0; l < LeftW; l++)
      if (rows_after(l) > 2) levels_to_two = l + 1;
  endfunction
  localparam int unsigned Levels = levels_to_two();

  for (genvar l = 0; l <= Levels; l++) begin : gen_level
    localparam int unsigned Rows = rows_after(l);
    logic [Rows*W-1:0] rows;
    if (l == 0) begin : gen_partial
      assign rows[0 +: W] = left_i[0] ? W'(right_i) : '0;
      for (genvar r = 1; r < LeftW; r++) begin : gen_row
        assign rows[r*W +: W] = left_i[r] ? W'(right_i) << r : '0;
      end
    end else begin : gen_adders
      localparam int unsigned Above = rows_after(l - 1);
      for (genvar g = 0; g < Above / 3; g++) begin : gen_adder
        logic [W-1:0] a, b, c;
        assign {c, b, a}              = gen_level[l-1].rows[3*g*W +: 3*W];
        assign rows[2*g*W +: W]       = a ^ b ^ c;
        assign rows[(2*g + 1)*W +: W] = ((a & b) | (a & c) | (b & c)) << 1;
      end
      for (genvar g = Above / 3 * 3; g < Above; g++) begin : gen_passed
        assign rows[(g - Above / 3)*W +: W] = gen_level[l-1].rows[g*W +: W];
      end
    end
  end
  assign {carry_o, sum_o} = gen_level[Levels].rows;
endmodule
