// SPDX-License-Identifier: Apache-2.0
// sm_resource_row: what one SM has left, and its CTA slots (docs/reference/blocks/sm_resource_table.md). The amounts are written as computed by the table and
// mean nothing before they are written (only the slots are reset); a slot that is taken gets its kernel.
module sm_resource_row #(
  parameter int unsigned MAX_CTAS = 8,
  parameter int unsigned KernelW  = 2,   // of a kernel's index
  parameter int unsigned PARITY   = 0    // 1: with bad_slots_o and bad_amounts_o
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
  output logic [MAX_CTAS*KernelW-1:0] slot_kernel_o,
  // Parity: of the slots and written_i, of the kernels of used slots, and of the amounts if they were written.
  input  logic                        parity_i,       // of amounts_i
  input  logic                        written_i,      // the row was written; the table keeps it
  input  logic                        written_d_i,    // and will have been with the next edge
  output logic                        bad_slots_o,    // combinational, as the next
  output logic                        bad_amounts_o
);
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) slot_used_o <= '0;
    else         slot_used_o <= (slot_used_o & ~release_slot_i) | admit_slot_i;

  always_ff @(posedge clk_i) begin
    if (write_i) amounts_o <= amounts_i;
    for (int unsigned s = 0; s < MAX_CTAS; s++)
      if (admit_slot_i[s]) slot_kernel_o[s*KernelW +: KernelW] <= admit_kernel_i;
  end

  if (PARITY != 0) begin : gen_parity
    localparam int unsigned W = (sluice_pkg::AmountW > MAX_CTAS * KernelW) ? sluice_pkg::AmountW : MAX_CTAS * KernelW;   // MAX_CTAS is less than that
    logic [MAX_CTAS*KernelW-1:0] kernel;                // of used slots; else 0
    logic [KernelW-1:0]          given;                 // the kernel of the slot that is left
    logic                        turns, kernel_turns;   // whether the parity does: of used slots and written_i, of kernels
    logic                        bad_used, bad_kernel;
    always_comb begin
      given = '0;
      for (int unsigned s = 0; s < MAX_CTAS; s++) begin
        kernel[s*KernelW +: KernelW] = slot_kernel_o[s*KernelW +: KernelW] & {KernelW{slot_used_o[s]}};
        given ^= kernel[s*KernelW +: KernelW] & {KernelW{release_slot_i[s]}};
      end
    end
    assign turns        = ^(release_slot_i & slot_used_o) ^ (admit_slot_i != '0) ^ written_i ^ written_d_i;   // what is taken is one free slot
    assign kernel_turns = ^given ^ (admit_slot_i != '0 && ^admit_kernel_i);
    parity_guard #(.WORDS(3), .W(W)) i_parity_guard (
      .clk_i, .rst_ni, .write_i({write_i, 2'b11}), .parity_i({parity_i, ^kernel ^ kernel_turns, ^{written_i, slot_used_o} ^ turns}), 
      .word_i({W'(amounts_o), W'(kernel), W'({written_i, slot_used_o})}), .live_i({written_i, 2'b11}), .bad_o({bad_amounts_o, bad_kernel, bad_used}));
    assign bad_slots_o = bad_used || bad_kernel;
  end else begin : gen_no_parity
    assign {bad_slots_o, bad_amounts_o} = '0;
    logic unused_parity;
    assign unused_parity = ^{parity_i, written_i, written_d_i};
  end
endmodule
