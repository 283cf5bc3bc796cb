// SPDX-License-Identifier: Apache-2.0
// region_search: the gaps between the regions of one SM, and first fit among them. Combinational.
// A gap begins at 0 or at the end of a region and ends where the next region begins. Regions never overlap, so one is
// above another when its base is: N (N-1) / 2 comparisons order them all.
module region_search #(
  parameter int unsigned MAX_CTAS = 8,
  parameter int unsigned UNITS    = 64,
  parameter int unsigned LenW     = $clog2(UNITS + 1),   // derived
  parameter int unsigned BaseW    = $clog2(UNITS)        // derived
) (
  input  logic [LenW-1:0]              total_i,    // units of an SM
  input  logic [LenW-1:0]              want_i,     // units to be placed; 0: at 0
  input  logic [MAX_CTAS-1:0]          real_i,     // slots with a region of some length
  input  logic [MAX_CTAS*BaseW-1:0]    base_i,
  input  logic [MAX_CTAS*LenW-1:0]     length_i,
  output logic [BaseW-1:0]             first_o,    // lowest base with room; 0 if there is none
  output logic [(MAX_CTAS+1)*LenW-1:0] gaps_o,     // behind each slot's region, and at the SM's start; 0: none
  output logic [MAX_CTAS:0]            chosen_o    // one-hot: the gap of first_o
);
  if (!sluice_pkg::sizes_exist(1, 2, MAX_CTAS)) $error("region_search: size out of range");
  localparam int unsigned N = MAX_CTAS;

  logic [N*N-1:0] above;   // bit i*N+j: j lies above i
  always_comb begin
    above = '0;
    for (int unsigned i = 0; i < N; i++)
      for (int unsigned j = i + 1; j < N; j++)
        if (real_i[i] && real_i[j]) begin
          if (base_i[j*BaseW +: BaseW] > base_i[i*BaseW +: BaseW]) above[i*N + j] = 1'b1;
          else                                                     above[j*N + i] = 1'b1;
        end
  end

  // Of each gap: where it starts and where it ends.
  logic [N*LenW-1:0]     start;
  logic [(N+1)*LenW-1:0] stop;
  logic [N-1:0]          beyond, next;
  always_comb begin
    start  = '0;
    stop   = '0;
    next   = '0;
    beyond = '0;
    gaps_o = '0;
    for (int unsigned i = 0; i < N; i++)
      if (real_i[i]) begin
        beyond = '0;   // above something that is above i
        for (int unsigned l = 0; l < N; l++)
          if (above[i*N + l]) beyond |= above[l*N +: N];
        next                  = above[i*N +: N] & ~beyond;
        start[i*LenW +: LenW] = LenW'(base_i[i*BaseW +: BaseW]) + length_i[i*LenW +: LenW];
        stop[i*LenW +: LenW]  = (next == '0) ? total_i : '0;
        for (int unsigned j = 0; j < N; j++)
          if (next[j]) stop[i*LenW +: LenW] |= LenW'(base_i[j*BaseW +: BaseW]);
        gaps_o[i*LenW +: LenW] = stop[i*LenW +: LenW] - start[i*LenW +: LenW];
      end
    next = real_i;
    for (int unsigned i = 0; i < N; i++) next &= ~above[i*N +: N];
    stop[N*LenW +: LenW] = (next == '0) ? total_i : '0;
    for (int unsigned j = 0; j < N; j++)
      if (next[j]) stop[N*LenW +: LenW] |= LenW'(base_i[j*BaseW +: BaseW]);
    gaps_o[N*LenW +: LenW] = stop[N*LenW +: LenW];
  end

  // The lowest gap with room.
  logic [N:0]   room;
  logic [N-1:0] higher;   // above a gap with room
  always_comb begin
    for (int unsigned i = 0; i <= N; i++) room[i] = gaps_o[i*LenW +: LenW] >= want_i && (i == N || real_i[i % N]);
    higher = {N{room[N]}};
    for (int unsigned i = 0; i < N; i++)
      if (room[i]) higher |= above[i*N +: N];
    chosen_o = {room[N], room[N-1:0] & ~higher};
    first_o  = '0;
    for (int unsigned i = 0; i < N; i++)
      if (chosen_o[i]) first_o |= start[i*LenW +: BaseW];
  end
endmodule
