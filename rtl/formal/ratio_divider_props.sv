// Properties of ratio_divider with operands of 5 bits and 6 quotient bits. Assumed of the user: a start only while not busy, 0 < dividend <= divisor.
module ratio_divider_props (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       flush_i,
  input logic       start_i,
  input logic       kernel_i,
  input logic [4:0] dividend_i,
  input logic [4:0] divisor_i
);
  localparam int unsigned RatioW = 6;
  (* anyconst *) logic watch;   // a kernel
  logic              busy, done;
  logic [RatioW-1:0] ratio, again;
  ratio_divider #(.MAX_KERNELS (2), .DivisorW (5), .RatioW (RatioW)) dut (
    .clk_i, .rst_ni, .flush_i, .start_i, .kernel_i ({3'd0, kernel_i}), .dividend_i, .divisor_i, .busy_o (busy), .done_o (done),
    .read_kernel_i ({3'd0, watch, 3'd0, watch}), .ratio_o ({again, ratio}));

  logic [4:0] dividend_q, divisor_q;       // of the division under way
  logic [4:0] dividend_last_q, divisor_last_q;   // of the watched kernel's ratio
  logic       kernel_q, known_q, started;
  logic [3:0] age_q;                       // cycles since the start; 0: none under way
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    if (start_i) {kernel_q, dividend_q, divisor_q} <= {kernel_i, dividend_i, divisor_i};
    if (done && kernel_q == watch) {dividend_last_q, divisor_last_q} <= {dividend_q, divisor_q};
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
  assign exact = 12'(dividend_last_q) << RatioW;
  assign below = 12'(ratio) * 12'(divisor_last_q);
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (!start_i || (!busy && dividend_i <= divisor_i && dividend_i != '0));
    if (started && rst_ni) begin
      if (known_q && dividend_last_q != divisor_last_q) ratio_is_exact: assert (below <= exact && exact - below < 12'(divisor_last_q));
      if (known_q && dividend_last_q == divisor_last_q) one_is_all_ones: assert (ratio == '1);
      both_ports_read_the_same: assert (again == ratio);
      busy_from_start_to_done: assert (busy == (age_q != 4'd0));
      done_after_ratio_bits_and_one: assert (done == (32'(age_q) == RatioW + 1));
    end
    if (started && !rst_ni) not_busy_in_reset: assert (!busy);
  end
endmodule
