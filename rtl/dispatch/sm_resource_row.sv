// SPDX-License-Identifier: Apache-2.0
// sm_resource_row: what one SM has left, and its CTA slots (docs/reference/blocks/sm_resource_table.md). The amounts
// are written as computed by the table and mean nothing before they are written (only the slots are reset); a slot that
// is taken gets its kernel.
module sm_resource_row #(
  parameter int unsigned MAX_CTAS = 8,
  parameter int unsigned KernelW  = 2    // of a kernel's index
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        write_i,
  input  sluice_pkg::amounts_t        amounts_i,
  input  logic [MAX_CTAS-1:0]         admit_slot_i,    // one-hot, or 0
  input  logic [KernelW-1:0]          admit_kernel_i,
  input  logic [MAX_CTAS-1:0]         release_slot_i,    // one-hot, or 0
  output sluice_pkg::amounts_t        amounts_o,
  output logic [MAX_CTAS-1:0]         slot_used_o,
  output logic [MAX_CTAS*KernelW-1:0] slot_kernel_o
);
  if (!sluice_pkg::sizes_exist(1, 2, MAX_CTAS)) $error("sm_resource_row: size out of range");
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) slot_used_o <= '0;
    else         slot_used_o <= (slot_used_o & ~release_slot_i) | admit_slot_i;

  always_ff @(posedge clk_i) begin
    if (write_i) amounts_o <= amounts_i;
    for (int unsigned s = 0; s < MAX_CTAS; s++)
      if (admit_slot_i[s]) slot_kernel_o[s*KernelW +: KernelW] <= admit_kernel_i;
  end
endmodule
