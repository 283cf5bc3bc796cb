// SPDX-License-Identifier: Apache-2.0
// partition_core: profile samples in, CTAs per kernel out (Warped-Slicer): perf_table <-> star_hull -> step_prefetch -> waterfill_allocator -> loss_guard.
// start_i begins a decision and drops one under way. After the profile window the samples follow, one a cycle at most, each kernel's in
// counts 1..n, at least one a kernel, one kernel after the other; of a kernel whose levels take several windows in as many parts. The
// configuration inputs are stable from start_i to done_o. done_o pulses once; results hold until the next start.
module partition_core #(
  parameter int unsigned MAX_KERNELS = 4,   // 2..8
  parameter int unsigned MAX_CTAS    = 32   // 4..32
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
  input  logic [sluice_pkg::PerfW-1:0]               epsilon_i,             // saturation threshold; 0 = the paper's rule
  input  logic [sluice_pkg::LossW-1:0]               loss_limit_i,          // of 1/K: what a kernel may lose, units of 2**-PerfFracW
  input  logic                                       count_start_i,         // without a decision under way, for occupancy_counter: the capacity is left;
  input  logic                                       count_i,               // demand_*_i is taken from what is left,
  output logic                                       count_fits_o,          // if that is enough
  input  logic                                       sample_valid_i,        // always taken
  input  logic [sluice_pkg::KernelW-1:0]             sample_kernel_i,
  input  logic [sluice_pkg::CtaW-1:0]                sample_ctas_i,         // 1..MAX_CTAS
  input  logic [sluice_pkg::InstW-1:0]               sample_insts_i,        // within the SM's ceiling; 0: none, or dropped
  input  logic                                       sample_final_i,        // last sample of this kernel
  output logic                                       scaled_valid_o,        // an entry of the performance table, for tracing
  output logic [sluice_pkg::KernelW-1:0]             scaled_kernel_o,
  output logic [sluice_pkg::CtaW-1:0]                scaled_ctas_o,
  output logic [sluice_pkg::ScaledW-1:0]             scaled_o,              // {exponent, mantissa}: docs/reference/blocks/perf_table.md
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
  localparam int unsigned CurveW    = sluice_pkg::CurveW;
  localparam int unsigned FactorW   = sluice_pkg::FactorW;
  localparam int unsigned ProductW  = sluice_pkg::ProductW;
  localparam int unsigned NormW     = sluice_pkg::NormW;
  localparam int unsigned StepW     = $clog2(MAX_CTAS);
  localparam int unsigned CountW    = $clog2(MAX_CTAS + 1);

  typedef enum logic [1:0] {Idle, Profile, Allocate} state_e;
  state_e state_d, state_q;

  logic               flush;             // a decision under way is dropped
  logic               take;
  logic               write_valid_q, write_final_q, divide_valid, divide_ready, divide_busy, divide_done;
  logic [KIndexW-1:0] write_kernel_q;
  logic [CountW-1:0]  write_ctas_q;
  logic [KernelW-1:0] divide_kernel, done_kernel, first_kernel;
  logic [MAX_KERNELS-1:0] known;         // the reciprocal of this kernel's best is there
  logic [MantissaW-1:0]   divisor;
  logic [MAX_KERNELS*FactorW-1:0] reciprocals;
  logic [ProductW-1:0]    product_q;

  // The table's lists; steps that wait; the allocator.
  logic [MAX_KERNELS-1:0] list_pop, work, other;
  logic [2*MAX_KERNELS-1:0]       list_has, list_last;
  logic [2*MAX_KERNELS*StepW-1:0] list_step;
  logic [2*MAX_KERNELS*CurveW-1:0] list_curve;
  logic                   read_valid, read_first, hull_multiply, hull_valid, hull_last, hull_push;
  logic [MAX_KERNELS-1:0] read_kernel, hull_kernel;
  logic [CountW-1:0]      read_ctas;
  logic [sluice_pkg::ScaledW-1:0]   read_entry;
  logic [sluice_pkg::ExponentW-1:0] read_best;
  logic [CurveW-1:0]      hull_operand, hull_curve;
  logic [FactorW-1:0]     hull_factor;
  logic [StepW-1:0]       hull_alike;
  logic                 issue, first_valid, take_work, take_other, work_has, other_has, allocate_done, full;
  logic [CurveW-1:0]    issue_curve;
  logic [FactorW-1:0]   issue_reciprocal;
  logic [StepW-1:0]     work_step, other_step;
  logic [NormW-1:0]     first_perf, work_perf, other_perf, full_perf;

  assign flush        = start_i || abort_i;
  assign take         = sample_valid_i && state_q == Profile && !flush;
  assign divide_ready = divide_valid && !divide_busy;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) write_valid_q <= 1'b0;
    else         write_valid_q <= take;
  always_ff @(posedge clk_i)   // of the sample that was taken: no reset
    if (sample_valid_i) begin
      write_kernel_q <= sample_kernel_i[KIndexW-1:0];
      write_ctas_q   <= sample_ctas_i[CountW-1:0];
      write_final_q  <= sample_final_i;
    end

  reciprocal_divider #(
    .MAX_KERNELS (MAX_KERNELS),
    .MantissaW   (MantissaW),
    .RecipW      (FactorW)
  ) i_reciprocal_divider (
    .clk_i,
    .rst_ni,
    .flush_i       (flush),
    .start_i       (divide_ready),
    .kernel_i      (divide_kernel),
    .divisor_i     (divisor),
    .busy_o        (divide_busy),
    .done_o        (divide_done),
    .done_kernel_o (done_kernel),
    .reciprocal_o  (reciprocals)
  );

  perf_table #(
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_perf_table (
    .clk_i,
    .rst_ni,
    .start_i            (flush),
    .insts_valid_i      (sample_valid_i),
    .insts_i            (sample_insts_i),
    .write_valid_i      (write_valid_q),
    .write_kernel_i     (KernelW'(write_kernel_q)),
    .write_ctas_i       (CtaW'(write_ctas_q)),
    .write_final_i      (write_final_q),
    .scaled_o,
    .divide_valid_o     (divide_valid),
    .divide_kernel_o    (divide_kernel),
    .divisor_o          (divisor),
    .divide_ready_i     (divide_ready),
    .divide_done_i      (divide_done),
    .done_kernel_i      (done_kernel),
    .read_valid_o       (read_valid),
    .read_kernel_o      (read_kernel),
    .read_first_o       (read_first),
    .read_ctas_o        (read_ctas),
    .read_entry_o       (read_entry),
    .read_best_o        (read_best),
    .hull_valid_i       (hull_valid),
    .hull_kernel_i      (hull_kernel),
    .hull_last_i        (hull_last),
    .hull_push_i        (hull_push),
    .hull_alike_i       (hull_alike),
    .hull_curve_i       (hull_curve),
    .known_o            (known),
    .pop_i              (list_pop),
    .has_o              (list_has),
    .last_o             (list_last),
    .step_o             (list_step),
    .curve_o            (list_curve)
  );

  star_hull #(
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_star_hull (
    .clk_i,
    .rst_ni,
    .start_i         (flush),
    .valid_i         (read_valid),
    .kernel_i        (read_kernel),
    .first_i         (read_first),
    .ctas_i          (read_ctas),
    .entry_i         (read_entry),
    .best_exponent_i (read_best),
    .multiply_o      (hull_multiply),
    .curve_o         (hull_operand),
    .factor_o        (hull_factor),
    .product_i       (product_q),
    .valid_o         (hull_valid),
    .kernel_o        (hull_kernel),
    .last_o          (hull_last),
    .push_o          (hull_push),
    .alike_o         (hull_alike),
    .curve_hull_o    (hull_curve)
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
    .hold_i          (hull_multiply),
    .has_i           (list_has),
    .last_i          (list_last),
    .step_i          (list_step),
    .curve_i         (list_curve),
    .reciprocal_i    (reciprocals),
    .pop_o           (list_pop),
    .issue_o         (issue),
    .curve_o         (issue_curve),
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

  // The multiplier of the hull and of the steps: operands, rows, sum, a cycle each.
  logic [CurveW-1:0]    left_q;
  logic [FactorW-1:0]   right_q;
  logic [ProductW-1:0]  rows_sum, rows_carry, rows_sum_q, rows_carry_q;
  logic                 multiply_q, add_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      multiply_q <= 1'b0;
      add_q      <= 1'b0;
    end else begin
      multiply_q <= issue || hull_multiply;
      add_q      <= multiply_q;
    end
  always_ff @(posedge clk_i) begin
    if (issue || hull_multiply) begin
      left_q  <= hull_multiply ? hull_operand : issue_curve;
      right_q <= hull_multiply ? hull_factor : issue_reciprocal;
    end
    if (multiply_q) begin
      rows_sum_q   <= rows_sum;
      rows_carry_q <= rows_carry;
    end
    if (add_q) product_q <= rows_sum_q + rows_carry_q;
  end
  product_rows #(
    .LeftW  (CurveW),
    .RightW (FactorW)
  ) i_product_rows (
    .left_i  (left_q),
    .right_i (right_q),
    .sum_o   (rows_sum),
    .carry_o (rows_carry)
  );

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

  logic unused_bits;   // callers keep indices below MAX_KERNELS, counts at most MAX_CTAS
  assign unused_bits = ^{sample_kernel_i, sample_ctas_i};

  assign scaled_valid_o  = write_valid_q;
  assign scaled_kernel_o = KernelW'(write_kernel_q);
  assign scaled_ctas_o   = CtaW'(write_ctas_q);
  assign idle_o          = state_q == Idle && !write_valid_q && !divide_valid && !read_valid && !divide_busy;
  assign done_o          = allocate_done;
endmodule
