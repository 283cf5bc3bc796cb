// SPDX-License-Identifier: Apache-2.0
// sample_entry: warp instructions of a sample as {exponent, mantissa}: the top bit, in place p, is left out of the
// mantissa, and the exponent is p - 2. Less than 8 is zero. Larger entries are larger numbers
// (docs/reference/blocks/partition_core.md). Combinational.
module sample_entry (
  input  logic [sluice_pkg::InstW-1:0]   insts_i,
  output logic [sluice_pkg::ScaledW-1:0] entry_o
);
  localparam int unsigned InstW     = sluice_pkg::InstW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned FractionW = sluice_pkg::MantissaW - 1;

  // The top bit brought up by at most 2**ExponentW - 2; what is smaller is zero.
  logic [InstW-1:0]     high;
  logic [ExponentW-1:0] zeros;
  always_comb begin
    high  = insts_i;
    zeros = '0;
    for (int unsigned s = ExponentW; s > 0; s--) begin
      if ((high >> (InstW - (1 << (s - 1)))) == '0) begin
        high       = high << (1 << (s - 1));
        zeros[s-1] = 1'b1;
      end
    end
    entry_o = {~zeros, high[InstW-2 -: FractionW]};
    if (!high[InstW-1] || (&zeros)) entry_o = '0;
  end

  logic unused_low;
  assign unused_low = ^high;
endmodule
