// SPDX-License-Identifier: Apache-2.0
// region_units: demands in units of one resource. The unit is the smallest power of two of which at most UNITS make up
// the capacity. A CTA that needs more units than the capacity has whole ones does not fit at all. Of a demand above the
// capacity nothing is told: that it does not fit is seen elsewhere, and lengths need no more bits than UNITS.
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
  output logic [MAX_KERNELS*LenW-1:0]    length_o,      // units of one CTA, rounded up; valid when it fits, as the next
  output logic [MAX_KERNELS-1:0]         fits_o
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, 4)) $error("region_units: size out of range");
  always_comb begin
    shift_o = '0;
    for (int unsigned s = 1; s < AmountW; s++)
      if (32'(capacity_i) > (UNITS << (s - 1))) shift_o = 5'(s);
    total_o = LenW'(capacity_i >> shift_o);
  end

  for (genvar k = 0; k < MAX_KERNELS; k++) begin : gen_kernel
    logic [AmountW-1:0] demand;
    logic               rest;     // of the last unit only a part
    assign demand = demand_i[k*AmountW +: AmountW];
    assign rest   = (demand & ~({AmountW{1'b1}} << shift_o)) != '0;
    assign length_o[k*LenW +: LenW] = LenW'(demand >> shift_o) + LenW'(rest);
    assign fits_o[k] = length_o[k*LenW +: LenW] <= total_o;
  end
endmodule
