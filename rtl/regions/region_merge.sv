// SPDX-License-Identifier: Apache-2.0
// region_merge: the gap that is there after a region has ended, from the regions above and below it. Combinational.
module region_merge #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned UNITS       = 64,
  parameter int unsigned LenW        = $clog2(UNITS + 1),    // derived
  parameter int unsigned BaseW       = $clog2(UNITS),        // derived
  parameter int unsigned KernelW     = $clog2(MAX_KERNELS)   // derived
) (
  input  logic [LenW-1:0]             total_i,    // units of an SM
  input  logic [MAX_KERNELS*LenW-1:0] length_i,   // units of one CTA of each kernel
  input  logic [MAX_CTAS-1:0]         real_i,     // slots with a region of some length, without the one that ended
  input  logic [MAX_CTAS-1:0]         above_i,    // those whose bases are above that of the one that ended
  input  logic [MAX_CTAS*BaseW-1:0]   base_i,
  input  logic [MAX_CTAS*KernelW-1:0] kernel_i,
  output logic [LenW-1:0]             gap_o
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, MAX_CTAS)) $error("region_merge: size out of range");
  localparam int unsigned HighW = 1 + BaseW, LowW = 1 + BaseW + KernelW;

  // The lowest of those above, as the largest complement; the highest of those below, with its kernel. The first bit:
  // there is one.
  logic [MAX_CTAS*HighW-1:0] high;
  logic [MAX_CTAS*LowW-1:0]  low;
  logic [HighW-1:0]          highest;
  logic [LowW-1:0]           lowest;
  always_comb
    for (int unsigned s = 0; s < MAX_CTAS; s++) begin
      high[s*HighW +: HighW] = (real_i[s] && above_i[s]) ? {1'b1, ~base_i[s*BaseW +: BaseW]} : '0;
      low[s*LowW +: LowW]    = (real_i[s] && !above_i[s])
          ? {1'b1, base_i[s*BaseW +: BaseW], kernel_i[s*KernelW +: KernelW]} : '0;
    end

  max_tree #(.COUNT(MAX_CTAS), .W(HighW)) i_above (
    .values_i (high),
    .max_o    (highest)
  );
  max_tree #(.COUNT(MAX_CTAS), .W(LowW), .KeyW(HighW)) i_below (
    .values_i (low),
    .max_o    (lowest)
  );

  logic [BaseW-1:0] bound;
  logic [LenW-1:0]  upper, length;
  always_comb begin
    bound  = ~highest[BaseW-1:0];
    upper  = highest[BaseW] ? LenW'(bound) : total_i;
    length = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (lowest[LowW-1] && lowest[KernelW-1:0] == KernelW'(k)) length |= length_i[k*LenW +: LenW];
    gap_o = upper - LenW'(lowest[KernelW +: BaseW]) - length;
  end
endmodule
