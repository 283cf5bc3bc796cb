// step_prefetch: the next two steps of every kernel, so that waterfill_allocator finds the one that it wants in a register
// (docs/blocks/step_prefetch.md). The nearer one is ready: count and performance relative to the kernel's best. The one behind it is as
// perf_table gave it. A cycle of work on a kernel makes the second the first, with the product of its mantissa and the reciprocal of the best, and
// reads another one. Before a decision all are loaded, two cycles a kernel, once its reciprocal is known and no sample needs the multiplier.
module step_prefetch #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             start_i,         // new decision: nothing is loaded
  input  logic [sluice_pkg::KernelW-1:0]   num_kernels_i,   // 1..MAX_KERNELS
  input  logic [MAX_KERNELS-1:0]           known_i,         // kernels that have the reciprocal of their best
  input  logic                             free_i,          // table and multiplier are not needed by a sample
  output logic                             valid_o,         // all are loaded
  input  logic                             take_i,          // while valid_o: a decision is under way; kernel_i moves to its next step
  input  logic [sluice_pkg::KernelW-1:0]   kernel_i,
  output logic                             has_next_o,      // kernel_i has a next step,
  output logic [sluice_pkg::CtaW-1:0]      next_ctas_o,     // to this count,
  output logic [sluice_pkg::NormW-1:0]     next_perf_o,     // of this performance; all ones is the best
  output logic [sluice_pkg::KernelW-1:0]   read_kernel_o,   // perf_table's read port, and whose reciprocal the product is with
  output logic [sluice_pkg::CtaW-1:0]      read_from_o,
  input  logic                             read_has_next_i,
  input  logic                             read_last_i,
  input  logic [sluice_pkg::CtaW-1:0]      read_ctas_i,
  input  logic [sluice_pkg::MantissaW-1:0] read_mantissa_i,
  input  logic [sluice_pkg::ExponentW-1:0] read_below_i,
  output logic [sluice_pkg::MantissaW-1:0] mantissa_o,      // product_i is this times the reciprocal of read_kernel_o's best
  input  logic [sluice_pkg::ProductW-1:0]  product_i
);
  localparam int unsigned K         = MAX_KERNELS;
  localparam int unsigned KIndexW   = $clog2(K);
  localparam int unsigned KernelW   = sluice_pkg::KernelW;
  localparam int unsigned CtaW      = sluice_pkg::CtaW;
  localparam int unsigned CountW    = $clog2(MAX_CTAS + 1);
  localparam int unsigned MantissaW = sluice_pkg::MantissaW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned NormW     = sluice_pkg::NormW;
  localparam int unsigned ProductW  = sluice_pkg::ProductW;

  // The step behind the next one, as read.
  logic                 far_has_q [K], far_last_q [K];
  logic [CountW-1:0]    far_ctas_q [K];
  logic [MantissaW-1:0] far_mantissa_q [K];
  logic [ExponentW-1:0] far_below_q [K];
  // The next one.
  logic                 near_has_q [K];
  logic [CountW-1:0]    near_ctas_q [K];
  logic [NormW-1:0]     near_perf_q [K];

  // Loading: one kernel after the other. In its first cycle the first step is read, in its second one the next.
  logic [KernelW-1:0] load_d, load_q;
  logic               second_d, second_q;
  logic               move;   // this kernel's steps move up
  logic [KIndexW-1:0] kernel;
  assign valid_o       = load_q == num_kernels_i;
  assign kernel        = take_i ? kernel_i[KIndexW-1:0] : load_q[KIndexW-1:0];
  assign move          = take_i || (!valid_o && free_i && known_i[load_q[KIndexW-1:0]]);
  assign read_kernel_o = KernelW'(kernel);
  assign read_from_o   = (take_i || second_q) ? CtaW'(far_ctas_q[kernel]) : '0;
  always_comb begin
    load_d   = load_q;
    second_d = second_q;
    if (move && !take_i) begin
      second_d = !second_q;
      if (second_q) load_d = load_q + 1'b1;
    end
    if (start_i) begin
      load_d   = '0;
      second_d = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      load_q   <= '0;
      second_q <= 1'b0;
    end else begin
      load_q   <= load_d;
      second_q <= second_d;
    end

  // Relative to the best: what its exponent is below the best's, shifted.
  logic [NormW:0] perf;
  assign mantissa_o = far_mantissa_q[kernel];
  assign perf       = product_i[ProductW-1 -: NormW+1] >> far_below_q[kernel];

  // Loaded before they are used: no reset.
  always_ff @(posedge clk_i)
    if (move) begin
      near_has_q[kernel]     <= far_has_q[kernel];
      near_ctas_q[kernel]    <= far_ctas_q[kernel];
      near_perf_q[kernel]    <= far_last_q[kernel] ? '1 : perf[NormW-1:0];
      far_has_q[kernel]      <= read_has_next_i;
      far_last_q[kernel]     <= read_last_i;
      far_ctas_q[kernel]     <= read_ctas_i[CountW-1:0];
      far_mantissa_q[kernel] <= read_mantissa_i;
      far_below_q[kernel]    <= read_below_i;
    end

  assign has_next_o  = near_has_q[kernel_i[KIndexW-1:0]];
  assign next_ctas_o = CtaW'(near_ctas_q[kernel_i[KIndexW-1:0]]);
  assign next_perf_o = near_perf_q[kernel_i[KIndexW-1:0]];

  logic unused_bits;   // callers keep indices below MAX_KERNELS, counts at most MAX_CTAS; a performance is below 1
  assign unused_bits = ^{kernel_i, read_ctas_i, perf, product_i};
endmodule
