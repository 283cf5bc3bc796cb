// max_tree: the largest of COUNT values, in log2(COUNT) comparisons one behind another. Combinational.
module max_tree #(
  parameter int unsigned COUNT = 9,
  parameter int unsigned W     = 7
) (
  input  logic               valid_i,    // 0: the result is 0
  input  logic [COUNT*W-1:0] values_i,
  output logic [W-1:0]       max_o
);
  logic [2*COUNT*W-1:W] node;   // 1 is the root, 2n and 2n+1 are the children of n, the leaves begin at COUNT

  always_comb begin
    node  = '0;
    max_o = '0;
    if (valid_i) begin
      node[COUNT*W +: COUNT*W] = values_i;
      for (int unsigned n = COUNT - 1; n > 0; n--)
        node[n*W +: W] = (node[2*n*W +: W] > node[(2*n + 1)*W +: W]) ? node[2*n*W +: W] : node[(2*n + 1)*W +: W];
      max_o = node[W +: W];
    end
  end
endmodule
