// SPDX-License-Identifier: Apache-2.0
// sm_resource_row: what one SM holds (docs/reference/blocks/sm_resource_table.md). The used amounts are written as computed by the table and mean
// nothing before they are written (only the slots are reset); a slot that is taken gets its kernel.
module sm_resource_row #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned CountW      = 4,    // bits of a count of its CTAs
  parameter int unsigned KernelW     = 2     // of a kernel's index
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           write_i,        // the amounts below
  input  logic [sluice_pkg::WarpW-1:0]   warps_i,
  input  logic [sluice_pkg::RegW-1:0]    registers_i,
  input  logic [sluice_pkg::SharedW-1:0] shared_i,
  input  logic                           quota_write_i,
  input  logic [MAX_KERNELS*CountW-1:0]  quota_i,
  input  logic [MAX_CTAS-1:0]            take_slot_i,    // one-hot, or 0
  input  logic [KernelW-1:0]             take_kernel_i,
  input  logic [MAX_CTAS-1:0]            give_slot_i,    // one-hot, or 0
  output logic [sluice_pkg::WarpW-1:0]   warps_o,
  output logic [sluice_pkg::RegW-1:0]    registers_o,
  output logic [sluice_pkg::SharedW-1:0] shared_o,
  output logic [MAX_KERNELS*CountW-1:0]  quota_o,
  output logic [MAX_CTAS-1:0]            slot_used_o,
  output logic [MAX_CTAS*KernelW-1:0]    slot_kernel_o
);
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)      slot_used_o <= '0;
    else              slot_used_o <= (slot_used_o & ~give_slot_i) | take_slot_i;

  always_ff @(posedge clk_i) begin
    if (write_i) begin
      warps_o     <= warps_i;
      registers_o <= registers_i;
      shared_o    <= shared_i;
    end
    if (quota_write_i) quota_o <= quota_i;
    for (int unsigned s = 0; s < MAX_CTAS; s++)
      if (take_slot_i[s]) slot_kernel_o[s*KernelW +: KernelW] <= take_kernel_i;
  end
endmodule
