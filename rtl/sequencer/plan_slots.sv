// SPDX-License-Identifier: Apache-2.0
// plan_slots: the plan by kernel slot instead of by rank (docs/reference/blocks/partition_sequencer.md). Combinational.
module plan_slots #(
  parameter int unsigned MAX_KERNELS = 4
) (
  input  logic [MAX_KERNELS:1]                       num_is_i,     // one-hot: kernels of the plan; all zero: none
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0] slot_i,       // by rank, as the next
  input  logic [MAX_KERNELS*sluice_pkg::SmW-1:0]     first_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_i,
  output logic [MAX_KERNELS*MAX_KERNELS-1:0]         has_rank_o,   // bit k*K+r: slot k has rank r
  output logic [MAX_KERNELS-1:0]                     planned_o,    // the plan is for it
  output logic [MAX_KERNELS*sluice_pkg::SmW-1:0]     first_o,      // zeros where it is not, as the next
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_o
);
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned SmW     = sluice_pkg::SmW;

  always_comb begin
    has_rank_o = '0;
    planned_o  = '0;
    first_o    = '0;
    ctas_o     = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      for (int unsigned r = 0; r < MAX_KERNELS; r++)
        if ((num_is_i >> r) != '0 && slot_i[r*KIndexW +: KIndexW] == KIndexW'(k)) begin
          has_rank_o[k*MAX_KERNELS+r] = 1'b1;
          planned_o[k]                = 1'b1;
          first_o[k*SmW +: SmW]      |= first_i[r*SmW +: SmW];
          ctas_o[k*CtaW +: CtaW]     |= ctas_i[r*CtaW +: CtaW];
        end
  end
endmodule
