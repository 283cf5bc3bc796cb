// SPDX-License-Identifier: Apache-2.0
// Properties of reciprocal_divider with divisors of 5 bits and reciprocals of 6. Assumed of the user: a start only while not busy, of a divisor
// whose top bit is set.
module reciprocal_divider_props (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       flush_i,
  input logic       start_i,
  input logic       kernel_i,
  input logic [4:0] divisor_i
);
  localparam int unsigned MantissaW = 5, RecipW = 6;
  (* anyconst *) logic watch;   // a kernel
  logic                busy, done;
  logic [3:0]          done_kernel;
  logic [2*RecipW-1:0] reciprocals;
  logic [RecipW-1:0]   reciprocal;
  reciprocal_divider #(.MAX_KERNELS (2), .MantissaW (MantissaW), .RecipW (RecipW)) dut (
    .clk_i, .rst_ni, .flush_i, .start_i, .kernel_i ({3'd0, kernel_i}), .divisor_i, .busy_o (busy), .done_o (done),
    .done_kernel_o (done_kernel), .reciprocal_o (reciprocals));
  assign reciprocal = reciprocals[32'(watch)*RecipW +: RecipW];

  logic [4:0] divisor_q, divisor_last_q;   // of the division under way, of the watched kernel's reciprocal
  logic       kernel_q, known_q, started;
  logic [3:0] age_q;                       // cycles since the start; 0: none under way
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    if (start_i) {kernel_q, divisor_q} <= {kernel_i, divisor_i};
    if (done && kernel_q == watch) divisor_last_q <= divisor_q;
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
  assign exact = 12'd1 << (MantissaW - 1 + RecipW);
  assign below = 12'(reciprocal) * 12'(divisor_last_q);
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (!start_i || (!busy && divisor_i[4]));
    if (started && rst_ni) begin
      if (known_q && divisor_last_q != 5'd16) reciprocal_is_exact: assert (below <= exact && exact - below < 12'(divisor_last_q));
      if (known_q && divisor_last_q == 5'd16) one_is_all_ones: assert (reciprocal == '1);
      busy_from_start_to_done: assert (busy == (age_q != 4'd0));
      done_after_as_many_cycles_as_bits: assert (done == (age_q != 4'd0 && 32'(age_q) == RecipW));
      if (busy) kernel_is_that_of_the_start: assert (done_kernel == {3'd0, kernel_q});
    end
    if (started && !rst_ni) not_busy_in_reset: assert (!busy);
  end
endmodule
