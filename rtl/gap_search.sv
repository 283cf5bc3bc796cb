// gap_search: the positions of a bitmap that start `length_i` free units in a row, in log2(UNITS) + 1 steps.
// p[i] are the positions that start 2**i free units; r those that start as many as the bits of the length seen so far say.
module gap_search #(
  parameter int unsigned UNITS = 64,
  parameter int unsigned LenW  = $clog2(UNITS + 1)
) (
  input  logic [UNITS-1:0] free_i,
  input  logic [LenW-1:0]  length_i,   // 0: every position
  output logic [UNITS-1:0] start_o
);
  logic [UNITS:0] p, r;   // position UNITS: only an empty run starts there

  always_comb begin
    p = {1'b0, free_i};
    r = '1;
    for (int unsigned i = 0; i < LenW; i++) begin
      if (length_i[i]) r = p & (r >> (1 << i));
      p = p & (p >> (1 << i));
    end
  end

  assign start_o = r[UNITS-1:0];

  logic unused_end;
  assign unused_end = r[UNITS];
endmodule
