// SPDX-License-Identifier: Apache-2.0
// perf_table: P[k][j], and from it Q and M of Warped-Slicer's algorithm 1, a list of steps a kernel.
// Entries are floating point: ExponentW bits of exponent, the mantissa under a leading one; exponent 0 is zero. Writes of a kernel come with counts
// 1, 2, 3, ...; what is above all before it (count 1 always) is a step and joins the kernel's list at its end. After a kernel's final write the
// reciprocal of its best mantissa, the last in the list, is asked for (divide_*_o); known_o tells which have theirs. Meanwhile the list moves up until
// its first step is in front, MAX_CTAS cycles at most: *_o of steps show it, pop_i takes it away.
module perf_table #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             start_i,            // new decision: forgets everything
  input  logic                             insts_valid_i,      // insts_i is that of an entry, which is written in the next cycle
  input  logic [sluice_pkg::InstW-1:0]     insts_i,            // warp instructions of a sample
  input  logic                             write_valid_i,
  input  logic [sluice_pkg::KernelW-1:0]   write_kernel_i,
  input  logic [sluice_pkg::CtaW-1:0]      write_ctas_i,       // 1..MAX_CTAS
  input  logic                             write_final_i,      // last write of this kernel
  output logic [sluice_pkg::ScaledW-1:0]   scaled_o,           // entry that is written: {exponent, mantissa}
  output logic                             divide_valid_o,     // the reciprocal of divide_kernel_o is wanted:
  output logic [sluice_pkg::KernelW-1:0]   divide_kernel_o,
  output logic [sluice_pkg::MantissaW-1:0] divisor_o,          // 2**(MantissaW-1) / this
  input  logic                             divide_ready_i,     // is taken
  input  logic                             divide_done_i,      // is there,
  input  logic [sluice_pkg::KernelW-1:0]   done_kernel_i,      // of this kernel
  output logic [MAX_KERNELS-1:0]           known_o,            // kernels that have it
  input  logic [MAX_KERNELS-1:0]           pop_i,              // the step in front of these is taken
  output logic [2*MAX_KERNELS-1:0]         has_o,              // 2k: there is one of kernel k, 2k + 1: and another behind it
  output logic [2*MAX_KERNELS-1:0]         last_o,             // none behind it: it is the kernel's best
  output logic [2*MAX_KERNELS*$clog2(MAX_CTAS)-1:0]      step_o,   // CTAs more than the step before
  output logic [2*MAX_KERNELS*sluice_pkg::ScaledW-1:0]   entry_o,
  output logic [MAX_KERNELS*sluice_pkg::ExponentW-1:0]   best_exponent_o
);
  localparam int unsigned K         = MAX_KERNELS;
  localparam int unsigned N         = MAX_CTAS;
  localparam int unsigned KIndexW   = $clog2(K);
  localparam int unsigned CountW    = $clog2(N + 1);
  localparam int unsigned StepW     = $clog2(N);
  localparam int unsigned ScaledW   = sluice_pkg::ScaledW;
  localparam int unsigned MantissaW = sluice_pkg::MantissaW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned InstW     = sluice_pkg::InstW;

  // The lists: {kernel, place}, steps join at place N - 1 and leave at 0.
  logic [ScaledW-1:0]   tail [K];                // at place N - 1
  logic [K*N-1:0]       valid_d, valid_q;
  logic [CountW-1:0]    count_q [K];             // of the last step
  logic [ExponentW-1:0] best_exponent_q [K];
  logic [K-1:0]         pending_d, pending_q;    // final write seen, reciprocal not yet asked for
  logic [K-1:0]         asked_d, asked_q;        // asked for: the list moves up
  logic [K-1:0]         known_d, known_q;        // has its reciprocal

  // The top bit brought up by at most 14; what is smaller is zero.
  logic [InstW-1:0]     high;
  logic [ExponentW-1:0] zeros;
  logic [ScaledW-1:0]   scaled_d, scaled_q;
  always_comb begin
    high  = insts_i;
    zeros = '0;
    for (int unsigned s = ExponentW; s > 0; s--) begin
      if ((high >> (InstW - (1 << (s - 1)))) == '0) begin
        high       = high << (1 << (s - 1));
        zeros[s-1] = 1'b1;
      end
    end
    scaled_d = {~zeros, high[InstW-2 -: MantissaW-1]};
    if (!high[InstW-1] || (&zeros)) scaled_d = '0;
  end
  assign scaled_o = scaled_q;

  // Written, moved up, taken: a list moves by one.
  logic [K-1:0]     written, push, align, shift;
  logic             first_count;
  logic [StepW-1:0] step;
  always_comb begin
    step        = '0;
    first_count = write_ctas_i[CountW-1:0] == CountW'(1);
    for (int unsigned k = 0; k < K; k++) begin
      written[k] = write_valid_i && write_kernel_i[KIndexW-1:0] == KIndexW'(k);
      push[k]    = written[k] && (first_count || scaled_q > tail[k]);
      align[k]   = asked_q[k] && !valid_q[k*N] && valid_q[k*N +: N] != '0;
      shift[k]   = push[k] || align[k] || pop_i[k];
      if (written[k]) step = step | StepW'(write_ctas_i[CountW-1:0] - count_q[k]);
    end
    if (first_count) step = StepW'(1);
  end

  logic [K-1:0]        lowest;   // one-hot: whose reciprocal is asked for
  logic [KIndexW-1:0]  asked;
  logic [ScaledW-1:0]  best;
  always_comb begin
    asked     = '0;
    best      = '0;
    pending_d = pending_q;
    asked_d   = asked_q;
    known_d   = known_q;
    valid_d   = valid_q;
    lowest    = pending_q & (~pending_q + 1'b1);
    for (int unsigned k = 0; k < K; k++) begin
      if (lowest[k]) asked = asked | KIndexW'(k);
      if (lowest[k]) best = best | tail[k];
      if (divide_ready_i && lowest[k]) begin
        pending_d[k] = 1'b0;
        asked_d[k]   = 1'b1;
      end
      if (divide_done_i && done_kernel_i[KIndexW-1:0] == KIndexW'(k)) known_d[k] = 1'b1;
      if (written[k] && write_final_i) pending_d[k] = 1'b1;
      if (shift[k]) valid_d[k*N +: N] = {push[k], valid_q[k*N+1 +: N-1]};
    end
    if (start_i) begin
      pending_d = '0;
      asked_d   = '0;
      known_d   = '0;
      valid_d   = '0;
    end
  end
  assign divide_valid_o  = pending_q != '0;
  assign divide_kernel_o = sluice_pkg::KernelW'(asked);
  assign divisor_o       = {1'b1, best[MantissaW-2:0]};
  assign known_o         = known_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q <= '0;
      asked_q   <= '0;
      known_q   <= '0;
    end else begin
      pending_q <= pending_d;
      asked_q   <= asked_d;
      known_q   <= known_d;
    end
  end

  // Cleared by a start, or written before they are read: no reset.
  always_ff @(posedge clk_i) begin
    valid_q <= valid_d;
    if (insts_valid_i) scaled_q <= scaled_d;
    for (int unsigned k = 0; k < K; k++) begin
      if (push[k]) count_q[k] <= write_ctas_i[CountW-1:0];
      if (divide_ready_i && lowest[k]) best_exponent_q[k] <= best[ScaledW-1 -: ExponentW];
    end
  end

  for (genvar k = 0; k < K; k++) begin : gen_list
    logic [N*ScaledW-1:0] entry_q;
    logic [N*StepW-1:0]   step_q;
    always_ff @(posedge clk_i)
      if (shift[k]) begin
        entry_q <= {scaled_q, entry_q[N*ScaledW-1:ScaledW]};
        step_q  <= {step, step_q[N*StepW-1:StepW]};
      end
    assign tail[k]                                  = entry_q[(N-1)*ScaledW +: ScaledW];
    assign has_o[2*k +: 2]                          = valid_q[k*N +: 2];
    assign last_o[2*k +: 2]                         = ~valid_q[k*N+1 +: 2];
    assign step_o[2*k*StepW +: 2*StepW]             = step_q[2*StepW-1:0];
    assign entry_o[2*k*ScaledW +: 2*ScaledW]        = entry_q[2*ScaledW-1:0];
    assign best_exponent_o[k*ExponentW +: ExponentW] = best_exponent_q[k];
  end

  logic unused_bits;   // callers keep indices below MAX_KERNELS, counts at most MAX_CTAS
  assign unused_bits = ^{write_kernel_i, write_ctas_i, done_kernel_i, high};
endmodule
