// SPDX-License-Identifier: Apache-2.0
// dispatch_port: the CTA that is offered to its SM, from the cycle behind its pick until it is taken. Its slot is told
// in its first cycle here (fresh).
module dispatch_port #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           pick_valid_i,     // only with free_o
  input  logic [NUM_SM-1:0]              pick_sm_i,        // one-hot, or 0 without a pick, as the next
  input  logic [MAX_KERNELS-1:0]         pick_kernel_i,
  input  logic [MAX_CTAS-1:0]            admit_slot_i,      // in the first cycle; one-hot
  input  logic                           ready_i,
  output logic                           free_o,           // none, or it leaves
  output logic                           valid_o,
  output logic                           fresh_o,
  output logic [NUM_SM-1:0]              sm_o,             // one-hot, or 0 without a CTA, as the next
  output logic [MAX_KERNELS-1:0]         kernel_o,
  output logic [MAX_CTAS-1:0]            slot_o,           // one-hot
  output logic [sluice_pkg::SmW-1:0]     sm_index_o,       // the same as numbers
  output logic [sluice_pkg::KIndexW-1:0] kernel_index_o,
  output logic [sluice_pkg::SlotW-1:0]   slot_index_o
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("dispatch_port: size out of range");
  logic                   valid_q, fresh_q;
  logic [NUM_SM-1:0]      sm_q;
  logic [MAX_KERNELS-1:0] kernel_q;
  logic [MAX_CTAS-1:0]    slot, slot_q;
  assign free_o = !valid_q || ready_i;
  assign slot   = fresh_q ? admit_slot_i : slot_q;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      fresh_q  <= 1'b0;
      sm_q     <= '0;
      kernel_q <= '0;
    end else begin
      valid_q <= pick_valid_i || !free_o;
      fresh_q <= pick_valid_i;
      if (free_o) begin
        sm_q     <= pick_sm_i;
        kernel_q <= pick_kernel_i;
      end
    end
  always_ff @(posedge clk_i)   // looked at only with a CTA there: no reset
    if (fresh_q) slot_q <= admit_slot_i;

  always_comb begin
    sm_index_o     = '0;
    kernel_index_o = '0;
    slot_index_o   = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (sm_q[m]) sm_index_o |= sluice_pkg::SmW'(m);
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (kernel_q[k]) kernel_index_o |= sluice_pkg::KIndexW'(k);
    for (int unsigned s = 0; s < MAX_CTAS; s++)
      if (slot[s]) slot_index_o |= sluice_pkg::SlotW'(s);
  end
  assign valid_o  = valid_q;
  assign fresh_o  = fresh_q;
  assign sm_o     = sm_q;
  assign kernel_o = kernel_q;
  assign slot_o   = slot;
endmodule
