// SPDX-License-Identifier: Apache-2.0
// region_view: regions by the plain definition, for the proofs of whoever holds some: from the CTAs that hold one (SM,
// slot, kernel, base) their union as a bitmap, whether two meet or one leaves its SM, the longest gap, and where a
// region of each kernel would start on each SM.
module region_view #(
  parameter int unsigned M     = 1,   // SMs
  parameter int unsigned K     = 2,   // kernels
  parameter int unsigned N     = 4,   // CTA slots of an SM
  parameter int unsigned U     = 4,   // units of an SM
  parameter int unsigned LenW  = $clog2(U + 1),
  parameter int unsigned BaseW = $clog2(U)
) (
  input  logic [LenW-1:0]      total_i,     // units that exist, at most U
  input  logic [K*LenW-1:0]    length_i,    // of a region of each kernel
  input  logic [M*N-1:0]       holds_i,
  input  logic [M*N-1:0]       kernel_i,    // of two
  input  logic [M*N*BaseW-1:0] base_i,
  output logic [M*U-1:0]       bitmap_o,
  output logic                 overlap_o,
  output logic                 outside_o,
  output logic [M*LenW-1:0]    largest_o,   // free units in a row
  output logic [M*K*U-1:0]     start_o      // bit (m*K+k)*U+u
);
  logic [LenW-1:0]  length;
  logic [BaseW-1:0] base;
  logic             good;
  logic [LenW-1:0]  gap;
  always_comb begin
    bitmap_o  = '0;
    overlap_o = 1'b0;
    outside_o = 1'b0;
    length    = '0;
    base      = '0;
    for (int unsigned m = 0; m < M; m++)
      for (int unsigned s = 0; s < N; s++)
        if (holds_i[m*N + s]) begin
          length = kernel_i[m*N + s] ? length_i[LenW +: LenW] : length_i[0 +: LenW];
          base   = base_i[(m*N + s)*BaseW +: BaseW];
          for (int unsigned u = 0; u < U; u++)
            if (u >= 32'(base) && u < 32'(base) + 32'(length)) begin
              if (bitmap_o[m*U + u]) overlap_o = 1'b1;
              if (u >= 32'(total_i)) outside_o = 1'b1;
              bitmap_o[m*U + u] = 1'b1;
            end
          if (32'(base) + 32'(length) > U) outside_o = 1'b1;
        end
    largest_o = '0;
    gap       = '0;
    for (int unsigned m = 0; m < M; m++) begin
      gap = '0;
      for (int unsigned u = 0; u < U; u++) begin
        gap = (u < 32'(total_i) && !bitmap_o[m*U + u]) ? gap + 1'b1 : '0;
        if (gap > largest_o[m*LenW +: LenW]) largest_o[m*LenW +: LenW] = gap;
      end
    end
    start_o = '0;
    good    = 1'b0;
    for (int unsigned m = 0; m < M; m++)
      for (int unsigned k = 0; k < K; k++)
        for (int unsigned u = 0; u < U; u++) begin
          good = 1'b1;
          for (int unsigned l = 0; l < 2**LenW; l++)
            if (l < 32'(length_i[k*LenW +: LenW])
                && (u + l >= 32'(total_i) || u + l >= U || bitmap_o[m*U + ((u + l) % U)])) good = 1'b0;
          start_o[(m*K + k)*U + u] = good;
        end
  end
endmodule
