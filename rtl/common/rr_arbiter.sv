// SPDX-License-Identifier: Apache-2.0
// rr_arbiter: grants one of N requests, round robin: the first at or after the position behind the last grant that was
// used. After reset, request 0 is first. Combinational, one-hot. Several sets of requests may share the position
// (SETS): each has its grant, and whose is used may be known later than the requests, or be told a cycle later: then
// the position follows a cycle later.
module rr_arbiter #(
  parameter int unsigned N    = 4,
  parameter int unsigned SETS = 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [SETS*N-1:0] request_i,   // bit s*N+i
  output logic [SETS*N-1:0] grant_o,     // one-hot in a set, or 0 without a request there
  input  logic [N-1:0]      used_i       // the grant used in this cycle, one-hot, or 0
);
  if (N < 1 || SETS < 1) $error("rr_arbiter: size out of range");
  localparam int unsigned G      = 4; // requests are searched in groups: two short steps for a long chain
  localparam int unsigned Groups = (N + G - 1) / G;

  logic [N-1:0] first_d, first_q;   // thermometer: positions that come before the others

  // The lowest of a line that holds the requests from the position on, and then all of them.
  for (genvar s = 0; s < SETS; s++) begin : gen_set
    logic [N-1:0]        request;
    logic [2*N-1:0]      line, lowest;
    logic [2*Groups-1:0] some, some_up;   // request in this group; in it or one before
    logic                earlier;         // one before in the own group
    assign request = request_i[s*N +: N];
    always_comb begin
      line = {request, request & first_q};
      some = '0;
      for (int unsigned h = 0; h < 2; h++)
        for (int unsigned i = 0; i < N; i++) some[h*Groups + i/G] = some[h*Groups + i/G] || line[h*N + i];
      some_up = some;
      for (int unsigned d = 1; d < 2 * Groups; d *= 2) some_up = some_up | (some_up << d);
      earlier = 1'b0;
      for (int unsigned h = 0; h < 2; h++)
        for (int unsigned i = 0; i < N; i++) begin
          if (i % G == 0) earlier = 1'b0;
          lowest[h*N + i] = line[h*N + i] && !earlier && (h + i / G == 0 || !some_up[(h + i / G == 0) ? 0
              : h*Groups + i / G - 1]);
          earlier         = earlier || line[h*N + i];
        end
    end
    assign grant_o[s*N +: N] = lowest[0 +: N] | lowest[N +: N];
  end

  // Behind the grant: its prefix without itself.
  logic [N-1:0] used_up;
  always_comb begin
    used_up = used_i;
    for (int unsigned d = 1; d < N; d *= 2) used_up = used_up | (used_up << d);
    first_d = (used_up << 1) | (first_q & {N{!used_up[N-1]}});   // no multiplexer: its enable would come late
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) first_q <= '1;
    else         first_q <= first_d;
endmodule
