// region_mask: `length_i` ones from a one-hot first position upwards, in log2(UNITS) + 1 steps (the mirror of gap_search).
module region_mask #(
  parameter int unsigned UNITS = 64,
  parameter int unsigned LenW  = $clog2(UNITS + 1)
) (
  input  logic [UNITS-1:0] first_i,
  input  logic [LenW-1:0]  length_i,   // 0: nothing
  output logic [UNITS-1:0] mask_o
);
  logic [UNITS-1:0] p;   // 2**i ones from the first position

  always_comb begin
    p      = first_i;
    mask_o = '0;
    for (int unsigned i = 0; i < LenW; i++) begin
      if (length_i[i]) mask_o = p | (mask_o << (1 << i));
      p = p | (p << (1 << i));
    end
  end
endmodule
