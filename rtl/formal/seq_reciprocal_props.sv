// Properties of seq_reciprocal with 6-bit divisors, from remainder 1 (as in ipc_scaler), for starts at any time.
module seq_reciprocal_props (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       start_i,
  input logic [5:0] divisor_i
);
  localparam int unsigned QuotientW = 8;
  localparam int unsigned Bits      = 2;
  logic                 valid;
  logic [QuotientW-1:0] quotient;
  seq_reciprocal #(.DivisorW (6), .QuotientW (QuotientW), .SeedLog2 (0), .BitsPerCycle (Bits)) dut (
    .clk_i, .rst_ni, .start_i, .divisor_i, .valid_o (valid), .quotient_o (quotient)
  );

  logic [5:0] taken_q;   // the divisor taken last
  logic [3:0] age_q;     // cycles since; 15: long ago or never
  logic       started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    if (start_i) taken_q <= divisor_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)      age_q <= 4'd15;
    else if (start_i) age_q <= 4'd1;
    else if (age_q != 4'd15) age_q <= age_q + 4'd1;

  logic [13:0] below, above;
  assign below = quotient * taken_q;
  assign above = (quotient + 14'd1) * taken_q;
  always_comb begin
    if (!started) assume (!rst_ni);
    if (started && rst_ni) begin
      if (valid && taken_q > 6'd1) quotient_is_exact: assert (below <= 14'd256 && above > 14'd256);
      if (valid && taken_q <= 6'd1) small_divisor_saturates: assert (quotient == '1);
      if (age_q < 4'd15) valid_after_quotient_bits_and_one: assert (valid == (32'(age_q) > QuotientW / Bits));
    end
    if (started && !rst_ni) not_valid_in_reset: assert (!valid);
  end
endmodule
