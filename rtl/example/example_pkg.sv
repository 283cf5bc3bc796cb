// SPDX-License-Identifier: Apache-2.0
// example_pkg: widths and encodings of the example GPU (docs/reference/blocks/example_gpu.md).
package example_pkg;
  localparam int unsigned Lanes     = 8;             // of a warp, and words of a line
  localparam int unsigned LineW     = Lanes * 32;
  localparam int unsigned PcW       = 8;             // instructions of a program
  localparam int unsigned WarpW     = 6;             // warps of a CTA, or of an SM
  localparam int unsigned LocalW    = 2;             // lines of a CTA's scratchpad
  localparam int unsigned LocalBit  = 16;            // of an address: scratchpad

  // Major opcodes of RV32IM.
  localparam logic [6:0] OpLoad   = 7'b0000011;
  localparam logic [6:0] OpImm    = 7'b0010011;
  localparam logic [6:0] OpAuipc  = 7'b0010111;
  localparam logic [6:0] OpStore  = 7'b0100011;
  localparam logic [6:0] OpOp     = 7'b0110011;
  localparam logic [6:0] OpLui    = 7'b0110111;
  localparam logic [6:0] OpBranch = 7'b1100011;
  localparam logic [6:0] OpJalr   = 7'b1100111;
  localparam logic [6:0] OpJal    = 7'b1101111;
  localparam logic [6:0] OpSystem = 7'b1110011;

  // Read-only registers that tell a thread who it is.
  localparam logic [11:0] CsrThread  = 12'hCC0;      // in its CTA
  localparam logic [11:0] CsrCta     = 12'hCC1;      // in its grid
  localparam logic [11:0] CsrThreads = 12'hCC2;      // of a CTA

  localparam logic [31:0] Barrier = 32'h0000000B;    // of custom-0
  localparam logic [31:0] Ecall   = 32'h00000073;    // the lane ends
endpackage
