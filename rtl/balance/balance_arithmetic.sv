// SPDX-License-Identifier: Apache-2.0
// balance_arithmetic: one adder and the registers A, B and Q. A and Q are one long register for a product or a
// quotient, of which each cycle makes a bit; B is the other operand. below_o says a cycle later that a subtraction
// since `fresh` went below zero.
module balance_arithmetic (
  input  logic                      clk_i,
  input  balance_pkg::control_t     control_i,
  input  logic [balance_pkg::W-1:0] bus_i,
  output logic [balance_pkg::W-1:0] a_o,
  output logic [balance_pkg::W-1:0] q_o,
  output logic                      a_zero_o,
  output logic                      b_zero_o,
  output logic                      below_o
);
  localparam int unsigned W = balance_pkg::W;

  logic [W-1:0] a_d, a_q, b_q, q_d, q_q, operand, sum;
  logic         below_q, carry, takes, sums;
  assign takes = control_i.subtract || control_i.exceed;
  assign sums  = takes || control_i.add;
  always_comb begin
    operand = ~b_q;
    if (control_i.add)      operand = b_q;
    if (control_i.multiply) operand = b_q & {W{q_q[0]}};
    {carry, sum} = {1'b0, a_q} + {1'b0, operand} + (W + 1)'(control_i.subtract || control_i.divide);
    a_d = bus_i & {W{!control_i.clear_a}};
    q_d = bus_i & {W{!control_i.clear_q}};
    if (sums) a_d = sum;
    if (control_i.multiply) begin
      a_d = {carry, sum[W-1:1]};
      q_d = {sum[0], q_q[W-1:1]};
    end
    if (control_i.divide) begin
      a_d = {carry ? sum[W-2:0] : a_q[W-2:0], q_q[W-1]};
      q_d = {q_q[W-2:0], carry};
    end
  end

  // Loaded before they are used: no reset.
  always_ff @(posedge clk_i) begin
    if (control_i.load_a || control_i.clear_a || sums || control_i.multiply || control_i.divide) a_q <= a_d;
    if (control_i.load_b)                                                                        b_q <= bus_i;
    if (control_i.load_q || control_i.clear_q || control_i.multiply || control_i.divide)         q_q <= q_d;
    if (control_i.fresh || takes) below_q <= (below_q && !control_i.fresh) || (takes && !carry);
  end

  logic unused_bits;   // of the table and of the candidates
  assign unused_bits = ^control_i;
  assign a_o      = a_q;
  assign q_o      = q_q;
  assign a_zero_o = a_q == '0;
  assign b_zero_o = b_q == '0;
  assign below_o  = below_q;
endmodule
