// SPDX-License-Identifier: Apache-2.0
// max_tree: the largest of COUNT values by their upper KeyW bits, in log2(COUNT) comparisons one behind another.
// Combinational.
module max_tree #(
  parameter int unsigned COUNT = 9,
  parameter int unsigned W     = 7,
  parameter int unsigned KeyW  = W
) (
  input  logic [COUNT*W-1:0] values_i,
  output logic [W-1:0]       max_o
);
  if (COUNT < 1 || KeyW < 1 || KeyW > W) $error("max_tree: size out of range");
  logic [2*COUNT*W-1:W] node;   // 1 is the root, 2n and 2n+1 are the children of n, the leaves begin at COUNT

  always_comb begin
    node                     = '0;
    node[COUNT*W +: COUNT*W] = values_i;
    for (int unsigned n = COUNT - 1; n > 0; n--)
      node[n*W +: W] = (node[2*n*W + W-KeyW +: KeyW] > node[(2*n + 1)*W + W-KeyW +: KeyW]) ? node[2*n*W +: W]
          : node[(2*n + 1)*W +: W];
    max_o = node[W +: W];
  end
endmodule
