// SPDX-License-Identifier: Apache-2.0
// example_lane: what one lane computes of a legal instruction: result, next instruction, address. Combinational.
module example_lane (
  input  logic [6:0]                  opcode_i,
  input  logic [2:0]                  funct3_i,
  input  logic                        alternate_i,  // bit 30: SUB, SRA
  input  logic                        multiply_i,   // bit 25, of OP
  input  logic [1:0]                  identity_i,   // low bits of the register that csrr reads
  input  logic [31:0]                 immediate_i,
  input  logic [example_pkg::PcW-1:0] pc_i,         // words
  input  logic [31:0]                 a_i,          // rs1
  input  logic [31:0]                 b_i,          // rs2
  input  logic [31:0]                 thread_i,     // its index in the CTA,
  input  logic [31:0]                 cta_i,        // the CTA's in the grid,
  input  logic [31:0]                 threads_i,    // threads of a CTA
  output logic [31:0]                 result_o,     // of all but loads
  output logic [31:0]                 address_o,    // of loads, stores and JALR
  output logic [example_pkg::PcW-1:0] next_o        // words
);
  localparam int unsigned PcW = example_pkg::PcW;

  logic        register, taken, less, below;
  logic [31:0] operand, pc, sum, target;
  assign register  = opcode_i == example_pkg::OpOp || opcode_i == example_pkg::OpBranch;
  assign operand   = register ? b_i : immediate_i;
  assign pc        = 32'({pc_i, 2'b00});
  assign less      = $signed(a_i) < $signed(operand);
  assign below     = a_i < operand;
  assign address_o = a_i + immediate_i;
  assign target    = (opcode_i == example_pkg::OpJalr) ? address_o : pc + immediate_i;
  assign sum       = (opcode_i == example_pkg::OpOp && alternate_i) ? a_i - b_i : a_i + operand;

  always_comb begin
    taken = 1'b0;
    unique case (funct3_i)
      3'b000:  taken = a_i == b_i;
      3'b001:  taken = a_i != b_i;
      3'b100:  taken = less;
      3'b101:  taken = !less;
      3'b110:  taken = below;
      3'b111:  taken = !below;
      default: ;
    endcase
    next_o = pc_i + PcW'(1);
    if (opcode_i == example_pkg::OpJal || opcode_i == example_pkg::OpJalr
        || (opcode_i == example_pkg::OpBranch && taken)) next_o = target[2 +: PcW];
  end

  logic [31:0] value;   // of OP and OP-IMM
  always_comb begin
    unique case (funct3_i)
      3'b000: value = sum;
      3'b001: value = a_i << operand[4:0];
      3'b010: value = 32'(less);
      3'b011: value = 32'(below);
      3'b100: value = a_i ^ operand;
      3'b101: value = alternate_i ? $unsigned($signed(a_i) >>> operand[4:0]) : a_i >> operand[4:0];
      3'b110: value = a_i | operand;
      3'b111: value = a_i & operand;
    endcase
    if (opcode_i == example_pkg::OpOp && multiply_i) value = a_i * b_i;
    unique case (opcode_i)
      example_pkg::OpLui:    result_o = immediate_i;
      example_pkg::OpAuipc:  result_o = target;
      example_pkg::OpJal,
      example_pkg::OpJalr:   result_o = pc + 32'd4;
      example_pkg::OpSystem: result_o = (identity_i == example_pkg::CsrThread[1:0]) ? thread_i
                                      : (identity_i == example_pkg::CsrCta[1:0]) ? cta_i : threads_i;
      default:               result_o = value;
    endcase
  end
endmodule
