// seq_reciprocal: floor(2**(SeedLog2 + QuotientW) / divisor), BitsPerCycle quotient bits a cycle (restoring division).
// start_i takes the divisor, and restarts a division under way; valid_o rises QuotientW / BitsPerCycle + 1 cycles later and stays
// until the next start. A divisor of at most 2**SeedLog2 saturates to all ones.
module seq_reciprocal #(
  parameter int unsigned DivisorW     = 16,
  parameter int unsigned QuotientW    = 26,
  parameter int unsigned SeedLog2     = 0,   // the division starts from this remainder: quotient bits known to be zero are skipped
  parameter int unsigned BitsPerCycle = 2    // divides QuotientW
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 start_i,
  input  logic [DivisorW-1:0]  divisor_i,
  output logic                 valid_o,     // quotient_o belongs to the last divisor taken
  output logic [QuotientW-1:0] quotient_o
);
  localparam int unsigned Steps  = QuotientW / BitsPerCycle;
  localparam int unsigned CountW = $clog2(Steps + 1);

  logic [DivisorW-1:0]  divisor_d, divisor_q;
  logic [DivisorW-1:0]  remainder_d, remainder_q;
  logic [QuotientW-1:0] quotient_d, quotient_q;
  logic [CountW-1:0]    left_d, left_q;   // cycles still to come
  logic                 valid_d, valid_q;
  logic [DivisorW:0]    twice;            // remainder with the next (zero) dividend bit

  always_comb begin
    divisor_d   = divisor_q;
    remainder_d = remainder_q;
    quotient_d  = quotient_q;
    left_d      = left_q;
    valid_d     = valid_q;
    twice       = '0;
    if (left_q != '0) begin
      left_d  = left_q - 1'b1;
      valid_d = left_q == CountW'(1);
      for (int unsigned b = 0; b < BitsPerCycle; b++) begin
        twice = {remainder_d, 1'b0};
        if (twice >= {1'b0, divisor_q}) begin
          remainder_d = DivisorW'(twice - {1'b0, divisor_q});
          quotient_d  = {quotient_d[QuotientW-2:0], 1'b1};
        end else begin
          remainder_d = DivisorW'(twice);
          quotient_d  = {quotient_d[QuotientW-2:0], 1'b0};
        end
      end
    end
    if (start_i) begin
      divisor_d   = divisor_i;
      remainder_d = DivisorW'(1) << SeedLog2;
      quotient_d  = '0;
      left_d      = CountW'(Steps);
      valid_d     = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      divisor_q   <= '0;
      remainder_q <= '0;
      quotient_q  <= '0;
      left_q      <= '0;
      valid_q     <= 1'b0;
    end else begin
      divisor_q   <= divisor_d;
      remainder_q <= remainder_d;
      quotient_q  <= quotient_d;
      left_q      <= left_d;
      valid_q     <= valid_d;
    end
  end

  assign valid_o    = valid_q;
  assign quotient_o = (divisor_q <= (DivisorW'(1) << SeedLog2)) ? '1 : quotient_q;
endmodule
