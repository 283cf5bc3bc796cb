// SPDX-License-Identifier: Apache-2.0
// example_decode: one instruction for all lanes of a warp: what it needs, and its immediate. Combinational; exactly one
// of the kinds is high for a legal instruction, none for another.
module example_decode (
  input  logic [31:0] inst_i,
  output logic [31:0] immediate_o,
  output logic        compute_o,     // result from the lanes, next instruction in sequence
  output logic        jump_o,        // JAL, JALR
  output logic        branch_o,
  output logic        load_o,
  output logic        store_o,
  output logic        barrier_o,
  output logic        end_o
);
  logic [6:0] opcode, funct7;
  logic [2:0] funct3;
  assign opcode = inst_i[6:0];
  assign funct3 = inst_i[14:12];
  assign funct7 = inst_i[31:25];

  logic shift, arithmetic, legal_op, legal_csr;
  assign shift      = funct3 == 3'b001 || funct3 == 3'b101;
  assign arithmetic = funct3 == 3'b101 || (funct3 == 3'b000 && opcode == example_pkg::OpOp);   // SRA, SRAI, SUB
  assign legal_op   = funct7 == 7'b0000000 || (funct7 == 7'b0100000 && arithmetic)
                   || (opcode == example_pkg::OpOp && funct7 == 7'b0000001 && funct3 == 3'b000);   // MUL
  assign legal_csr  = funct3 == 3'b010 && inst_i[19:15] == 5'd0
                   && (inst_i[31:20] == example_pkg::CsrThread || inst_i[31:20] == example_pkg::CsrCta
                   || inst_i[31:20] == example_pkg::CsrThreads);

  always_comb begin
    compute_o = 1'b0;
    jump_o    = 1'b0;
    branch_o  = 1'b0;
    load_o    = 1'b0;
    store_o   = 1'b0;
    barrier_o = inst_i == example_pkg::Barrier;
    end_o     = inst_i == example_pkg::Ecall;
    unique case (opcode)
      example_pkg::OpLui, example_pkg::OpAuipc: compute_o = 1'b1;
      example_pkg::OpImm:                       compute_o = !shift || legal_op;
      example_pkg::OpOp:                        compute_o = legal_op;
      example_pkg::OpSystem:                    compute_o = legal_csr;
      example_pkg::OpJal:                       jump_o    = 1'b1;
      example_pkg::OpJalr:                      jump_o    = funct3 == 3'b000;
      example_pkg::OpBranch:                    branch_o  = funct3 != 3'b010 && funct3 != 3'b011;
      example_pkg::OpLoad:                      load_o    = funct3 == 3'b010;
      example_pkg::OpStore:                     store_o   = funct3 == 3'b010;
      default: ;
    endcase
    unique case (opcode)
      example_pkg::OpLui, example_pkg::OpAuipc: immediate_o = {inst_i[31:12], 12'd0};
      example_pkg::OpJal:                       immediate_o =
          {{12{inst_i[31]}}, inst_i[19:12], inst_i[20], inst_i[30:21], 1'b0};
      example_pkg::OpBranch:                    immediate_o =
          {{20{inst_i[31]}}, inst_i[7], inst_i[30:25], inst_i[11:8], 1'b0};
      example_pkg::OpStore:                     immediate_o = {{20{inst_i[31]}}, inst_i[31:25], inst_i[11:7]};
      default:                                  immediate_o = {{20{inst_i[31]}}, inst_i[31:20]};
    endcase
  end
endmodule
