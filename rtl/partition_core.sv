// partition_core: profile samples in, CTAs per kernel out (Warped-Slicer): ipc_scaler -> perf_table -> step_prefetch -> waterfill_allocator -> loss_guard.
// start_i begins a decision and drops one under way. While the profile window runs, each kernel's cta_sum is prepared; after it the
// samples follow, each kernel's in counts 1..n, at least one a kernel. A kernel whose levels take several windows is prepared anew
// for each. The configuration inputs are stable from start_i to done_o. done_o pulses once; results hold until the next start.
module partition_core #(
  parameter int unsigned NUM_SM      = 256, // SMs sampled for one kernel, at most
  parameter int unsigned MAX_KERNELS = 4,   // 2..8
  parameter int unsigned MAX_CTAS    = 32,  // 4..32
  // Cycles a sample. 2: one multiplier for all; 1: the factor of a sample has its own, where so many samples would not be done in time.
  parameter int unsigned SAMPLE_CYCLES = (MAX_KERNELS * MAX_CTAS <= 32) ? 2 : 1
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic                                       start_i,
  input  logic                                       abort_i,               // drops the decision under way: no done_o
  input  logic [sluice_pkg::KernelW-1:0]             num_kernels_i,         // 1..MAX_KERNELS
  input  logic [sluice_pkg::WarpW-1:0]               capacity_warps_i,      // of one SM
  input  logic [sluice_pkg::RegW-1:0]                capacity_registers_i,
  input  logic [sluice_pkg::SharedW-1:0]             capacity_shared_i,     // bytes
  input  logic [sluice_pkg::CtaW-1:0]                capacity_slots_i,
  output logic [sluice_pkg::KernelW-1:0]             demand_kernel_o,       // whose demand is wanted in this cycle:
  input  logic [sluice_pkg::WarpW-1:0]               demand_warps_i,        // of one CTA
  input  logic [sluice_pkg::RegW-1:0]                demand_registers_i,
  input  logic [sluice_pkg::SharedW-1:0]             demand_shared_i,
  input  logic [sluice_pkg::WindowW-1:0]             window_i,              // cycles, >= 1,024
  input  logic [sluice_pkg::PerfW-1:0]               epsilon_i,             // saturation threshold; 0 = the paper's rule
  input  logic [sluice_pkg::LossW-1:0]               loss_limit_i,          // of 1/K: what a kernel may lose, units of 2**-PerfFracW
  input  logic                                       count_start_i,         // without a decision under way, for occupancy_counter: the capacity is left;
  input  logic                                       count_i,               // demand_*_i is taken from what is left,
  output logic                                       count_fits_o,          // if that is enough
  input  logic                                       prepare_valid_i,
  output logic                                       prepare_ready_o,
  input  logic [sluice_pkg::KernelW-1:0]             prepare_kernel_i,
  input  logic [sluice_pkg::CtaSumW-1:0]             prepare_sum_i,         // CTAs over the SMs that run this kernel in this window
  input  logic                                       sample_valid_i,
  output logic                                       sample_ready_o,
  input  logic [sluice_pkg::KernelW-1:0]             sample_kernel_i,
  input  logic [sluice_pkg::CtaW-1:0]                sample_ctas_i,         // 1..MAX_CTAS
  input  logic [sluice_pkg::InstW-1:0]               sample_insts_i,
  input  logic [sluice_pkg::WindowW-1:0]             sample_stall_i,
  input  logic [sluice_pkg::SmCountW-1:0]            num_samples_i,         // SMs that run this kernel in this window
  input  logic                                       sample_final_i,        // last sample of this kernel
  output logic                                       scaled_valid_o,        // an entry of the performance table, for tracing
  output logic [sluice_pkg::KernelW-1:0]             scaled_kernel_o,
  output logic [sluice_pkg::CtaW-1:0]                scaled_ctas_o,
  output logic [sluice_pkg::ScaledW-1:0]             scaled_o,              // {exponent, mantissa}: docs/blocks/perf_table.md
  output logic                                       idle_o,                // no decision under way: nothing changes without an input
  output logic                                       done_o,
  output logic                                       no_fit_o,              // one CTA of each does not fit: no intra-SM partition
  output logic                                       spatial_o,             // loss guard: fall back to spatial
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_o
);
  localparam int unsigned KernelW   = sluice_pkg::KernelW;
  localparam int unsigned KIndexW   = $clog2(MAX_KERNELS);
  localparam int unsigned CtaW      = sluice_pkg::CtaW;
  localparam int unsigned MantissaW = sluice_pkg::MantissaW;
  localparam int unsigned FactorW   = sluice_pkg::FactorW;
  localparam int unsigned RatioW    = FactorW - 2 + $clog2(MAX_CTAS);   // MAX_CTAS times its last bit is 2**-(FactorW-2)
  localparam int unsigned ProductW  = sluice_pkg::ProductW;
  localparam int unsigned NormW     = sluice_pkg::NormW;
  localparam int unsigned SumW      = $clog2(NUM_SM * MAX_CTAS + 1);
  localparam int unsigned DivisorW  = (SumW > MantissaW) ? SumW : MantissaW;

  typedef enum logic [1:0] {Idle, Profile, Allocate} state_e;
  state_e state_d, state_q;

  logic               flush;             // a decision under way is dropped
  logic               collecting;        // samples and sums are welcome
  logic               prepare, may_take, scaler_ready;
  logic               write_valid, write_final, divide_valid, divide_ready, divide_busy, divide_done, for_sum_q, table_valid;
  logic [KernelW-1:0] write_kernel, divide_kernel, done_kernel, work_kernel, read_kernel;
  logic [MAX_KERNELS-1:0] known;         // the best of this kernel is known: another sum would be of no use
  logic [CtaW-1:0]    write_ctas, from, next_ctas, read_from, read_ctas;
  logic               has_next, read_has_next, read_last, allocate_start, allocate_done, full;
  logic [NormW-1:0]   next_perf, full_perf;
  logic [sluice_pkg::ExponentW-1:0] write_exponent, read_below;
  logic               factor_valid, entry_valid;
  logic [MantissaW-1:0] factor_left, entry_insts, read_mantissa, far_mantissa, divisor;
  logic [FactorW-1:0]   factor_right, factor_addend, factor;
  logic [RatioW-1:0]    sample_ratio, reciprocal;
  logic [ProductW-1:0]  product, product_q;

  assign flush           = start_i || abort_i;
  assign collecting      = state_q == Profile && !start_i;
  assign divide_ready    = divide_valid && !divide_busy;
  assign prepare_ready_o = collecting && !divide_valid && !divide_busy;
  assign prepare         = prepare_valid_i && prepare_ready_o;
  assign may_take        = collecting && !(divide_busy && for_sum_q) && !(SAMPLE_CYCLES == 2 && factor_valid);
  assign sample_ready_o  = may_take && scaler_ready;

  ratio_divider #(
    .MAX_KERNELS (MAX_KERNELS),
    .DivisorW    (DivisorW),
    .RatioW      (RatioW)
  ) i_ratio_divider (
    .clk_i,
    .rst_ni,
    .flush_i       (flush),
    .start_i       ((prepare && !known[prepare_kernel_i[KIndexW-1:0]]) || divide_ready),
    .kernel_i      (divide_valid ? divide_kernel : prepare_kernel_i),
    .dividend_i    (divide_valid ? DivisorW'(1) << (MantissaW - 1) : DivisorW'(num_samples_i)),
    .divisor_i     (divide_valid ? DivisorW'(divisor) : DivisorW'(prepare_sum_i)),
    .busy_o        (divide_busy),
    .done_o        (divide_done),
    .done_kernel_o (done_kernel),
    .read_kernel_i ({read_kernel, sample_kernel_i}),
    .ratio_o       ({reciprocal, sample_ratio})
  );

  ipc_scaler #(
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS),
    .RatioW      (RatioW),
    .SAMPLE_CYCLES (SAMPLE_CYCLES)
  ) i_ipc_scaler (
    .clk_i,
    .rst_ni,
    .flush_i           (flush),
    .forget_i          (prepare),
    .window_i,
    .sample_valid_i    (sample_valid_i && may_take),
    .sample_ready_o    (scaler_ready),
    .sample_kernel_i,
    .sample_ctas_i,
    .sample_insts_i,
    .sample_stall_i,
    .sample_final_i,
    .ratio_i           (sample_ratio),
    .factor_valid_o    (factor_valid),
    .factor_left_o     (factor_left),
    .factor_right_o    (factor_right),
    .factor_addend_o   (factor_addend),
    .entry_valid_o     (entry_valid),
    .entry_insts_o     (entry_insts),
    .scaled_valid_o    (write_valid),
    .scaled_kernel_o   (write_kernel),
    .scaled_ctas_o     (write_ctas),
    .scaled_final_o    (write_final),
    .scaled_exponent_o (write_exponent)
  );

  perf_table #(
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_perf_table (
    .clk_i,
    .rst_ni,
    .start_i          (flush),
    .write_valid_i    (write_valid),
    .write_kernel_i   (write_kernel),
    .write_ctas_i     (write_ctas),
    .write_final_i    (write_final),
    .write_exponent_i (write_exponent),
    .product_i        (product_q),
    .scaled_o,
    .divide_valid_o   (divide_valid),
    .divide_kernel_o  (divide_kernel),
    .divisor_o        (divisor),
    .divide_ready_i   (divide_ready),
    .divide_done_i    (divide_done && !for_sum_q),
    .done_kernel_i    (done_kernel),
    .known_o          (known),
    .read_kernel_i    (read_kernel),
    .read_from_i      (read_from),
    .read_mantissa_o  (read_mantissa),
    .has_next_o       (read_has_next),
    .last_o           (read_last),
    .next_ctas_o      (read_ctas),
    .read_below_o     (read_below)
  );

  step_prefetch #(
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_step_prefetch (
    .clk_i,
    .rst_ni,
    .start_i         (flush),
    .num_kernels_i,
    .known_i         (known),
    .free_i          (!factor_valid && !entry_valid && !write_valid),
    .valid_o         (table_valid),
    .take_i          (state_q == Allocate),
    .kernel_i        (work_kernel),
    .has_next_o      (has_next),
    .next_ctas_o     (next_ctas),
    .next_perf_o     (next_perf),
    .read_kernel_o   (read_kernel),
    .read_from_o     (read_from),
    .read_has_next_i (read_has_next),
    .read_last_i     (read_last),
    .read_ctas_i     (read_ctas),
    .read_mantissa_i (read_mantissa),
    .read_below_i    (read_below),
    .mantissa_o      (far_mantissa),
    .product_i       (product)
  );

  // The multiplier: stall * share for the factor of a sample, unless that has its own, then instructions * factor for its entry, and else
  // entry * reciprocal of the best. The first two are kept for the next cycle.
  logic [MantissaW-1:0] left;
  logic [FactorW-1:0]   right, addend;
  always_comb begin
    left   = far_mantissa;
    right  = reciprocal[RatioW-1 -: FactorW];
    addend = '0;
    if (entry_valid) begin
      left  = entry_insts;
      right = factor;
    end
    if (SAMPLE_CYCLES == 2 && factor_valid) begin
      left   = factor_left;
      right  = factor_right;
      addend = factor_addend;
    end
  end
  assign product = left * right + {addend, (ProductW - FactorW)'(0)};
  always_ff @(posedge clk_i)
    if (entry_valid || (SAMPLE_CYCLES == 2 && factor_valid)) product_q <= product;

  if (SAMPLE_CYCLES == 2) begin : gen_one_multiplier
    assign factor = product_q[ProductW-1 -: FactorW];
  end else begin : gen_two_multipliers
    logic [ProductW-1:0] factor_product;
    logic [FactorW-1:0]  factor_q;
    assign factor_product = factor_left * factor_right;
    assign factor         = factor_q;
    always_ff @(posedge clk_i)
      if (factor_valid) factor_q <= factor_addend + factor_product[ProductW-1 -: FactorW];
    logic unused_fraction;
    assign unused_fraction = ^factor_product;
  end

  waterfill_allocator #(
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_waterfill_allocator (
    .clk_i,
    .rst_ni,
    .start_i     (allocate_start),
    .abort_i     (flush),
    .num_kernels_i,
    .capacity_warps_i,
    .capacity_registers_i,
    .capacity_shared_i,
    .capacity_slots_i,
    .demand_warps_i,
    .demand_registers_i,
    .demand_shared_i,
    .epsilon_i,
    .count_start_i,
    .count_i,
    .count_fits_o,
    .kernel_o    (work_kernel),
    .from_o      (from),
    .has_next_i  (has_next),
    .next_ctas_i (next_ctas),
    .next_perf_i (next_perf),
    .full_o      (full),
    .perf_o      (full_perf),
    .done_o      (allocate_done),
    .no_fit_o,
    .ctas_o
  );

  // A kernel's performance is judged when it is full.
  loss_guard #(
    .MAX_KERNELS (MAX_KERNELS)
  ) i_loss_guard (
    .clk_i,
    .rst_ni,
    .start_i       (allocate_start),
    .valid_i       (full),
    .perf_i        ((&full_perf) ? sluice_pkg::PerfOne : {1'b0, full_perf}),
    .num_kernels_i,
    .loss_limit_i,
    .spatial_o
  );

  always_comb begin
    state_d        = state_q;
    allocate_start = 1'b0;
    unique case (state_q)
      Profile: if (table_valid) begin
        allocate_start = 1'b1;
        state_d        = Allocate;
      end
      Allocate: if (allocate_done) state_d = Idle;
      default:  state_d = Idle;
    endcase
    if (start_i) state_d = Profile;
    if (abort_i) state_d = Idle;
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) state_q <= Idle;
    else         state_q <= state_d;

  // Of the division under way: no reset.
  always_ff @(posedge clk_i)
    if (prepare || divide_ready) for_sum_q <= prepare;

  logic unused_bits;   // at most MAX_CTAS on each SM; the prefetch knows where each kernel is
  assign unused_bits = ^{prepare_sum_i, num_samples_i, from, reciprocal};

  assign demand_kernel_o = work_kernel;
  assign scaled_valid_o  = write_valid;
  assign scaled_kernel_o = write_kernel;
  assign scaled_ctas_o   = write_ctas;
  assign idle_o          = state_q == Idle && !factor_valid && !entry_valid && !write_valid && !divide_valid && !divide_busy;
  assign done_o          = allocate_done;
endmodule
