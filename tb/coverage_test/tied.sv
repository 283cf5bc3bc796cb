// SPDX-License-Identifier: Apache-2.0
// tied: one bit that its bench toggles, and three that never change: held at one, at zero, and left as a reset sets it. All four again in the
// highest bits of a wide vector.
module tied (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       moves_i,
  output logic [3:0] bits_o
);
  logic         moves_q, high, low, set_by_reset_q;
  logic [299:0] wide;
  assign high = 1'b1;
  assign low  = 1'b0;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      moves_q        <= 1'b0;
      set_by_reset_q <= 1'b1;
    end else begin
      moves_q        <= moves_i;
      set_by_reset_q <= set_by_reset_q;
    end
  assign wide   = {set_by_reset_q, low, high, moves_q, 296'b0};
  assign bits_o = wide[299:296];
endmodule
