// sm_row_read: one read lane of sm_resource_table: the row of the SM selected, and the CTAs counted from its slots; zeros where none is selected.
// Combinational.
module sm_row_read #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned AmountW     = 42,   // bits of a row's amounts
  parameter int unsigned CountW      = 4,    // of a count of its CTAs
  parameter int unsigned KernelW     = 2,    // of a kernel's index
  parameter int unsigned SlotsW      = 24    // of its slots: MAX_CTAS * (1 + KernelW)
) (
  input  logic [NUM_SM-1:0]             select_i,     // one-hot, or 0
  input  logic [NUM_SM*AmountW-1:0]     amounts_i,    // of every row: those in use
  input  logic [NUM_SM*SlotsW-1:0]      slots_i,      // kernel of each CTA slot, and in the low MAX_CTAS bits which are used
  output logic [AmountW-1:0]            amounts_o,
  output logic [SlotsW-1:0]             slots_o,
  output logic [MAX_KERNELS*CountW-1:0] resident_o,   // CTAs of each kernel
  output logic [CountW-1:0]             count_o       // and of all
);
  always_comb begin
    amounts_o = '0;
    slots_o   = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (select_i[m]) begin
        amounts_o |= amounts_i[m*AmountW +: AmountW];
        slots_o   |= slots_i[m*SlotsW +: SlotsW];
      end
  end

  always_comb begin
    resident_o = '0;
    count_o    = '0;
    for (int unsigned s = 0; s < MAX_CTAS; s++) begin
      count_o = count_o + CountW'(slots_o[s]);
      for (int unsigned k = 0; k < MAX_KERNELS; k++)
        resident_o[k*CountW +: CountW] = resident_o[k*CountW +: CountW]
                                       + CountW'(slots_o[s] && slots_o[MAX_CTAS + s*KernelW +: KernelW] == KernelW'(k));
    end
  end
endmodule
