// SPDX-License-Identifier: Apache-2.0
// sm_row_room: which kernels have room on an SM with these amounts. Combinational.
module sm_row_room #(
  parameter int unsigned MAX_KERNELS = 4
) (
  input  logic [sluice_pkg::WarpW+sluice_pkg::RegW+sluice_pkg::SharedW-1:0] amounts_i,   // in use: {shared, registers, warps}
  input  logic [MAX_KERNELS*sluice_pkg::WarpW-1:0]   limit_warps_i,      // up to this use one more fits
  input  logic [MAX_KERNELS*sluice_pkg::RegW-1:0]    limit_registers_i,
  input  logic [MAX_KERNELS*sluice_pkg::SharedW-1:0] limit_shared_i,
  input  logic [MAX_KERNELS-1:0]                     count_room_i,       // CTA slots and quotas allow one more
  output logic [MAX_KERNELS-1:0]                     fits_o,             // the amounts allow one more
  output logic [MAX_KERNELS-1:0]                     room_o              // all of it does
);
  localparam int unsigned WarpW = sluice_pkg::WarpW, RegW = sluice_pkg::RegW, SharedW = sluice_pkg::SharedW;
  always_comb
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      fits_o[k] = amounts_i[0 +: WarpW] <= limit_warps_i[k*WarpW +: WarpW]
               && amounts_i[WarpW +: RegW] <= limit_registers_i[k*RegW +: RegW]
               && amounts_i[WarpW+RegW +: SharedW] <= limit_shared_i[k*SharedW +: SharedW];
  assign room_o = fits_o & count_room_i;
endmodule
