// Properties of ipc_scaler at full width, up to 4 CTAs: the factor is as near to window * (1 + phi * (ratio - 1)), in exact arithmetic, as docs/blocks/ipc_scaler.md derives; the
// instructions are the top bits of any count. Operands of the factor are any of some values spread over their range: two windows, stall in 1/8 of the window, up to 2
// SMs and any sum of their CTAs that keeps the ratio below 2.
module ipc_scaler_props (
  input logic clk_i,
  input logic rst_ni
);
  localparam int unsigned W      = 40;   // bits of the exact arithmetic
  localparam int unsigned MantissaW = sluice_pkg::MantissaW;
  localparam int unsigned FactorW = sluice_pkg::FactorW;
  localparam int unsigned ProductW = sluice_pkg::ProductW;
  localparam int unsigned RatioW = FactorW + 1;   // for up to 8 CTAs

  (* anyconst *) logic        window_pick;
  (* anyconst *) logic [3:0]  stall_pick;
  (* anyconst *) logic [3:0]  ctas;
  (* anyconst *) logic [2:0]  samples;
  (* anyconst *) logic [5:0]  sum;
  (* anyconst *) logic [17:0] insts;
  (* anyconst *) logic [RatioW-1:0] ratio;
  logic [15:0] window, stall;
  logic [2:0]  shift;
  always_comb begin
    {window, shift} = window_pick ? {16'd9999, 3'd2} : {16'd5120, 3'd3};
    stall = 16'((20'(window) * stall_pick) >> 3);
    assume (stall_pick <= 4'd8 && ctas >= 4'd1 && ctas <= 4'd4 && samples >= 3'd1 && samples <= 3'd2 && sum <= 6'd8);
    assume (sum >= 6'(samples) && 7'(ctas) * 7'(samples) < 7'(sum) * 7'd2);
    assume (insts < 20'(window) * 20'd4);
    // What ratio_divider gives, by its own proof.
    assume (24'(ratio) * sum <= 24'(samples) << RatioW && (24'(ratio) + 24'd1) * sum >= 24'(samples) << RatioW);
    assume (sum == 6'(samples) || (24'(ratio) + 24'd1) * sum > 24'(samples) << RatioW);
  end

  // One sample that begins a window; it stays until it is taken.
  logic        valid_q, ready, started, factor_valid, entry_valid, product_valid, out_valid, out_final, busy;
  logic [3:0]  kernel, exponent;
  logic [5:0]  out_ctas;
  logic [MantissaW-1:0] left, entry_insts;
  logic [FactorW-1:0] right, addend, factor;
  logic [ProductW-1:0] product_q;
  logic [4:0]  age_q;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb assume (rst_ni == started);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      age_q   <= '0;
      valid_q <= 1'b0;
    end else begin
      age_q   <= age_q + 5'd1;
      valid_q <= age_q == '0 || (valid_q && !ready);
    end
  end
  ipc_scaler #(.MAX_KERNELS (2), .MAX_CTAS (8), .RatioW (RatioW)) dut (
    .clk_i, .rst_ni, .flush_i (age_q == '0), .forget_i (1'b0), .window_i (window), .sample_offer_i (valid_q), .sample_valid_i (valid_q),
    .sample_ready_o (ready), .sample_kernel_i (4'd1), .sample_ctas_i (6'(ctas)), .sample_insts_i (insts), .sample_stall_i (stall), .sample_final_i (1'b1),
    .ratio_i (ratio), .busy_o (busy), .factor_valid_o (factor_valid), .factor_left_o (left), .factor_right_o (right), .factor_addend_o (addend),
    .entry_valid_o (entry_valid), .entry_insts_o (entry_insts), .product_valid_o (product_valid), .product_exponent_o (exponent),
    .scaled_valid_o (out_valid), .scaled_kernel_o (kernel), .scaled_ctas_o (out_ctas), .scaled_final_o (out_final));
  // The multiplier outside.
  always_ff @(posedge clk_i)
    if (factor_valid) product_q <= ProductW'(left) * ProductW'(right) + {addend, (ProductW - FactorW)'(0)};
  assign factor = product_q[ProductW-1 -: FactorW];

  // Times sum * 2**16: window + stall * (ctas * samples / sum - 1), shifted; and the factor, of FactorW - 1 fraction bits.
  logic signed [W-1:0] exact, result, unit;
  assign exact  = $signed((W'(window) << shift) * W'(sum)) + $signed(W'(stall) << shift) * ($signed(W'(ctas) * W'(samples)) - $signed(W'(sum)));
  assign result = $signed(W'(factor) * W'(sum)) <<< (17 - FactorW);
  assign unit   = $signed(W'(sum)) <<< (17 - FactorW);

  // The count's top bits, by a shift that is looked for.
  logic [3:0]  zeros;
  logic [17:0] up;
  always_comb begin
    zeros = 4'd15;
    for (int i = 0; i < 16; i++) if ((insts >> (17 - i)) == 18'd1) zeros = 4'(i);
    up = insts << zeros;
  end

  always_comb
    if (started) begin
      if (entry_valid) factor_is_within_the_derived_bound: assert (exact - result < unit * 7 && exact - result > -(unit * 2));
      if (entry_valid) instructions_are_the_top_bits: assert (entry_insts == up[17 -: MantissaW]);
      if (product_valid) exponent_says_where_they_are: assert (exponent == 4'(5'd15 - 5'(zeros) + 5'(shift)));
      if (out_valid) result_is_of_the_sample: assert (kernel == 4'd1 && out_ctas == 6'(ctas) && out_final);
      taken_when_the_sum_has_its_terms: assert (factor_valid == (age_q == 5'(ctas) + 5'd1));
      entry_and_write_follow: assert (entry_valid == (age_q == 5'(ctas) + 5'd2) && product_valid == (age_q == 5'(ctas) + 5'd5)
                                      && out_valid == (age_q == 5'(ctas) + 5'd6));
      busy_from_the_sample_to_its_write: assert (busy == (age_q > 5'(ctas) && age_q <= 5'(ctas) + 5'd6));
      if (age_q > 5'd1 && !factor_valid) nothing_is_offered_but_the_factor: assert (left == '0 && right == '0 && addend == '0);
    end
endmodule
