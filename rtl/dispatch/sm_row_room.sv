// SPDX-License-Identifier: Apache-2.0
// sm_row_room: of which kernels one CTA fits into what an SM has left. Combinational.
module sm_row_room #(
  parameter int unsigned MAX_KERNELS = 4
) (
  input  sluice_pkg::amounts_t                       left_i,
  input  logic [MAX_KERNELS*sluice_pkg::AmountW-1:0] demand_i,   // of one CTA of each
  output logic [MAX_KERNELS-1:0]                     fits_o
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, 4)) $error("sm_row_room: size out of range");
  sluice_pkg::amounts_t demand;
  always_comb begin
    demand = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      demand    = demand_i[k*sluice_pkg::AmountW +: sluice_pkg::AmountW];
      fits_o[k] = demand.warps <= left_i.warps && demand.registers <= left_i.registers
          && demand.shared <= left_i.shared;
    end
  end
endmodule
