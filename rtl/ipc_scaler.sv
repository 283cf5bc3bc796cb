// ipc_scaler: offsets bandwidth contention in the profile window (Warped-Slicer, equations 3 and 4):
//   insts * (1 + stall / window * (ctas / CTA_avg - 1)), as the operands of insts * factor, factor in units of the window.
// The window is shifted up by 0..5 until its top bit is set, and all are cut to the bits that matter; dividing by the window is left out: it
// is the same for all samples of a decision. ctas / CTA_avg is the sum of as many 1 / CTA_avg: samples that follow each other add one each;
// one that begins at a higher count waits until the sum is made, a cycle a CTA. Operands come in the cycle after the sample was taken.
module ipc_scaler #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32,
  parameter int unsigned RatioW      = 15    // fraction bits of 1 / CTA_avg: FactorW and more
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             flush_i,           // drops what is under way
  input  logic                             forget_i,          // a kernel's 1 / CTA_avg changes
  input  logic [sluice_pkg::WindowW-1:0]   window_i,          // length of the profile window, cycles, >= 1,024
  input  logic                             sample_valid_i,
  output logic                             sample_ready_o,    // depends on the sample
  input  logic [sluice_pkg::KernelW-1:0]   sample_kernel_i,
  input  logic [sluice_pkg::CtaW-1:0]      sample_ctas_i,     // CTAs that SM ran, >= 1, below 2 * CTA_avg
  input  logic [sluice_pkg::InstW-1:0]     sample_insts_i,    // warp instructions it issued, below 4 * window
  input  logic [sluice_pkg::WindowW-1:0]   sample_stall_i,    // cycles it stalled on long memory latency, at most the window
  input  logic                             sample_final_i,    // last sample of its kernel; passed on
  input  logic [RatioW-1:0]                ratio_i,           // 1 / CTA_avg of sample_kernel_i
  output logic [sluice_pkg::MantissaW-1:0] left_o,            // a multiplier's operands in the cycle of the sample,
  output logic [sluice_pkg::FactorW-1:0]   right_o,
  input  logic [sluice_pkg::ProductW-1:0]  product_i,         // and what it makes of them
  output logic                             scaled_valid_o,
  output logic [sluice_pkg::KernelW-1:0]   scaled_kernel_o,
  output logic [sluice_pkg::CtaW-1:0]      scaled_ctas_o,
  output logic                             scaled_final_o,
  output logic [sluice_pkg::ExponentW-1:0] scaled_exponent_o, // of a product whose top bit is set
  output logic [sluice_pkg::MantissaW-1:0] scaled_insts_o,    // top bit set, unless there were almost none
  output logic [sluice_pkg::FactorW-1:0]   scaled_factor_o    // one integer bit
);
  localparam int unsigned FactorW   = sluice_pkg::FactorW;
  localparam int unsigned InstW     = sluice_pkg::InstW;
  localparam int unsigned WindowW   = sluice_pkg::WindowW;
  localparam int unsigned MantissaW = sluice_pkg::MantissaW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned StallW    = MantissaW - 1;
  localparam int unsigned CountW    = $clog2(MAX_CTAS + 1);
  localparam int unsigned KIndexW   = $clog2(MAX_KERNELS);

  // ctas / CTA_avg: 1 integer and RatioW fraction bits.
  logic [KIndexW-1:0] kernel, kernel_q;
  logic [CountW-1:0]  ctas, count_d, count_q;   // of share_q; all ones: of nothing
  logic [RatioW:0]    share_d, share_q;
  logic               held, take;

  assign kernel         = sample_kernel_i[KIndexW-1:0];
  assign ctas           = sample_ctas_i[CountW-1:0];
  assign held           = kernel == kernel_q && count_q < ctas;
  assign share_d        = (held ? share_q : '0) + (RatioW + 1)'(ratio_i);
  assign count_d        = (held ? count_q : '0) + 1'b1;
  assign sample_ready_o = count_d == ctas;
  assign take           = sample_valid_i && sample_ready_o;

  // Window and stall, shifted: fractions of 2**WindowW.
  logic [2:0]           shift;
  logic [MantissaW-1:0] window, stall;
  always_comb begin
    shift = 3'd5;
    for (int unsigned b = WindowW - 5; b < WindowW; b++)
      if (window_i[b]) shift = 3'(WindowW - 1 - b);
    window = MantissaW'((window_i << shift) >> (WindowW - MantissaW));
    stall  = {StallW'((sample_stall_i << shift) >> (WindowW - StallW)), 1'b0};
  end

  // factor = window - stall + stall * share: not negative, as the stall is at most the window; below 2, as share is.
  logic [FactorW-1:0] factor;
  assign left_o  = stall;
  assign right_o = share_d[RatioW -: FactorW];
  assign factor  = FactorW'(window) - FactorW'(stall) + product_i[sluice_pkg::ProductW-1 -: FactorW];

  // Instructions, shifted up by as many leading zeros as there are, at most 15.
  logic [InstW-1:0]     insts;
  logic [ExponentW-1:0] zeros;
  always_comb begin
    insts = sample_insts_i;
    zeros = '0;
    for (int unsigned s = ExponentW; s > 0; s--) begin
      if ((insts >> (InstW - (1 << (s - 1)))) == '0) begin
        insts      = insts << (1 << (s - 1));
        zeros[s-1] = 1'b1;
      end
    end
  end

  logic                 valid_q;
  logic                 final_q;
  logic [KIndexW-1:0]   out_kernel_q;
  logic [CountW-1:0]    out_ctas_q;
  logic [MantissaW-1:0] insts_q;
  logic [ExponentW-1:0] exponent_q;
  logic [FactorW-1:0]   factor_q;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) valid_q <= 1'b0;
    else         valid_q <= take && !flush_i;

  // What is used only after it was loaded: no reset.
  always_ff @(posedge clk_i) begin
    if (sample_valid_i || forget_i || flush_i) count_q <= (forget_i || flush_i) ? '1 : count_d;
    if (sample_valid_i) begin
      share_q  <= share_d;
      kernel_q <= kernel;
    end
    if (take) begin
      final_q      <= sample_final_i;
      out_kernel_q <= kernel;
      out_ctas_q   <= ctas;
      insts_q      <= insts[InstW-1 -: MantissaW];
      exponent_q   <= '1 - zeros + ExponentW'(shift);
      factor_q     <= factor;
    end
  end

  logic unused_bits;   // callers keep indices below MAX_KERNELS, counts at most MAX_CTAS
  assign unused_bits = ^{sample_kernel_i, sample_ctas_i, share_d, product_i, insts};

  assign scaled_valid_o    = valid_q;
  assign scaled_final_o    = final_q;
  assign scaled_kernel_o   = sluice_pkg::KernelW'(out_kernel_q);
  assign scaled_ctas_o     = sluice_pkg::CtaW'(out_ctas_q);
  assign scaled_exponent_o = exponent_q;
  assign scaled_insts_o    = insts_q;
  assign scaled_factor_o   = factor_q;
endmodule
