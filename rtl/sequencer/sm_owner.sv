// SPDX-License-Identifier: Apache-2.0
// sm_owner: the kernel slot whose range each SM is in, by the plan (docs/reference/blocks/partition_sequencer.md), and whether all ranges have settled.
// Combinational: for each number of kernels the rank that owns an SM is a constant. Means something while two kernels or more share out the SMs.
module sm_owner #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4
) (
  input  logic [MAX_KERNELS:1]                       num_is_i,   // one-hot: kernels of the plan
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0] slot_i,     // by rank
  input  logic [NUM_SM-1:0]                          settled_i,
  input  logic [NUM_SM-1:0]                          sm_enable_i,  // a disabled SM is not waited for
  input  logic [MAX_KERNELS-1:0]                     spent_i,    // kernel slots that have nothing to dispatch: their SMs may never settle
  output logic [NUM_SM*sluice_pkg::KIndexW-1:0]      owner_o,
  output logic                                       settled_o,  // every SM has settled, or its owner is spent
  output logic                                       no_ranges_o  // fewer SMs than kernels, or some kernel's range has no SM that is enabled
);
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned IndexW  = $clog2(MAX_KERNELS);

  for (genvar m = 0; m < NUM_SM; m++) begin : gen_sm
    logic [(MAX_KERNELS+1)*IndexW-1:0] candidate;
    for (genvar n = 0; n <= MAX_KERNELS; n++) begin : gen_num
      if (n >= 2 && n <= NUM_SM) begin : gen_shared
        // The ranges have Small SMs each, the first More of them one more.
        localparam int unsigned Small = NUM_SM / n;
        localparam int unsigned More  = NUM_SM % n;
        localparam int unsigned Rank  = (m < More * (Small + 1)) ? m / (Small + 1) : (m - More) / Small;
        assign candidate[n*IndexW +: IndexW] = slot_i[Rank*KIndexW +: IndexW] & {IndexW{num_is_i[n]}};
      end else begin : gen_none
        assign candidate[n*IndexW +: IndexW] = '0;
      end
    end
    logic [IndexW-1:0] owner;
    always_comb begin
      owner = '0;
      for (int unsigned n = 0; n <= MAX_KERNELS; n++) owner |= candidate[n*IndexW +: IndexW];
    end
    assign owner_o[m*KIndexW +: KIndexW] = KIndexW'(owner);
  end

  logic [MAX_KERNELS-1:0] rank_spent;
  logic [MAX_KERNELS:0]   settled_n, dead_n;   // were there n kernels
  always_comb
    for (int unsigned r = 0; r < MAX_KERNELS; r++) begin
      rank_spent[r] = 1'b0;
      for (int unsigned k = 0; k < MAX_KERNELS; k++)
        if (slot_i[r*KIndexW +: KIndexW] == KIndexW'(k) && spent_i[k]) rank_spent[r] = 1'b1;
    end
  for (genvar n = 0; n <= MAX_KERNELS; n++) begin : gen_settled
    if (n >= 2 && n <= NUM_SM) begin : gen_shared
      logic [n-1:0] settled, dead;
      for (genvar r = 0; r < n; r++) begin : gen_range
        localparam int unsigned First = r * (NUM_SM / n) + ((r < NUM_SM % n) ? r : NUM_SM % n);
        localparam int unsigned Count = NUM_SM / n + ((r < NUM_SM % n) ? 1 : 0);
        assign settled[r] = (&(settled_i[First +: Count] | ~sm_enable_i[First +: Count])) || rank_spent[r];
        assign dead[r]    = sm_enable_i[First +: Count] == '0;
      end
      assign settled_n[n] = &settled;
      assign dead_n[n]    = |dead;
    end else begin : gen_none
      assign settled_n[n] = 1'b0;
      assign dead_n[n]    = n > NUM_SM;
    end
  end
  assign settled_o   = (settled_n[MAX_KERNELS:1] & num_is_i) != '0;
  assign no_ranges_o = (dead_n[MAX_KERNELS:1] & num_is_i) != '0;

  logic unused_bits;
  assign unused_bits = ^{num_is_i, slot_i, settled_n[0], dead_n[0], rank_spent, settled_i, sm_enable_i};
endmodule
