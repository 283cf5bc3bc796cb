// SPDX-License-Identifier: Apache-2.0
// performance_curve: from the samples of a kernel to the performance of each of its CTA counts, sub-program of
// decision_steps; lines 6 to 12 of Warped-Slicer's algorithm 1. There Q and M keep the counts at which the performance
// rises; here the table keeps Q for each count, and waterfill skips the counts at which it does not. Upwards, an entry
// becomes the best that is not above its level; downwards, its quotient by the kernel's best; then that of the star
// hull, at least the anchor's performance x level / anchor (docs/reference/blocks/partition_core.md). Combinational.
module performance_curve (
  input  decision_pkg::progress_t          now_i,
  input  logic [sluice_pkg::CtaW-1:0]      ctas_i,       // levels of this kernel
  input  logic                             kept_i,       // its curve is there
  input  logic [sluice_pkg::ExponentW-1:0] exponent_i,   // of the table's word
  input  logic                             last_i,       // cycle of a loop
  input  logic                             below_i,      // this subtraction, or one before it, went below 0
  output decision_pkg::progress_t          next_o,
  output decision_pkg::control_t           control_o
);
  localparam int unsigned CtaW  = sluice_pkg::CtaW;
  localparam int unsigned PerfW = sluice_pkg::PerfW;
  localparam int unsigned LeftW = decision_pkg::LeftW;

  decision_pkg::progress_t          n;
  decision_pkg::control_t           c;
  logic                             first;   // level
  assign first  = now_i.level == CtaW'(1);
  always_comb begin
    n = now_i;
    c = '0;
    unique case (now_i.state)
      decision_pkg::Best: begin   // 7: max = 0
        c.load_b = 1'b1;
        n.level  = CtaW'(1);
        n.state  = kept_i ? decision_pkg::NextKernel : decision_pkg::RaiseRead;
      end
      decision_pkg::RaiseRead: begin
        c.source = decision_pkg::FromWord;
        c.load_a = 1'b1;
        c.fresh  = 1'b1;
        n.state  = decision_pkg::RaiseCompare;
      end
      decision_pkg::RaiseCompare: n.state = decision_pkg::RaiseKeep;   // 9: P > max?
      decision_pkg::RaiseKeep: begin   // 10: max = Q = P; else Q = max
        c.source = decision_pkg::FromWord;
        c.load_b = !below_i;
        c.write  = below_i;
        n.state  = decision_pkg::NormBest;
        if (now_i.level != ctas_i) begin
          n.level = now_i.level + 1'b1;
          n.state = decision_pkg::RaiseRead;
        end
      end

      decision_pkg::NormBest: begin
        c.source   = decision_pkg::FromMantissa;
        c.load_b   = 1'b1;
        n.exponent = exponent_i;
        n.state    = decision_pkg::NormRead;
      end
      decision_pkg::NormRead: begin
        c.source  = decision_pkg::FromMantissa;
        c.load_a  = 1'b1;
        c.clear_q = 1'b1;
        n.left    = LeftW'(sluice_pkg::ExponentW'(now_i.exponent - exponent_i));   // places that are zero
        n.state   = decision_pkg::NormDivide;
      end
      decision_pkg::NormDivide: begin   // the others: counted upwards; a zero has one as well
        n.left = now_i.left + 1'b1;
        if (now_i.left >= LeftW'(PerfW - 1)) n.state = decision_pkg::NormStore;
      end
      decision_pkg::NormStore: begin
        c.write   = 1'b1;
        c.write_q = 1'b1;
        n.level   = now_i.level - 1'b1;
        n.state   = decision_pkg::NormRead;
        if (first) begin
          n.level  = ctas_i - 1'b1;
          n.anchor = ctas_i;
          n.state  = (ctas_i == CtaW'(1)) ? decision_pkg::NextKernel : decision_pkg::HullLoad;
        end
      end

      decision_pkg::HullLoad: begin
        c.source  = decision_pkg::FromLevel;
        c.load_b  = 1'b1;
        c.clear_a = 1'b1;
        c.load_q  = 1'b1;
        n.left    = LeftW'(PerfW);
        n.state   = decision_pkg::HullMultiply;
      end
      decision_pkg::HullMultiply: begin
        c.source = decision_pkg::FromAnchor;
        c.load_b = last_i;
        n.left   = last_i ? LeftW'(PerfW + 1) : now_i.left - 1'b1;
        if (last_i) n.state = decision_pkg::HullDivide;
      end
      decision_pkg::HullDivide: begin
        n.left = now_i.left - 1'b1;
        if (last_i) n.state = decision_pkg::HullLine;
      end
      decision_pkg::HullLine: begin
        c.source = decision_pkg::FromQuotient;
        c.load_b = 1'b1;
        n.state  = decision_pkg::HullRead;
      end
      decision_pkg::HullRead: begin
        c.source = decision_pkg::FromWord;
        c.load_a = 1'b1;
        c.fresh  = 1'b1;
        n.state  = decision_pkg::HullCompare;
      end
      decision_pkg::HullCompare: begin c.exceed = 1'b1; n.state = decision_pkg::HullKeep; end
      decision_pkg::HullKeep: begin
        c.write = below_i;
        if (!below_i) n.anchor = now_i.level;
        n.level = now_i.level - 1'b1;
        n.state = first ? decision_pkg::NextKernel : decision_pkg::HullLoad;
      end
      default: ;
    endcase
  end
  assign next_o    = n;
  assign control_o = c;
endmodule
