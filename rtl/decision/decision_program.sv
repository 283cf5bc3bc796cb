// SPDX-License-Identifier: Apache-2.0
// decision_program: what serial_unit and perf_table do in each state of a decision
// (docs/reference/blocks/partition_core.md). Combinational.
module decision_program (
  input  decision_pkg::state_e   state_i,
  input  logic [1:0]             resource_i,
  input  logic                   sample_valid_i,   // an entry comes in
  input  logic                   entry_i,          // B is an entry
  input  logic                   last_i,           // cycle of a loop
  input  logic                   below_i,
  input  logic                   multiply_i,       // state_i is HullMultiply: a register, as the adder waits for it
  input  logic                   divide_i,         // state_i is NormDivide or HullDivide
  input  logic                   subtract_i,       // state_i is one that subtracts B
  input  logic                   lose_i,           // state_i is JudgeTake
  input  logic                   anchor_i,         // state_i is HullLoad
  output decision_pkg::control_t control_o
);
  decision_pkg::control_t c;
  always_comb begin
    c          = '0;
    c.resource = resource_i;
    c.multiply = multiply_i;
    c.divide   = divide_i;
    c.subtract = subtract_i;
    c.lose     = lose_i;
    c.at_anchor = anchor_i;
    unique case (state_i)
      decision_pkg::Collect: begin
        c.source = decision_pkg::FromEntry;
        c.load_b = sample_valid_i;
        c.write = entry_i;
      end
      decision_pkg::Best:         c.load_b = 1'b1;

      decision_pkg::RaiseRead,
      decision_pkg::HullRead,
      decision_pkg::ScanRead,
      decision_pkg::StepRead:     begin c.source = decision_pkg::FromWord; c.load_a = 1'b1; c.fresh = 1'b1; end
      decision_pkg::FitTake,
      decision_pkg::GainTake:     c.loop = 1'b1;
      decision_pkg::JudgeTake:    c.loop = 1'b1;
      decision_pkg::HullCompare,
      decision_pkg::StepCompare:  c.exceed = 1'b1;
      decision_pkg::RaiseKeep:    begin c.source = decision_pkg::FromWord; c.load_b = !below_i; c.write = below_i; end
      decision_pkg::HullKeep:     c.write = below_i;
      decision_pkg::ScanKeep:     begin c.source = decision_pkg::FromWord; c.load_b = below_i; end

      decision_pkg::NormBest:     begin c.source = decision_pkg::FromMantissa; c.load_b = 1'b1; end
      decision_pkg::NormRead:     begin c.source = decision_pkg::FromMantissa; c.load_a = 1'b1; c.clear_q = 1'b1; end
      decision_pkg::NormStore:    begin c.write = 1'b1; c.write_q = 1'b1; end
      decision_pkg::NormDivide,
      decision_pkg::HullDivide:   c.loop = 1'b1;
      decision_pkg::HullLoad: begin
        c.source = decision_pkg::FromLevel;
        c.load_b = 1'b1;
        c.clear_a = 1'b1;
        c.load_q = 1'b1;
      end
      decision_pkg::HullMultiply: begin c.source = decision_pkg::FromAnchor; c.load_b = last_i; c.loop = 1'b1; end
      decision_pkg::HullLine:     begin c.source = decision_pkg::FromQuotient; c.load_b = 1'b1; end

      decision_pkg::FitSm: begin
        c.source = decision_pkg::FromCapacity;
        c.load_a = 1'b1;
        c.fresh = resource_i == decision_pkg::Slots;
      end
      decision_pkg::FitKernel:    begin c.source = decision_pkg::FromDemand; c.load_b = 1'b1; end
      decision_pkg::FitEnd:       begin c.source = decision_pkg::FromOne; c.load_b = 1'b1; end
      decision_pkg::GainLoad:     begin c.source = decision_pkg::FromEpsilon; c.load_b = 1'b1; end
      decision_pkg::JudgeLimit:   begin c.source = decision_pkg::FromLimit; c.load_a = 1'b1; c.fresh = 1'b1; end
      decision_pkg::JudgeRead:    begin c.source = decision_pkg::FromWord; c.load_b = 1'b1; end
      default: ;
    endcase
  end
  assign control_o = c;
endmodule
