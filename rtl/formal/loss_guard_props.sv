// Properties of loss_guard. Full width, any K up to 8; assumed: a performance of at most 1, a reset in the first cycle.
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

  // Specification: has a kernel since the last start lost more than the limit that stood beside it?
  logic over_q, started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) over_q <= 1'b0;
    else         over_q <= (over_q && !start_i) || (valid_i && lost > 32'(loss_limit_i));

  always_comb begin
    if (!started) assume (!rst_ni);
    assume (perf_i <= sluice_pkg::PerfOne && num_kernels_i <= sluice_pkg::KernelW'(K));
    if (started && rst_ni) begin
      verdict_is_some_kernel_loses_more: assert (spatial == ((over_q && !start_i) || (valid_i && lost > 32'(loss_limit_i))));
      loss_of_the_limit_is_accepted: assert (!(start_i && valid_i && lost == 32'(loss_limit_i) && spatial));
    end
    if (started && !rst_ni && !valid_i) reset_clears_verdict: assert (!spatial);
  end
endmodule
