// phase_monitor: notices that a kernel behaves otherwise than when its quota was decided (Warped-Slicer, section IV).
// After active_i rises, one window settles, the next is the reference; from then on each window is compared with it. A kernel whose
// instruction count moved by more than threshold_i of its reference, in hold_i windows in a row, raises request_o for a cycle,
// and the monitor begins anew. One SM a kernel is watched: in a partition every SM runs the same mix.
module phase_monitor #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned NUM_SCHED   = 2
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             active_i,      // quotas are in force and monitoring is on; low: forget everything
  input  logic [sluice_pkg::WindowW-1:0]   window_i,      // cycles, >= 16
  input  logic [sluice_pkg::PerfW-1:0]     threshold_i,   // of the reference, units of 2**-PerfFracW
  input  logic [7:0]                       hold_i,        // windows in a row, >= 1
  input  logic [MAX_KERNELS*NUM_SCHED-1:0] issue_i,       // kernel k issued through scheduler s of its watched SM
  output logic                             request_o
);
  localparam int unsigned InstW   = sluice_pkg::InstW;
  localparam int unsigned PerfW   = sluice_pkg::PerfW;
  localparam int unsigned KIndexW = $clog2(MAX_KERNELS);

  typedef enum logic [1:0] {Settle, Reference, Watch} state_e;

  state_e                         state_d, state_q;
  logic [sluice_pkg::WindowW-1:0] timer_d, timer_q;
  logic [MAX_KERNELS*InstW-1:0]   count_d, count_q, counted;  // this window; with this cycle
  logic [MAX_KERNELS*InstW-1:0]   reference_q;
  logic [MAX_KERNELS*InstW-1:0]   last_q;                     // the window just ended, under comparison
  logic                           compare_d, compare_q, moved_d, moved_q;
  logic [KIndexW-1:0]             kernel_d, kernel_q;         // compared this cycle
  logic [7:0]                     strikes_d, strikes_q;
  logic                           request_d, request_q, window_end;
  logic                           active_q;                   // one cycle more than active_i: time to forget, then nothing is clocked
  logic [InstW:0]                 sum;

  // One kernel a cycle: |last - reference| * 2**PerfFracW > reference * threshold.
  logic [InstW-1:0]                         last, reference, distance;
  logic [InstW+PerfW-1:0]                   allowed;
  logic                                     beyond;
  always_comb begin
    last      = '0;
    reference = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      if (kernel_q == KIndexW'(k)) begin
        last      = last_q[k*InstW +: InstW];
        reference = reference_q[k*InstW +: InstW];
      end
    end
    distance = (last > reference) ? last - reference : reference - last;
    allowed  = reference * threshold_i;
    beyond   = {1'b0, distance, {sluice_pkg::PerfFracW{1'b0}}} > allowed;
  end

  assign window_end = timer_q == window_i - 1'b1;

  always_comb begin
    state_d     = state_q;
    timer_d     = window_end ? '0 : timer_q + 1'b1;
    compare_d   = compare_q;
    moved_d     = moved_q;
    kernel_d    = kernel_q;
    strikes_d   = strikes_q;
    request_d   = 1'b0;
    sum         = '0;
    counted     = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      sum = {1'b0, count_q[k*InstW +: InstW]};
      for (int unsigned s = 0; s < NUM_SCHED; s++) sum = sum + (InstW + 1)'(issue_i[k*NUM_SCHED+s]);
      counted[k*InstW +: InstW] = sum[InstW] ? '1 : sum[InstW-1:0];
    end
    count_d = counted;

    if (compare_q) begin
      moved_d  = moved_q || beyond;
      kernel_d = kernel_q + 1'b1;
      if (kernel_q == KIndexW'(MAX_KERNELS - 1)) begin
        compare_d = 1'b0;
        strikes_d = (moved_q || beyond) ? strikes_q + 1'b1 : '0;
        if ((moved_q || beyond) && strikes_q + 1'b1 >= hold_i) begin
          request_d = 1'b1;
          strikes_d = '0;
          state_d   = Settle;
          timer_d   = '0;
        end
      end
    end

    if (window_end) begin
      unique case (state_q)
        Settle:    state_d = Reference;
        Reference: state_d = Watch;
        default: begin
          compare_d = 1'b1;
          moved_d   = 1'b0;
          kernel_d  = '0;
        end
      endcase
      count_d = '0;
    end

    if (!active_i) begin
      state_d   = Settle;
      timer_d   = '0;
      count_d = '0;
      compare_d = 1'b0;
      strikes_d = '0;
      request_d = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Settle;
      timer_q     <= '0;
      count_q     <= '0;
      compare_q   <= 1'b0;
      moved_q     <= 1'b0;
      kernel_q    <= '0;
      strikes_q   <= '0;
      request_q   <= 1'b0;
    end else if (active_i || active_q) begin
      state_q     <= state_d;
      timer_q     <= timer_d;
      count_q     <= count_d;
      compare_q   <= compare_d;
      moved_q     <= moved_d;
      kernel_q    <= kernel_d;
      strikes_q   <= strikes_d;
      request_q   <= request_d;
    end
  end

  // Looked at only after they were written: no reset.
  always_ff @(posedge clk_i) begin
    if (window_end && state_q == Reference) reference_q <= counted;
    if (window_end && state_q == Watch)     last_q      <= counted;
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) active_q <= 1'b0;
    else         active_q <= active_i;

  assign request_o = request_q;
endmodule
