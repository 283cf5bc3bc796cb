// Properties of loss_guard. Any inputs at all: no assumption but the reset in the first cycle.
module loss_guard_props (
  input logic                         clk_i,
  input logic                         rst_ni,
  input logic                         start_i,
  input logic                         valid_i,
  input logic [sluice_pkg::PerfW-1:0] perf_i,
  input logic [sluice_pkg::PerfW-1:0] floor_i
);
  logic spatial;
  loss_guard dut (.clk_i, .rst_ni, .start_i, .valid_i, .perf_i, .floor_i, .spatial_o (spatial));

  // Specification: has a kernel since the last start been below the floor that stood beside it?
  logic below_q, started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) below_q <= 1'b0;
    else         below_q <= (below_q && !start_i) || (valid_i && perf_i < floor_i);

  always_comb begin
    if (!started) assume (!rst_ni);
    if (started && rst_ni) begin
      verdict_is_some_kernel_below_floor: assert (spatial == ((below_q && !start_i) || (valid_i && perf_i < floor_i)));
      equal_to_floor_is_accepted: assert (!(start_i && valid_i && perf_i == floor_i && spatial));
    end
    if (started && !rst_ni && !valid_i) reset_clears_verdict: assert (!spatial);
  end
endmodule
