// SPDX-License-Identifier: Apache-2.0
// decision_steps: the order of the steps of a decision, one a cycle (docs/reference/blocks/partition_core.md), and what
// they count with: kernels, levels, cycles of a loop. What a step computes is in decision_program.
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
  localparam int unsigned KIndexW   = $clog2(MAX_KERNELS);
  localparam int unsigned CountW    = $clog2(MAX_CTAS + 1);
  localparam int unsigned KernelW   = sluice_pkg::KernelW;
  localparam int unsigned CtaW      = sluice_pkg::CtaW;
  localparam int unsigned PerfW     = sluice_pkg::PerfW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned LeftW     = (CountW > 5) ? CountW : 5;   // PerfW + 1 as well

  decision_pkg::state_e   state_d, state_q;
  logic [KIndexW-1:0]     kernel_d, kernel_q;     // under work
  logic [CountW-1:0]      level_d, level_q;       // CTAs of it
  logic [CountW-1:0]      anchor_d, anchor_q;     // from whose performance the hull's line comes
  logic [LeftW-1:0]       left_d, left_q;         // cycles of a loop; finals that are still to come
  logic [1:0]             resource_d, resource_q;
  logic [ExponentW-1:0]   exponent_d, exponent_q; // of the kernel's best
  logic [KIndexW-1:0]     worst_d, worst_q;       // the worst-off kernel: it tries a step to level_q CTAs
  logic                   placed_d, placed_q;     // every kernel has its first CTA
  logic [MAX_KERNELS-1:0] full_d, full_q;
  logic                   entry_d, entry_q;       // B is an entry of kernel_q and level_q
  logic                   no_fit_d, no_fit_q, spatial_d, spatial_q;
  logic [CountW-1:0]      ctas_q [MAX_KERNELS];   // levels that were sampled, then the CTAs of the result
  logic                   grant;                  // ctas_q of granted_kernel <- granted_ctas
  logic [KIndexW-1:0]     granted_kernel;
  logic [CountW-1:0]      granted_ctas, ctas;

  logic                   last_kernel, last_left, last_level, trying, active;
  logic                   multiply_q, divide_q, subtract_q, lose_q, at_anchor_q;   // what state_q does
  logic [ExponentW-1:0]   places;                 // quotient bits of an entry that may not be zero
  assign ctas        = ctas_q[kernel_q];
  assign last_kernel = KernelW'(kernel_q) + 1'b1 == num_kernels_i;
  assign last_left   = left_q == LeftW'(1);
  assign last_level  = level_q == CountW'(1);
  assign trying      = placed_q && kernel_q == worst_q;
  assign active      = state_q != decision_pkg::Idle || start_i;
  assign places      = ExponentW'(PerfW) - (exponent_q - exponent_i);

  decision_program i_decision_program (
    .state_i    (state_q),
    .resource_i (resource_q),
    .sample_valid_i,
    .entry_i    (entry_q),
    .last_i     (last_left),
    .below_i,
    .multiply_i (multiply_q),
    .divide_i   (divide_q),
    .subtract_i (subtract_q),
    .lose_i     (lose_q),
    .anchor_i   (at_anchor_q),
    .control_o
  );

  always_comb begin
    state_d        = state_q;
    kernel_d       = kernel_q;
    level_d        = level_q;
    anchor_d       = anchor_q;
    left_d         = left_q - LeftW'(control_o.loop);
    resource_d     = resource_q;
    exponent_d     = exponent_q;
    worst_d        = worst_q;
    placed_d       = placed_q;
    full_d         = full_q;
    entry_d        = 1'b0;
    no_fit_d       = no_fit_q;
    spatial_d      = spatial_q;
    grant          = 1'b0;
    granted_kernel = kernel_q;
    granted_ctas   = level_q;

    unique case (state_q)
      decision_pkg::Collect: begin   // each sample to B, then to the table
        grant   = entry_q;
        entry_d = sample_valid_i;
        left_d  = left_q - LeftW'(sample_valid_i && sample_i.last);
        if (sample_valid_i) begin
          kernel_d = sample_i.kernel[KIndexW-1:0];
          level_d  = sample_i.ctas[CountW-1:0];
        end else if (left_q == '0) begin
          kernel_d = '0;
          state_d  = decision_pkg::Best;
        end
      end

      // Upwards: an entry becomes the best that is not above its level.
      decision_pkg::Best: begin
        level_d = CountW'(1);
        state_d = kept_i[kernel_q] ? decision_pkg::NextKernel : decision_pkg::RaiseRead;
      end
      decision_pkg::RaiseRead:    state_d = decision_pkg::RaiseCompare;
      decision_pkg::RaiseCompare: state_d = decision_pkg::RaiseKeep;
      decision_pkg::RaiseKeep: begin
        state_d = (level_q == ctas) ? decision_pkg::NormBest : decision_pkg::RaiseRead;
        if (level_q != ctas) level_d = level_q + 1'b1;
      end

      // Downwards: it becomes a performance, the quotient of the entry and the best.
      decision_pkg::NormBest: begin exponent_d = exponent_i; state_d = decision_pkg::NormRead; end
      decision_pkg::NormRead: begin
        left_d  = LeftW'(places) | LeftW'(places == '0);   // a zero needs no bit, and may have one
        state_d = decision_pkg::NormDivide;
      end
      decision_pkg::NormDivide: if (last_left) state_d = decision_pkg::NormStore;
      decision_pkg::NormStore: begin
        level_d = level_q - 1'b1;
        state_d = decision_pkg::NormRead;
        if (last_level) begin
          level_d  = ctas - 1'b1;
          anchor_d = ctas;
          state_d  = (ctas == CountW'(1)) ? decision_pkg::NextKernel : decision_pkg::HullLoad;
        end
      end

      // Downwards: it becomes that of the star hull, at least the anchor's x level / anchor.
      decision_pkg::HullLoad: begin left_d = LeftW'(PerfW); state_d = decision_pkg::HullMultiply; end
      decision_pkg::HullMultiply: if (last_left) begin
        left_d  = LeftW'(PerfW + 1);
        state_d = decision_pkg::HullDivide;
      end
      decision_pkg::HullDivide: if (last_left) state_d = decision_pkg::HullLine;
      decision_pkg::HullLine:    state_d = decision_pkg::HullRead;
      decision_pkg::HullRead:    state_d = decision_pkg::HullCompare;
      decision_pkg::HullCompare: state_d = decision_pkg::HullKeep;
      decision_pkg::HullKeep: begin
        if (!below_i) anchor_d = level_q;
        level_d = level_q - 1'b1;
        state_d = last_level ? decision_pkg::NextKernel : decision_pkg::HullLoad;
      end
      decision_pkg::NextKernel: begin
        grant        = 1'b1;
        granted_ctas = CountW'(1);
        full_d       = '0;
        placed_d     = 1'b0;
        resource_d   = decision_pkg::Slots;
        kernel_d     = kernel_q + 1'b1;
        state_d      = last_kernel ? decision_pkg::FitSm : decision_pkg::Best;
      end

      // Do all CTAs fit on the SM, with those that the worst-off kernel's step adds?
      decision_pkg::FitSm: begin kernel_d = '0; state_d = decision_pkg::FitKernel; end
      decision_pkg::FitKernel: begin
        left_d  = trying ? LeftW'(level_q) : LeftW'(ctas);
        state_d = below_i ? decision_pkg::FitEnd : decision_pkg::FitTake;
      end
      decision_pkg::FitTake: if (last_left) begin
        kernel_d = kernel_q + 1'b1;
        state_d  = decision_pkg::FitKernel;
        if (last_kernel) begin
          resource_d = resource_q + 1'b1;
          state_d    = (resource_q == decision_pkg::Shared) ? decision_pkg::FitEnd : decision_pkg::FitSm;
        end
      end
      decision_pkg::FitEnd: begin
        placed_d       = 1'b1;
        no_fit_d       = below_i && !placed_q;
        grant          = !below_i && placed_q;
        granted_kernel = worst_q;
        if (below_i && placed_q) full_d[worst_q] = 1'b1;
        kernel_d       = '0;
        state_d        = no_fit_d ? decision_pkg::Done : decision_pkg::ScanPick;
      end

      // Which kernel that is not full has the least performance below 1.0?
      decision_pkg::ScanPick: begin
        level_d = ctas;
        state_d = decision_pkg::ScanRead;
        if (full_q[kernel_q]) begin
          kernel_d = kernel_q + 1'b1;
          state_d  = last_kernel ? decision_pkg::ScanEnd : decision_pkg::ScanPick;
        end
      end
      decision_pkg::ScanRead:    state_d = decision_pkg::ScanCompare;
      decision_pkg::ScanCompare: state_d = decision_pkg::ScanKeep;
      decision_pkg::ScanKeep: begin
        if (below_i) worst_d = kernel_q;
        kernel_d = kernel_q + 1'b1;
        state_d  = last_kernel ? decision_pkg::ScanEnd : decision_pkg::ScanPick;
      end
      decision_pkg::ScanEnd: begin
        kernel_d = best_i ? '0 : worst_q;
        state_d  = best_i ? decision_pkg::JudgeLimit : decision_pkg::StepFirst;
      end

      // Its next step: the least CTAs with a greater performance. Does it gain enough?
      decision_pkg::StepFirst: begin
        level_d = ctas + 1'b1;
        left_d  = LeftW'(1);
        state_d = decision_pkg::StepRead;
      end
      decision_pkg::StepRead:    state_d = decision_pkg::StepCompare;
      decision_pkg::StepCompare: state_d = decision_pkg::StepCheck;
      decision_pkg::StepCheck: begin
        resource_d = decision_pkg::Slots;
        state_d    = epsilon_on_i ? decision_pkg::GainLoad : decision_pkg::FitSm;
        if (below_i) begin
          level_d = level_q + 1'b1;
          left_d  = left_q + 1'b1;
          state_d = decision_pkg::StepRead;
        end
      end
      decision_pkg::GainLoad: state_d = decision_pkg::GainTake;
      decision_pkg::GainTake: if (last_left) state_d = decision_pkg::GainCheck;
      decision_pkg::GainCheck: state_d = below_i ? decision_pkg::FitEnd : decision_pkg::FitSm;

      // May each kernel lose what it loses?
      decision_pkg::JudgeLimit: begin level_d = ctas; state_d = decision_pkg::JudgeRead; end
      decision_pkg::JudgeRead: begin left_d = LeftW'(num_kernels_i); state_d = decision_pkg::JudgeTake; end
      decision_pkg::JudgeTake: if (last_left) state_d = decision_pkg::JudgeCheck;
      decision_pkg::JudgeCheck: begin
        spatial_d = spatial_q || (below_i && !best_i);
        kernel_d  = kernel_q + 1'b1;
        state_d   = last_kernel ? decision_pkg::Done : decision_pkg::JudgeLimit;
      end
      default: state_d = decision_pkg::Idle;
    endcase

    if (start_i) begin
      left_d    = LeftW'(num_kernels_i);   // whose samples come
      for (int unsigned k = 0; k < MAX_KERNELS; k++) left_d = left_d - LeftW'(kept_i[k]);
      no_fit_d  = 1'b0;
      spatial_d = 1'b0;
      entry_d   = 1'b0;
      state_d   = decision_pkg::Collect;
    end
    if (abort_i) state_d = decision_pkg::Idle;
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
      state_q     <= state_d;
      multiply_q  <= state_d == decision_pkg::HullMultiply;
      divide_q    <= state_d == decision_pkg::NormDivide || state_d == decision_pkg::HullDivide;
      subtract_q  <= state_d == decision_pkg::RaiseCompare || state_d == decision_pkg::ScanCompare
          || state_d == decision_pkg::FitTake || state_d == decision_pkg::GainTake;
      lose_q      <= state_d == decision_pkg::JudgeTake;
      at_anchor_q <= state_d == decision_pkg::HullLoad;
    end

  // Set before they are looked at: no reset.
  always_ff @(posedge clk_i) begin
    if (active) begin
      kernel_q   <= kernel_d;
      level_q    <= level_d;
      anchor_q   <= anchor_d;
      left_q     <= left_d;
      resource_q <= resource_d;
      exponent_q <= exponent_d;
      worst_q    <= worst_d;
      placed_q   <= placed_d;
      full_q     <= full_d;
      entry_q    <= entry_d;
      no_fit_q   <= no_fit_d;
      spatial_q  <= spatial_d;
    end
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (grant && granted_kernel == KIndexW'(k)) ctas_q[k] <= granted_ctas;
  end

  always_comb
    for (int unsigned k = 0; k < MAX_KERNELS; k++) ctas_o[k*CtaW +: CtaW] = CtaW'(ctas_q[k]);
  assign kernel_o     = kernel_q;
  assign level_o      = level_q;
  assign anchor_o     = anchor_q;
  assign entry_o      = state_q == decision_pkg::Collect && entry_q;
  assign idle_o       = state_q == decision_pkg::Idle;
  assign done_o       = state_q == decision_pkg::Done;
  assign no_fit_o     = no_fit_q;
  assign spatial_o    = spatial_q;

  logic unused_bits;   // callers keep indices below MAX_KERNELS, counts at most MAX_CTAS
  assign unused_bits = ^sample_i;
endmodule
