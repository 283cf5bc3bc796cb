// SPDX-License-Identifier: Apache-2.0
// balance_list: the partitions of a round, sub-program of balance_search: the base; the one before it; and, as long as
// there is room, partitions that no round has had yet. Kinds of these follow each other: the base's neighbours (a CTA
// more of kernel `to`, for which CTAs of kernel `off` leave; what is left over is filled, `to` first), the base with a
// third fewer CTAs of one kernel, and of two kernels the neighbours' neighbours. What is left of the SM is found anew
// for each try, one resource after the other. Where there is nothing beside the base, all SMs hold it.
// Combinational.
module balance_list (
  input  balance_pkg::progress_t         now_i,
  input  logic [sluice_pkg::KernelW-1:0] num_kernels_i,
  input  logic                           last_kernel_i,   // `kernel` is the last one
  input  logic                           last_i,          // cycle of a loop
  input  logic                           below_i,         // it does not fit
  input  logic [sluice_pkg::CtaW-1:0]    ctas_i,          // of `kernel` in the candidate,
  input  logic [sluice_pkg::CtaW-1:0]    off_ctas_i,      // of `off`,
  input  logic [sluice_pkg::CtaW-1:0]    to_ctas_i,       // of `to`
  input  logic                           same_i,          // it is the one of `row`, a cycle later
  input  logic [balance_pkg::EntryW-1:0] room_i,          // entries beside the base
  output balance_pkg::progress_t         next_o,
  output balance_pkg::control_t          control_o
);
  localparam int unsigned LeftW  = 6;
  localparam int unsigned EntryW = balance_pkg::EntryW;

  function automatic logic [2:0] after(input logic [2:0] kernel, input logic [sluice_pkg::KernelW-1:0] kernels);
    after = sluice_pkg::KernelW'(kernel) + 1'b1 == kernels ? 3'd0 : kernel + 3'd1;
  endfunction

  balance_pkg::progress_t n;
  balance_pkg::control_t  c;
  logic [2:0] next_to, next_grown;
  logic [3:0] next_off;
  logic       pair, full, last_to;
  assign pair       = num_kernels_i == sluice_pkg::KernelW'(2);
  assign full       = now_i.entries > (EntryW+1)'(room_i);
  assign next_to    = after(now_i.to, num_kernels_i);
  assign next_grown = after(now_i.grown, num_kernels_i);
  assign last_to    = next_to == '0;
  always_comb begin   // the next kernel that is not `to`; that itself is the end
    next_off = 4'(now_i.off) + 4'd1;
    if (next_off == 4'(now_i.to)) next_off = 4'(now_i.off) + 4'd2;
  end

  always_comb begin
    n = now_i;
    c = '0;
    c.work_kernel = now_i.to;
    unique case (now_i.state)
      balance_pkg::ListStart: begin
        n.entries = (EntryW+1)'(1) + (EntryW+1)'(now_i.has_before);
        n.first   = now_i.rows;
        n.kind    = balance_pkg::Near;
        n.to      = 3'd0;
        n.off     = 3'd1;
        n.state   = balance_pkg::ListLoad;
        if (n.entries > (EntryW+1)'(room_i)) n.state = balance_pkg::ListClear;
        n.entry   = '0;
        n.kernel  = '0;
      end

      balance_pkg::ListLoad: begin
        c.work   = balance_pkg::IsBase;
        n.fills  = 1'b0;
        n.grown  = now_i.to;
        n.second = 1'b0;
        n.state  = now_i.kind == balance_pkg::Fewer ? balance_pkg::ListFewer : balance_pkg::ListMore;
      end
      balance_pkg::ListMore: begin   // one more CTA
        c.work        = balance_pkg::HasMore;
        c.work_kernel = now_i.grown;
        n.resource    = '0;
        n.state       = balance_pkg::ListSm;
      end

      // Do all CTAs fit on the SM?
      balance_pkg::ListSm: begin
        c.source = balance_pkg::FromCapacity;
        c.load_a = 1'b1;
        c.fresh  = now_i.resource == '0;
        n.kernel = '0;
        n.state  = balance_pkg::ListKernel;
      end
      balance_pkg::ListKernel: begin
        c.source = balance_pkg::FromDemand;
        c.load_b = 1'b1;
        n.left   = LeftW'(ctas_i);
        n.state  = balance_pkg::ListTake;
      end
      balance_pkg::ListTake: begin
        c.subtract = now_i.left != '0;
        n.left     = now_i.left - 1'b1;
        if (last_i || now_i.left == '0) begin
          n.kernel = now_i.kernel + 3'd1;
          n.state  = balance_pkg::ListKernel;
          if (last_kernel_i) begin
            n.resource = now_i.resource + 1'b1;
            n.state    = now_i.resource == 2'd3 ? balance_pkg::ListFit : balance_pkg::ListSm;
          end
        end
      end
      balance_pkg::ListFit: begin
        n.resource = '0;
        n.state    = balance_pkg::ListSm;
        if (!now_i.fills && below_i) begin   // CTAs of `off` leave
          c.work        = balance_pkg::HasLess;
          c.work_kernel = now_i.off;
          if (off_ctas_i == sluice_pkg::CtaW'(1)) begin
            c.work  = balance_pkg::Stays;
            n.state = balance_pkg::ListNext;
          end
        end else if (!now_i.fills) begin
          n.fills = 1'b1;
          n.state = balance_pkg::ListMore;
        end else if (!below_i) begin
          c.work        = balance_pkg::HasMore;
          c.work_kernel = now_i.grown;
        end else begin   // that one was too many: the next kernel's turn
          c.work        = balance_pkg::HasLess;
          c.work_kernel = now_i.grown;
          n.grown       = next_grown;
          n.row         = '0;
          n.state       = balance_pkg::ListMore;
          if (next_grown == now_i.to) begin
            n.state = balance_pkg::ListLook;
            if (now_i.kind == balance_pkg::Far && !now_i.second) begin   // a pair's
              n.second = 1'b1;
              n.to     = 3'(now_i.distant[0]);
              n.off    = 3'(!now_i.distant[0]);
              n.grown  = n.to;
              n.fills  = 1'b0;
              n.state  = balance_pkg::ListMore;
            end
          end
        end
        n.entry  = '0;
        n.kernel = '0;
      end

      balance_pkg::ListFewer: begin
        c.work  = balance_pkg::HasTwoThirds;
        n.row   = '0;
        n.state = to_ctas_i > sluice_pkg::CtaW'(1) ? balance_pkg::ListLook : balance_pkg::ListNext;
      end

      balance_pkg::ListLook: n.state = balance_pkg::ListSame;
      balance_pkg::ListSame: begin   // has any round had it?
        n.row   = now_i.row + 1'b1;
        n.state = balance_pkg::ListLook;
        if (same_i) n.state = balance_pkg::ListNext;
        else if (n.row == now_i.rows) begin
          c.add_row = 1'b1;
          n.rows    = now_i.rows + 1'b1;
          n.entries = now_i.entries + 1'b1;
          n.state   = balance_pkg::ListNext;
        end
      end
      balance_pkg::ListNext: begin
        n.state  = balance_pkg::ListLoad;
        unique case (now_i.kind)
          balance_pkg::Near: begin
            n.off = next_off[2:0];
            if (next_off >= num_kernels_i) begin
              n.to  = next_to;
              n.off = 3'd0;
              if (last_to) n.kind = balance_pkg::Fewer;
            end
          end
          balance_pkg::Fewer: begin
            n.to = next_to;
            if (last_to) begin
              n.kind = balance_pkg::Far;
              n.distant  = '0;
              n.off  = 3'd1;
              if (!pair) n.state = balance_pkg::ListClear;
            end
          end
          default: begin   // Far
            n.distant = now_i.distant + 1'b1;
            n.to  = 3'(n.distant[1]);
            n.off = 3'(!n.distant[1]);
            if (now_i.distant == '1) n.state = balance_pkg::ListClear;
          end
        endcase
        if (full) n.state = balance_pkg::ListClear;
        n.kernel = '0;
      end

      balance_pkg::ListClear: begin   // sums of the round
        c.write      = 1'b1;
        c.no_samples = 1'b1;
        n.kernel     = now_i.kernel + 3'd1;
        if (now_i.phase == balance_pkg::Alone) begin
          n.kernel = now_i.kernel;
          n.state  = balance_pkg::Wait;
        end else if (last_kernel_i) begin
          n.kernel = '0;
          n.entry  = now_i.entry + 1'b1;
          if ((EntryW+1)'(now_i.entry) + 1'b1 == now_i.entries || now_i.phase != balance_pkg::SideBySide)
            n.state = balance_pkg::Wait;
        end
        if (now_i.entries == (EntryW+1)'(1) && now_i.phase == balance_pkg::SideBySide) n.phase = balance_pkg::OnAll;
      end
      default: ;
    endcase
  end
  assign next_o    = n;
  assign control_o = c;
endmodule
