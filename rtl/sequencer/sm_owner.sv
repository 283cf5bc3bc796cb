// SPDX-License-Identifier: Apache-2.0
// sm_owner: whose each SM is, by the plan (docs/reference/blocks/partition_sequencer.md), and whether all ranges have
// settled. Combinational: for each number of kernels the rank that owns an SM, and the SM's place in its range, are
// constants. Means something while two kernels or more share out the SMs.
module sm_owner #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned SM_ENABLE   = 0,   // 1: SMs may be disabled; else every bit of sm_enable_i is 1
  parameter int unsigned CHURN       = 0    // else one kernel has a range, too: all SMs
) (
  input  logic [MAX_KERNELS:1]                       num_is_i,     // one-hot: kernels of the plan
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0] slot_i,       // by rank
  input  logic [MAX_KERNELS*MAX_KERNELS-1:0]         has_rank_i,   // bit k*K+r: slot k has rank r
  input  logic [NUM_SM-1:0]                          settled_i,
  input  logic [NUM_SM-1:0]                          sm_enable_i,  // a disabled SM is not waited for
  input  logic [MAX_KERNELS-1:0]                     spent_i,      // dispatch nothing more: their SMs may never settle
  output logic [MAX_KERNELS*NUM_SM-1:0]              range_o,      // by rank, its SMs
  output logic [NUM_SM*sluice_pkg::SmW-1:0]          place_o,      // by SM, the SMs of its range before it
  output logic [NUM_SM*sluice_pkg::KIndexW-1:0]      owner_o,      // by SM, its kernel slot
  output logic                                       settled_o,    // every SM has settled, or its owner is spent
  output logic                                       no_ranges_o   // some kernel has no enabled SM
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, 4)) $error("sm_owner: size out of range");
  localparam int unsigned KIndexW    = sluice_pkg::KIndexW;
  localparam int unsigned SmW        = sluice_pkg::SmW;
  localparam int unsigned MostRanges = (MAX_KERNELS < NUM_SM) ? MAX_KERNELS : NUM_SM;

  for (genvar m = 0; m < NUM_SM; m++) begin : gen_sm
    logic [MAX_KERNELS-1:0] ranks;   // one-hot
    logic [KIndexW-1:0]     owner;
    logic [SmW-1:0]         place;
    always_comb begin
      ranks = '0;
      owner = '0;
      place = '0;
      for (int unsigned n = (CHURN != 0) ? 1 : 2; n <= MostRanges; n++)
        if (num_is_i[n]) begin
          ranks[sequencer_pkg::range_of(NUM_SM, n, m)] = 1'b1;
          place |= SmW'(sequencer_pkg::place_of(NUM_SM, n, m));
        end
      for (int unsigned r = 0; r < MAX_KERNELS; r++)
        if (ranks[r]) owner |= slot_i[r*KIndexW +: KIndexW];
    end
    for (genvar r = 0; r < MAX_KERNELS; r++) begin : gen_rank
      assign range_o[r*NUM_SM+m] = ranks[r];
    end
    assign owner_o[m*KIndexW +: KIndexW] = owner;
    assign place_o[m*SmW +: SmW]         = place;
  end

  logic [MAX_KERNELS-1:0] spent;   // by rank
  always_comb begin
    spent     = '0;
    settled_o = 1'b1;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (spent_i[k]) spent |= has_rank_i[k*MAX_KERNELS +: MAX_KERNELS];
    for (int unsigned r = 0; r < MAX_KERNELS; r++)
      if (!spent[r] && (range_o[r*NUM_SM +: NUM_SM] & sm_enable_i & ~settled_i) != '0) settled_o = 1'b0;
  end

  logic [MAX_KERNELS-1:0] dead;   // by rank
  always_comb begin
    dead = '0;
    if (SM_ENABLE != 0)
      for (int unsigned r = 0; r < MAX_KERNELS; r++)
        if ((num_is_i >> r) != '0 && (range_o[r*NUM_SM +: NUM_SM] & sm_enable_i) == '0) dead[r] = 1'b1;
  end
  assign no_ranges_o = (num_is_i >> NUM_SM) != '0 || dead != '0;
endmodule
