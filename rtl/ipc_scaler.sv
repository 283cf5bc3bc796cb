// ipc_scaler: offsets bandwidth contention in the profile window (Warped-Slicer, equations 3 and 4):
//   scaled = insts * (1 + stall / window * (ctas * num_samples / cta_sum - 1)), in units of 1/2**ScaledFracW instructions.
// One sample a cycle while sample_ready_o; a new cta_sum costs one reciprocal (28 cycles). Results follow three cycles later.
// Every division is a truncated reciprocal, every product truncates; the result saturates.
module ipc_scaler (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             start_i,           // new decision: takes window_i, drops what is under way
  input  logic [sluice_pkg::WindowW-1:0]   window_i,          // length of the profile window, cycles, >= 1,024
  input  logic                             sample_valid_i,
  output logic                             sample_ready_o,
  input  logic [sluice_pkg::KernelW-1:0]   sample_kernel_i,   // passed on
  input  logic [sluice_pkg::CtaW-1:0]      sample_ctas_i,     // CTAs that SM ran, >= 1
  input  logic [sluice_pkg::InstW-1:0]     sample_insts_i,    // warp instructions it issued
  input  logic [sluice_pkg::WindowW-1:0]   sample_stall_i,    // cycles it stalled on long memory latency
  input  logic [sluice_pkg::CtaSumW-1:0]   cta_sum_i,         // CTAs over all SMs sampled for this kernel, >= 1
  input  logic [sluice_pkg::SmCountW-1:0]  num_samples_i,     // those SMs
  input  logic                             sample_last_i,     // passed on
  output logic                             scaled_valid_o,
  output logic [sluice_pkg::KernelW-1:0]   scaled_kernel_o,
  output logic [sluice_pkg::CtaW-1:0]      scaled_ctas_o,
  output logic [sluice_pkg::ScaledW-1:0]   scaled_o,
  output logic                             scaled_last_o
);
  localparam int unsigned RecipW     = 26;  // reciprocals are floor(2**26 / x)
  localparam int unsigned WinRecipW  = 17;  // of the window: at most 2**16 for 1,024 cycles
  localparam int unsigned PhiFracW   = 14;
  localparam int unsigned RatioFracW = 12;
  localparam int unsigned RatioW     = 21;  // CTA_i / CTA_avg, at most 256.0
  localparam int unsigned FactorW    = 23;  // factor, PhiFracW fraction bits
  localparam int unsigned ShareW     = sluice_pkg::CtaW + sluice_pkg::SmCountW;
  localparam int unsigned ScaleShift = PhiFracW - sluice_pkg::ScaledFracW;

  typedef enum logic [1:0] {Idle, DivideWindow, Ready, DivideSum} state_e;

  state_e                         state_d, state_q;
  logic [sluice_pkg::WindowW-1:0] window_d, window_q;
  logic [WinRecipW-1:0]           win_recip_d, win_recip_q;
  logic [RecipW-1:0]              sum_recip_d, sum_recip_q;
  logic [sluice_pkg::CtaSumW-1:0] sum_d, sum_q;            // sum_recip_q belongs to it
  logic                           sum_valid_d, sum_valid_q;

  logic                           divide_start, divide_valid, take;
  logic [sluice_pkg::WindowW-1:0] divisor;
  logic [RecipW-1:0]              quotient;

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

  assign sample_ready_o = state_q == Ready && sum_valid_q && sum_q == cta_sum_i && !start_i;
  assign take           = sample_valid_i && sample_ready_o;

  always_comb begin
    state_d      = state_q;
    window_d     = window_q;
    win_recip_d  = win_recip_q;
    sum_recip_d  = sum_recip_q;
    sum_d        = sum_q;
    sum_valid_d  = sum_valid_q;
    divide_start = 1'b0;
    divisor      = window_i;
    unique case (state_q)
      DivideWindow: if (divide_valid) begin
        win_recip_d = (quotient[RecipW-1:WinRecipW] != '0) ? '1 : quotient[WinRecipW-1:0];
        state_d     = Ready;
      end
      Ready: if (sample_valid_i && !sample_ready_o) begin
        divide_start = 1'b1;
        divisor      = sluice_pkg::WindowW'(cta_sum_i);
        sum_d        = cta_sum_i;
        sum_valid_d  = 1'b0;
        state_d      = DivideSum;
      end
      DivideSum: if (divide_valid) begin
        sum_recip_d = quotient;
        sum_valid_d = 1'b1;
        state_d     = Ready;
      end
      default: state_d = Idle;
    endcase
    if (start_i) begin
      divide_start = 1'b1;
      divisor      = window_i;
      window_d     = window_i;
      sum_valid_d  = 1'b0;
      state_d      = DivideWindow;
    end
  end

  // Stage 1: phi_mem and CTA_i / CTA_avg.
  logic [sluice_pkg::WindowW-1:0]           stall;
  logic [sluice_pkg::WindowW+WinRecipW-1:0] phi_full;
  logic [ShareW-1:0]                        share;
  logic [ShareW+RecipW-1:0]                 ratio_full;
  logic [ShareW+RatioFracW-1:0]             ratio_wide;
  logic [PhiFracW:0]                        phi_d, phi_q;
  logic [RatioW-1:0]                        ratio_d, ratio_q;

  always_comb begin
    stall      = (sample_stall_i > window_q) ? window_q : sample_stall_i;
    phi_full   = stall * win_recip_q;
    phi_d      = (PhiFracW + 1)'(phi_full >> (RecipW - PhiFracW));
    share      = sample_ctas_i * num_samples_i;
    ratio_full = share * sum_recip_q;
    ratio_wide = (ShareW + RatioFracW)'(ratio_full >> (RecipW - RatioFracW));
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
  logic [2:0]                      last_q;
  logic [3*sluice_pkg::KernelW-1:0] kernel_q;
  logic [3*sluice_pkg::CtaW-1:0]    ctas_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      window_q    <= '0;
      win_recip_q <= '0;
      sum_recip_q <= '0;
      sum_q       <= '0;
      sum_valid_q <= 1'b0;
      phi_q       <= '0;
      ratio_q     <= '0;
      factor_q    <= '0;
      scaled_q    <= '0;
      insts1_q    <= '0;
      insts2_q    <= '0;
      valid_q     <= '0;
      last_q      <= '0;
      kernel_q    <= '0;
      ctas_q      <= '0;
    end else begin
      state_q     <= state_d;
      window_q    <= window_d;
      win_recip_q <= win_recip_d;
      sum_recip_q <= sum_recip_d;
      sum_q       <= sum_d;
      sum_valid_q <= sum_valid_d;
      phi_q       <= phi_d;
      ratio_q     <= ratio_d;
      factor_q    <= factor_d;
      scaled_q    <= scaled_d;
      insts1_q    <= sample_insts_i;
      insts2_q    <= insts1_q;
      valid_q     <= start_i ? '0 : {valid_q[1:0], take};
      last_q      <= {last_q[1:0], sample_last_i};
      kernel_q    <= {kernel_q[2*sluice_pkg::KernelW-1:0], sample_kernel_i};
      ctas_q      <= {ctas_q[2*sluice_pkg::CtaW-1:0], sample_ctas_i};
    end
  end

  assign scaled_valid_o  = valid_q[2];
  assign scaled_last_o   = last_q[2];
  assign scaled_kernel_o = kernel_q[3*sluice_pkg::KernelW-1:2*sluice_pkg::KernelW];
  assign scaled_ctas_o   = ctas_q[3*sluice_pkg::CtaW-1:2*sluice_pkg::CtaW];
  assign scaled_o        = scaled_q;
endmodule
