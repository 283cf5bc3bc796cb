// SPDX-License-Identifier: Apache-2.0
// Yosys techmap: a register with an enable becomes a plain one behind a clock_gate, from FEWEST bits on: two pay for the gate in
// power, three in area.
// Registers of the same enable share a gate afterwards (opt_merge -share_all).
(* techmap_celltype = "$dffe" *)
module sluice_gated_dffe (CLK, EN, D, Q);
  parameter WIDTH = 0;
  parameter CLK_POLARITY = 1'b1;
  parameter EN_POLARITY = 1'b1;
  input CLK, EN;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;
  wire _TECHMAP_FAIL_ = WIDTH < `FEWEST || !CLK_POLARITY;
  wire clk_gated;
  clock_gate i_clock_gate (.clk_i(CLK), .enable_i(EN_POLARITY ? EN : ~EN), .clk_o(clk_gated));
  \$dff #(.WIDTH(WIDTH), .CLK_POLARITY(1'b1)) _TECHMAP_REPLACE_ (.CLK(clk_gated), .D(D), .Q(Q));
endmodule

(* techmap_celltype = "$adffe" *)
module sluice_gated_adffe (CLK, ARST, EN, D, Q);
  parameter WIDTH = 0;
  parameter CLK_POLARITY = 1'b1;
  parameter EN_POLARITY = 1'b1;
  parameter ARST_POLARITY = 1'b1;
  parameter ARST_VALUE = 0;
  input CLK, ARST, EN;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;
  wire _TECHMAP_FAIL_ = WIDTH < `FEWEST || !CLK_POLARITY;
  wire clk_gated;
  clock_gate i_clock_gate (.clk_i(CLK), .enable_i(EN_POLARITY ? EN : ~EN), .clk_o(clk_gated));
  \$adff #(.WIDTH(WIDTH), .CLK_POLARITY(1'b1), .ARST_POLARITY(ARST_POLARITY), .ARST_VALUE(ARST_VALUE)) _TECHMAP_REPLACE_
    (.CLK(clk_gated), .ARST(ARST), .D(D), .Q(Q));
endmodule
