// SPDX-License-Identifier: Apache-2.0
// balance_rates: what an entry is worth, sub-program of balance_search: of each kernel the mean of its samples, and the
// rate r, that over its mean alone; then Short, how far the worst-off kernel is below its floor, and Time, the time to
// the end of all kernels in units of 2**-7 of a kernel's of weight 1: with t = min w / r, the first end, and the sums S
// of rates and W of weights it is W + t - t S. Every product and quotient is rounded down. Combinational.
module balance_rates (
  input  balance_pkg::progress_t now_i,
  input  logic                   last_kernel_i,
  input  logic                   last_i,       // cycle of a loop
  input  logic                   below_i,      // this subtraction, or one before it, went below 0
  input  logic                   b_zero_i,
  output balance_pkg::progress_t next_o,
  output balance_pkg::control_t  control_o
);
  localparam int unsigned LeftW = 6;
  localparam int unsigned W     = balance_pkg::W;

  balance_pkg::progress_t n;
  balance_pkg::control_t  c;
  balance_pkg::state_e    next_kernel;   // what is done for it first
  always_comb begin
    next_kernel = now_i.phase == balance_pkg::Alone ? balance_pkg::RateAlone : balance_pkg::MeanCount;
    if (last_kernel_i) next_kernel = balance_pkg::UseTime;
    n = now_i;
    c = '0;
    unique case (now_i.state)
      // The mean in eighths, for which the number of samples is 2**11 times as large as the quotient is to be.
      balance_pkg::MeanCount: begin
        c.source  = balance_pkg::FromCount;
        c.load_b  = 1'b1;
        c.clear_q = 1'b1;
        n.state   = balance_pkg::MeanRead;
      end
      balance_pkg::MeanRead: begin
        c.source = balance_pkg::FromWord;
        c.load_a = 1'b1;
        n.left   = LeftW'(balance_pkg::MeanW);
        n.state  = b_zero_i ? balance_pkg::MeanStore : balance_pkg::MeanDivide;
      end
      balance_pkg::MeanDivide: begin
        c.divide = 1'b1;
        n.left   = now_i.left - 1'b1;
        if (last_i) n.state = balance_pkg::MeanStore;
      end
      balance_pkg::MeanStore: begin
        c.source = balance_pkg::FromQuotient;
        c.write  = 1'b1;
        n.state  = now_i.phase == balance_pkg::Alone ? balance_pkg::AloneMean : balance_pkg::RateAlone;
        if (now_i.kernel == '0 && n.state == balance_pkg::RateAlone) n.state = balance_pkg::RateStart;
      end

      balance_pkg::RateStart: begin   // of an entry
        c.source     = balance_pkg::FromNothing;
        c.keep_sum   = 1'b1;
        c.keep_short = 1'b1;
        n.measured   = 1'b1;
        n.state      = balance_pkg::RateAlone;
      end
      balance_pkg::RateAlone: begin   // a rate of 4 or more is the most there is
        c.source  = balance_pkg::FromAlone4;
        c.load_b  = 1'b1;
        c.clear_q = 1'b1;
        n.state   = balance_pkg::RateRead;
      end
      balance_pkg::RateRead: begin
        c.source   = balance_pkg::FromWord;
        c.load_a   = 1'b1;
        c.fresh    = 1'b1;
        n.measured = now_i.measured && !b_zero_i;
        n.state    = balance_pkg::RateTry;
      end
      balance_pkg::RateTry: begin
        c.subtract = 1'b1;
        n.state    = balance_pkg::RateCheck;
      end
      balance_pkg::RateCheck: begin
        c.source = balance_pkg::FromMostRate;
        c.load_q = !below_i;
        n.state  = below_i ? balance_pkg::RateLoad : balance_pkg::RateHave;
      end
      balance_pkg::RateLoad: begin
        c.source = balance_pkg::FromAlone2;
        c.load_b = 1'b1;
        n.left   = LeftW'(balance_pkg::RateW + 1);
        n.state  = balance_pkg::RateDivide;
      end
      balance_pkg::RateDivide: begin   // the first of its cycles reads the mean again
        c.source = balance_pkg::FromWord;
        c.load_a = now_i.left == LeftW'(balance_pkg::RateW + 1);
        c.divide = !c.load_a;
        n.left   = now_i.left - 1'b1;
        if (last_i) n.state = balance_pkg::RateHave;
      end
      balance_pkg::RateHave: begin
        c.source = balance_pkg::FromQuotient;
        c.load_b = 1'b1;
        n.state  = balance_pkg::SumLoad;
      end

      balance_pkg::SumLoad: begin   // S
        c.source   = balance_pkg::FromSum;
        c.load_a   = 1'b1;
        n.measured = now_i.measured && !b_zero_i;
        n.state    = balance_pkg::SumAdd;
      end
      balance_pkg::SumAdd: begin
        c.add   = 1'b1;
        n.state = balance_pkg::SumKeep;
      end
      balance_pkg::SumKeep: begin
        c.source   = balance_pkg::FromA;
        c.keep_sum = 1'b1;
        n.state    = balance_pkg::FloorLoad;
      end

      balance_pkg::FloorLoad: begin   // Short = max(Short, floor - r)
        c.source = balance_pkg::FromFloor;
        c.load_a = 1'b1;
        c.fresh  = 1'b1;
        n.state  = balance_pkg::FloorTake;
      end
      balance_pkg::FloorTake: begin
        c.subtract = 1'b1;
        n.state    = balance_pkg::FloorCheck;
      end
      balance_pkg::FloorCheck: begin
        c.source = balance_pkg::FromShort;
        c.load_b = !below_i;
        n.state  = below_i ? balance_pkg::TimeRate : balance_pkg::FloorMost;
      end
      balance_pkg::FloorMost: begin
        c.subtract = 1'b1;
        n.state    = balance_pkg::FloorAdd;
      end
      balance_pkg::FloorAdd: begin
        c.add   = 1'b1;
        n.state = below_i ? balance_pkg::TimeRate : balance_pkg::FloorKeep;
      end
      balance_pkg::FloorKeep: begin
        c.source     = balance_pkg::FromA;
        c.keep_short = 1'b1;
        n.state      = balance_pkg::TimeRate;
      end

      balance_pkg::TimeRate: begin   // t = min(t, w / r), if it is below 1,024
        c.source = balance_pkg::FromQuotient;
        c.load_b = 1'b1;
        n.state  = balance_pkg::TimeLoad;
      end
      balance_pkg::TimeLoad: begin
        c.source  = balance_pkg::FromWeight3;
        c.load_a  = 1'b1;
        c.clear_q = 1'b1;
        c.fresh   = 1'b1;
        n.state   = balance_pkg::TimeTake;
      end
      balance_pkg::TimeTake: begin
        c.source    = balance_pkg::FromMostTime;
        c.keep_time = now_i.kernel == '0;   // the first one's
        c.subtract  = 1'b1;
        n.state     = balance_pkg::TimeCheck;
      end
      balance_pkg::TimeCheck: begin
        c.source = balance_pkg::FromWeight3;
        c.load_a = 1'b1;
        n.left   = LeftW'(W);
        n.state  = balance_pkg::TimeDivide;
        if (!below_i) begin
          n.kernel = now_i.kernel + 3'd1;
          n.state  = next_kernel;
        end
      end
      balance_pkg::TimeDivide: begin
        c.divide = 1'b1;
        n.left   = now_i.left - 1'b1;
        if (last_i) n.state = balance_pkg::TimeLoadA;
      end
      balance_pkg::TimeLoadA: begin
        c.source = balance_pkg::FromQuotient;
        c.load_a = 1'b1;
        c.fresh  = 1'b1;
        n.state  = balance_pkg::TimeLoadB;
      end
      balance_pkg::TimeLoadB: begin
        c.source = balance_pkg::FromTime;
        c.load_b = 1'b1;
        n.state  = balance_pkg::TimeMost;
      end
      balance_pkg::TimeMost: begin
        c.subtract = 1'b1;
        n.state    = balance_pkg::TimeKeep;
      end
      balance_pkg::TimeKeep: begin
        c.source    = balance_pkg::FromQuotient;
        c.keep_time = below_i;
        n.kernel    = now_i.kernel + 3'd1;
        n.state     = next_kernel;
      end

      balance_pkg::UseTime: begin   // Time = t - t S + W
        c.source  = balance_pkg::FromTime;
        c.load_q  = 1'b1;
        c.clear_a = 1'b1;
        n.state   = balance_pkg::UseSum;
      end
      balance_pkg::UseSum: begin
        c.source = balance_pkg::FromSum;
        c.load_b = 1'b1;
        n.left   = LeftW'(W);
        n.state  = balance_pkg::UseMultiply;
      end
      balance_pkg::UseMultiply: begin
        c.multiply = 1'b1;
        n.left     = now_i.left - 1'b1;
        if (last_i) n.state = balance_pkg::UseProduct;
      end
      balance_pkg::UseProduct: begin
        c.source = balance_pkg::FromProduct;
        c.load_b = 1'b1;
        n.state  = balance_pkg::UseLoad;
      end
      balance_pkg::UseLoad: begin
        c.source = balance_pkg::FromTime;
        c.load_a = 1'b1;
        n.kernel = '0;
        n.state  = balance_pkg::UseTake;
      end
      balance_pkg::UseTake: begin
        c.subtract = 1'b1;
        n.state    = balance_pkg::UseWeight;
      end
      balance_pkg::UseWeight: begin
        c.source = balance_pkg::FromWeight7;
        c.load_b = 1'b1;
        n.state  = balance_pkg::UseAdd;
      end
      balance_pkg::UseAdd: begin
        c.add    = 1'b1;
        n.kernel = now_i.kernel + 3'd1;
        n.state  = last_kernel_i ? balance_pkg::UseKeep : balance_pkg::UseWeight;
      end
      balance_pkg::UseKeep: begin
        c.source    = balance_pkg::FromA;
        c.keep_time = 1'b1;
        n.kernel    = '0;
        n.state     = balance_pkg::StepStart;
      end
      default: ;
    endcase
  end
  assign next_o    = n;
  assign control_o = c;
endmodule
