// SPDX-License-Identifier: Apache-2.0
// phase_monitor: notices that a kernel behaves otherwise than when its quota was decided (Warped-Slicer, section IV).
// After active_i rises, one window settles, the next is the reference; from then on each window is compared with it. A
// kernel whose instruction count moved by more than threshold_i of its reference, in hold_i windows in a row, raises
// request_o for a cycle, and the monitor begins anew. After each window nothing is counted for Steps cycles a kernel:
// the count is judged where it stands, with one adder. One SM a kernel is watched: in a partition every SM runs the
// same mix.
module phase_monitor #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned NUM_SCHED   = 2
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             active_i,      // quotas are in force and monitoring is on; low: forget all
  input  logic [sluice_pkg::WindowW-1:0]   window_i,      // cycles, >= 1; of the windows that begin after it changes
  input  logic [sluice_pkg::PerfW-1:0]     threshold_i,   // of the reference, units of 2**-PerfFracW
  input  logic [7:0]                       hold_i,        // windows in a row, >= 1; read while there is no row
  input  logic [MAX_KERNELS*NUM_SCHED-1:0] issue_i,       // kernel k issued through scheduler s of its watched SM
  output logic                             request_o
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, 4)) $error("phase_monitor: size out of range");
  localparam int unsigned PerfW   = sluice_pkg::PerfW;
  localparam int unsigned CountW  = sluice_pkg::WindowW + $clog2(NUM_SCHED);        // of a window: never saturates
  localparam int unsigned SumW    = CountW + 2;                                     // twice a reference and a count
  localparam int unsigned StepW   = 1 + ((PerfW > 7) ? $clog2(PerfW + 1) : 3);
  localparam int unsigned Steps   = 1 << StepW;                                     // cycles to judge a kernel:
  // first what is allowed, then whether it moved
  localparam int unsigned Half    = Steps / 2;
  localparam int unsigned JudgeW  = $clog2(MAX_KERNELS * Steps + 1);
  localparam int unsigned TimerW  = (JudgeW > sluice_pkg::WindowW) ? JudgeW : sluice_pkg::WindowW;
  localparam int unsigned IssuedW = $clog2(NUM_SCHED + 1);

  typedef enum logic [1:0] {Settle, Reference, Watch} state_e;

  state_e                        state_d, state_q;
  logic                          judge_d, judge_q;        // between windows
  logic [TimerW-1:0]             timer_d, timer_q;        // cycles left of the window, or of the judging
  logic [MAX_KERNELS*CountW-1:0] count_d, count_q;        // rows that move on by a kernel when it is judged
  logic [MAX_KERNELS*CountW-1:0] reference_d, reference_q;
  logic [SumW-1:0]               sum_d, sum_q;
  logic                          take_reference_d, take_reference_q, take_count_d, take_count_q;
  logic                          moved_d, moved_q;        // some kernel, this window
  logic [7:0]                    left_d, left_q;          // such windows until a request
  logic                          request_d, request_q;
  logic                          active_q;                // low: the others are about to be set anew
  logic                          timer_ends, judged;
  logic [IssuedW-1:0]            issued;

  assign timer_ends = timer_q == TimerW'(1);
  assign judged     = judge_q && timer_ends;

  // A kernel's count and reference are first in their rows. allowed = floor(reference * threshold / 2**PerfFracW), a
  // bit of the threshold a step, the lowest first; then allowed + reference - count and allowed + count - reference:
  // below zero, it moved. What is added is chosen a step ahead.
  logic [StepW-1:0]  step;       // all ones, 0, 1, ...
  logic              subtract, halve, last_step, carry;
  logic [CountW-1:0] taken;
  logic [SumW-1:0]   sum;
  logic              unused_low;
  always_comb begin
    step             = ~timer_q[StepW-1:0];
    take_reference_d = 1'b0;
    take_count_d     = 1'b0;
    for (int unsigned b = 0; b < PerfW; b++)
      if (step == StepW'(b)) take_reference_d = threshold_i[b];
    if (step == StepW'(Half - 1)) take_reference_d = 1'b1;
    if (step == StepW'(Half))     take_count_d     = 1'b1;   // subtracted
    if (step == StepW'(Half + 1)) take_count_d     = 1'b1;
    if (step == StepW'(Half + 2)) take_reference_d = 1'b1;   // subtracted
    if (step == StepW'(Half + 3)) take_count_d     = 1'b1;
    if (step == StepW'(Half + 4)) take_reference_d = 1'b1;   // subtracted
    subtract  = step[StepW-1] && step[0];
    halve     = step < StepW'(PerfW);
    last_step = step == StepW'(Steps - 2);
    taken     = ({CountW{take_reference_q}} & reference_q[CountW-1:0]) | ({CountW{take_count_q}} & count_q[CountW-1:0]);
    {carry, sum, unused_low} = {1'b0, sum_q, 1'b1} + {1'b0, SumW'(taken) ^ {SumW{subtract}}, subtract};
    // masked, not multiplexed: with a constant to choose Yosys finds no enable
    sum_d     = (halve ? sum >> 1 : sum) & ~{SumW{step == '1}};
  end

  always_comb begin
    state_d   = state_q;
    judge_d   = judge_q ^ timer_ends;
    timer_d   = timer_q - 1'b1;
    moved_d   = judge_q && (moved_q || (subtract && !carry));
    left_d    = hold_i;
    request_d = 1'b0;
    if (timer_ends) timer_d = judge_q ? TimerW'(window_i) : TimerW'(MAX_KERNELS * Steps);

    if (judged) begin
      unique case (state_q)
        Settle:    state_d = Reference;
        Reference: state_d = Watch;
        default:
          if (moved_q && left_q == 8'd1) begin
            request_d = active_i;
            state_d   = Settle;
          end else if (moved_q) begin
            left_d = left_q - 1'b1;
          end
      endcase
    end

    if (!active_q) begin
      state_d   = Settle;
      judge_d   = 1'b0;
      timer_d   = TimerW'(window_i);
      request_d = 1'b0;
    end
  end

  logic [MAX_KERNELS*CountW-1:0] next_counts;   // moved on by a kernel
  assign next_counts = count_q >> CountW;
  always_comb begin
    issued  = '0;
    count_d = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      issued = '0;
      for (int unsigned s = 0; s < NUM_SCHED; s++) issued = issued + IssuedW'(issue_i[k*NUM_SCHED+s]);
      count_d[k*CountW +: CountW] = (count_q[k*CountW +: CountW] + CountW'(issued)) & ~{CountW{judge_q}};
      if (k + 1 < MAX_KERNELS)
        count_d[k*CountW +: CountW] = count_d[k*CountW +: CountW]
            | (next_counts[k*CountW +: CountW] & {CountW{judge_q}});
    end
    reference_d = {(state_q == Watch) ? reference_q[CountW-1:0] : count_q[CountW-1:0],
        reference_q[MAX_KERNELS*CountW-1:CountW]};
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      active_q  <= 1'b0;
      request_q <= 1'b0;
    end else begin
      active_q  <= active_i;
      request_q <= request_d;
    end

  // Looked at only after they were written: no reset.
  always_ff @(posedge clk_i) begin
    if (active_i) begin
      state_q <= state_d;
      judge_q <= judge_d;
      timer_q <= timer_d;
      moved_q <= moved_d;
    end
    if (active_i && judged)                  left_q      <= left_d;
    if (active_i && judge_q) begin
      take_reference_q <= take_reference_d;
      take_count_q     <= take_count_d;
      sum_q            <= sum_d;
    end
    if (active_i && (!judge_q || last_step)) count_q     <= count_d;
    if (active_i && judge_q && last_step)    reference_q <= reference_d;
  end

  assign request_o = request_q;
endmodule
