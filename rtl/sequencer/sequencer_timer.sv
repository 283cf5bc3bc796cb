// SPDX-License-Identifier: Apache-2.0
// sequencer_timer: the last cycle of each timed state of partition_sequencer. What the timer is loaded with follows from the state alone; that the next cycle
// is the last one is found a cycle ahead. The warm-up and the drain take a cycle more than they say; the window and the delay are not 0.
module sequencer_timer (
  input  logic                           clk_i,
  input  sequencer_pkg::state_e          state_i,
  input  logic                           drained_i,       // Drain ends
  input  logic [sluice_pkg::TimerW-1:0]  warm_up_i,
  input  logic [sluice_pkg::WindowW-1:0] window_i,
  input  logic [7:0]                     drain_limit_i,   // units of 4,096 cycles
  input  logic [sluice_pkg::WindowW-1:0] delay_i,
  output logic                           last_o           // of WarmUp, Drain, Profile, Delay
);
  localparam int unsigned TimerW     = sluice_pkg::TimerW;
  localparam int unsigned WindowW    = sluice_pkg::WindowW;
  localparam int unsigned DrainShift = 12;

  logic [TimerW-1:0] timer_d, timer_q;
  logic              last_d, last_q, low;
  assign low = timer_q[TimerW-1:2] == '0;
  always_comb begin
    timer_d = timer_q - 1'b1;
    last_d  = low && timer_q[1:0] == 2'd2;
    unique case (state_i)
      sequencer_pkg::Plan, sequencer_pkg::PlanCount: begin
        timer_d = warm_up_i;
        last_d  = warm_up_i == '0;
      end
      sequencer_pkg::Scale: begin   // between windows, half
        timer_d = warm_up_i >> 1;
        last_d  = warm_up_i[TimerW-1:1] == '0;
      end
      sequencer_pkg::WarmUp: begin
        last_d = low && timer_q[1:0] == 2'd1;
        if (last_q) begin
          timer_d = TimerW'(drain_limit_i) << DrainShift;
          last_d  = drain_limit_i == '0;
        end
      end
      sequencer_pkg::Drain: begin
        last_d = low && timer_q[1:0] == 2'd1;
        if (drained_i) begin
          timer_d = TimerW'(window_i);
          last_d  = window_i[WindowW-1:1] == '0;
        end
      end
      sequencer_pkg::Allocate: begin
        timer_d = TimerW'(delay_i);
        last_d  = delay_i[WindowW-1:1] == '0;
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i)   // set before the states that look at them: no reset
    if (state_i != sequencer_pkg::Idle && state_i != sequencer_pkg::Monitor) begin
      timer_q <= timer_d;
      last_q  <= last_d;
    end
  assign last_o = last_q;
endmodule
