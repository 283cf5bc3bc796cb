// SPDX-License-Identifier: Apache-2.0
// quota_query: how many CTAs of each kernel slot an SM may have, by the plan (partition_plan, sm_owner) and its layout.
// Combinational. The SM belongs to the kernel in whose range it is; only that one has a quota there in the layouts
// Ranges and Levels. On the SMs of a kernel that is not profiled, Levels answers with what was in force before: counts,
// or ranges.
module quota_query #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned LEVELS      = 1   // 0: in Levels each SM of a range has what its kernel may have alone
) (
  input  logic [sluice_pkg::LayoutW-1:0]              layout_i,
  // The plan, by rank.
  input  logic [MAX_KERNELS*NUM_SM-1:0]               range_i,      // its SMs
  input  logic [MAX_KERNELS-1:0]                      larger_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     ctas_i,
  input  logic [sluice_pkg::CtaW-1:0]                 level_small_i,
  input  logic [sluice_pkg::CtaW-1:0]                 level_large_i,
  input  logic [NUM_SM*sluice_pkg::SmW-1:0]           place_i,      // by SM, the SMs of its range before it
  input  logic [MAX_KERNELS-1:0]                      kept_i,       // not profiled
  input  logic                                        ranged_i,     // ranges were in force before
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
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("quota_query: size out of range");
  localparam int unsigned CtaW   = sluice_pkg::CtaW;
  localparam int unsigned SmW    = sluice_pkg::SmW;
  localparam int unsigned CountW = $clog2(MAX_CTAS + 1);

  // Levels: one more with each SM of the range, as long as levels are left.
  logic [MAX_KERNELS-1:0] owner;   // rank, one-hot
  logic [SmW-1:0]         place;
  logic [CountW-1:0]      owner_ctas, owner_quota;
  logic [SmW:0]           level, level_more;
  logic                   kept;
  always_comb begin
    owner      = '0;
    owner_ctas = '0;
    place      = '0;
    for (int unsigned r = 0; r < MAX_KERNELS; r++)
      if ((sm_i & range_i[r*NUM_SM +: NUM_SM]) != '0) begin
        owner[r]    = 1'b1;
        owner_ctas |= ctas_i[r*CtaW +: CountW];
      end
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (sm_i[m]) place |= place_i[m*SmW +: SmW];
    level       = (SmW+1)'(level_small_i) + (SmW+1)'(place);
    level_more  = (SmW+1)'(level_large_i) + (SmW+1)'(place);   // added before it is known which: the sum is late
    if ((owner & larger_i) != '0) level = level_more;
    owner_quota = (LEVELS != 0 && level < (SmW+1)'(owner_ctas)) ? CountW'(level) : owner_ctas;
    kept        = (owner & kept_i) != '0;
    if (layout_i != sluice_pkg::LayoutLevels || kept) owner_quota = CountW'(MAX_CTAS);
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
        sluice_pkg::LayoutLevels: begin
          if (owns[k]) quota_o[k*CtaW +: CtaW] = CtaW'(owner_quota);
          if (layout_i == sluice_pkg::LayoutLevels && kept && !ranged_i)
            quota_o[k*CtaW +: CtaW] = slot_ctas_i[k*CtaW +: CtaW];
        end
        sluice_pkg::LayoutCounts: quota_o[k*CtaW +: CtaW] = slot_ctas_i[k*CtaW +: CtaW];
        sluice_pkg::LayoutStatic: if ((static_mask_i[k*NUM_SM +: NUM_SM] & sm_i) != '0) quota_o[k*CtaW +: CtaW] =
          static_quota_i[k*CtaW +: CtaW];
        default:                  quota_o[k*CtaW +: CtaW] = '0;
      endcase
    end
  end

  logic unused_high_bits;
  assign unused_high_bits = ^ctas_i;
endmodule
