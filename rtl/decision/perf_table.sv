// SPDX-License-Identifier: Apache-2.0
// perf_table: P[k][j], and from it Q and M of Warped-Slicer's algorithm 1, a list of steps a kernel.
// Entries are floating point: ExponentW bits of exponent, the mantissa under a leading one; exponent 0 is zero. Writes of a kernel come with counts
// 1, 2, 3, ... and join its list at the last place, none below the one before. After a kernel's final write the reciprocal of its best mantissa, the
// last in the list, is asked for (divide_*_o). From then on the list goes through star_hull, the last place first (read_*_o, hull_*_i), and comes
// back at place 0, now relative to the best and steps only. known_o tells which kernels have both; *_o of steps show the two in front, pop_i takes one.
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
  output logic                             read_valid_o,       // an entry, a cycle each from the highest count to 1:
  output logic [MAX_KERNELS-1:0]           read_kernel_o,      // one-hot
  output logic                             read_first_o,       // of the highest count
  output logic [$clog2(MAX_CTAS+1)-1:0]    read_ctas_o,
  output logic [sluice_pkg::ScaledW-1:0]   read_entry_o,
  output logic [sluice_pkg::ExponentW-1:0] read_best_o,        // exponent of the kernel's best
  input  logic                             hull_valid_i,       // the same order: what it has become
  input  logic [MAX_KERNELS-1:0]           hull_kernel_i,      // one-hot
  input  logic                             hull_last_i,        // of one CTA
  input  logic                             hull_push_i,        // a step
  input  logic [$clog2(MAX_CTAS)-1:0]      hull_alike_i,       // counts from this one on with its value
  input  logic [sluice_pkg::CurveW-1:0]    hull_curve_i,
  output logic [MAX_KERNELS-1:0]           known_o,            // kernels that have their reciprocal and their steps
  input  logic [MAX_KERNELS-1:0]           pop_i,              // the step in front of these is taken
  output logic [2*MAX_KERNELS-1:0]         has_o,              // 2k: there is one of kernel k, 2k + 1: and another behind it
  output logic [2*MAX_KERNELS-1:0]         last_o,             // none behind it: it is the kernel's best
  output logic [2*MAX_KERNELS*$clog2(MAX_CTAS)-1:0]      step_o,    // CTAs more than the step before
  output logic [2*MAX_KERNELS*sluice_pkg::CurveW-1:0]    curve_o    // relative to the best, whose leading one is at the top
);
  localparam int unsigned K         = MAX_KERNELS;
  localparam int unsigned N         = MAX_CTAS;
  localparam int unsigned KIndexW   = $clog2(K);
  localparam int unsigned CountW    = $clog2(N + 1);
  localparam int unsigned StepW     = $clog2(N);
  localparam int unsigned ScaledW   = sluice_pkg::ScaledW;
  localparam int unsigned CurveW    = sluice_pkg::CurveW;
  localparam int unsigned MantissaW = sluice_pkg::MantissaW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned InstW     = sluice_pkg::InstW;

  // The lists: {kernel, place}. Entries join at place N - 1 and are read there; steps join at place 0 and leave there.
  logic [ScaledW-1:0]   tail [K];                // at place N - 1
  logic [K*N-1:0]       valid_d, valid_q;        // steps
  logic [CountW-1:0]    count_q [K];             // of the last entry
  logic [K-1:0]         pending_d, pending_q;    // final write seen, reciprocal not yet asked for
  logic [K-1:0]         turned_d, turned_q;      // asked for: the list moves the other way
  logic [K-1:0]         hull_d, hull_q;          // all its steps are there
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

  // Written: the entry, or the one before, which is more.
  logic [K-1:0]       written;
  logic [ScaledW-1:0] newest, entry;
  always_comb begin
    newest = '0;
    for (int unsigned k = 0; k < K; k++) begin
      written[k] = write_valid_i && write_kernel_i[KIndexW-1:0] == KIndexW'(k);
      if (written[k]) newest = newest | tail[k];
    end
    entry = (write_ctas_i[CountW-1:0] != CountW'(1) && newest > scaled_q) ? newest : scaled_q;
  end

  // Read, one kernel at a time: the entries that are still to be read are at the last places.
  logic               reading_d, reading_q, read_first_q;
  logic [K-1:0]       read_kernel_q;
  logic [CountW-1:0]  left_q;
  logic [N-1:0]       unread_d, unread_q;
  logic [ExponentW-1:0] best_exponent_q;

  logic [K-1:0]        lowest;   // one-hot: whose reciprocal is asked for
  logic [KIndexW-1:0]  asked;
  logic [ScaledW-1:0]  best;
  logic [CountW-1:0]   most;
  logic [K-1:0]        reads, hulls, pushes;
  always_comb begin
    asked     = '0;
    best      = '0;
    most      = '0;
    pending_d = pending_q;
    turned_d  = turned_q;
    hull_d    = hull_q;
    known_d   = known_q;
    valid_d   = valid_q;
    lowest    = pending_q & (~pending_q + 1'b1);
    reads     = read_kernel_q & {K{reading_q}};
    hulls     = hull_kernel_i & {K{hull_valid_i}};
    pushes    = hulls & {K{hull_push_i}};
    for (int unsigned k = 0; k < K; k++) begin
      if (lowest[k]) begin
        asked = asked | KIndexW'(k);
        best  = best | tail[k];
        most  = most | count_q[k];
      end
      if (divide_ready_i && lowest[k]) begin
        pending_d[k] = 1'b0;
        turned_d[k]  = 1'b1;
      end
      if (hulls[k] && hull_last_i) begin
        turned_d[k] = 1'b0;
        hull_d[k]   = 1'b1;
      end
      if (divide_done_i && done_kernel_i[KIndexW-1:0] == KIndexW'(k)) known_d[k] = 1'b1;
      if (written[k] && write_final_i) pending_d[k] = 1'b1;
      if (pushes[k]) valid_d[k*N +: N] = {valid_q[k*N +: N-1], 1'b1};
      if (pop_i[k]) valid_d[k*N +: N] = {1'b0, valid_q[k*N+1 +: N-1]};
    end
    reading_d = reading_q && left_q != CountW'(1);
    for (int unsigned i = 0; i < N; i++) unread_d[i] = divide_ready_i ? CountW'(N - i) <= most : i > 0 && unread_q[(i + N - 1) % N];
    if (divide_ready_i) reading_d = 1'b1;
    if (start_i) begin
      pending_d = '0;
      turned_d  = '0;
      hull_d    = '0;
      known_d   = '0;
      valid_d   = '0;
      reading_d = 1'b0;
    end
  end
  assign divide_valid_o  = pending_q != '0 && !reading_q;
  assign divide_kernel_o = sluice_pkg::KernelW'(asked);
  assign divisor_o       = {1'b1, best[MantissaW-2:0]};
  assign known_o         = known_q & hull_q;

  always_comb begin
    read_entry_o = '0;
    for (int unsigned k = 0; k < K; k++) if (read_kernel_q[k]) read_entry_o = read_entry_o | tail[k];
  end
  assign read_valid_o  = reading_q;
  assign read_kernel_o = read_kernel_q;
  assign read_first_o  = read_first_q;
  assign read_ctas_o   = left_q;
  assign read_best_o   = best_exponent_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q <= '0;
      hull_q    <= '0;
      known_q   <= '0;
      reading_q <= 1'b0;
    end else begin
      pending_q <= pending_d;
      hull_q    <= hull_d;
      known_q   <= known_d;
      reading_q <= reading_d;
    end
  end

  // Cleared by a start, or written before they are read: no reset.
  always_ff @(posedge clk_i) begin
    valid_q  <= valid_d;
    turned_q <= turned_d;
    if (insts_valid_i) scaled_q <= scaled_d;
    for (int unsigned k = 0; k < K; k++) if (written[k]) count_q[k] <= write_ctas_i[CountW-1:0];
    if (divide_ready_i) begin
      read_kernel_q   <= lowest;
      best_exponent_q <= best[ScaledW-1 -: ExponentW];
    end
    if (divide_ready_i || reading_q) begin
      read_first_q <= divide_ready_i;
      left_q       <= divide_ready_i ? most : left_q - 1'b1;
      unread_q     <= unread_d;
    end
  end

  for (genvar k = 0; k < K; k++) begin : gen_list
    logic [ScaledW-1:0] entry_q [N];      // entries, then steps
    logic [StepW-1:0]   alike_q [N];      // of a step: counts from its own on with its value
    logic [StepW-1:0]   before_q;         // of the step that was taken last
    for (genvar i = 0; i < N; i++) begin : gen_place
      logic moves;
      assign moves = written[k] || pop_i[k] || pushes[k] || (reads[k] && unread_q[i]) || (i == 0 && hulls[k]);
      always_ff @(posedge clk_i)
        if (moves) begin
          if (turned_q[k]) begin
            entry_q[i] <= (i == 0) ? ScaledW'(hull_curve_i) : entry_q[(i + N - 1) % N];
            alike_q[i] <= (i == 0) ? hull_alike_i : alike_q[(i + N - 1) % N];
          end else begin
            entry_q[i] <= (i == N - 1) ? entry : entry_q[(i + 1) % N];
            alike_q[i] <= alike_q[(i + 1) % N];
          end
        end
    end
    always_ff @(posedge clk_i) if (hulls[k] || pop_i[k]) before_q <= hulls[k] ? StepW'(1) : alike_q[0];
    assign tail[k]                           = entry_q[N-1];
    assign has_o[2*k +: 2]                   = valid_q[k*N +: 2];
    assign last_o[2*k +: 2]                  = ~valid_q[k*N+1 +: 2];
    assign step_o[2*k*StepW +: 2*StepW]      = {alike_q[0], before_q};
    assign curve_o[2*k*CurveW +: 2*CurveW]   = {CurveW'(entry_q[1]), CurveW'(entry_q[0])};
  end

  logic unused_bits;   // callers keep indices below MAX_KERNELS, counts at most MAX_CTAS
  assign unused_bits = ^{write_kernel_i, write_ctas_i, done_kernel_i, high};
endmodule
