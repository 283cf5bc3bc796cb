// SPDX-License-Identifier: Apache-2.0
// sm_watched: the SM on which the phase monitor watches each kernel: the first that is enabled, from the first of its
// range on. Combinational. Without SM_ENABLE it is the first of the range, and nothing is left of this.
module sm_watched #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned SM_ENABLE   = 0
) (
  input  logic [MAX_KERNELS*sluice_pkg::SmW-1:0] first_i,       // by kernel slot
  input  logic [NUM_SM-1:0]                      sm_enable_i,
  output logic [MAX_KERNELS*sluice_pkg::SmW-1:0] sm_o           // first_i where no SM from there on is enabled
);
  localparam int unsigned SmW = sluice_pkg::SmW;
  if (SM_ENABLE != 0) begin : gen_enable
    always_comb begin
      sm_o = first_i;
      for (int unsigned k = 0; k < MAX_KERNELS; k++)
        for (int unsigned m = NUM_SM; m > 0; m--)
          if (sm_enable_i[m-1] && SmW'(m - 1) >= first_i[k*SmW +: SmW]) sm_o[k*SmW +: SmW] = SmW'(m - 1);
    end
  end else begin : gen_first
    assign sm_o = first_i;
    logic unused_enable;
    assign unused_enable = ^sm_enable_i;
  end
endmodule
