// SPDX-License-Identifier: Apache-2.0
// Properties of kernel_order: who goes before whom, of any three kernels (constant, the third may be one of the two),
// by their priorities of the cycle before, their ages and their picks; and who may wait for wait_guard. Assumed:
// older_i is an order of all kernels.
module kernel_order_props #(
  parameter int unsigned K = 3
) (
  input logic                               clk_i,
  input logic                               rst_ni,
  input logic [K*sluice_pkg::PriorityW-1:0] priority_i,
  input logic [K*K-1:0]                     older_i,
  input logic [K-1:0]                       can_admit_i,
  input logic                               in_order_i,
  input logic                               in_turn_i,
  input logic [K-1:0]                       pick_kernel_i
);
  localparam int unsigned W = sluice_pkg::PriorityW, IndexW = $clog2(K);
  (* anyconst *) logic [IndexW-1:0] a, b, c;

  logic [K*K-1:0] ahead;
  logic [K-1:0]   may_wait;
  kernel_order #(.MAX_KERNELS(K)) dut (
    .*,
    .ahead_o    (ahead),
    .may_wait_o (may_wait)
  );

  function automatic logic matrix(logic [K*K-1:0] bits, logic [IndexW-1:0] row, logic [IndexW-1:0] column);
    matrix = 1'b0;
    for (int unsigned i = 0; i < K; i++)
      for (int unsigned j = 0; j < K; j++)
        if (row == IndexW'(i) && column == IndexW'(j)) matrix = bits[i*K + j];
  endfunction
  function automatic logic [W-1:0] rank(logic [K*W-1:0] all, logic [IndexW-1:0] kernel);
    rank = '0;
    for (int unsigned i = 0; i < K; i++)
      if (kernel == IndexW'(i)) rank = all[i*W +: W];
  endfunction
  function automatic logic one(logic [K-1:0] mask, logic [IndexW-1:0] kernel);
    one = 1'b0;
    for (int unsigned i = 0; i < K; i++)
      if (kernel == IndexW'(i)) one = mask[i];
  endfunction

  // As they were in the cycle before; all alike in reset. Whether a was picked after b: at first the lower one is taken
  // for the one that waits longer.
  logic [K*W-1:0] ranks;
  logic           a_after_b;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      ranks     <= '0;
      a_after_b <= a > b;
    end else begin
      ranks <= priority_i;
      if (one(pick_kernel_i, a))      a_after_b <= 1'b1;
      else if (one(pick_kernel_i, b)) a_after_b <= 1'b0;
    end

  // Kernels with CTAs left that are as high as b and older; and whether one of its priority may wait.
  logic older_alike, one_may_wait;
  always_comb begin
    older_alike  = 1'b0;
    one_may_wait = 1'b0;
    for (int unsigned i = 0; i < K; i++)
      if (can_admit_i[i] && ranks[i*W +: W] == rank(ranks, b)) begin
        if (matrix(older_i, IndexW'(i), b)) older_alike = 1'b1;
        if (may_wait[i])                    one_may_wait = 1'b1;
      end
  end

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb begin
    assume (a < K && b < K && c < K && a != b);
    assume ((pick_kernel_i & (pick_kernel_i - 1'b1)) == '0);
    assume (!(in_turn_i && in_order_i));
    for (int unsigned i = 0; i < K; i++)   // an order
      for (int unsigned j = 0; j < K; j++)
        if (i == j) assume (!older_i[i*K + j]);
        else begin
          assume (older_i[i*K + j] != older_i[j*K + i]);
          for (int unsigned l = 0; l < K; l++)
            assume (!(older_i[i*K + j] && older_i[j*K + l] && l != i) || older_i[i*K + l]);
        end
    if (!started) assume (!rst_ni);
    if (started && rst_ni) begin
      one_of_two_goes_first:       assert (matrix(ahead, a, b) != matrix(ahead, b, a));
      who_goes_first_is_an_order:  assert (!(matrix(ahead, a, b) && matrix(ahead, b, c)) || matrix(ahead, a, c));
      the_higher_goes_first:       assert (!(rank(ranks, a) > rank(ranks, b)) || matrix(ahead, a, b));
      of_two_alike_the_older:      assert (in_turn_i || rank(ranks, a) != rank(ranks, b)
          || matrix(ahead, a, b) == matrix(older_i, a, b));
      in_turn_the_one_before:      assert (!in_turn_i || rank(ranks, a) != rank(ranks, b)
          || matrix(ahead, a, b) != a_after_b);
      the_oldest_alike_may_wait:   assert (one(may_wait, b) == !(in_order_i && older_alike));
      one_of_a_priority_may_wait:  assert (!one(can_admit_i, b) || one_may_wait);
    end
  end
endmodule
