// SPDX-License-Identifier: Apache-2.0
// Properties of star_hull with 2 kernels of at most MAX_CTAS CTAs and the real widths, written from what a star hull is, not from the walk.
// Assumed of the table, as the block's page says: a kernel's counts come one after the other down to 1, in any cycles; the highest has the best entry, and no
// entry is more than the one before; of the multiplier, that it multiplies by 2**s / n.
module star_hull_props #(
  parameter int unsigned MAX_CTAS = 4
) (
  input logic                             clk_i,
  input logic                             rst_ni,
  input logic                             start_i,
  input logic                             valid_i,
  input logic                             kernel_i,
  input logic                             first_i,
  input logic [$clog2(MAX_CTAS+1)-1:0]    ctas_i,
  input logic [sluice_pkg::ScaledW-1:0]   entry_i,
  input logic [sluice_pkg::ExponentW-1:0] best_exponent_i,
  input logic [sluice_pkg::ProductW-1:0]  noise_i
);
  localparam int unsigned N         = MAX_CTAS;
  localparam int unsigned CountW    = $clog2(N + 1);
  localparam int unsigned StepW     = $clog2(N);
  localparam int unsigned ScaledW   = sluice_pkg::ScaledW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned FractionW = ScaledW - ExponentW;
  localparam int unsigned CurveW    = sluice_pkg::CurveW;
  localparam int unsigned FactorW   = sluice_pkg::FactorW;
  localparam int unsigned ProductW  = sluice_pkg::ProductW;
  localparam int unsigned LATENCY   = 6;
  localparam int unsigned WideW     = CurveW + 20;

  logic                multiply, valid, last, push;
  logic [CurveW-1:0]   operand, hull;
  logic [FactorW-1:0]  factor;
  logic [1:0]          kernel;
  logic [StepW-1:0]    alike;
  logic [ProductW-1:0] product_q [4];
  star_hull #(.MAX_KERNELS (2), .MAX_CTAS (N)) dut (
    .clk_i, .rst_ni, .start_i, .valid_i, .kernel_i (kernel_i ? 2'b10 : 2'b01), .first_i, .ctas_i, .entry_i, .best_exponent_i,
    .multiply_o (multiply), .curve_o (operand), .factor_o (factor), .product_i (product_q[3]), .valid_o (valid), .kernel_o (kernel),
    .last_o (last), .push_o (push), .alike_o (alike), .curve_hull_o (hull));

  // The entry relative to the kernel's best, and its way beside the block.
  logic [LATENCY:0]   way_valid_q, way_first_q, way_kernel_q;
  logic [CountW-1:0]  way_ctas_q [LATENCY+1];
  logic [CurveW-1:0]  way_sample_q [LATENCY+1];
  logic [CurveW-1:0]  sample;
  assign sample = (entry_i == '0) ? '0 : CurveW'({1'b1, entry_i[FractionW-1:0], (CurveW - FractionW - 1)'(0)} >> (best_exponent_i - entry_i[ScaledW-1:FractionW]));
  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) way_valid_q <= '0;
    else         way_valid_q <= start_i ? '0 : {way_valid_q[LATENCY-1:1], valid_i, 1'b0};
  always_ff @(posedge clk_i)
    for (int s = 1; s <= LATENCY; s++) begin
      way_first_q[s]  <= (s == 1) ? first_i : way_first_q[s-1];
      way_kernel_q[s] <= (s == 1) ? kernel_i : way_kernel_q[s-1];
      way_ctas_q[s]   <= (s == 1) ? ctas_i : way_ctas_q[s-1];
      way_sample_q[s] <= (s == 1) ? sample : way_sample_q[s-1];
    end

  // The multiplier: by the number that operand_is_the_reciprocal finds in its operand.
  function automatic int unsigned reciprocal(input int unsigned n);
    int unsigned power;
    power = 1 << (FactorW - 1);
    for (int unsigned i = 1; i < n; i = 2 * i) power = 2 * power;
    reciprocal = power / n;
  endfunction
  logic [ProductW-1:0] product;
  logic                factor_good;
  always_comb begin
    product     = noise_i;
    factor_good = 1'b0;
    for (int unsigned n = 1; n <= N; n++)
      if (way_ctas_q[1] == CountW'(n)) begin
        if (multiply) product = ProductW'(operand) * ProductW'(reciprocal(n));
        factor_good = factor == FactorW'(reciprocal(n));
      end
  end
  always_ff @(posedge clk_i) begin
    product_q[1] <= product;
    product_q[2] <= product_q[1];
    product_q[3] <= product_q[2];
  end

  // What the table has still to send.
  logic [CountW-1:0]  left_q;
  logic               kernel_q;
  logic [ScaledW-1:0] entry_q;
  logic [ExponentW-1:0] best_exponent_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)      left_q <= '0;
    else if (start_i) left_q <= '0;
    else if (valid_i) left_q <= ctas_i - 1'b1;
  always_ff @(posedge clk_i)
    if (valid_i) begin
      kernel_q        <= kernel_i;
      entry_q         <= entry_i;
      best_exponent_q <= best_exponent_i;
    end

  // What has come of the kernel whose entry comes back, by its count; the value before, and how many counts have had it.
  logic [CurveW-1:0] sample_q [N+1], best, before_q;
  logic [CountW-1:0] most_q, most, run_q;
  assign most = way_first_q[LATENCY] ? way_ctas_q[LATENCY] : most_q;
  assign best = way_first_q[LATENCY] ? way_sample_q[LATENCY] : sample_q[most_q];
  always_ff @(posedge clk_i)
    if (way_valid_q[LATENCY]) begin
      sample_q[way_ctas_q[LATENCY]] <= way_sample_q[LATENCY];
      most_q   <= most;
      before_q <= hull;
      run_q    <= (way_first_q[LATENCY] || hull != before_q) ? CountW'(1) : run_q + 1'b1;
    end

  // At `ctas` CTAs: is the value not below the line of any sample with as many or more, but for its last bit? Is it below one by less than
  // 2**-13 of the best?
  logic not_below, not_above;
  logic [WideW-1:0] above [N+1][N+1];   // [m][n]: m * (value - line of sample m), and m * 2**CurveW that it does not get negative
  always_comb begin
    not_below = 1'b1;
    not_above = 1'b0;
    for (int unsigned m = 1; m <= N; m++)
      for (int unsigned n = 1; n <= m; n++) begin
        above[m][n] = WideW'(hull) * WideW'(m) + (WideW'(m) << CurveW) - WideW'(n == m ? way_sample_q[LATENCY] : sample_q[m]) * WideW'(n);
        if (way_ctas_q[LATENCY] == CountW'(n) && CountW'(m) <= most) begin
          if (above[m][n] + WideW'(m) <= (WideW'(m) << CurveW)) not_below = 1'b0;
          if (((above[m][n] - (WideW'(m) << CurveW)) << 13) < WideW'(m) * WideW'(best) || above[m][n] <= (WideW'(m) << CurveW)) not_above = 1'b1;
        end
      end
  end

  always_comb begin
    if (!started) assume (!rst_ni);
    if (valid_i) begin
      assume (ctas_i != '0 && ctas_i <= CountW'(N) && first_i == (left_q == '0));
      assume ((entry_i[ScaledW-1:FractionW] == '0) == (entry_i == '0));
      if (first_i) assume (entry_i[ScaledW-1:FractionW] == best_exponent_i);
      else         assume (ctas_i == left_q && kernel_i == kernel_q && best_exponent_i == best_exponent_q && entry_i <= entry_q);
    end
`ifdef VALUES
    if (started && rst_ni) begin
      if (multiply) operand_is_the_reciprocal: assert (factor_good && operand == way_sample_q[1]);
      if (valid) begin
        never_below_its_sample: assert (hull >= way_sample_q[LATENCY]);
        best_is_kept: assert (!way_first_q[LATENCY] || hull == way_sample_q[LATENCY]);
        does_not_fall_with_more: assert (way_first_q[LATENCY] || hull <= before_q);
        not_below_any_line: assert (not_below);
        not_above_all_lines: assert (not_above);
        steps_are_changes: assert (push == (way_first_q[LATENCY] || hull != before_q) && alike == StepW'(push ? CountW'(1) : run_q + 1'b1));
      end
    end
`else
    if (started && rst_ni) comes_after_six_cycles: assert (valid == way_valid_q[LATENCY] && multiply == way_valid_q[1] && (!valid
      || (kernel == (way_kernel_q[LATENCY] ? 2'b10 : 2'b01) && last == (way_ctas_q[LATENCY] == CountW'(1)))));
    if (started && !rst_ni) nothing_after_reset: assert (!valid && !multiply);
`endif
  end
endmodule
