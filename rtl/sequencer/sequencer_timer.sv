// SPDX-License-Identifier: Apache-2.0
// sequencer_timer: the last cycle of each timed state of partition_sequencer. What the timer is loaded with follows
// from the state alone. The warm-up and the drain take a cycle more than they say; the window and the delay are not 0.
module sequencer_timer #(
  parameter int unsigned CHURN = 0   // else the life of what comes into force: 2**CHURN cycles
) (
  input  logic                           clk_i,
  input  sequencer_pkg::state_e          state_i,
  input  logic                           drained_i,       // Drain ends
  input  logic [sluice_pkg::TimerW-1:0]  warm_up_i,
  input  logic [sluice_pkg::WindowW-1:0] window_i,
  input  logic [7:0]                     drain_limit_i,   // units of 2**DrainShift cycles
  input  logic [sluice_pkg::WindowW-1:0] delay_i,
  input  logic                           life_i,          // a life begins: of FallBack, or of a decision
  output logic                           last_o           // of WarmUp, Drain, Profile, Delay, FallBack; in Monitor, all
                                                          // cycles from the last of a life on
);
  localparam int unsigned TimerW = sluice_pkg::TimerW;
  if (CHURN >= TimerW) $error("sequencer_timer: CHURN out of range");

  logic [TimerW-1:0] timer_d, timer_q;
  assign last_o = timer_q[TimerW-1:1] == '0
      && (!timer_q[0] || state_i == sequencer_pkg::Profile || state_i == sequencer_pkg::Delay);
  always_comb begin
    timer_d = timer_q - 1'b1;
    unique case (state_i)
      sequencer_pkg::Plan, sequencer_pkg::PlanCount: timer_d = warm_up_i;
      sequencer_pkg::Scale:                          timer_d = warm_up_i >> 1;   // between windows, half
      sequencer_pkg::WarmUp:   if (last_o)    timer_d = TimerW'(drain_limit_i) << sluice_pkg::DrainShift;
      sequencer_pkg::Drain:    if (drained_i) timer_d = TimerW'(window_i);
      sequencer_pkg::Allocate: timer_d = TimerW'(delay_i);
      default: ;
    endcase
    if (CHURN != 0 && life_i) timer_d = TimerW'((1 << CHURN) - 1);
  end

  always_ff @(posedge clk_i)   // set before the states that look at it: no reset
    if (state_i != sequencer_pkg::Idle && (state_i != sequencer_pkg::Monitor || (CHURN != 0 && !last_o)))
      timer_q <= timer_d;
endmodule
