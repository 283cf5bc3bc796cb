// perf_table: P[k][j], and from it Q and M of Warped-Slicer's algorithm 1.
// Writes of a kernel come with counts 1, 2, 3, ...; the strictly increasing prefix maxima are marked as they are written (count 1
// always). After a kernel's final write the reciprocal of its maximum is taken (11 cycles), while other kernels are still written;
// valid_o rises when all kernels have theirs.
// Reads are combinational: performance normalised to the kernel's own maximum, exactly 1.0 there (and for an all-zero kernel).
module perf_table #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            start_i,         // new decision: forgets everything
  input  logic [sluice_pkg::KernelW-1:0]  num_kernels_i,   // 1..MAX_KERNELS
  input  logic                            write_valid_i,
  input  logic [sluice_pkg::KernelW-1:0]  write_kernel_i,
  input  logic [sluice_pkg::CtaW-1:0]     write_ctas_i,    // 1..MAX_CTAS
  input  logic [sluice_pkg::ScaledW-1:0]  write_perf_i,
  input  logic                            write_final_i,   // last write of this kernel
  output logic                            idle_o,          // no reciprocal is pending or under way
  output logic                            valid_o,         // reads are meaningful
  input  logic [sluice_pkg::KernelW-1:0]  read_kernel_i,
  input  logic [sluice_pkg::CtaW-1:0]     read_ctas_i,     // 1..MAX_CTAS
  output logic [sluice_pkg::PerfW-1:0]    read_perf_o,
  input  logic [sluice_pkg::CtaW-1:0]     from_ctas_i,     // of read_kernel_i: where the next step is looked for
  output logic                            has_next_o,      // a marked count above from_ctas_i exists
  output logic [sluice_pkg::CtaW-1:0]     next_ctas_o      // the lowest such count
);
  localparam int unsigned RecipW  = 18;  // floor(2**40 / max), max shifted into its top bit
  localparam int unsigned ShiftW  = 5;
  localparam int unsigned EntryW  = $clog2(MAX_KERNELS * MAX_CTAS);
  localparam int unsigned KIndexW = $clog2(MAX_KERNELS);

  typedef enum logic [1:0] {Collect, Wait, Valid} state_e;

  logic [sluice_pkg::ScaledW-1:0] raw_q [MAX_KERNELS*MAX_CTAS];
  logic [MAX_CTAS-1:0]            mark_q [MAX_KERNELS];
  logic [sluice_pkg::ScaledW-1:0] max_q [MAX_KERNELS];
  logic [RecipW-1:0]              recip_q [MAX_KERNELS];
  logic [ShiftW-1:0]              shift_q [MAX_KERNELS];

  state_e             state_d, state_q;
  logic [KIndexW-1:0] kernel_d, kernel_q;   // whose reciprocal is taken
  logic [MAX_KERNELS-1:0] pending_d, pending_q;   // final write seen, reciprocal not started
  logic [sluice_pkg::KernelW-1:0] finished_d, finished_q;   // kernels that have their reciprocal
  logic               divide_start, divide_valid, store_recip;
  // A kernel's maximum, shifted so that its top bit is set.
  logic [sluice_pkg::ScaledW-1:0] divisor;
  logic [ShiftW-1:0]              shift;
  always_comb begin
    shift = '0;
    for (int unsigned b = 0; b < sluice_pkg::ScaledW; b++)
      if (max_q[kernel_d][b]) shift = ShiftW'(sluice_pkg::ScaledW - 1 - b);
    divisor = max_q[kernel_d] << shift;
  end

  logic [RecipW-1:0] quotient;
  seq_reciprocal #(
    .DivisorW  (sluice_pkg::ScaledW),
    .QuotientW (RecipW),
    .SeedLog2  (sluice_pkg::ScaledW - 2)
  ) i_reciprocal (
    .clk_i,
    .rst_ni,
    .start_i    (divide_start),
    .divisor_i  (divisor),
    .valid_o    (divide_valid),
    .quotient_o (quotient)
  );

  always_comb begin
    state_d      = state_q;
    kernel_d     = kernel_q;
    pending_d    = pending_q;
    finished_d   = finished_q;
    divide_start = 1'b0;
    store_recip  = 1'b0;
    unique case (state_q)
      Collect: if (pending_q != '0) begin
        for (int unsigned k = MAX_KERNELS; k > 0; k--)
          if (pending_q[k-1]) kernel_d = KIndexW'(k - 1);
        pending_d[kernel_d] = 1'b0;
        divide_start        = 1'b1;
        state_d             = Wait;
      end
      Wait: if (divide_valid) begin
        store_recip = 1'b1;
        finished_d  = finished_q + 1'b1;
        state_d     = (finished_q + 1'b1 == num_kernels_i) ? Valid : Collect;
      end
      default: state_d = Valid;
    endcase
    if (write_valid_i && write_final_i) pending_d[write_kernel_i[KIndexW-1:0]] = 1'b1;
    if (start_i) begin
      state_d    = Collect;
      pending_d  = '0;
      finished_d = '0;
    end
  end
  assign valid_o = state_q == Valid;
  assign idle_o  = state_q == Valid || (state_q == Collect && pending_q == '0);

  // Entries: {kernel, count - 1}.
  logic [EntryW-1:0]              write_entry, read_entry;
  logic [sluice_pkg::ScaledW-1:0] running_max;
  logic                           mark;
  logic [KIndexW-1:0]             write_kernel, read_kernel;

  logic unused_index_bits;   // callers keep indices below MAX_KERNELS
  assign unused_index_bits = ^{write_kernel_i, read_kernel_i};

  assign write_kernel = write_kernel_i[KIndexW-1:0];
  assign read_kernel  = read_kernel_i[KIndexW-1:0];
  assign write_entry  = EntryW'(32'(write_kernel) * MAX_CTAS + 32'(write_ctas_i) - 32'd1);
  assign read_entry   = EntryW'(32'(read_kernel) * MAX_CTAS + 32'(read_ctas_i) - 32'd1);
  assign running_max  = (write_ctas_i == sluice_pkg::CtaW'(1)) ? '0 : max_q[write_kernel];
  assign mark         = write_ctas_i == sluice_pkg::CtaW'(1) || write_perf_i > running_max;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Collect;
      kernel_q   <= '0;
      pending_q  <= '0;
      finished_q <= '0;
      for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
        mark_q[k]  <= '0;
        max_q[k]   <= '0;
        recip_q[k] <= '0;
        shift_q[k] <= '0;
      end
    end else begin
      state_q    <= state_d;
      kernel_q   <= kernel_d;
      pending_q  <= pending_d;
      finished_q <= finished_d;
      if (start_i) begin
        for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
          mark_q[k] <= '0;
          max_q[k]  <= '0;
        end
      end else if (write_valid_i && mark) begin
        mark_q[write_kernel] <= mark_q[write_kernel] | (MAX_CTAS'(1) << (write_ctas_i - 1'b1));
        max_q[write_kernel]  <= write_perf_i;
      end
      if (store_recip) begin
        recip_q[kernel_q] <= quotient;
        shift_q[kernel_q] <= shift;
      end
    end
  end

  // The entries themselves need no reset: only marked ones are read.
  always_ff @(posedge clk_i)
    if (write_valid_i) raw_q[write_entry] <= write_perf_i;

  logic [sluice_pkg::ScaledW-1:0]        raw, raw_shifted;
  logic [sluice_pkg::ScaledW+RecipW-1:0] perf_full;

  always_comb begin
    raw         = raw_q[read_entry];
    raw_shifted = raw << shift_q[read_kernel];
    perf_full   = raw_shifted * recip_q[read_kernel];
    if (max_q[read_kernel] == '0 || raw == max_q[read_kernel])
      read_perf_o = sluice_pkg::PerfOne;
    else
      read_perf_o = sluice_pkg::PerfW'(perf_full >> (2 * sluice_pkg::ScaledW - 8 - sluice_pkg::PerfFracW));
  end

  logic [MAX_CTAS-1:0] above;
  always_comb begin
    above       = mark_q[read_kernel] >> from_ctas_i;
    has_next_o  = above != '0;
    next_ctas_o = '0;
    for (int unsigned j = MAX_CTAS; j > 0; j--)
      if (above[j-1]) next_ctas_o = from_ctas_i + sluice_pkg::CtaW'(j);
  end
endmodule
