// SPDX-License-Identifier: Apache-2.0
// Properties of rr_arbiter with five requesters in two sets, of which one is used in a cycle: one grant to a requester
// of each set, and nobody who asks in both waits for more grants than there are others.
module rr_arbiter_props #(
  parameter int unsigned N = 5
) (
  input logic         clk_i,
  input logic         rst_ni,
  input logic [N-1:0] request_i,    // in both sets
  input logic [N-1:0] other_i,      // in the second one alone
  input logic         second_i,     // whose grant is used
  input logic         advance_i
);
  logic [2*N-1:0] grants;
  logic [N-1:0]   grant;
  rr_arbiter #(.N(N), .SETS(2)) dut (
    .clk_i,
    .rst_ni,
    .request_i ({request_i | other_i, request_i}),
    .grant_o   (grants),
    .used_i    (advance_i ? grant : '0)
  );
  assign grant = second_i ? grants[2*N-1:N] : grants[N-1:0];
  (* hierconn *) logic [N-1:0] \dut.first_q ;

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;

  // Grants used by others since requester 0..N-1 began to wait. It waits at most until the position has come round.
  logic [N*3-1:0] waited;
  logic           ok_wait, ok_round, ok_thermometer;
  logic [2:0]     behind;   // positions from the next one up to a requester
  logic [2:0]     next;
  for (genvar i = 0; i < N; i++) begin : gen_wait
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni)                                  waited[i*3 +: 3] <= '0;
      else if (!request_i[i])                       waited[i*3 +: 3] <= '0;
      else if (advance_i && grant[i])               waited[i*3 +: 3] <= '0;
      else if (advance_i && waited[i*3 +: 3] != '1) waited[i*3 +: 3] <= waited[i*3 +: 3] + 1'b1;
  end
  always_comb begin
    ok_wait        = 1'b1;
    ok_round       = 1'b1;
    ok_thermometer = 1'b1;
    behind         = '0;
    next           = '0;
    for (int unsigned i = 0; i < N; i++) if (!\dut.first_q [i]) next = 3'(i + 1);
    if (next == 3'(N)) next = '0;
    for (int unsigned i = 1; i < N; i++) if (\dut.first_q [i-1] && !\dut.first_q [i]) ok_thermometer = 1'b0;
    for (int unsigned i = 0; i < N; i++) begin
      behind = (3'(i) >= next) ? 3'(i) - next : 3'(i + N) - next;
      if ({1'b0, waited[i*3 +: 3]} + {1'b0, behind} > 4'(N - 1)) ok_round = 1'b0;
      if (waited[i*3 +: 3] > 3'(N - 1)) ok_wait = 1'b0;
    end
    if (!started) assume (!rst_ni);
    if (started && rst_ni) begin
      grants_one_requester:            assert ((request_i == '0) == (grants[N-1:0] == '0)
          && (grants[N-1:0] & ~request_i) == '0
              && (grants[N-1:0] & (grants[N-1:0] - 1'b1)) == '0);
      grants_one_of_the_second_set:    assert (((request_i | other_i) == '0) == (grants[2*N-1:N] == '0)
          && (grants[2*N-1:N] & ~(request_i | other_i)) == '0
              && (grants[2*N-1:N] & (grants[2*N-1:N] - 1'b1)) == '0);
      nobody_waits_for_two_rounds:     assert (ok_wait);
      waiting_brings_the_turn_closer:  assert (ok_round);
      position_is_a_thermometer:       assert (ok_thermometer);
    end
  end
endmodule
