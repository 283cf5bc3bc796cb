// rr_arbiter: grants one of N requests, round robin: the first at or after the position behind the last grant that was used.
// Combinational, one-hot; the position moves in a cycle with advance_i and a grant. After reset, request 0 is first.
module rr_arbiter #(
  parameter int unsigned N = 4
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [N-1:0] request_i,
  input  logic         advance_i,   // the grant is used
  output logic [N-1:0] grant_o      // one-hot, or 0 without a request
);
  logic [N-1:0] first_d, first_q;   // thermometer: positions that come before the others
  logic [N-1:0] ahead, ahead_up, request_up;   // *_up: some request at or below this position

  // Prefix OR in log2(N) steps, for the positions ahead and for all.
  always_comb begin
    ahead      = request_i & first_q;
    ahead_up   = ahead;
    request_up = request_i;
    for (int unsigned s = 1; s < N; s *= 2) begin
      ahead_up   = ahead_up | (ahead_up << s);
      request_up = request_up | (request_up << s);
    end
  end

  assign grant_o = ahead_up[N-1] ? ahead_up & ~(ahead_up << 1) : request_up & ~(request_up << 1);

  // Behind the grant: its prefix without itself.
  always_comb begin
    first_d = first_q;
    if (advance_i && request_up[N-1]) first_d = (ahead_up[N-1] ? ahead_up : request_up) << 1;
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) first_q <= '1;
    else         first_q <= first_d;
endmodule
