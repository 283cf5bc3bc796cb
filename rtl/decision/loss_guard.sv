// SPDX-License-Identifier: Apache-2.0
// loss_guard: accepts a partition only if no kernel loses too much, sub-program of decision_steps (Warped-Slicer,
// section IV: of K kernels each may lose 1.2 / K of its own best). There is no division: from 1.2, which register
// LOSS_LIMIT has, the loss, 1.0 less the performance with T CTAs, is taken K times, and must not go below zero.
// Combinational.
module loss_guard (
  input  decision_pkg::progress_t        now_i,
  input  logic [sluice_pkg::CtaW-1:0]    ctas_i,          // T: CTAs of this kernel
  input  logic [sluice_pkg::KernelW-1:0] num_kernels_i,   // K
  input  logic                           last_kernel_i,
  input  logic                           last_i,          // cycle of a loop
  input  logic                           below_i,         // this subtraction, or one before it, went below 0
  input  logic                           best_i,          // B, the performance, is 1.0 or more
  output decision_pkg::progress_t        next_o,
  output decision_pkg::control_t         control_o
);
  localparam int unsigned LeftW = decision_pkg::LeftW;

  decision_pkg::progress_t n;
  decision_pkg::control_t  c;
  always_comb begin
    n = now_i;
    c = '0;
    unique case (now_i.state)
      decision_pkg::JudgeLimit: begin
        c.source = decision_pkg::FromLimit;
        c.load_a = 1'b1;
        c.fresh  = 1'b1;
        n.level  = ctas_i;
        n.state  = decision_pkg::JudgeRead;
      end
      decision_pkg::JudgeRead: begin
        c.source = decision_pkg::FromWord;
        c.load_b = 1'b1;
        n.left   = LeftW'(num_kernels_i);
        n.state  = decision_pkg::JudgeTake;
      end
      decision_pkg::JudgeTake: begin
        n.left = now_i.left - 1'b1;
        if (last_i) n.state = decision_pkg::JudgeCheck;
      end
      decision_pkg::JudgeCheck: begin
        n.spatial = now_i.spatial || (below_i && !best_i);
        n.kernel  = now_i.kernel + 1'b1;
        n.state   = last_kernel_i ? decision_pkg::Done : decision_pkg::JudgeLimit;
      end
      default: ;
    endcase
  end
  assign next_o    = n;
  assign control_o = c;
endmodule
