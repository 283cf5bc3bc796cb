// ipc_scaler: offsets bandwidth contention in the profile window (Warped-Slicer, equations 3 and 4):
//   scaled = insts * (1 + stall / window * (ctas * num_samples / cta_sum - 1)), in units of 1/2**ScaledFracW instructions.
// The reciprocals are taken ahead of the samples, while the window runs: the window's after start_i, a kernel's cta_sum when it is
// prepared. Then one sample a cycle; results follow three cycles later. Every division is a truncated reciprocal, every product
// truncates; the result saturates.
module ipc_scaler #(
  parameter int unsigned NUM_SM      = 256,  // SMs sampled for a kernel, at most
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32    // CTAs on one of them, at most
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             start_i,           // new decision: takes window_i, drops what is under way
  input  logic                             abort_i,           // drops what is under way
  input  logic [sluice_pkg::WindowW-1:0]   window_i,          // length of the profile window, cycles, >= 1,024
  input  logic                             prepare_valid_i,   // cta_sum of a kernel's next samples
  output logic                             prepare_ready_o,
  input  logic [sluice_pkg::KernelW-1:0]   prepare_kernel_i,
  input  logic [sluice_pkg::CtaSumW-1:0]   prepare_sum_i,     // CTAs over all SMs sampled for this kernel, >= 1
  input  logic                             sample_valid_i,    // only after its kernel was prepared
  output logic                             sample_ready_o,
  input  logic [sluice_pkg::KernelW-1:0]   sample_kernel_i,
  input  logic [sluice_pkg::CtaW-1:0]      sample_ctas_i,     // CTAs that SM ran, >= 1
  input  logic [sluice_pkg::InstW-1:0]     sample_insts_i,    // warp instructions it issued
  input  logic [sluice_pkg::WindowW-1:0]   sample_stall_i,    // cycles it stalled on long memory latency
  input  logic [sluice_pkg::SmCountW-1:0]  num_samples_i,     // SMs sampled for this kernel
  input  logic                             sample_final_i,    // last sample of its kernel; passed on
  output logic                             scaled_valid_o,
  output logic [sluice_pkg::KernelW-1:0]   scaled_kernel_o,
  output logic [sluice_pkg::CtaW-1:0]      scaled_ctas_o,
  output logic [sluice_pkg::ScaledW-1:0]   scaled_o,
  output logic                             scaled_final_o,
  output logic                             idle_o             // nothing is under way
);
  localparam int unsigned RecipW     = 26;  // reciprocals are floor(2**26 / x)
  localparam int unsigned ShiftW     = 3;   // the window is shifted up by at most 5, until its top bit is set
  localparam int unsigned WinRecipW  = 12;  // its reciprocal then: 2**10 .. 2**11
  localparam int unsigned StallW     = 12;  // top bits of a stall count, shifted likewise
  localparam int unsigned SumRecipW  = 20;  // reciprocals of cta_sum that are kept: floor(2**20 / x)
  localparam int unsigned PhiFracW   = 12;
  localparam int unsigned RatioFracW = 12;
  localparam int unsigned RatioW     = 16;  // CTA_i / CTA_avg, at most 8.0: below 2 for counts that follow each other
  localparam int unsigned FactorW    = 16;  // factor, PhiFracW fraction bits
  localparam int unsigned CountW     = $clog2(MAX_CTAS + 1);
  localparam int unsigned SamplesW   = $clog2(NUM_SM + 1);
  localparam int unsigned ShareW     = CountW + SamplesW;
  localparam int unsigned ScaleShift = PhiFracW - sluice_pkg::ScaledFracW;

  typedef enum logic [1:0] {Idle, DivideWindow, Ready, DivideSum} state_e;
  localparam int unsigned KIndexW = $clog2(MAX_KERNELS);

  state_e                         state_d, state_q;
  logic [sluice_pkg::WindowW-1:0] window_d, window_q;
  logic [WinRecipW-1:0]           win_recip_d, win_recip_q;
  logic [ShiftW-1:0]              shift_d, shift_q;
  logic [SumRecipW-1:0]           sum_recip_q [MAX_KERNELS];
  logic [KIndexW-1:0]             prepare_d, prepare_q;   // kernel whose reciprocal is taken

  logic                           divide_start, divide_valid, store_sum, take;
  logic [sluice_pkg::WindowW-1:0] divisor;
  logic [RecipW-1:0]              quotient;
  logic [SumRecipW-1:0]           sum_recip;

  // Leading zeros of a new window; the shift that does away with them.
  always_comb begin
    shift_d = shift_q;
    if (start_i) begin
      shift_d = ShiftW'(5);
      for (int unsigned b = sluice_pkg::WindowW - 5; b < sluice_pkg::WindowW; b++)
        if (window_i[b]) shift_d = ShiftW'(sluice_pkg::WindowW - 1 - b);
    end
  end

  seq_reciprocal #(
    .DivisorW  (sluice_pkg::WindowW),
    .QuotientW (RecipW),
    .SeedLog2  (0)
  ) i_reciprocal (
    .clk_i,
    .rst_ni,
    .start_i    (divide_start),
    .divisor_i  (divisor),
    .valid_o    (divide_valid),
    .quotient_o (quotient)
  );

  logic unused_index_bits;   // callers keep indices below MAX_KERNELS
  assign unused_index_bits = ^{prepare_kernel_i, sample_kernel_i, sample_ctas_i, num_samples_i, stall};

  assign prepare_ready_o = state_q == Ready && !start_i;
  assign sample_ready_o  = state_q == Ready && !start_i;
  assign take            = sample_valid_i && sample_ready_o;
  assign sum_recip       = sum_recip_q[sample_kernel_i[KIndexW-1:0]];

  always_comb begin
    state_d      = state_q;
    window_d     = window_q;
    win_recip_d  = win_recip_q;
    prepare_d    = prepare_q;
    divide_start = 1'b0;
    store_sum    = 1'b0;
    divisor      = window_i;
    unique case (state_q)
      DivideWindow: if (divide_valid) begin
        win_recip_d = (quotient[RecipW-1:WinRecipW] != '0) ? '1 : quotient[WinRecipW-1:0];
        state_d     = Ready;
      end
      Ready: if (prepare_valid_i) begin
        divide_start = 1'b1;
        divisor      = sluice_pkg::WindowW'(prepare_sum_i);
        prepare_d    = prepare_kernel_i[KIndexW-1:0];
        state_d      = DivideSum;
      end
      DivideSum: if (divide_valid) begin
        store_sum = 1'b1;
        state_d   = Ready;
      end
      default: state_d = Idle;
    endcase
    if (start_i) begin
      divide_start = 1'b1;
      divisor      = window_i << shift_d;
      window_d     = window_i;
      state_d      = DivideWindow;
    end
    if (abort_i) begin
      divide_start = 1'b0;
      state_d      = Idle;
    end
  end

  // Stage 1: phi_mem and CTA_i / CTA_avg.
  logic [sluice_pkg::WindowW-1:0]   stall;
  logic [StallW+WinRecipW-1:0]      phi_full;
  logic [ShareW-1:0]                share;
  logic [ShareW+SumRecipW-1:0]      ratio_full;
  logic [ShareW+RatioFracW-1:0]     ratio_wide;
  logic [PhiFracW:0]                phi_d, phi_q;
  logic [RatioW-1:0]                ratio_d, ratio_q;

  always_comb begin
    stall      = ((sample_stall_i > window_q) ? window_q : sample_stall_i) << shift_q;
    phi_full   = stall[sluice_pkg::WindowW-1 -: StallW] * win_recip_q;
    phi_d      = (PhiFracW + 1)'(phi_full >> (RecipW - PhiFracW - (sluice_pkg::WindowW - StallW)));
    share      = CountW'(sample_ctas_i) * SamplesW'(num_samples_i);
    ratio_full = share * sum_recip;
    ratio_wide = (ShareW + RatioFracW)'(ratio_full >> (SumRecipW - RatioFracW));
    ratio_d    = (ratio_wide[ShareW+RatioFracW-1:RatioW-1] != '0) ? {1'b1, {(RatioW - 1){1'b0}}} : ratio_wide[RatioW-1:0];
  end

  // Stage 2: factor = 1 + phi * (ratio - 1). It can't be negative: phi and ratio are at least 0 and phi at most 1.
  logic signed [RatioW:0]                   psi;
  logic signed [RatioW+PhiFracW+2:0]        factor_full;
  logic [FactorW-1:0]                       factor_d, factor_q;

  always_comb begin
    psi         = $signed({1'b0, ratio_q}) - $signed((RatioW + 1)'(1 << RatioFracW));
    factor_full = $signed((RatioW + PhiFracW + 3)'(1 << (PhiFracW + RatioFracW)))
                + $signed({2'b00, phi_q}) * (RatioW + PhiFracW + 3)'(psi);
    factor_d    = FactorW'(factor_full >>> RatioFracW);
  end

  // Stage 3: scaled instructions.
  logic [sluice_pkg::InstW+FactorW-1:0]              product;
  logic [sluice_pkg::InstW+FactorW-ScaleShift-1:0]   scaled_wide;
  logic [sluice_pkg::ScaledW-1:0]                    scaled_d, scaled_q;
  logic [sluice_pkg::InstW-1:0]                      insts1_q, insts2_q;

  always_comb begin
    product     = insts2_q * factor_q;
    scaled_wide = (sluice_pkg::InstW + FactorW - ScaleShift)'(product >> ScaleShift);
    scaled_d    = (scaled_wide[sluice_pkg::InstW+FactorW-ScaleShift-1:sluice_pkg::ScaledW] != '0)
                ? '1 : scaled_wide[sluice_pkg::ScaledW-1:0];
  end

  // What travels with a sample; a start empties the pipeline.
  logic [2:0]                      valid_q;
  logic [2:0]                      final_q;
  logic [3*sluice_pkg::KernelW-1:0] kernel_q;
  logic [3*sluice_pkg::CtaW-1:0]    ctas_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      window_q    <= '0;
      shift_q     <= '0;
      win_recip_q <= '0;
      prepare_q   <= '0;
      phi_q       <= '0;
      ratio_q     <= '0;
      factor_q    <= '0;
      scaled_q    <= '0;
      insts1_q    <= '0;
      insts2_q    <= '0;
      valid_q     <= '0;
      final_q     <= '0;
      kernel_q    <= '0;
      ctas_q      <= '0;
    end else begin
      state_q     <= state_d;
      window_q    <= window_d;
      shift_q     <= shift_d;
      win_recip_q <= win_recip_d;
      prepare_q   <= prepare_d;
      phi_q       <= phi_d;
      ratio_q     <= ratio_d;
      factor_q    <= factor_d;
      scaled_q    <= scaled_d;
      insts1_q    <= sample_insts_i;
      insts2_q    <= insts1_q;
      valid_q     <= (start_i || abort_i) ? '0 : {valid_q[1:0], take};
      final_q     <= {final_q[1:0], sample_final_i};
      kernel_q    <= {kernel_q[2*sluice_pkg::KernelW-1:0], sample_kernel_i};
      ctas_q      <= {ctas_q[2*sluice_pkg::CtaW-1:0], sample_ctas_i};
    end
  end

  // Prepared before they are used: no reset.
  always_ff @(posedge clk_i)
    if (store_sum) sum_recip_q[prepare_q] <= quotient[RecipW-1 -: SumRecipW];

  assign idle_o          = (state_q == Idle || state_q == Ready) && valid_q == '0;
  assign scaled_valid_o  = valid_q[2];
  assign scaled_final_o   = final_q[2];
  assign scaled_kernel_o = kernel_q[3*sluice_pkg::KernelW-1:2*sluice_pkg::KernelW];
  assign scaled_ctas_o   = ctas_q[3*sluice_pkg::CtaW-1:2*sluice_pkg::CtaW];
  assign scaled_o        = scaled_q;
endmodule
