// SPDX-License-Identifier: Apache-2.0
// Properties of loss_guard. Full width, any K up to 8; assumed: a performance of at most 1, number and limit that stay, a reset in the first cycle.
module loss_guard_props (
  input logic                           clk_i,
  input logic                           rst_ni,
  input logic                           start_i,
  input logic                           valid_i,
  input logic [sluice_pkg::PerfW-1:0]   perf_i,
  input logic [sluice_pkg::KernelW-1:0] num_kernels_i,
  input logic [sluice_pkg::LossW-1:0]   loss_limit_i
);
  localparam int unsigned K = 8;
  logic spatial;
  loss_guard #(.MAX_KERNELS(K)) dut (.clk_i, .rst_ni, .start_i, .valid_i, .perf_i, .num_kernels_i, .loss_limit_i, .spatial_o (spatial));

  // What num kernels that lose like this one lose together; any of them may lose the limit's num-th part.
  logic [31:0] lost;
  assign lost = (32'(sluice_pkg::PerfOne) - 32'(perf_i)) * 32'(num_kernels_i);

  // Specification: has a kernel that came at least two cycles ago, after the last start, lost more than the limit?
  logic over_q, over_1_q, over_2_q, steady_q, started;   // steady: the same number and limit as in the cycle before
  logic [sluice_pkg::KernelW+sluice_pkg::LossW-1:0] beside_q;
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started  <= 1'b1;
    beside_q <= {num_kernels_i, loss_limit_i};
  end
  assign steady_q = beside_q == {num_kernels_i, loss_limit_i};
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)      {over_q, over_2_q, over_1_q} <= '0;
    else if (start_i) {over_q, over_2_q, over_1_q} <= '0;
    else              {over_q, over_2_q, over_1_q} <= {over_q || over_2_q, over_1_q, valid_i && lost > 32'(loss_limit_i)};

  (* hierconn *) wire [1:0]  \dut.valid_q ;
  (* hierconn *) wire        \dut.spatial_q ;
  (* hierconn *) wire [19:0] \dut.perfs_q ;
  (* hierconn *) wire [5:0]  \dut.kept_q ;
  logic exact_q;   // the last kernel's loss was the limit
  always_ff @(posedge clk_i) exact_q <= valid_i && !start_i && rst_ni && lost == 32'(loss_limit_i);
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (perf_i <= sluice_pkg::PerfOne && num_kernels_i <= sluice_pkg::KernelW'(K));
    if (started) assume (steady_q);
    if (started && rst_ni) begin
      verdict_is_some_kernel_loses_more: assert (spatial == (over_q || over_2_q));
      verdicts_follow: assert ((over_1_q == (\dut.valid_q [0] && 32'(\dut.perfs_q ) + 32'(loss_limit_i) < 32'(num_kernels_i) << sluice_pkg::PerfFracW))
        && (over_2_q == (\dut.valid_q [1] && \dut.kept_q < 6'(num_kernels_i))) && over_q == \dut.spatial_q );
      if (exact_q) loss_of_the_limit_is_accepted: assert (!over_1_q && 32'(\dut.perfs_q ) + 32'(loss_limit_i) == 32'(num_kernels_i) << sluice_pkg::PerfFracW);
    end
    if (started && !rst_ni) reset_clears_verdict: assert (!spatial);
  end
endmodule
