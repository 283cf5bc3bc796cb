// SPDX-License-Identifier: Apache-2.0
// balance_step: where a round leads, sub-program of balance_search. An entry's Short and Time are there: the base goes
// back to the one before it, or the entry becomes the best so far. Scores are W / Time, so 1 / 64 more is compared by
// Time; the product of the kernels' means, over the base's, must not be less than 7 / 8. Of CTAs in turn only their
// score is compared. Combinational.
module balance_step (
  input  balance_pkg::progress_t         now_i,
  input  logic                           last_kernel_i,
  input  logic                           last_i,       // cycle of a loop
  input  logic                           below_i,      // this subtraction, or one before it, went below 0
  input  logic                           a_zero_i,
  input  logic                           first_i,      // there was no round, as the base has no neighbours
  input  logic [balance_pkg::RowW-1:0]   best_row_i,   // of the best entry
  output balance_pkg::progress_t         next_o,
  output balance_pkg::control_t          control_o
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
      balance_pkg::StepStart: begin
        n.state = balance_pkg::NearA;
        if (now_i.entry == '0 || now_i.returned) begin
          n.best  = now_i.entry;
          n.known = now_i.measured;
          c.best  = 1'b1;
        end
        if (now_i.phase != balance_pkg::SideBySide) begin
          n.state = balance_pkg::KeepStart;
          if (now_i.entry != '0 && now_i.measured) n.state = now_i.known ? balance_pkg::GainA : balance_pkg::TurnsTake;
          if (now_i.entry == '0 && now_i.phase == balance_pkg::Alone && first_i) begin   // they were measured, too
            n.entry = balance_pkg::TurnsEntry;
            n.state = balance_pkg::RateStart;
          end
        end else if (now_i.returned) n.state = balance_pkg::KeepStart;
        else if (now_i.entry == '0) begin
          n.state = now_i.has_before ? balance_pkg::BackShortA : balance_pkg::StepBase;
          if (!now_i.measured) n.state = balance_pkg::KeepStart;
        end else if (!now_i.measured) n.state = balance_pkg::StepNext;
      end

      // Back, where the one before was as near to the floors and took less than 63 / 64 of the base's time?
      balance_pkg::BackShortA: begin
        c.source = balance_pkg::FromShort;
        c.load_a = 1'b1;
        c.fresh  = 1'b1;
        n.state  = balance_pkg::BackShortB;
      end
      balance_pkg::BackShortB: begin
        c.source = balance_pkg::FromBeforeShort;
        c.load_b = 1'b1;
        n.state  = balance_pkg::BackShort;
      end
      balance_pkg::BackShort: begin
        c.subtract = 1'b1;
        n.state    = balance_pkg::BackTimeA;
      end
      balance_pkg::BackTimeA: begin   // `below` stays: nothing is better than to be nearer to the floors
        c.source = balance_pkg::FromTime;
        c.load_a = 1'b1;
        n.state  = balance_pkg::BackTimeB;
      end
      balance_pkg::BackTimeB: begin
        c.source = balance_pkg::FromBeforeTime;
        c.load_b = 1'b1;
        n.state  = balance_pkg::BackTime;
      end
      balance_pkg::BackTime: begin
        c.subtract = 1'b1;
        n.state    = balance_pkg::Back64th;
      end
      balance_pkg::Back64th: begin
        c.source = balance_pkg::FromTime64th;
        c.load_b = 1'b1;
        n.state  = balance_pkg::BackExceed;
      end
      balance_pkg::BackExceed: begin
        c.exceed = 1'b1;
        n.state  = balance_pkg::BackCheck;
      end
      balance_pkg::BackCheck: begin
        n.state = balance_pkg::StepBase;
        if (!below_i) begin
          n.returned = 1'b1;
          n.base     = now_i.earlier;
          n.entry    = EntryW'(1);
          n.kernel   = '0;
          n.state    = balance_pkg::MeanCount;
        end
      end
      balance_pkg::StepBase: begin
        c.earlier = 1'b1;
        n.state   = balance_pkg::StepNext;
      end

      // Nearer to the floors than the best, or as near and faster?
      balance_pkg::NearA: begin
        c.source = balance_pkg::FromShort;
        c.load_a = 1'b1;
        c.fresh  = 1'b1;
        n.state  = balance_pkg::NearB;
      end
      balance_pkg::NearB: begin
        c.source = balance_pkg::FromBestShort;
        c.load_b = 1'b1;
        n.state  = balance_pkg::NearTake;
      end
      balance_pkg::NearTake: begin
        c.subtract = 1'b1;
        n.state    = balance_pkg::NearCheck;
      end
      balance_pkg::NearCheck: begin
        n.state = balance_pkg::StepNext;
        if (below_i)       n.state = balance_pkg::BaseA;
        else if (a_zero_i) n.state = balance_pkg::GainA;
      end
      balance_pkg::GainA: begin   // the best's time less this one's
        c.source = balance_pkg::FromBestTime;
        c.load_a = 1'b1;
        c.fresh  = 1'b1;
        n.state  = balance_pkg::GainB;
      end
      balance_pkg::GainB: begin
        c.source = balance_pkg::FromTime;
        c.load_b = 1'b1;
        n.state  = balance_pkg::GainTake;
      end
      balance_pkg::GainTake: begin
        c.subtract = now_i.best == '0;
        c.exceed   = now_i.best != '0;
        n.state    = now_i.best == '0 ? balance_pkg::Gain64th : balance_pkg::GainCheck;
      end
      balance_pkg::Gain64th: begin
        c.source = balance_pkg::FromTime64th;
        c.load_b = 1'b1;
        n.state  = balance_pkg::GainExceed;
      end
      balance_pkg::GainExceed: begin
        c.exceed = 1'b1;
        n.state  = balance_pkg::GainCheck;
      end
      balance_pkg::GainCheck: begin
        n.state = below_i ? balance_pkg::StepNext : balance_pkg::BaseA;
        if (now_i.phase != balance_pkg::SideBySide) n.state = below_i ? balance_pkg::KeepStart : balance_pkg::TurnsTake;
      end

      // Where floors do not tell it from the base, does one kernel pay for what the others gain?
      balance_pkg::BaseA: begin
        c.source = balance_pkg::FromShort;
        c.load_a = 1'b1;
        n.state  = balance_pkg::BaseB;
      end
      balance_pkg::BaseB: begin
        c.source = balance_pkg::FromBeforeShort;   // the base's, as it may be the next one before
        c.load_b = 1'b1;
        n.state  = balance_pkg::BaseTake;
      end
      balance_pkg::BaseTake: begin
        c.subtract = 1'b1;
        n.state    = balance_pkg::BaseCheck;
      end
      balance_pkg::BaseCheck: begin
        n.kernel = '0;
        n.state  = a_zero_i ? balance_pkg::PaidOne : balance_pkg::StepTake;
      end
      balance_pkg::PaidOne: begin   // Q = 1, and Q = Q x mean / the base's mean
        c.source = balance_pkg::FromOne;
        c.load_q = 1'b1;
        n.state  = balance_pkg::PaidHere;
      end
      balance_pkg::PaidHere: begin
        c.source  = balance_pkg::FromWord;
        c.load_b  = 1'b1;
        c.clear_a = 1'b1;
        n.left    = LeftW'(W);
        n.state   = balance_pkg::PaidMultiply;
      end
      balance_pkg::PaidMultiply: begin
        c.multiply = 1'b1;
        n.left     = now_i.left - 1'b1;
        if (last_i) n.state = balance_pkg::PaidBase;
      end
      balance_pkg::PaidBase: begin
        c.source  = balance_pkg::FromWord;
        c.at_base = 1'b1;
        c.load_b  = 1'b1;
        n.state   = balance_pkg::PaidTry;
      end
      balance_pkg::PaidTry: begin
        c.subtract = 1'b1;
        c.fresh    = 1'b1;
        n.state    = balance_pkg::PaidCheck;
      end
      balance_pkg::PaidCheck: begin   // 16 or more is enough
        c.add   = 1'b1;
        n.left  = LeftW'(W + 1);
        n.state = below_i ? balance_pkg::PaidDivide : balance_pkg::StepTake;
      end
      balance_pkg::PaidDivide: begin
        c.divide = 1'b1;
        n.left   = now_i.left - 1'b1;
        if (last_i) begin
          n.kernel = now_i.kernel + 3'd1;
          n.state  = last_kernel_i ? balance_pkg::PaidA : balance_pkg::PaidHere;
        end
      end
      balance_pkg::PaidA: begin
        c.source = balance_pkg::FromQuotient;
        c.load_a = 1'b1;
        c.fresh  = 1'b1;
        n.state  = balance_pkg::PaidB;
      end
      balance_pkg::PaidB: begin
        c.source = balance_pkg::FromSevenEighths;
        c.load_b = 1'b1;
        n.state  = balance_pkg::PaidTake;
      end
      balance_pkg::PaidTake: begin
        c.subtract = 1'b1;
        n.state    = balance_pkg::PaidEnd;
      end
      balance_pkg::PaidEnd: n.state = below_i ? balance_pkg::StepNext : balance_pkg::StepTake;

      balance_pkg::StepTake: begin
        c.best  = 1'b1;
        n.best  = now_i.entry;
        n.state = balance_pkg::StepNext;
      end
      balance_pkg::TurnsTake: begin
        c.best  = 1'b1;
        n.best  = now_i.entry;
        n.known = 1'b1;
        n.state = balance_pkg::KeepStart;
      end
      balance_pkg::StepNext: begin
        n.entry  = now_i.entry + 1'b1;
        n.kernel = '0;
        n.state  = (EntryW+1)'(now_i.entry) + 1'b1 == now_i.entries ? balance_pkg::StepEnd : balance_pkg::MeanCount;
      end
      balance_pkg::StepEnd: begin   // another round, from a new base; or it was the last
        n.state = balance_pkg::KeepStart;
        if (now_i.best != '0) begin
          n.earlier    = now_i.base;
          n.base       = best_row_i;
          n.has_before = 1'b1;
          n.round      = now_i.round + 1'b1;
          if (n.round != 2'(balance_pkg::Rounds)) n.state = balance_pkg::ListStart;
        end
      end
      default: ;
    endcase
  end
  assign next_o    = n;
  assign control_o = c;
endmodule
