// SPDX-License-Identifier: Apache-2.0
// balance_keep: what follows the rounds, sub-program of balance_search. All SMs hold what they have led to; where there
// was none, CTAs in turn follow. Where then neither this nor the last round reaches `keep`, that is keep x Time <= W,
// each kernel is measured alone on all SMs, and what they have held is rated anew, by these. With a floor, or where a
// rate of the base is not known, the base is kept as it is. Combinational.
module balance_keep (
  input  balance_pkg::progress_t now_i,
  input  logic                   last_kernel_i,
  input  logic                   last_i,       // cycle of a loop
  input  logic                   below_i,      // this subtraction, or one before it, went below 0
  input  logic                   promised_i,   // a kernel has a floor
  input  logic                   first_i,      // there was no round, as the base has no neighbours
  input  logic                   sampled_i,    // the entry under work has samples
  output balance_pkg::progress_t next_o,
  output balance_pkg::control_t  control_o
);
  localparam int unsigned LeftW  = 6;
  localparam int unsigned EntryW = balance_pkg::EntryW;
  localparam int unsigned W      = balance_pkg::W;

  balance_pkg::progress_t n;
  balance_pkg::control_t  c;
  always_comb begin
    n = now_i;
    c = '0;
    unique case (now_i.state)
      balance_pkg::KeepStart: begin
        n.kernel = '0;
        n.state  = balance_pkg::KeepTime;
        unique case (now_i.phase)
          balance_pkg::SideBySide, balance_pkg::OnAll: begin
            if (now_i.phase == balance_pkg::OnAll && first_i) n.state = balance_pkg::TurnsStart;
            if (!now_i.known || (now_i.phase == balance_pkg::OnAll && promised_i)) begin
              n.shares = 1'b1;
              n.state  = balance_pkg::Done;
            end
          end
          balance_pkg::Alone: if (!now_i.known) n.state = balance_pkg::Done;
          default: ;
        endcase
      end
      balance_pkg::KeepTime: begin
        c.source  = balance_pkg::FromBestTime;
        c.load_q  = 1'b1;
        c.clear_a = 1'b1;
        n.state   = balance_pkg::KeepLimit;
      end
      balance_pkg::KeepLimit: begin
        c.source = balance_pkg::FromKeep;
        c.load_b = 1'b1;
        n.left   = LeftW'(W);
        n.state  = balance_pkg::KeepMultiply;
      end
      balance_pkg::KeepMultiply: begin
        c.multiply = 1'b1;
        c.fresh    = 1'b1;
        n.left     = now_i.left - 1'b1;
        if (last_i) n.state = balance_pkg::KeepWeight;
      end
      balance_pkg::KeepWeight: begin   // every kernel's weight is taken from A, and 1
        c.source = balance_pkg::FromWeight4;
        c.load_b = 1'b1;
        n.state  = balance_pkg::KeepTake;
      end
      balance_pkg::KeepTake: begin
        c.exceed   = now_i.kernel == '0;
        c.subtract = now_i.kernel != '0;
        n.kernel   = now_i.kernel + 3'd1;
        n.state    = last_kernel_i ? balance_pkg::KeepCheck : balance_pkg::KeepWeight;
      end
      balance_pkg::KeepCheck: begin
        n.worth = below_i;
        n.state = balance_pkg::OnAllStart;
        if (now_i.phase != balance_pkg::SideBySide) begin
          n.shares = below_i || (now_i.worth && now_i.phase != balance_pkg::Alone);
          n.state  = n.shares || now_i.phase == balance_pkg::Alone ? balance_pkg::Done : balance_pkg::AloneStart;
        end
      end

      balance_pkg::OnAllStart: begin
        n.phase   = balance_pkg::OnAll;
        n.entries = (EntryW+1)'(1);
        n.entry   = '0;
        n.kernel  = '0;
        n.state   = balance_pkg::ListClear;
      end
      balance_pkg::TurnsStart: begin
        n.phase = balance_pkg::InTurn;
        n.entry = balance_pkg::TurnsEntry;
        n.state = balance_pkg::ListClear;
      end
      balance_pkg::AloneStart: begin
        n.phase  = balance_pkg::Alone;
        n.kernel = '0;
        n.entry  = balance_pkg::AloneEntry;
        n.state  = balance_pkg::ListClear;
      end
      balance_pkg::AloneMean: begin
        c.source     = balance_pkg::FromQuotient;
        c.keep_alone = sampled_i;
        n.state      = balance_pkg::AloneNext;
      end
      balance_pkg::AloneNext: begin
        n.kernel = now_i.kernel + 3'd1;
        n.state  = balance_pkg::ListClear;
        if (last_kernel_i) begin
          n.kernel = '0;
          n.entry  = '0;
          n.state  = balance_pkg::RateStart;
        end
      end
      balance_pkg::Done: n.state = balance_pkg::Idle;
      default: ;
    endcase
  end
  assign next_o    = n;
  assign control_o = c;
endmodule
