// loss_guard: accepts an intra-SM partition only if no kernel loses too much (Warped-Slicer, section IV).
// A kernel loses 1 - performance at its quota; floor_i is the smallest performance it may keep, 1 - 1.2 / K in the paper.
// One kernel a cycle; spatial_o is right in the cycle of the last one and holds until the next start.
module loss_guard (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic                         start_i,    // with the first kernel of a decision
  input  logic                         valid_i,    // perf_i belongs to the next kernel
  input  logic [sluice_pkg::PerfW-1:0] perf_i,     // normalised performance at its quota, 1.0 = own best
  input  logic [sluice_pkg::PerfW-1:0] floor_i,
  output logic                         spatial_o   // some kernel would lose too much: fall back to spatial
);
  logic spatial_d, spatial_q;

  always_comb begin
    spatial_d = start_i ? 1'b0 : spatial_q;
    if (valid_i && perf_i < floor_i) spatial_d = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) spatial_q <= 1'b0;
    else         spatial_q <= spatial_d;

  assign spatial_o = spatial_d;
endmodule
