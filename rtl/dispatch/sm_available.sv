// SPDX-License-Identifier: Apache-2.0
// sm_available: the SMs that may be given a CTA in this cycle: those that are enabled and have said that they are
// ready. An SM's word is a cycle old, and is used for one CTA: while one waits for it at the port, it is not looked at.
// An SM that takes a CTA has fallen out of available_o before it could be picked again, if its ready falls in the cycle
// after the CTA was taken. Without both options every SM is available, and nothing is left of this.
module sm_available #(
  parameter int unsigned NUM_SM    = 16,
  parameter int unsigned SM_ENABLE = 0,   // 1: sm_enable_i is looked at
  parameter int unsigned SM_READY  = 0    // 1: sm_ready_i is looked at
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [NUM_SM-1:0] sm_enable_i,   // from a register
  input  logic [NUM_SM-1:0] sm_ready_i,
  input  logic [NUM_SM-1:0] port_sm_i,     // a CTA waits for it at the port: one-hot, or 0
  output logic [NUM_SM-1:0] available_o,
  output logic              busy_o     // changes with the next edge
);
  if (!sluice_pkg::sizes_exist(NUM_SM, 2, 4)) $error("sm_available: size out of range");
  logic [NUM_SM-1:0] enabled, ready;
  if (SM_READY != 0) begin : gen_ready
    logic [NUM_SM-1:0] ready_d, ready_q;
    assign ready_d = sm_ready_i & ~port_sm_i;
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) ready_q <= '0;
      else         ready_q <= ready_d;
    assign ready      = ready_q;
    assign busy_o = ready_d != ready_q;
  end else begin : gen_always_ready
    assign ready      = '1;
    assign busy_o = 1'b0;
    logic unused_ready;
    assign unused_ready = ^{clk_i, rst_ni, sm_ready_i, port_sm_i};
  end
  if (SM_ENABLE != 0) begin : gen_enable
    assign enabled = sm_enable_i;
  end else begin : gen_all_enabled
    assign enabled = '1;
    logic unused_enable;
    assign unused_enable = ^sm_enable_i;
  end
  assign available_o = enabled & ready;
endmodule
