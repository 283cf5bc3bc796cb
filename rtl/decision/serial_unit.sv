// SPDX-License-Identifier: Apache-2.0
// serial_unit: all arithmetic of a decision: one bus, three registers, one adder. A and Q are one long register for a
// product or a quotient, of which each cycle makes a bit; B is the other operand. What a cycle does is told by
// control_i (decision_pkg); below_o says a cycle later that a subtraction since `fresh` went below zero.
module serial_unit #(
  parameter int unsigned MAX_CTAS = 32
) (
  input  logic                               clk_i,
  input  decision_pkg::control_t             control_i,
  // The bus takes one of these.
  input  logic [sluice_pkg::ScaledW-1:0]     entry_i,
  input  logic [sluice_pkg::WordW-1:0]       word_i,
  input  sluice_pkg::amounts_t               capacity_i,
  input  logic [sluice_pkg::CtaW-1:0]        capacity_slots_i,
  input  sluice_pkg::amounts_t               demand_i,
  input  logic [sluice_pkg::PerfW-1:0]       epsilon_i,
  input  logic [sluice_pkg::LossW-1:0]       loss_limit_i,
  input  logic [$clog2(MAX_CTAS+1)-1:0]      level_i,
  input  logic [$clog2(MAX_CTAS+1)-1:0]      anchor_i,
  output logic [sluice_pkg::WordW-1:0]       word_o,      // to the table
  output logic                               best_o,      // B is 1.0 or more
  output logic                               below_o
);
  if (!sluice_pkg::sizes_exist(1, 2, MAX_CTAS)) $error("serial_unit: size out of range");
  localparam int unsigned W         = sluice_pkg::OperandW;
  localparam int unsigned WordW     = sluice_pkg::WordW;
  localparam int unsigned PerfW     = sluice_pkg::PerfW;
  localparam int unsigned FracW     = sluice_pkg::PerfFracW;
  localparam int unsigned FractionW = sluice_pkg::MantissaW - 1;

  logic [W-1:0]     a_d, a_q, b_q, bus, operand, sum;
  logic [PerfW-1:0] q_d, q_q;
  logic             below_q, carry, takes;

  always_comb begin
    bus = '0;
    unique case (control_i.source)
      decision_pkg::FromEntry:    bus = W'(entry_i);
      decision_pkg::FromWord:     bus = W'(word_i);
      decision_pkg::FromMantissa: bus = W'({word_i[sluice_pkg::ScaledW-1:FractionW] != '0, word_i[FractionW-1:0]});
      decision_pkg::FromCapacity:
        unique case (control_i.resource)
          decision_pkg::Slots:     bus = W'(capacity_slots_i);
          decision_pkg::Warps:     bus = W'(capacity_i.warps);
          decision_pkg::Registers: bus = W'(capacity_i.registers);
          default:                 bus = W'(capacity_i.shared);
        endcase
      decision_pkg::FromDemand:
        unique case (control_i.resource)
          decision_pkg::Slots:     bus = W'(1);
          decision_pkg::Warps:     bus = W'(demand_i.warps);
          decision_pkg::Registers: bus = W'(demand_i.registers);
          default:                 bus = W'(demand_i.shared);
        endcase
      decision_pkg::FromEpsilon:  bus = W'(epsilon_i);
      decision_pkg::FromLimit:    bus = W'(loss_limit_i);
      decision_pkg::FromOne:      bus = W'(sluice_pkg::PerfOne);
      decision_pkg::FromLevel:    bus = W'(level_i);
      decision_pkg::FromAnchor:   bus = W'(anchor_i);
      decision_pkg::FromQuotient: bus = W'(q_q);
      default:                    bus = '0;
    endcase
  end

  // A - (1.0 - B) is A plus B's fraction with ones above it.
  assign takes = control_i.subtract || control_i.exceed || control_i.lose;
  always_comb begin
    operand = ~b_q;
    if (control_i.multiply) operand = b_q & {W{q_q[0]}};
    if (control_i.lose)     operand = {{W-FracW{1'b1}}, b_q[FracW-1:0]};
    {carry, sum} = {1'b0, a_q} + {1'b0, operand} + (W + 1)'(control_i.subtract || control_i.divide);
    a_d = bus & {W{!control_i.clear_a}};
    q_d = word_i[PerfW-1:0] & {PerfW{!control_i.clear_q}};
    if (takes) a_d = sum;
    if (control_i.multiply) begin
      a_d = sum >> 1;
      q_d = {sum[0], q_q[PerfW-1:1]};
    end
    if (control_i.divide) begin
      a_d = {carry ? sum[W-2:0] : a_q[W-2:0], q_q[PerfW-1]};
      q_d = {q_q[PerfW-2:0], carry};
    end
  end

  // Loaded before they are used: no reset.
  always_ff @(posedge clk_i) begin
    if (control_i.load_a || control_i.clear_a || takes || control_i.multiply || control_i.divide) a_q <= a_d;
    if (control_i.load_b)                                                                         b_q <= bus;
    if (control_i.load_q || control_i.clear_q || control_i.multiply || control_i.divide)          q_q <= q_d;
    if (control_i.fresh || takes)
      below_q <= (below_q && !control_i.fresh) || (takes && !carry);
  end

  logic unused_bits;   // of the table and of decision_steps
  assign unused_bits = ^{control_i.write, control_i.at_anchor};
  assign word_o  = control_i.write_q ? WordW'(q_q) : b_q[WordW-1:0];
  assign best_o  = b_q[FracW];
  assign below_o = below_q;
endmodule
