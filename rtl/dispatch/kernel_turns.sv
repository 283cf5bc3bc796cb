// SPDX-License-Identifier: Apache-2.0
// kernel_turns: which kernel goes before which where several could be given a CTA. With PRIORITY kernel_order sorts
// them, else age does; with PATIENCE wait_guard reserves SMs for a kernel that has waited too long. Without the options
// there is no logic here.
module kernel_turns #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned PRIORITY    = 0,   // 1: with priority_i
  parameter int unsigned PATIENCE    = 0    // else no kernel waits for ever
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  input  logic [MAX_KERNELS*sluice_pkg::PriorityW-1:0] priority_i,        // higher first
  input  logic [MAX_KERNELS*MAX_KERNELS-1:0]           older_i,           // bit i*K+j: i is older than j
  input  logic [MAX_KERNELS-1:0]                       can_admit_i,
  input  logic [MAX_KERNELS-1:0]                       waits_i,           // has CTAs to send
  input  logic                                         in_order_i,
  input  logic                                         round_robin_i,
  input  logic [MAX_KERNELS-1:0]                       pick_kernel_i,     // is given a CTA: one-hot, or 0
  input  logic                                         quota_changed_i,
  input  logic                                         eval_i,            // the quotas of this SM are there,
  input  logic [NUM_SM-1:0]                            eval_sm_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]      eval_quota_i,
  input  logic [NUM_SM-1:0]                            port_sm_i,         // and those of the SM of the CTA at the port
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]      port_quota_i,
  input  logic [NUM_SM-1:0]                            sm_enable_i,
  input  logic [NUM_SM-1:0]                            life_i,            // SMs that take CTAs or end some
  output logic [MAX_KERNELS*MAX_KERNELS-1:0]           ahead_o,           // bit i*K+j: i goes before j
  output logic [MAX_KERNELS-1:0]                       claim_o,           // the kernel that SMs are reserved for
  output logic [NUM_SM-1:0]                            reserved_o,        // these
  output logic                                         sweep_o,           // every SM is to be read again
  output logic                                         busy_o             // changes without an input
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, 4)) $error("kernel_turns: size out of range");
  localparam int unsigned K = MAX_KERNELS;

  logic [K-1:0] may_wait;
  if (PRIORITY != 0) begin : gen_order
    kernel_order #(.MAX_KERNELS(K)) i_kernel_order (
      .clk_i,
      .rst_ni,
      .priority_i,
      .older_i,
      .can_admit_i,
      .in_order_i,
      .in_turn_i     (round_robin_i && !in_order_i),
      .pick_kernel_i,
      .ahead_o,
      .may_wait_o    (may_wait)
    );
  end else begin : gen_no_order
    assign ahead_o  = older_i;
    assign may_wait = {K{!in_order_i}};
    logic unused_order;
    assign unused_order = ^{priority_i, can_admit_i, round_robin_i};
  end

  if (PATIENCE != 0) begin : gen_guard
    wait_guard #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .PATIENCE(PATIENCE)) i_wait_guard (
      .clk_i,
      .rst_ni,
      .waits_i       (waits_i & may_wait),
      .pick_kernel_i,
      .quota_changed_i,
      .eval_i,
      .eval_sm_i,
      .eval_quota_i,
      .port_sm_i,
      .port_quota_i,
      .sm_enable_i,
      .life_i,
      .claim_o,
      .reserved_o,
      .sweep_o,
      .busy_o
    );
  end else begin : gen_no_guard
    assign {claim_o, reserved_o, sweep_o, busy_o} = '0;
    logic unused_guard;
    assign unused_guard = ^{clk_i, rst_ni, waits_i, may_wait, pick_kernel_i, quota_changed_i, eval_i, eval_sm_i,
        eval_quota_i, port_sm_i, port_quota_i, sm_enable_i, life_i};
  end
endmodule
