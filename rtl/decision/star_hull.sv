// SPDX-License-Identifier: Apache-2.0
// star_hull: a kernel's curve so that no CTA issues more beside others than beside fewer: F(n) = max(P(n), F(n+1) n / (n+1)), from the highest count
// downwards (docs/reference/blocks/star_hull.md). A line to the origin is followed from its anchor, a sample above the line before; it falls by
// anchor / count at each CTA, the product of the anchor and a constant.
// An entry a cycle, the counts of a kernel one after the other; its value comes out six cycles later. Entries are relative to the kernel's best.
module star_hull #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             start_i,            // new decision: what is under way is dropped
  input  logic                             valid_i,            // an entry of perf_table
  input  logic [MAX_KERNELS-1:0]           kernel_i,           // one-hot
  input  logic                             first_i,            // of the highest count
  input  logic [$clog2(MAX_CTAS+1)-1:0]    ctas_i,
  input  logic [sluice_pkg::ScaledW-1:0]   entry_i,
  input  logic [sluice_pkg::ExponentW-1:0] best_exponent_i,
  output logic                             multiply_o,         // the multiplier takes these operands:
  output logic [sluice_pkg::CurveW-1:0]    curve_o,
  output logic [sluice_pkg::FactorW-1:0]   factor_o,
  input  logic [sluice_pkg::ProductW-1:0]  product_i,          // three cycles later
  output logic                             valid_o,
  output logic [MAX_KERNELS-1:0]           kernel_o,
  output logic                             last_o,             // of one CTA
  output logic                             push_o,             // less than with one CTA more, or of the highest count: a step
  output logic [$clog2(MAX_CTAS)-1:0]      alike_o,            // counts from this one on with its value
  output logic [sluice_pkg::CurveW-1:0]    curve_hull_o
);
  localparam int unsigned CountW    = $clog2(MAX_CTAS + 1);
  localparam int unsigned StepW     = $clog2(MAX_CTAS);
  localparam int unsigned ScaledW   = sluice_pkg::ScaledW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned FractionW = ScaledW - ExponentW;
  localparam int unsigned CurveW    = sluice_pkg::CurveW;
  localparam int unsigned FactorW   = sluice_pkg::FactorW;
  localparam int unsigned ProductW  = sluice_pkg::ProductW;
  localparam int unsigned GuardW    = 4;                 // of the line, below a curve's last bit
  localparam int unsigned LineW     = CurveW + GuardW;
  localparam int unsigned ShiftW    = $clog2(CountW + 1);
  localparam int unsigned LINE      = 5;                 // the stage that compares with it
  localparam int unsigned STAGES    = 6;

  // 2**s / n for n CTAs, FactorW bits with the top one set, and s.
  function automatic int unsigned shift_of(input int unsigned n);
    shift_of = 0;
    while ((1 << shift_of) < n) shift_of = shift_of + 1;
  endfunction
  logic [FactorW-1:0] factor [MAX_CTAS+1];
  logic [ShiftW-1:0]  shift [MAX_CTAS+1];
  assign factor[0] = '0;
  assign shift[0]  = '0;
  for (genvar n = 1; n <= MAX_CTAS; n++) begin : gen_factor
    assign factor[n] = FactorW'((1 << (FactorW - 1 + shift_of(n))) / n);
    assign shift[n]  = ShiftW'(shift_of(n));
  end

  // Read; operand; rows; sum; what a CTA of this entry issues; the line; the step.
  logic [STAGES:1]        valid_q, first_q;
  logic [MAX_KERNELS-1:0] kernel_q [STAGES+1];
  logic [CountW-1:0]      ctas_q [STAGES+1];
  logic [ScaledW-1:0]     entry_q;
  logic [ExponentW-1:0]   below_q;
  logic [CurveW-1:0]      curve_q [STAGES+1];   // from 2
  logic [LineW-1:0]       each_d, each_q, line_q, fall_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) valid_q <= '0;
    else         valid_q <= start_i ? '0 : {valid_q[STAGES-1:1], valid_i};

  assign multiply_o = valid_q[1];
  assign curve_o    = CurveW'({entry_q[ScaledW-1 -: ExponentW] != '0, entry_q[FractionW-1:0], (CurveW - FractionW - 1)'(0)} >> below_q);
  assign factor_o   = factor[ctas_q[1]];
  assign each_d     = LineW'(product_i[ProductW-1:FactorW-1-GuardW] >> shift[ctas_q[4]]);

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      kernel_q[1] <= kernel_i;
      first_q[1]  <= first_i;
      ctas_q[1]   <= ctas_i;
      entry_q     <= entry_i;
      below_q     <= best_exponent_i - entry_i[ScaledW-1 -: ExponentW];
    end
    if (valid_q[4]) each_q <= each_d;
  end

  logic anchor;   // this entry is above the line
  for (genvar s = 1; s < STAGES; s++) begin : gen_stage
    always_ff @(posedge clk_i)
      if (valid_q[s]) begin
        kernel_q[s+1] <= kernel_q[s];
        first_q[s+1]  <= first_q[s];
        ctas_q[s+1]   <= ctas_q[s];
        curve_q[s+1]  <= (s == 1) ? curve_o : (s == LINE && !anchor) ? line_q[LineW-1:GuardW] : curve_q[s];
      end
  end

  // The line at this count, by how much it falls at each.
  assign anchor = first_q[LINE] || curve_q[LINE] > line_q[LineW-1:GuardW];
  always_ff @(posedge clk_i)
    if (valid_q[LINE]) begin
      line_q <= anchor ? {curve_q[LINE], GuardW'(0)} - each_q : line_q - fall_q;
      if (anchor) fall_q <= each_q;
    end

  // The value before, and how many counts had it.
  logic [CurveW-1:0] before_q;
  logic [StepW-1:0]  alike_q;
  always_ff @(posedge clk_i)
    if (valid_q[STAGES]) begin
      before_q <= curve_q[STAGES];
      alike_q  <= alike_o;
    end

  assign valid_o      = valid_q[STAGES];
  assign kernel_o     = kernel_q[STAGES];
  assign last_o       = ctas_q[STAGES] == CountW'(1);
  assign push_o       = first_q[STAGES] || curve_q[STAGES] != before_q;
  assign alike_o      = push_o ? StepW'(1) : alike_q + 1'b1;
  assign curve_hull_o = curve_q[STAGES];

  logic unused_bits;
  assign unused_bits = ^product_i;
endmodule
