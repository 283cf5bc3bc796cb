// SPDX-License-Identifier: Apache-2.0
// sm_row_read: one read lane of sm_resource_table: amounts and CTA slots of the SMs selected. A row that was not
// written is that of an SM without CTAs. Combinational.
module sm_row_read #(
  parameter int unsigned NUM_SM = 16,
  parameter int unsigned SlotsW = 24    // bits of a row's CTA slots
) (
  input  logic [NUM_SM-1:0]                     amounts_sm_i,   // one-hot, or 0, as the next
  input  logic [NUM_SM-1:0]                     slots_sm_i,
  input  logic [NUM_SM-1:0]                     written_i,
  input  sluice_pkg::amounts_t                  unwritten_i,
  input  logic [NUM_SM*sluice_pkg::AmountW-1:0] amounts_i,      // of every row
  input  logic [NUM_SM*SlotsW-1:0]              slots_i,
  output sluice_pkg::amounts_t                  amounts_o,
  output logic [SlotsW-1:0]                     slots_o
);
  if (!sluice_pkg::sizes_exist(NUM_SM, 2, 4)) $error("sm_row_read: size out of range");
  localparam int unsigned AmountW = sluice_pkg::AmountW;

  logic [NUM_SM-1:0] from;
  assign from = amounts_sm_i & written_i;
  always_comb begin
    amounts_o = (from == '0) ? unwritten_i : '0;
    slots_o   = '0;
    for (int unsigned m = 0; m < NUM_SM; m++) begin
      if (from[m])       amounts_o |= amounts_i[m*AmountW +: AmountW];
      if (slots_sm_i[m]) slots_o   |= slots_i[m*SlotsW +: SlotsW];
    end
  end
endmodule
