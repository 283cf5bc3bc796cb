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
  localparam int unsigned StepW     = $clog2(MAX_CTAS);
  localparam int unsigned SumW      = $clog2(NUM_SM * MAX_CTAS + 1);
  localparam int unsigned DivisorW  = (SumW > MantissaW) ? SumW : MantissaW;

  typedef enum logic [1:0] {Idle, Profile, Allocate} state_e;
  state_e state_d, state_q;

  logic               flush;             // a decision under way is dropped
  logic               collecting;        // sums are welcome
  logic               prepare, may_take, scaler_ready, scaler_busy;
  logic               write_valid, write_final, divide_valid, divide_ready, divide_busy, divide_done, for_sum_q;
  logic [KernelW-1:0] write_kernel, divide_kernel, done_kernel, first_kernel;
  logic [MAX_KERNELS-1:0] known;         // the best of this kernel is known: another sum would be of no use
  logic [CtaW-1:0]    write_ctas;
  logic               factor_valid, entry_valid, product_valid;
  logic [MantissaW-1:0] factor_left, entry_insts, divisor;
  logic [FactorW-1:0]   factor_right, factor_addend, factor;
  logic [sluice_pkg::ExponentW-1:0] product_exponent;
  logic [RatioW-1:0]    sample_ratio;
  logic [MAX_KERNELS*RatioW-1:0]  ratios;
  logic [MAX_KERNELS*FactorW-1:0] reciprocals;
  logic [ProductW-1:0]  product_q;

  // The table's lists; steps that wait; the allocator.
  logic [MAX_KERNELS-1:0] list_pop, work, other;
  logic [2*MAX_KERNELS-1:0]       list_has, list_last;
  logic [2*MAX_KERNELS*StepW-1:0] list_step;
  logic [2*MAX_KERNELS*sluice_pkg::ScaledW-1:0] list_entry;
  logic [MAX_KERNELS*sluice_pkg::ExponentW-1:0] list_best;
  logic                 issue, loading, first_valid, take_work, take_other, work_has, other_has, allocate_done, full;
  logic [MantissaW-1:0] issue_mantissa;
  logic [FactorW-1:0]   issue_reciprocal;
  logic [StepW-1:0]     work_step, other_step;
  logic [NormW-1:0]     first_perf, work_perf, other_perf, full_perf;

  assign flush           = start_i || abort_i;
  assign collecting      = state_q == Profile && !start_i;
  assign divide_ready    = divide_valid && !divide_busy;
  assign prepare_ready_o = collecting && !divide_valid && !divide_busy;
  assign prepare         = prepare_valid_i && prepare_ready_o;
  // A sample that meets a start is dropped with what is under way: start_i comes late.
  assign may_take        = state_q == Profile && !(divide_busy && for_sum_q) && !(SAMPLE_CYCLES == 2 && entry_valid) && !loading;
  assign sample_ready_o  = may_take && scaler_ready;

  always_comb begin
    sample_ratio = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      if (sample_kernel_i[KIndexW-1:0] == KIndexW'(k)) sample_ratio = sample_ratio | ratios[k*RatioW +: RatioW];
      reciprocals[k*FactorW +: FactorW] = ratios[k*RatioW +: FactorW];
    end
  end

  ratio_divider #(
    .MAX_KERNELS (MAX_KERNELS),
    .DivisorW    (DivisorW),
    .RatioW      (RatioW),
    .MantissaW   (MantissaW),
    .ShortW      (FactorW)
  ) i_ratio_divider (
    .clk_i,
    .rst_ni,
    .flush_i       (flush),
    .offer_i       (divide_valid || prepare_valid_i),
    .start_i       ((prepare && !known[prepare_kernel_i[KIndexW-1:0]]) || divide_ready),
    .reciprocal_i  (divide_valid),
    .kernel_i      (divide_valid ? divide_kernel : prepare_kernel_i),
    .dividend_i    (DivisorW'(num_samples_i)),
    .divisor_i     (divide_valid ? DivisorW'(divisor) : DivisorW'(prepare_sum_i)),
    .busy_o        (divide_busy),
    .done_o        (divide_done),
    .done_kernel_o (done_kernel),
    .ratio_o       (ratios)
  );

  ipc_scaler #(
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS),
    .RatioW      (RatioW)
  ) i_ipc_scaler (
    .clk_i,
    .rst_ni,
    .flush_i            (flush),
    .forget_i           (prepare),
    .window_i,
    .sample_offer_i     (sample_valid_i),
    .sample_valid_i     (sample_valid_i && may_take),
    .sample_ready_o     (scaler_ready),
    .sample_kernel_i,
    .sample_ctas_i,
    .sample_insts_i,
    .sample_stall_i,
    .sample_final_i,
    .ratio_i            (sample_ratio),
    .busy_o             (scaler_busy),
    .factor_valid_o     (factor_valid),
    .factor_left_o      (factor_left),
    .factor_right_o     (factor_right),
    .factor_addend_o    (factor_addend),
    .entry_valid_o      (entry_valid),
    .entry_insts_o      (entry_insts),
    .product_valid_o    (product_valid),
    .product_exponent_o (product_exponent),
    .scaled_valid_o     (write_valid),
    .scaled_kernel_o    (write_kernel),
    .scaled_ctas_o      (write_ctas),
    .scaled_final_o     (write_final)
  );

  perf_table #(
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_perf_table (
    .clk_i,
    .rst_ni,
    .start_i            (flush),
    .product_valid_i    (product_valid),
    .product_exponent_i (product_exponent),
    .product_i          (product_q),
    .write_valid_i      (write_valid),
    .write_kernel_i     (write_kernel),
    .write_ctas_i       (write_ctas),
    .write_final_i      (write_final),
    .scaled_o,
    .divide_valid_o     (divide_valid),
    .divide_kernel_o    (divide_kernel),
    .divisor_o          (divisor),
    .divide_ready_i     (divide_ready),
    .divide_done_i      (divide_done && !for_sum_q),
    .done_kernel_i      (done_kernel),
    .known_o            (known),
    .pop_i              (list_pop),
    .has_o              (list_has),
    .last_o             (list_last),
    .step_o             (list_step),
    .entry_o            (list_entry),
    .best_exponent_o    (list_best)
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
    .free_i          (!scaler_busy),
    .load_o          (loading),
    .has_i           (list_has),
    .last_i          (list_last),
    .step_i          (list_step),
    .entry_i         (list_entry),
    .best_exponent_i (list_best),
    .reciprocal_i    (reciprocals),
    .pop_o           (list_pop),
    .issue_o         (issue),
    .mantissa_o      (issue_mantissa),
    .reciprocal_o    (issue_reciprocal),
    .product_i       (product_q),
    .first_valid_o   (first_valid),
    .first_kernel_o  (first_kernel),
    .first_perf_o    (first_perf),
    .work_i          (work),
    .other_i         (other),
    .active_i        (state_q == Allocate),
    .take_work_i     (take_work),
    .take_other_i    (take_other),
    .work_has_o      (work_has),
    .work_step_o     (work_step),
    .work_perf_o     (work_perf),
    .other_has_o     (other_has),
    .other_step_o    (other_step),
    .other_perf_o    (other_perf)
  );

  // The multiplier: operands, rows, sum, a cycle each. Its operands are instructions and the factor, or an entry and the reciprocal of its kernel's best.
  logic [MantissaW-1:0] left_q, left;
  logic [FactorW-1:0]   right_q, right, addend;
  logic [ProductW-1:0]  rows_sum, rows_carry, rows_sum_q, rows_carry_q, product;
  logic                 multiply_q, add_q, factor_row;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      multiply_q <= 1'b0;
      add_q      <= 1'b0;
    end else begin
      multiply_q <= entry_valid || issue;
      add_q      <= multiply_q || factor_row;
    end
  always_ff @(posedge clk_i) begin
    if (start_i || entry_valid || issue || multiply_q) begin
      left_q  <= (entry_insts & {MantissaW{entry_valid}}) | (issue_mantissa & {MantissaW{issue}});
      right_q <= (factor & {FactorW{entry_valid}}) | (issue_reciprocal & {FactorW{issue}});
    end
    if (multiply_q || factor_row) begin
      rows_sum_q   <= rows_sum;
      rows_carry_q <= rows_carry;
    end
    if (add_q) product_q <= product;
  end
  product_rows #(
    .LeftW  (MantissaW),
    .RightW (FactorW)
  ) i_product_rows (
    .left_i    (left),
    .right_i   (right),
    .row_i     ({addend, (ProductW - FactorW)'(0)}),
    .sum_o     (rows_sum),
    .carry_o   (rows_carry)
  );
  assign product = rows_sum_q + rows_carry_q;

  // The factor of a sample: stall * share + addend. The row of the stall's lowest bit, which is 0, is the addend's. What is not multiplied is zero.
  if (SAMPLE_CYCLES == 2) begin : gen_one_multiplier
    assign factor_row = factor_valid;
    assign left       = factor_left | left_q;
    assign addend     = factor_addend;
    assign right      = factor_right | right_q;
    assign factor     = product[ProductW-1 -: FactorW];
  end else begin : gen_two_multipliers
    logic [ProductW-1:0] factor_sum, factor_carry, factor_sum_q, factor_carry_q, factor_product;
    assign factor_row = 1'b0;
    assign left       = left_q;
    assign addend     = '0;
    assign right      = right_q;
    product_rows #(
      .LeftW  (MantissaW),
      .RightW (FactorW)
    ) i_factor_rows (
      .left_i    (factor_left),
      .right_i   (factor_right),
      .row_i     ({factor_addend, (ProductW - FactorW)'(0)}),
      .sum_o     (factor_sum),
      .carry_o   (factor_carry)
    );
    always_ff @(posedge clk_i)
      if (factor_valid) begin
        factor_sum_q   <= factor_sum;
        factor_carry_q <= factor_carry;
      end
    assign factor_product = factor_sum_q + factor_carry_q;
    assign factor         = factor_product[ProductW-1 -: FactorW];
    logic unused_fraction;
    assign unused_fraction = ^factor_product;
  end

  waterfill_allocator #(
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_waterfill_allocator (
    .clk_i,
    .rst_ni,
    .start_i,
    .abort_i,
    .num_kernels_i,
    .capacity_warps_i,
    .capacity_registers_i,
    .capacity_shared_i,
    .capacity_slots_i,
    .demand_kernel_o,
    .demand_warps_i,
    .demand_registers_i,
    .demand_shared_i,
    .epsilon_i,
    .count_start_i,
    .count_i,
    .count_fits_o,
    .first_valid_i  (first_valid),
    .first_kernel_i (first_kernel),
    .first_perf_i   (first_perf),
    .work_o         (work),
    .other_o        (other),
    .take_work_o    (take_work),
    .take_other_o   (take_other),
    .work_has_i     (work_has),
    .work_step_i    (work_step),
    .work_perf_i    (work_perf),
    .other_has_i    (other_has),
    .other_step_i   (other_step),
    .other_perf_i   (other_perf),
    .full_o         (full),
    .perf_o         (full_perf),
    .done_o         (allocate_done),
    .no_fit_o,
    .ctas_o
  );

  // A kernel's performance is judged when it is full; at its best it loses nothing.
  loss_guard #(
    .MAX_KERNELS (MAX_KERNELS)
  ) i_loss_guard (
    .clk_i,
    .rst_ni,
    .start_i,
    .valid_i       (full && !(&full_perf)),
    .perf_i        ({1'b0, full_perf}),
    .num_kernels_i,
    .loss_limit_i,
    .spatial_o
  );

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Profile: if (first_valid && first_kernel + 1'b1 == num_kernels_i) state_d = Allocate;
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

  logic unused_bits;   // at most MAX_CTAS on each SM
  assign unused_bits = ^{prepare_sum_i, num_samples_i};

  assign scaled_valid_o  = write_valid;
  assign scaled_kernel_o = write_kernel;
  assign scaled_ctas_o   = write_ctas;
  assign idle_o          = state_q == Idle && !scaler_busy && !divide_valid && !divide_busy;
  assign done_o          = allocate_done;
endmodule
