// SPDX-License-Identifier: Apache-2.0
// quota_query: how many CTAs of each kernel slot an SM may have, by the plan (plan_slots) and its layout. Combinational.
// The SM belongs to the kernel in whose range it is; only that one has a quota there in the layouts Ranges and Levels. Where an SM is in its range is a
// constant for each number of kernels: nothing is compared or subtracted to find it.
module quota_query #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8
) (
  input  logic [sluice_pkg::LayoutW-1:0]              layout_i,
  // The plan, by rank.
  input  logic [MAX_KERNELS:1]                        num_is_i,     // one-hot; all zero: none
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     ctas_i,
  input  logic [sluice_pkg::CtaW-1:0]                 level_small_i,
  input  logic [sluice_pkg::CtaW-1:0]                 level_large_i,
  // The same by kernel slot.
  input  logic [MAX_KERNELS*MAX_KERNELS-1:0]          has_rank_i,   // bit k*K+r: slot k has rank r
  input  logic [MAX_KERNELS-1:0]                      planned_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     slot_ctas_i,
  // The host's, by kernel slot.
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     static_quota_i,
  input  logic [MAX_KERNELS*NUM_SM-1:0]               static_mask_i,
  input  logic [NUM_SM-1:0]                           sm_i,         // one-hot
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     quota_o       // by kernel slot; MAX_CTAS: no limit
);
  localparam int unsigned CtaW   = sluice_pkg::CtaW;
  localparam int unsigned CountW = $clog2(MAX_CTAS + 1);
  localparam int unsigned PlaceW = (NUM_SM > 2) ? $clog2((NUM_SM + 1) / 2) : 1;   // place of an SM in its range, of two kernels or more

  // For each number of kernels that can share out the SMs: whose the SM is, the how manieth of its range it is, whether that has one SM more.
  localparam int unsigned MostRanges = (MAX_KERNELS < NUM_SM) ? MAX_KERNELS : NUM_SM;
  logic [(MAX_KERNELS+1)*MAX_KERNELS-1:0] owner_n;
  logic [(MAX_KERNELS+1)*PlaceW-1:0]      place_n;
  logic [MAX_KERNELS:0]                   large_n;
  for (genvar n = 0; n <= MAX_KERNELS; n++) begin : gen_num
    if (n >= 2 && n <= MostRanges) begin : gen_shared
      localparam int unsigned Small = NUM_SM / n;
      localparam int unsigned More  = NUM_SM % n;
      logic [NUM_SM*PlaceW-1:0] place;
      for (genvar r = 0; r < MAX_KERNELS; r++) begin : gen_rank
        if (r < n) begin : gen_range
          localparam int unsigned First = r * Small + ((r < More) ? r : More);
          localparam int unsigned Count = Small + ((r < More) ? 1 : 0);
          assign owner_n[n*MAX_KERNELS+r] = sm_i[First +: Count] != '0;
          for (genvar i = 0; i < Count; i++) begin : gen_place
            assign place[(First+i)*PlaceW +: PlaceW] = PlaceW'(i);
          end
        end else begin : gen_none
          assign owner_n[n*MAX_KERNELS+r] = 1'b0;
        end
      end
      logic [PlaceW-1:0] here;
      always_comb begin
        here = '0;
        for (int unsigned m = 0; m < NUM_SM; m++)
          if (sm_i[m]) here |= place[m*PlaceW +: PlaceW];
      end
      assign place_n[n*PlaceW +: PlaceW] = here;
      if (More != 0) begin : gen_more
        assign large_n[n] = sm_i[0 +: More*(Small+1)] != '0;
      end else begin : gen_even
        assign large_n[n] = 1'b0;
      end
    end else begin : gen_one
      assign owner_n[n*MAX_KERNELS +: MAX_KERNELS] = '0;
      assign place_n[n*PlaceW +: PlaceW]           = '0;
      assign large_n[n]                            = 1'b0;
    end
  end

  // Levels: one more with each SM of the range, as long as levels are left.
  logic [MAX_KERNELS-1:0] owner;
  logic [PlaceW-1:0]      place;
  logic                   longer;
  logic [CountW-1:0]      owner_ctas, owner_quota;
  logic [CtaW:0]          level;
  always_comb begin
    owner = '0;
    place = '0;
    longer = 1'b0;
    for (int unsigned n = 2; n <= MAX_KERNELS; n++) begin
      if (num_is_i[n]) begin
        owner |= owner_n[n*MAX_KERNELS +: MAX_KERNELS];
        place |= place_n[n*PlaceW +: PlaceW];
        longer |= large_n[n];
      end
    end
    owner_ctas = '0;
    for (int unsigned r = 0; r < MAX_KERNELS; r++) begin
      if (owner[r]) owner_ctas |= ctas_i[r*CtaW +: CountW];
    end
    level       = {1'b0, longer ? level_large_i : level_small_i} + (CtaW+1)'(place);
    owner_quota = (level < (CtaW+1)'(owner_ctas)) ? CountW'(level) : owner_ctas;
    if (layout_i != sluice_pkg::LayoutLevels) owner_quota = CountW'(MAX_CTAS);
  end

  logic [MAX_KERNELS-1:0] owns;
  always_comb
    for (int unsigned k = 0; k < MAX_KERNELS; k++) owns[k] = (has_rank_i[k*MAX_KERNELS +: MAX_KERNELS] & owner) != '0;

  always_comb begin
    quota_o = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      unique case (layout_i)
        sluice_pkg::LayoutFree:   quota_o[k*CtaW +: CtaW] = CtaW'(MAX_CTAS);
        sluice_pkg::LayoutAlone:  if (planned_i[k]) quota_o[k*CtaW +: CtaW] = CtaW'(MAX_CTAS);
        sluice_pkg::LayoutRanges,
        sluice_pkg::LayoutLevels: if (owns[k]) quota_o[k*CtaW +: CtaW] = CtaW'(owner_quota);
        sluice_pkg::LayoutCounts: quota_o[k*CtaW +: CtaW] = slot_ctas_i[k*CtaW +: CtaW];
        sluice_pkg::LayoutStatic: if ((static_mask_i[k*NUM_SM +: NUM_SM] & sm_i) != '0) quota_o[k*CtaW +: CtaW] = static_quota_i[k*CtaW +: CtaW];
        default:                  quota_o[k*CtaW +: CtaW] = '0;
      endcase
    end
  end

  logic unused_high_bits;
  assign unused_high_bits = ^{ctas_i, level};
endmodule
