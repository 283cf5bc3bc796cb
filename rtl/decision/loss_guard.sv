// SPDX-License-Identifier: Apache-2.0
// loss_guard: accepts an intra-SM partition only if no kernel loses too much (Warped-Slicer, section IV).
// A kernel loses 1 - performance at its quota; of num kernels each may lose loss_limit_i / num (the paper: 1.2 / K). Compared without a
// division: performance * num + limit >= num. One kernel a cycle; its verdict is in spatial_o two cycles later, and stays until the next start.
module loss_guard #(
  parameter int unsigned MAX_KERNELS = 4   // 2..8
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           start_i,         // before the first kernel of a decision: drops what is under way
  input  logic                           valid_i,         // perf_i belongs to the next kernel
  input  logic [sluice_pkg::PerfW-1:0]   perf_i,          // normalised performance at its quota, 1.0 = own best
  input  logic [sluice_pkg::KernelW-1:0] num_kernels_i,   // 1..MAX_KERNELS; it and the limit stable from the cycle before the first kernel to its verdict
  input  logic [sluice_pkg::LossW-1:0]   loss_limit_i,    // of 1/K, units of 2**-PerfFracW
  output logic                           spatial_o        // some kernel would lose too much: fall back to spatial
);
  localparam int unsigned FracW = sluice_pkg::PerfFracW;
  localparam int unsigned PerfW = sluice_pkg::PerfW;
  localparam int unsigned NumW  = $clog2(MAX_KERNELS + 1);
  localparam int unsigned SumW  = PerfW + NumW + 1;

  logic [NumW-1:0]       num;                // there long before it is looked at
  logic [SumW-1:0]       perfs_d, perfs_q;   // what it keeps, times num
  logic [SumW-1:0]       kept;               // and what it may lose
  logic [SumW-FracW-1:0] kept_q;
  logic [1:0]            valid_q;  // what is kept is being added; is there
  logic                  spatial_d, spatial_q;

  always_comb begin
    perfs_d = '0;
    for (int unsigned b = 0; b < NumW; b++)
      if (num[b]) perfs_d = perfs_d + (SumW'(perf_i) << b);
    kept = perfs_q + SumW'(loss_limit_i);
    spatial_d = spatial_q || (valid_q[1] && kept_q < (SumW - FracW)'(num));
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      valid_q   <= '0;
      spatial_q <= 1'b0;
    end else begin
      valid_q   <= start_i ? '0 : {valid_q[0], valid_i};
      spatial_q <= spatial_d && !start_i;
    end

  // Looked at only when valid: no reset. valid_i comes late, so it is no enable.
  always_ff @(posedge clk_i) begin
    num     <= num_kernels_i[NumW-1:0];
    perfs_q <= perfs_d;
    if (valid_q[0]) kept_q <= kept[SumW-1:FracW];
  end

  logic unused_num;
  assign unused_num = ^{num_kernels_i, kept[FracW-1:0]};
  assign spatial_o  = spatial_d;
endmodule
