// SPDX-License-Identifier: Apache-2.0
// sm_row_read: one read lane of sm_resource_table: amounts and CTA slots of the SMs selected; zeros where none is. Combinational.
module sm_row_read #(
  parameter int unsigned NUM_SM  = 16,
  parameter int unsigned AmountW = 42,   // bits of a row's amounts
  parameter int unsigned SlotsW  = 24    // of its slots
) (
  input  logic [NUM_SM-1:0]         amounts_sm_i,   // one-hot, or 0, as the next
  input  logic [NUM_SM-1:0]         slots_sm_i,
  input  logic [NUM_SM*AmountW-1:0] amounts_i,      // of every row
  input  logic [NUM_SM*SlotsW-1:0]  slots_i,
  output logic [AmountW-1:0]        amounts_o,
  output logic [SlotsW-1:0]         slots_o
);
  always_comb begin
    amounts_o = '0;
    slots_o   = '0;
    for (int unsigned m = 0; m < NUM_SM; m++) begin
      if (amounts_sm_i[m]) amounts_o |= amounts_i[m*AmountW +: AmountW];
      if (slots_sm_i[m])   slots_o   |= slots_i[m*SlotsW +: SlotsW];
    end
  end
endmodule
