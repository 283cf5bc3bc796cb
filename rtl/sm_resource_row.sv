// sm_resource_row: what one SM holds (docs/blocks/sm_resource_table.md). All zeros when empty.
// The used amounts are written as computed by the table; slots are set and cleared here, a slot that is taken gets its kernel.
module sm_resource_row #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic                                       write_i,        // the amounts below
  input  logic [sluice_pkg::WarpW-1:0]               warps_i,
  input  logic [sluice_pkg::RegW-1:0]                registers_i,
  input  logic [sluice_pkg::SharedW-1:0]             shared_i,
  input  logic [sluice_pkg::CtaW-1:0]                slots_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    resident_i,
  input  logic                                       quota_write_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    quota_i,
  input  logic [MAX_CTAS-1:0]                        take_slot_i,    // one-hot, or 0
  input  logic [sluice_pkg::KIndexW-1:0]             take_kernel_i,
  input  logic [MAX_CTAS-1:0]                        give_slot_i,    // one-hot, or 0
  output logic [sluice_pkg::WarpW-1:0]               warps_o,
  output logic [sluice_pkg::RegW-1:0]                registers_o,
  output logic [sluice_pkg::SharedW-1:0]             shared_o,
  output logic [sluice_pkg::CtaW-1:0]                slots_o,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    resident_o,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    quota_o,
  output logic [MAX_CTAS-1:0]                        slot_used_o,
  output logic [MAX_CTAS*sluice_pkg::KIndexW-1:0]    slot_kernel_o
);
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;

  logic [MAX_CTAS-1:0]         slot_used_d;
  logic [MAX_CTAS*KIndexW-1:0] slot_kernel_d;
  always_comb begin
    slot_used_d   = (slot_used_o & ~give_slot_i) | take_slot_i;
    slot_kernel_d = slot_kernel_o;
    for (int unsigned s = 0; s < MAX_CTAS; s++)
      if (take_slot_i[s]) slot_kernel_d[s*KIndexW +: KIndexW] = take_kernel_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      warps_o       <= '0;
      registers_o   <= '0;
      shared_o      <= '0;
      slots_o       <= '0;
      resident_o    <= '0;
      quota_o       <= '0;
      slot_used_o   <= '0;
      slot_kernel_o <= '0;
    end else begin
      if (write_i) begin
        warps_o     <= warps_i;
        registers_o <= registers_i;
        shared_o    <= shared_i;
        slots_o     <= slots_i;
        resident_o  <= resident_i;
      end
      if (quota_write_i) quota_o <= quota_i;
      slot_used_o   <= slot_used_d;
      slot_kernel_o <= slot_kernel_d;
    end
endmodule
