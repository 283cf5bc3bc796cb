// ipc_scaler: offsets bandwidth contention in the profile window (Warped-Slicer, equations 3 and 4):
//   insts * (1 + stall / window * (ctas / CTA_avg - 1)), as the operands of insts * factor, factor in units of the window.
// The window is shifted up by 0..5 until its top bit is set, and all are cut to the bits that matter; dividing by the window is left out: it
// is the same for all samples of a decision. ctas / CTA_avg is the sum of as many 1 / CTA_avg: samples that follow each other add one each;
// one that begins at a higher count waits until the sum is made, a cycle a CTA. The products are made and kept outside: the factor is offered in the
// cycle after a sample was taken (factor_*_o) and wanted in the next, in which the other operand of the entry that the table will hold is offered
// (entry_*_o); two cycles later that product is there and its exponent wanted (product_*_o), in the next cycle the table writes it (scaled_*_o).
module ipc_scaler #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32,
  parameter int unsigned RatioW      = 15    // fraction bits of 1 / CTA_avg: FactorW and more
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             flush_i,           // drops what is under way
  input  logic                             forget_i,          // a kernel's 1 / CTA_avg changes
  input  logic [sluice_pkg::WindowW-1:0]   window_i,          // length of the profile window, cycles, >= 1,024; there two cycles before a sample is offered
  input  logic                             sample_offer_i,    // a sample stands here,
  input  logic                             sample_valid_i,    // and may be taken: told later
  output logic                             sample_ready_o,    // depends on the sample
  input  logic [sluice_pkg::KernelW-1:0]   sample_kernel_i,
  input  logic [sluice_pkg::CtaW-1:0]      sample_ctas_i,     // CTAs that SM ran, >= 1, below 2 * CTA_avg
  input  logic [sluice_pkg::InstW-1:0]     sample_insts_i,    // warp instructions it issued, below 4 * window
  input  logic [sluice_pkg::WindowW-1:0]   sample_stall_i,    // cycles it stalled on long memory latency, at most the window
  input  logic                             sample_final_i,    // last sample of its kernel; passed on
  input  logic [RatioW-1:0]                ratio_i,           // 1 / CTA_avg of sample_kernel_i
  output logic                             busy_o,            // a sample is on its way
  output logic                             factor_valid_o,    // factor = left * right, with addend above its fraction bits: one integer bit
  output logic [sluice_pkg::MantissaW-1:0] factor_left_o,     // lowest bit 0; these three are 0 where no factor is offered
  output logic [sluice_pkg::FactorW-1:0]   factor_right_o,
  output logic [sluice_pkg::FactorW-1:0]   factor_addend_o,
  output logic                             entry_valid_o,     // entry = insts * factor, which is there now
  output logic [sluice_pkg::MantissaW-1:0] entry_insts_o,     // top bit set, unless there were almost none
  output logic                             product_valid_o,   // that product is there,
  output logic [sluice_pkg::ExponentW-1:0] product_exponent_o, // of this exponent if its top bit is set
  output logic                             scaled_valid_o,    // it is written
  output logic [sluice_pkg::KernelW-1:0]   scaled_kernel_o,
  output logic [sluice_pkg::CtaW-1:0]      scaled_ctas_o,
  output logic                             scaled_final_o
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

  // Window and stall, shifted: fractions of 2**WindowW. The window is there long before its samples: where its top bit is, is known.
  logic [2:0]           shift_d, shift;
  logic [MantissaW-1:0] window, stall;
  always_comb begin
    shift_d = 3'd5;
    for (int unsigned b = WindowW - 5; b < WindowW; b++)
      if (window_i[b]) shift_d = 3'(WindowW - 1 - b);
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
  logic [MantissaW-1:0] stall_q;
  logic [FactorW-1:0]   factor_share_q, addend_q;

  // What goes with a sample, by the cycles since it was taken.
  localparam int unsigned Stages = 6;
  localparam int unsigned EntryAt = 2, ProductAt = 5;
  localparam int unsigned MetaW   = KIndexW + CountW + 1;
  logic [Stages:1]      valid_d, valid_q;
  logic [(Stages+1)*MetaW-1:MetaW]              meta_q;
  logic [(ProductAt+1)*ExponentW-1:ExponentW]   exponent_q;
  logic [(EntryAt+1)*MantissaW-1:MantissaW]     insts_q;
  assign valid_d = flush_i ? '0 : {valid_q[Stages-1:1], take};
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) valid_q <= '0;
    else         valid_q <= valid_d;

  // What is used only after it was loaded: no reset.
  always_ff @(posedge clk_i) begin
    shift <= shift_d;
    if (sample_valid_i || forget_i || flush_i) count_q <= (forget_i || flush_i) ? '1 : count_d;
    if (sample_valid_i) begin
      share_q  <= share_d;
      kernel_q <= kernel;
    end
    if (sample_offer_i || factor_valid_o) begin   // zero when not offered
      stall_q        <= stall & {MantissaW{take}};
      factor_share_q <= share_d[RatioW -: FactorW] & {FactorW{take}};
      addend_q       <= (FactorW'(window) - FactorW'(stall)) & {FactorW{take}};
    end
    if (sample_offer_i) begin                     // valid_q tells whether it was taken
      insts_q[MantissaW +: MantissaW]    <= insts[InstW-1 -: MantissaW];
      exponent_q[ExponentW +: ExponentW] <= '1 - zeros + ExponentW'(shift);
      meta_q[MetaW +: MetaW]             <= {kernel, ctas, sample_final_i};
    end
    for (int unsigned s = 1; s < Stages; s++) begin
      if (valid_q[s]) begin
        meta_q[(s+1)*MetaW +: MetaW] <= meta_q[s*MetaW +: MetaW];
        if (s < ProductAt) exponent_q[(s+1)*ExponentW +: ExponentW] <= exponent_q[s*ExponentW +: ExponentW];
        if (s < EntryAt) insts_q[(s+1)*MantissaW +: MantissaW] <= insts_q[s*MantissaW +: MantissaW];
      end
    end
  end
  assign busy_o             = valid_q != '0;
  assign factor_valid_o     = valid_q[1];
  assign factor_left_o      = stall_q;
  assign factor_right_o     = factor_share_q;
  assign factor_addend_o    = addend_q;
  assign entry_valid_o      = valid_q[EntryAt];
  assign entry_insts_o      = insts_q[EntryAt*MantissaW +: MantissaW];
  assign product_valid_o    = valid_q[ProductAt];
  assign product_exponent_o = exponent_q[ProductAt*ExponentW +: ExponentW];

  logic [KIndexW-1:0] scaled_kernel;
  logic [CountW-1:0]  scaled_ctas;
  assign {scaled_kernel, scaled_ctas, scaled_final_o} = meta_q[Stages*MetaW +: MetaW];
  assign scaled_valid_o  = valid_q[Stages];
  assign scaled_kernel_o = sluice_pkg::KernelW'(scaled_kernel);
  assign scaled_ctas_o   = sluice_pkg::CtaW'(scaled_ctas);

  logic unused_bits;   // callers keep indices below MAX_KERNELS, counts at most MAX_CTAS
  assign unused_bits = ^{sample_kernel_i, sample_ctas_i, share_d, insts};
endmodule
