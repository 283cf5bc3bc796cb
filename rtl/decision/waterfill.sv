// SPDX-License-Identifier: Apache-2.0
// waterfill: CTAs of each kernel on an SM, sub-program of decision_steps: lines 13 to 32 of Warped-Slicer's algorithm
// 1, whose numbers stand beside the steps. The worst-off kernel S that is not full takes the fewest CTAs that give it
// more performance. Where these do not fit on the SM, or each gains less than epsilon (not in the paper), S
// is full. It ends when every kernel is full or at its best. R_L, what is left of the SM, is not kept: it is found anew
// for each try, one resource after the other. Combinational.
module waterfill (
  input  decision_pkg::progress_t        now_i,
  input  logic [sluice_pkg::CtaW-1:0]    ctas_i,           // T: CTAs of this kernel
  input  logic                           last_kernel_i,
  input  logic                           last_i,           // cycle of a loop
  input  logic                           below_i,          // this subtraction, or one before it, went below 0
  input  logic                           best_i,           // B, the least performance, is 1.0 or more
  input  logic                           epsilon_on_i,
  output decision_pkg::progress_t        next_o,
  output logic                           grant_o,          // T of this kernel becomes:
  output logic [sluice_pkg::KIndexW-1:0] granted_o,
  output logic [sluice_pkg::CtaW-1:0]    granted_ctas_o,
  output decision_pkg::control_t         control_o
);
  localparam int unsigned CtaW  = sluice_pkg::CtaW;
  localparam int unsigned LeftW = decision_pkg::LeftW;

  decision_pkg::progress_t n;
  decision_pkg::control_t  c;
  always_comb begin
    n              = now_i;
    c              = '0;
    c.resource     = now_i.resource;
    grant_o        = 1'b0;
    granted_o      = now_i.kernel;
    granted_ctas_o = now_i.level;
    unique case (now_i.state)
      decision_pkg::NextKernel: begin   // 13: T = 1
        grant_o        = 1'b1;
        granted_ctas_o = CtaW'(1);
        n.full         = '0;
        n.placed       = 1'b0;
        n.resource     = decision_pkg::Slots;
        n.kernel       = now_i.kernel + 1'b1;
        n.state        = last_kernel_i ? decision_pkg::FitSm : decision_pkg::Best;
      end

      // 14, 27: do all CTAs fit on the SM, with those that the step of S adds?
      decision_pkg::FitSm: begin   // 1: R_L = R_tot
        c.source = decision_pkg::FromCapacity;
        c.load_a = 1'b1;
        c.fresh  = now_i.resource == decision_pkg::Slots;
        n.kernel = '0;
        n.state  = decision_pkg::FitKernel;
      end
      decision_pkg::FitKernel: begin
        c.source = decision_pkg::FromDemand;
        c.load_b = 1'b1;
        n.left   = LeftW'((now_i.placed && now_i.kernel == now_i.worst) ? now_i.level : ctas_i);
        n.state  = below_i ? decision_pkg::FitEnd : decision_pkg::FitTake;
      end
      decision_pkg::FitTake: begin   // R_L = R_L - R_i, T times
        n.left = now_i.left - 1'b1;
        if (last_i) begin
          n.kernel = now_i.kernel + 1'b1;
          n.state  = decision_pkg::FitKernel;
          if (last_kernel_i) begin
            n.resource = now_i.resource + 1'b1;
            n.state    = (now_i.resource == decision_pkg::Shared) ? decision_pkg::FitEnd : decision_pkg::FitSm;
          end
        end
      end
      decision_pkg::FitEnd: begin   // 28: T = T + dT; 30: or S is full. 17: mp = MAX
        c.source  = decision_pkg::FromOne;
        c.load_b  = 1'b1;
        grant_o   = !below_i && now_i.placed;
        granted_o = now_i.worst;
        if (below_i && now_i.placed) n.full[now_i.worst] = 1'b1;
        n.placed  = 1'b1;
        n.no_fit  = below_i && !now_i.placed;
        n.kernel  = '0;
        n.state   = n.no_fit ? decision_pkg::Done : decision_pkg::ScanPick;
      end

      // 18 to 22: S is the kernel that is not full with the least performance below 1.0.
      decision_pkg::ScanPick: begin
        n.level = ctas_i;
        n.state = decision_pkg::ScanRead;
        if (now_i.full[now_i.kernel]) begin
          n.kernel = now_i.kernel + 1'b1;
          n.state  = last_kernel_i ? decision_pkg::ScanEnd : decision_pkg::ScanPick;
        end
      end
      decision_pkg::ScanRead: begin
        c.source = decision_pkg::FromWord;
        c.load_a = 1'b1;
        c.fresh  = 1'b1;
        n.state  = decision_pkg::ScanCompare;
      end
      decision_pkg::ScanCompare: n.state = decision_pkg::ScanKeep;   // 19: Q < mp?
      decision_pkg::ScanKeep: begin   // 20: mp = Q, S = i
        c.source = decision_pkg::FromWord;
        c.load_b = below_i;
        if (below_i) n.worst = now_i.kernel;
        n.kernel = now_i.kernel + 1'b1;
        n.state  = last_kernel_i ? decision_pkg::ScanEnd : decision_pkg::ScanPick;
      end
      decision_pkg::ScanEnd: begin   // 23: if none is found, the end
        n.kernel = best_i ? '0 : now_i.worst;
        n.state  = best_i ? decision_pkg::JudgeLimit : decision_pkg::StepFirst;
      end

      // 25: dT, the fewest CTAs with a greater performance.
      decision_pkg::StepFirst: begin
        n.level = ctas_i + 1'b1;
        n.left  = LeftW'(1);
        n.state = decision_pkg::StepRead;
      end
      decision_pkg::StepRead: begin
        c.source = decision_pkg::FromWord;
        c.load_a = 1'b1;
        c.fresh  = 1'b1;
        n.state  = decision_pkg::StepCompare;
      end
      decision_pkg::StepCompare: begin c.exceed = 1'b1; n.state = decision_pkg::StepCheck; end
      decision_pkg::StepCheck: begin
        n.resource = decision_pkg::Slots;
        n.state    = epsilon_on_i ? decision_pkg::GainLoad : decision_pkg::FitSm;
        if (below_i) begin
          n.level = now_i.level + 1'b1;
          n.left  = now_i.left + 1'b1;
          n.state = decision_pkg::StepRead;
        end
      end
      decision_pkg::GainLoad: begin
        c.source = decision_pkg::FromEpsilon;
        c.load_b = 1'b1;
        n.state  = decision_pkg::GainTake;
      end
      decision_pkg::GainTake: begin
        n.left = now_i.left - 1'b1;
        if (last_i) n.state = decision_pkg::GainCheck;
      end
      decision_pkg::GainCheck: n.state = below_i ? decision_pkg::FitEnd : decision_pkg::FitSm;
      default: ;
    endcase
  end
  assign next_o    = n;
  assign control_o = c;
endmodule
