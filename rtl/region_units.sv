// region_units: demands in units of one resource. The unit is the smallest power of two of which at most UNITS make up the capacity.
// A CTA that needs more units than the capacity has whole ones does not fit at all.
module region_units #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned UNITS       = 64,
  parameter int unsigned AmountW     = 18,
  parameter int unsigned LenW        = $clog2(UNITS + 1)   // derived
) (
  input  logic [AmountW-1:0]             capacity_i,
  input  logic [MAX_KERNELS*AmountW-1:0] demand_i,
  output logic [4:0]                     shift_o,       // log2 of the unit
  output logic [LenW-1:0]                total_o,       // whole units of the capacity
  output logic [MAX_KERNELS*LenW-1:0]    length_o,      // units of one CTA; meaningful when it fits
  output logic [MAX_KERNELS-1:0]         fits_o
);
  always_comb begin
    shift_o = '0;
    for (int unsigned s = 1; s < AmountW; s++)
      if (32'(capacity_i) > (UNITS << (s - 1))) shift_o = 5'(s);
    total_o = LenW'(capacity_i >> shift_o);
  end

  for (genvar k = 0; k < MAX_KERNELS; k++) begin : gen_kernel
    logic [AmountW:0] demand, units;   // units: rounded up
    assign demand = {1'b0, demand_i[k*AmountW +: AmountW]};
    assign units  = (demand >> shift_o) + (AmountW + 1)'((demand & ~({(AmountW + 1){1'b1}} << shift_o)) != '0);
    assign length_o[k*LenW +: LenW] = units[LenW-1:0];
    assign fits_o[k] = units <= (AmountW + 1)'(total_o);
  end
endmodule
