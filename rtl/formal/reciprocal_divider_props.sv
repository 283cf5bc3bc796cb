// Properties of ratio_divider with operands of 5 bits, 6 quotient bits, and 5 of a reciprocal. Assumed of the user: a start only while not busy,
// 0 < dividend <= divisor; the divisor of a reciprocal has its top bit set.
module ratio_divider_props (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       flush_i,
  input logic       offer_i,
  input logic       start_i,
  input logic       reciprocal_i,
  input logic       kernel_i,
  input logic [4:0] dividend_i,
  input logic [4:0] divisor_i
);
  localparam int unsigned RatioW = 6, ShortW = 5;
  (* anyconst *) logic watch;   // a kernel
  logic              busy, done;
  logic [2*RatioW-1:0] ratios;
  logic [RatioW-1:0]   ratio;
  ratio_divider #(.MAX_KERNELS (2), .DivisorW (5), .RatioW (RatioW), .MantissaW (5), .ShortW (ShortW)) dut (
    .clk_i, .rst_ni, .flush_i, .offer_i (offer_i || start_i), .start_i, .reciprocal_i, .kernel_i ({3'd0, kernel_i}), .dividend_i, .divisor_i, .busy_o (busy), .done_o (done),
    .ratio_o (ratios));
  assign ratio = ratios[32'(watch)*RatioW +: RatioW];

  logic [4:0] dividend_q, divisor_q;       // of the division under way
  logic [4:0] dividend_last_q, divisor_last_q;   // of the watched kernel's ratio
  logic       kernel_q, known_q, started, short_q, short_last_q;
  logic [3:0] age_q;                       // cycles since the start; 0: none under way
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    if (start_i) {kernel_q, short_q, dividend_q, divisor_q} <= {kernel_i, reciprocal_i, reciprocal_i ? 5'd16 : dividend_i, divisor_i};
    if (done && kernel_q == watch) {short_last_q, dividend_last_q, divisor_last_q} <= {short_q, dividend_q, divisor_q};
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      age_q   <= 4'd0;
      known_q <= 1'b0;
    end else begin
      age_q   <= flush_i ? 4'd0 : start_i ? 4'd1 : (age_q == 4'd0 || done) ? 4'd0 : age_q + 4'd1;
      known_q <= known_q || (done && kernel_q == watch);
    end
  end

  logic [11:0] exact, below;
  logic [RatioW-1:0] kept;   // of the ratio
  assign kept  = short_last_q ? RatioW'(ratio[ShortW-1:0]) : ratio;
  assign exact = 12'(dividend_last_q) << (short_last_q ? ShortW : RatioW);
  assign below = 12'(kept) * 12'(divisor_last_q);
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (!start_i || (!busy && (reciprocal_i ? divisor_i[4] : dividend_i <= divisor_i && dividend_i != '0)));
    if (started && rst_ni) begin
      if (known_q && dividend_last_q != divisor_last_q) ratio_is_exact: assert (below <= exact && exact - below < 12'(divisor_last_q));
      if (known_q && dividend_last_q == divisor_last_q) one_is_all_ones: assert (kept == (short_last_q ? RatioW'(31) : '1));
      busy_from_start_to_done: assert (busy == (age_q != 4'd0));
      done_after_ratio_bits_and_one: assert (done == (age_q != 4'd0 && 32'(age_q) == (short_q ? ShortW : RatioW + 1)));
    end
    if (started && !rst_ni) not_busy_in_reset: assert (!busy);
  end
endmodule
