// SPDX-License-Identifier: Apache-2.0
// decision_steps: a decision, one step a cycle (docs/reference/blocks/partition_core.md): takes the samples, then runs
// three sub-programs one after the other, performance_curve for each kernel, waterfill, loss_guard. The registers that
// they count with are here: kernels, levels, cycles of a loop.
module decision_steps #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32
) (
  input  logic                                    clk_i,
  input  logic                                    rst_ni,
  input  logic                                    start_i,
  input  logic                                    abort_i,
  input  logic [sluice_pkg::KernelW-1:0]          num_kernels_i,
  input  logic [MAX_KERNELS-1:0]                  kept_i,         // kernels below num_kernels_i whose curve is there
  input  logic                                    sample_valid_i,
  input  sluice_pkg::sample_t                     sample_i,
  input  logic                                    epsilon_on_i,
  input  logic [sluice_pkg::ExponentW-1:0]        exponent_i,     // of the table's word
  input  logic                                    best_i,         // B is 1.0 or more
  input  logic                                    below_i,        // this subtraction, or one before it, went below 0
  output decision_pkg::control_t                  control_o,
  output logic [$clog2(MAX_KERNELS)-1:0]          kernel_o,       // of table and demand
  output logic [$clog2(MAX_CTAS+1)-1:0]           level_o,        // CTAs
  output logic [$clog2(MAX_CTAS+1)-1:0]           anchor_o,
  output logic                                    entry_o,        // an entry is written
  output logic                                    idle_o,
  output logic                                    done_o,
  output logic                                    no_fit_o,
  output logic                                    spatial_o,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0] ctas_o
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, MAX_CTAS)) $error("decision_steps: size out of range");
  localparam int unsigned KIndexW   = $clog2(MAX_KERNELS);
  localparam int unsigned CountW    = $clog2(MAX_CTAS + 1);
  localparam int unsigned KernelW   = sluice_pkg::KernelW;
  localparam int unsigned CtaW      = sluice_pkg::CtaW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned LeftW     = (CountW > 5) ? CountW : 5;   // PerfW + 1 as well

  decision_pkg::state_e   state_q;
  logic [KIndexW-1:0]     kernel_q, worst_q;
  logic [CountW-1:0]      level_q, anchor_q;
  logic [LeftW-1:0]       left_q;
  logic [1:0]             resource_q;
  logic [ExponentW-1:0]   exponent_q;
  logic                   placed_q, no_fit_q, spatial_q;
  logic [MAX_KERNELS-1:0] full_q;
  logic                   entry_d, entry_q;       // B is an entry of kernel_q and level_q
  logic [CountW-1:0]      ctas_q [MAX_KERNELS];   // levels that were sampled, then the CTAs of the result

  decision_pkg::progress_t now, next, curve, fill, guard;
  decision_pkg::control_t  curve_control, fill_control, guard_control;
  always_comb begin
    now          = '0;
    now.state    = state_q;
    now.kernel   = sluice_pkg::KIndexW'(kernel_q);
    now.level    = CtaW'(level_q);
    now.anchor   = CtaW'(anchor_q);
    now.left     = decision_pkg::LeftW'(left_q);
    now.resource = resource_q;
    now.exponent = exponent_q;
    now.worst    = sluice_pkg::KIndexW'(worst_q);
    now.placed   = placed_q;
    now.full[MAX_KERNELS-1:0] = full_q;
    now.no_fit   = no_fit_q;
    now.spatial  = spatial_q;
  end

  logic            last_kernel, last_left, active;
  logic            multiply_q, divide_q, subtract_q, lose_q, at_anchor_q;   // what state_q does
  logic [CtaW-1:0] ctas;   // of the kernel under work
  assign ctas        = CtaW'(ctas_q[kernel_q]);
  assign last_kernel = KernelW'(kernel_q) + 1'b1 == num_kernels_i;
  assign last_left   = left_q == LeftW'(1);
  assign active      = state_q != decision_pkg::Idle || start_i;

  performance_curve i_performance_curve (
    .now_i      (now),
    .ctas_i     (ctas),
    .kept_i     (kept_i[kernel_q]),
    .exponent_i,
    .last_i     (last_left),
    .below_i,
    .next_o     (curve),
    .control_o  (curve_control)
  );

  logic                           fill_grant;
  logic [sluice_pkg::KIndexW-1:0] fill_granted;
  logic [CtaW-1:0]                fill_ctas;
  waterfill i_waterfill (
    .now_i          (now),
    .ctas_i         (ctas),
    .last_kernel_i  (last_kernel),
    .last_i         (last_left),
    .below_i,
    .best_i,
    .epsilon_on_i,
    .next_o         (fill),
    .grant_o        (fill_grant),
    .granted_o      (fill_granted),
    .granted_ctas_o (fill_ctas),
    .control_o      (fill_control)
  );

  loss_guard i_loss_guard (
    .now_i         (now),
    .ctas_i        (ctas),
    .num_kernels_i,
    .last_kernel_i (last_kernel),
    .last_i        (last_left),
    .below_i,
    .best_i,
    .next_o        (guard),
    .control_o     (guard_control)
  );

  logic               collects, grant;   // ctas_q of granted_kernel <- granted_ctas
  logic [KIndexW-1:0] granted_kernel;
  logic [CountW-1:0]  granted_ctas;
  assign collects       = state_q == decision_pkg::Collect;
  assign grant          = collects ? entry_q : fill_grant;
  assign granted_kernel = collects ? kernel_q : KIndexW'(fill_granted);
  assign granted_ctas   = collects ? level_q : CountW'(fill_ctas);

  always_comb begin
    entry_d = collects && sample_valid_i;
    next    = curve;
    if (state_q >= decision_pkg::NextKernel) next = fill;
    if (state_q >= decision_pkg::JudgeLimit) next = guard;
    if (state_q == decision_pkg::Done)       next.state = decision_pkg::Idle;
    if (collects) begin   // each sample to B, then to the table
      next.left = now.left - decision_pkg::LeftW'(sample_valid_i && sample_i.last);
      if (sample_valid_i) begin
        next.kernel = sluice_pkg::KIndexW'(sample_i.kernel);
        next.level  = sample_i.ctas;
      end else if (left_q == '0) begin
        next.kernel = '0;
        next.state  = decision_pkg::Best;
      end
    end
    if (start_i) begin
      next.left    = decision_pkg::LeftW'(num_kernels_i);   // whose samples come
      for (int unsigned k = 0; k < MAX_KERNELS; k++) next.left = next.left - decision_pkg::LeftW'(kept_i[k]);
      next.no_fit  = 1'b0;
      next.spatial = 1'b0;
      entry_d      = 1'b0;
      next.state   = decision_pkg::Collect;
    end
    if (abort_i) next.state = decision_pkg::Idle;
  end

  always_comb begin
    control_o = curve_control | fill_control | guard_control;
    if (collects) begin
      control_o.source = decision_pkg::FromEntry;
      control_o.load_b = sample_valid_i;
      control_o.write  = entry_q;
    end
    // What the adder waits for is known a cycle before.
    control_o.multiply  = multiply_q;
    control_o.divide    = divide_q;
    control_o.subtract  = subtract_q;
    control_o.lose      = lose_q;
    control_o.at_anchor = at_anchor_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state_q     <= decision_pkg::Idle;
      multiply_q  <= 1'b0;
      divide_q    <= 1'b0;
      subtract_q  <= 1'b0;
      lose_q      <= 1'b0;
      at_anchor_q <= 1'b0;
    end else begin
      state_q     <= next.state;
      multiply_q  <= next.state == decision_pkg::HullMultiply;
      divide_q    <= next.state == decision_pkg::NormDivide || next.state == decision_pkg::HullDivide;
      subtract_q  <= next.state == decision_pkg::RaiseCompare || next.state == decision_pkg::ScanCompare
          || next.state == decision_pkg::FitTake || next.state == decision_pkg::GainTake;
      lose_q      <= next.state == decision_pkg::JudgeTake;
      at_anchor_q <= next.state == decision_pkg::HullLoad;
    end

  // Set before they are looked at: no reset.
  always_ff @(posedge clk_i) begin
    if (active) begin
      kernel_q   <= KIndexW'(next.kernel);
      level_q    <= CountW'(next.level);
      anchor_q   <= CountW'(next.anchor);
      left_q     <= LeftW'(next.left);
      resource_q <= next.resource;
      exponent_q <= next.exponent;
      worst_q    <= KIndexW'(next.worst);
      placed_q   <= next.placed;
      full_q     <= next.full[MAX_KERNELS-1:0];
      entry_q    <= entry_d;
      no_fit_q   <= next.no_fit;
      spatial_q  <= next.spatial;
    end
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (grant && granted_kernel == KIndexW'(k)) ctas_q[k] <= granted_ctas;
  end

  always_comb
    for (int unsigned k = 0; k < MAX_KERNELS; k++) ctas_o[k*CtaW +: CtaW] = CtaW'(ctas_q[k]);
  assign kernel_o     = kernel_q;
  assign level_o      = level_q;
  assign anchor_o     = anchor_q;
  assign entry_o      = collects && entry_q;
  assign idle_o       = state_q == decision_pkg::Idle;
  assign done_o       = state_q == decision_pkg::Done;
  assign no_fit_o     = no_fit_q;
  assign spatial_o    = spatial_q;

  logic unused_bits;   // callers keep indices below MAX_KERNELS, counts at most MAX_CTAS
  assign unused_bits = ^{sample_i, next, fill_granted, fill_ctas};
endmodule
