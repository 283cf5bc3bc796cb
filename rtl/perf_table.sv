// perf_table: P[k][j], and from it Q and M of Warped-Slicer's algorithm 1.
// Entries are floating point: ExponentW bits of exponent, the mantissa under a leading one; exponent 0 is zero. Writes of a kernel come with counts
// 1, 2, 3, ...; the strictly increasing prefix maxima are marked as they are written (count 1 always). After a kernel's final write the
// reciprocal of its best mantissa is asked for (divide_*_o); known_o tells which have theirs.
// A write is the product of instructions and factor. A read means something once the kernel's final write is done, in cycles without a write:
// the next marked count, the mantissa there and by how much its exponent is below the best's (step_prefetch makes its performance of them).
module perf_table #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             start_i,          // new decision: forgets everything
  input  logic                             write_valid_i,
  input  logic [sluice_pkg::KernelW-1:0]   write_kernel_i,
  input  logic [sluice_pkg::CtaW-1:0]      write_ctas_i,     // 1..MAX_CTAS
  input  logic                             write_final_i,    // last write of this kernel
  input  logic [sluice_pkg::ExponentW-1:0] write_exponent_i, // of a product whose top bit is set
  input  logic [sluice_pkg::ProductW-1:0]  product_i,        // of what is written
  output logic [sluice_pkg::ScaledW-1:0]   scaled_o,         // entry that is written: {exponent, mantissa}
  output logic                             divide_valid_o,   // the reciprocal of divide_kernel_o is wanted:
  output logic [sluice_pkg::KernelW-1:0]   divide_kernel_o,
  output logic [sluice_pkg::MantissaW-1:0] divisor_o,        // 2**(MantissaW-1) / this
  input  logic                             divide_ready_i,   // is taken
  input  logic                             divide_done_i,    // is there,
  input  logic [sluice_pkg::KernelW-1:0]   done_kernel_i,    // of this kernel
  output logic [MAX_KERNELS-1:0]           known_o,          // kernels that have it
  input  logic [sluice_pkg::KernelW-1:0]   read_kernel_i,
  input  logic [sluice_pkg::CtaW-1:0]      read_from_i,      // the next step is looked for above this count
  output logic [sluice_pkg::MantissaW-1:0] read_mantissa_o,  // there
  output logic                             has_next_o,       // a marked count above read_from_i exists
  output logic                             last_o,           // there is none above that: it is the kernel's best
  output logic [sluice_pkg::CtaW-1:0]      next_ctas_o,      // the lowest such count
  output logic [sluice_pkg::ExponentW-1:0] read_below_o      // exponent of the best - exponent there
);
  localparam int unsigned K         = MAX_KERNELS;
  localparam int unsigned N         = MAX_CTAS;
  localparam int unsigned KIndexW   = $clog2(K);
  localparam int unsigned CountW    = $clog2(N + 1);
  localparam int unsigned EntryW    = $clog2(K * N);
  localparam int unsigned ScaledW   = sluice_pkg::ScaledW;
  localparam int unsigned MantissaW = sluice_pkg::MantissaW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned ProductW  = sluice_pkg::ProductW;

  logic [ScaledW-1:0]  entry_q [K*N];   // {kernel, count - 1}; where N CTAs are a step they are the last, which reads as 1.0: not kept
  logic [ScaledW-1:0]  best_q [K];
  logic [K*N-1:0]      mark_d, mark_q;
  logic [K-1:0]        pending_d, pending_q;     // final write seen, reciprocal not yet asked for
  logic [K-1:0]        known_d, known_q;         // has its reciprocal

  // The kernel that is written or read.
  logic [KIndexW-1:0] kernel;
  logic [ScaledW-1:0] best;
  assign kernel = write_valid_i ? write_kernel_i[KIndexW-1:0] : read_kernel_i[KIndexW-1:0];
  assign best   = best_q[kernel];

  // Its next step.
  logic [N-1:0]       marks, above, first;
  logic [ScaledW-1:0] entry;
  always_comb begin
    marks = '0;
    for (int unsigned k = 0; k < K; k++)
      if (read_kernel_i[KIndexW-1:0] == KIndexW'(k)) marks = mark_q[k*N +: N];
    for (int unsigned j = 0; j < N; j++) above[j] = marks[j] && CountW'(j) >= read_from_i[CountW-1:0];
    first       = above & (~above + 1'b1);
    last_o      = (above & ~first) == '0;
    next_ctas_o = '0;
    entry       = '0;
    for (int unsigned j = 0; j < N; j++) begin
      if (first[j]) next_ctas_o = next_ctas_o | sluice_pkg::CtaW'(j + 1);
      for (int unsigned k = 0; k < K; k++)
        if (j < N - 1 && first[j] && read_kernel_i[KIndexW-1:0] == KIndexW'(k)) entry = entry | entry_q[k*N+j];
    end
  end
  assign has_next_o = above != '0;

  assign read_mantissa_o = {entry[ScaledW-1 -: ExponentW] != '0, entry[MantissaW-2:0]};

  // Written: the top bit brought up by at most 7; what is smaller is zero.
  logic [ProductW-1:0] high;
  logic [2:0]          zeros;
  logic [ExponentW:0]  exponent;
  logic [ScaledW-1:0]  scaled;
  logic                mark;
  always_comb begin
    high  = product_i;
    zeros = '0;
    for (int unsigned s = 3; s > 0; s--) begin
      if ((high >> (ProductW - (1 << (s - 1)))) == '0) begin
        high       = high << (1 << (s - 1));
        zeros[s-1] = 1'b1;
      end
    end
    exponent = {1'b0, write_exponent_i} - (ExponentW + 1)'(zeros);
    scaled   = {exponent[ExponentW-1:0], high[ProductW-2 -: MantissaW-1]};
    if (!high[ProductW-1] || exponent[ExponentW] || exponent == '0) scaled = '0;
    mark = write_ctas_i[CountW-1:0] == CountW'(1) || scaled > best;
  end
  assign scaled_o = scaled;

  assign read_below_o = best[ScaledW-1 -: ExponentW] - entry[ScaledW-1 -: ExponentW];

  logic [KIndexW-1:0] asked;
  logic [EntryW-1:0]  write_entry;
  assign write_entry = EntryW'(32'(kernel) * N + 32'(write_ctas_i) - 32'd1);
  always_comb begin
    asked     = '0;
    pending_d = pending_q;
    known_d   = known_q;
    mark_d    = mark_q;
    for (int unsigned k = K; k > 0; k--)
      if (pending_q[k-1]) asked = KIndexW'(k - 1);
    if (divide_ready_i) pending_d[asked] = 1'b0;
    if (divide_done_i) known_d[done_kernel_i[KIndexW-1:0]] = 1'b1;
    if (write_valid_i && write_final_i) pending_d[kernel] = 1'b1;
    if (write_valid_i && mark) mark_d[write_entry] = 1'b1;
    if (start_i) begin
      pending_d = '0;
      known_d   = '0;
      mark_d    = '0;
    end
  end
  assign divide_valid_o  = pending_q != '0;
  assign divide_kernel_o = sluice_pkg::KernelW'(asked);
  assign divisor_o       = {1'b1, best_q[asked][MantissaW-2:0]};
  assign known_o         = known_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q <= '0;
      known_q   <= '0;
    end else begin
      pending_q <= pending_d;
      known_q   <= known_d;
    end
  end

  // Cleared by a start, or written before they are read: no reset.
  always_ff @(posedge clk_i) begin
    mark_q <= mark_d;
    if (write_valid_i && mark) best_q[kernel] <= scaled;
    if (write_valid_i) entry_q[write_entry] <= scaled;
  end

  logic unused_bits;   // callers keep indices below MAX_KERNELS, counts at most MAX_CTAS
  assign unused_bits = ^{write_kernel_i, read_kernel_i, read_from_i, write_ctas_i, done_kernel_i, high};
endmodule
