// SPDX-License-Identifier: Apache-2.0
// sm_owner: the kernel slot whose range each SM is in, by the plan (docs/reference/blocks/partition_sequencer.md). Combinational: for each number of
// kernels the rank that owns an SM is a constant. Means something while two kernels or more share out the SMs.
module sm_owner #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4
) (
  input  logic [MAX_KERNELS:1]                       num_is_i,   // one-hot: kernels of the plan
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0] slot_i,     // by rank
  output logic [NUM_SM*sluice_pkg::KIndexW-1:0]      owner_o
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

  logic unused_bits;
  assign unused_bits = ^{num_is_i, slot_i};
endmodule
