// SPDX-License-Identifier: Apache-2.0
// partition_core: profile samples in, CTAs per kernel out (Warped-Slicer), serially: decision_steps tells serial_unit
// and perf_table what to do in each cycle. start_i begins a decision and drops one under way. After the profile window
// the samples follow, one a cycle at most, each kernel's in counts 1..n, at least one a kernel, one kernel after the
// other; of a kernel whose levels take several windows in as many parts. The configuration inputs are stable from
// start_i to done_o. done_o pulses once; results hold until the next start.
module partition_core #(
  parameter int unsigned MAX_KERNELS = 4,   // 2..8
  parameter int unsigned MAX_CTAS    = 32,  // 4..32
  parameter int unsigned CHURN       = 0    // 0: kept_i is 0, and each kernel's row is its own number
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic                                       start_i,
  input  logic                                       abort_i,               // drops the decision under way: no done_o
  input  logic [sluice_pkg::KernelW-1:0]             num_kernels_i,         // 1..MAX_KERNELS
  input  logic [MAX_KERNELS-1:0]                     kept_i,                // kernels whose curve is there already,
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0] rows_i,                // in this row of the table, one a kernel
  input  sluice_pkg::amounts_t                       capacity_i,            // of one SM
  input  logic [sluice_pkg::CtaW-1:0]                capacity_slots_i,
  output logic [sluice_pkg::KernelW-1:0]             demand_kernel_o,       // whose demand is wanted in this cycle:
  input  sluice_pkg::amounts_t                       demand_i,              // of one CTA
  input  logic [sluice_pkg::PerfW-1:0]               epsilon_i,             // saturation threshold; 0: the paper's rule
  input  logic [sluice_pkg::LossW-1:0]               loss_limit_i,          // of 1/K, in units of 2**-PerfFracW
  input  logic                                       sample_valid_i,        // always taken
  input  sluice_pkg::sample_t                        sample_i,
  input  logic [sluice_pkg::InstW-1:0]               sample_insts_i,        // within the SM's ceiling; 0: none, dropped
  output logic                                       scaled_valid_o,        // an entry of the table, for tracing
  output logic [sluice_pkg::KernelW-1:0]             scaled_kernel_o,
  output logic [sluice_pkg::CtaW-1:0]                scaled_ctas_o,
  output logic [sluice_pkg::ScaledW-1:0]             scaled_o,              // {exponent, mantissa}
  output logic                                       idle_o,                // no decision: nothing changes by itself
  output logic                                       done_o,
  output logic                                       no_fit_o, // no partition: one CTA of each does not fit
  output logic                                       spatial_o,             // loss guard: fall back to spatial
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_o
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, MAX_CTAS)) $error("partition_core: size out of range");
  localparam int unsigned KIndexW = $clog2(MAX_KERNELS);
  localparam int unsigned CountW  = $clog2(MAX_CTAS + 1);

  decision_pkg::control_t           control;
  logic [KIndexW-1:0]               kernel, row;
  logic [CountW-1:0]                level, anchor;
  logic [sluice_pkg::ScaledW-1:0]   entry;
  logic [sluice_pkg::WordW-1:0]     word, new_word;
  logic                             best, below;

  if (CHURN != 0) begin : gen_row
    always_comb begin
      row = '0;
      for (int unsigned k = 0; k < MAX_KERNELS; k++)
        if (kernel == KIndexW'(k)) row |= rows_i[k*sluice_pkg::KIndexW +: KIndexW];
    end
  end else begin : gen_own_row
    assign row = kernel;
  end
  logic unused_rows;   // their high bits
  assign unused_rows = ^rows_i;

  // An entry is {exponent, mantissa} of a sample: its top bit, in place p, is left out of the mantissa, the exponent is
  // p - 2; less than 8 is zero. So larger entries are larger numbers. The top bit is brought up.
  logic [sluice_pkg::InstW-1:0]     high;
  logic [sluice_pkg::ExponentW-1:0] zeros;
  always_comb begin
    high  = sample_insts_i;
    zeros = '0;
    for (int unsigned s = sluice_pkg::ExponentW; s > 0; s--)
      if ((high >> (sluice_pkg::InstW - (1 << (s - 1)))) == '0) begin
        high       = high << (1 << (s - 1));
        zeros[s-1] = 1'b1;
      end
    entry = {~zeros, high[sluice_pkg::InstW-2 -: sluice_pkg::MantissaW - 1]};
    if (!high[sluice_pkg::InstW-1] || (&zeros)) entry = '0;
  end
  logic unused_low;
  assign unused_low = ^high;

  perf_table #(
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_perf_table (
    .clk_i,
    .kernel_i (row),
    .ctas_i   (control.at_anchor ? anchor : level),
    .write_i  (control.write),
    .word_i   (new_word),
    .word_o   (word)
  );

  serial_unit #(
    .MAX_CTAS (MAX_CTAS)
  ) i_serial_unit (
    .clk_i,
    .control_i (control),
    .entry_i   (entry),
    .word_i    (word),
    .capacity_i,
    .capacity_slots_i,
    .demand_i,
    .epsilon_i,
    .loss_limit_i,
    .level_i   (level),
    .anchor_i  (anchor),
    .word_o    (new_word),
    .best_o    (best),
    .below_o   (below)
  );

  decision_steps #(
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_decision_steps (
    .clk_i,
    .rst_ni,
    .start_i,
    .abort_i,
    .num_kernels_i,
    .kept_i,
    .sample_valid_i,
    .sample_i,
    .epsilon_on_i (epsilon_i != '0),
    .exponent_i   (word[sluice_pkg::ScaledW-1 -: sluice_pkg::ExponentW]),
    .best_i       (best),
    .below_i      (below),
    .control_o    (control),
    .kernel_o     (kernel),
    .level_o      (level),
    .anchor_o     (anchor),
    .entry_o      (scaled_valid_o),
    .idle_o,
    .done_o,
    .no_fit_o,
    .spatial_o,
    .ctas_o
  );

  assign demand_kernel_o = sluice_pkg::KernelW'(kernel);
  assign scaled_kernel_o = sluice_pkg::KernelW'(kernel);
  assign scaled_ctas_o   = sluice_pkg::CtaW'(level);
  assign scaled_o        = new_word[sluice_pkg::ScaledW-1:0];
endmodule
