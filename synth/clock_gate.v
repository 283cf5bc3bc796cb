// SPDX-License-Identifier: Apache-2.0
// clock_gate: lets clk_i through in cycles whose enable_i is high before the rising edge: a latch, transparent while the clock is low,
// keeps the enable stable while it is high. No cell of the libraries does it alone, so it is put together of three.
module clock_gate (
  input  clk_i,
  input  enable_i,
  output clk_o
);
  wire clk_n, enabled;
  \$_NOT_      i_clk_n  (.A(clk_i), .Y(clk_n));
  \$_DLATCH_P_ i_enable (.E(clk_n), .D(enable_i), .Q(enabled));
  \$_AND_      i_gate   (.A(clk_i), .B(enabled), .Y(clk_o));
endmodule
