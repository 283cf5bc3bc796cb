// gap_search and region_mask against the plain definition, for every bitmap and every length of six units.
module gap_search_props #(
  parameter int unsigned U    = 6,
  parameter int unsigned LenW = $clog2(U + 1)
) (
  input logic            clk_i,   // both are combinational: looked at with each edge
  input logic [U-1:0]    free_i,
  input logic [LenW-1:0] length_i,
  input logic [LenW-1:0] first_i
);
  logic [U-1:0] start, mask, first;
  gap_search  #(.UNITS(U)) i_search (.free_i, .length_i, .start_o(start));
  region_mask #(.UNITS(U)) i_mask (.first_i(first), .length_i, .mask_o(mask));
  assign first = (first_i < LenW'(U)) ? U'(1) << first_i : '0;

  logic [U-1:0] expected_start, expected_mask;
  always_comb begin
    expected_start = '0;
    expected_mask  = '0;
    for (int unsigned u = 0; u < U; u++) begin
      expected_start[u] = u + 32'(length_i) <= U || length_i == '0;
      for (int unsigned l = 0; l < U; l++)
        if (l < 32'(length_i) && u + l < U && !free_i[(u + l) % U]) expected_start[u] = 1'b0;
      expected_mask[u] = first != '0 && u >= 32'(first_i) && u < 32'(first_i) + 32'(length_i);
    end
  end
  always_ff @(posedge clk_i) begin
    starts_are_those_with_enough_free_units_behind: assert (start == expected_start);
    mask_is_length_ones_from_the_first:             assert (mask == expected_mask);
  end
endmodule
