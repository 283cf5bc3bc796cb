// ipc_scaler: offsets bandwidth contention in the profile window (Warped-Slicer, equations 3 and 4):
//   insts * (1 + stall / window * (ctas / CTA_avg - 1)), as the operands of insts * factor, factor in units of the window.
// The window is shifted up by 0..5 until its top bit is set, and all are cut to the bits that matter; dividing by the window is left out: it
// is the same for all samples of a decision. ctas / CTA_avg is the sum of as many 1 / CTA_avg: samples that follow each other add one each;
// one that begins at a higher count waits until the sum is made, a cycle a CTA. Three cycles follow that in which a sample was taken: the factor
// (factor_*_o), the entry that the table will hold (entry_*_o), and its write (scaled_*_o); the products of the first two are made and kept outside.
module ipc_scaler #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32,
  parameter int unsigned RatioW      = 15,   // fraction bits of 1 / CTA_avg: FactorW and more
  parameter int unsigned SAMPLE_CYCLES = 2   // samples come at most every so many cycles: 1 or 2
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
  output logic                             factor_valid_o,    // factor = left * right, with addend above its fraction bits: one integer bit
  output logic [sluice_pkg::MantissaW-1:0] factor_left_o,
  output logic [sluice_pkg::FactorW-1:0]   factor_right_o,
  output logic [sluice_pkg::FactorW-1:0]   factor_addend_o,
  output logic                             entry_valid_o,     // entry = insts * factor
  output logic [sluice_pkg::MantissaW-1:0] entry_insts_o,     // top bit set, unless there were almost none
  output logic                             scaled_valid_o,
  output logic [sluice_pkg::KernelW-1:0]   scaled_kernel_o,
  output logic [sluice_pkg::CtaW-1:0]      scaled_ctas_o,
  output logic                             scaled_final_o,
  output logic [sluice_pkg::ExponentW-1:0] scaled_exponent_o  // of a product whose top bit is set
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

  // The factor: window - stall + stall * share, not negative, as the stall is at most the window; below 2, as share is.
  logic                 factor_valid_q, final_q;
  logic [KIndexW-1:0]   out_kernel_q;
  logic [CountW-1:0]    out_ctas_q;
  logic [MantissaW-1:0] stall_q, insts_q;
  logic [ExponentW-1:0] exponent_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) factor_valid_q <= 1'b0;
    else         factor_valid_q <= take && !flush_i;

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
      stall_q      <= stall;
      insts_q      <= insts[InstW-1 -: MantissaW];
      exponent_q   <= '1 - zeros + ExponentW'(shift);
    end
  end
  assign factor_valid_o  = factor_valid_q;
  assign factor_left_o   = stall_q;
  assign factor_right_o  = share_q[RatioW -: FactorW];
  assign factor_addend_o = FactorW'(window) - FactorW'(stall_q);

  // The entry: another sample may be taken in this cycle, or was in the one before.
  localparam int unsigned MetaW = KIndexW + CountW + 1 + ExponentW;
  logic                 entry_valid_q;
  logic [MantissaW-1:0] entry_insts;
  logic [MetaW-1:0]     meta, entry_meta;
  assign meta = {out_kernel_q, out_ctas_q, final_q, exponent_q};
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) entry_valid_q <= 1'b0;
    else         entry_valid_q <= factor_valid_q && !flush_i;
  if (SAMPLE_CYCLES == 1) begin : gen_every_cycle
    logic [MantissaW-1:0] entry_insts_q;
    logic [MetaW-1:0]     entry_meta_q;
    always_ff @(posedge clk_i)
      if (factor_valid_q) begin
        entry_insts_q <= insts_q;
        entry_meta_q  <= meta;
      end
    assign entry_insts = entry_insts_q;
    assign entry_meta  = entry_meta_q;
  end else begin : gen_every_other
    assign entry_insts = insts_q;
    assign entry_meta  = meta;
  end
  assign entry_valid_o = entry_valid_q;
  assign entry_insts_o = entry_insts;

  // The write.
  logic                 scaled_valid_q, scaled_final;
  logic [MetaW-1:0]     scaled_meta_q;
  logic [KIndexW-1:0]   scaled_kernel;
  logic [CountW-1:0]    scaled_ctas;
  logic [ExponentW-1:0] scaled_exponent;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) scaled_valid_q <= 1'b0;
    else         scaled_valid_q <= entry_valid_q && !flush_i;
  always_ff @(posedge clk_i)
    if (entry_valid_q) scaled_meta_q <= entry_meta;
  assign {scaled_kernel, scaled_ctas, scaled_final, scaled_exponent} = scaled_meta_q;

  logic unused_bits;   // callers keep indices below MAX_KERNELS, counts at most MAX_CTAS
  assign unused_bits = ^{sample_kernel_i, sample_ctas_i, share_q, insts};

  assign scaled_valid_o    = scaled_valid_q;
  assign scaled_final_o    = scaled_final;
  assign scaled_kernel_o   = sluice_pkg::KernelW'(scaled_kernel);
  assign scaled_ctas_o     = sluice_pkg::CtaW'(scaled_ctas);
  assign scaled_exponent_o = scaled_exponent;
endmodule
