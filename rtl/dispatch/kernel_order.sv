// SPDX-License-Identifier: Apache-2.0
// kernel_order: who goes before whom (docs/reference/blocks/cta_dispatcher.md, Priorities): the kernel of higher
// priority; of two alike the older, or in turn the one whose last CTA was picked longer ago. In order, a kernel may
// wait for wait_guard only as the oldest of its priority that has CTAs left: the others wait for that one. Priorities
// are compared in the cycle before: ahead_o knows a new kernel from the cycle in which it is RUNNING on.
module kernel_order #(
  parameter int unsigned MAX_KERNELS = 4
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  input  logic [MAX_KERNELS*sluice_pkg::PriorityW-1:0] priority_i,      // stable from the cycle of the launch on
  input  logic [MAX_KERNELS*MAX_KERNELS-1:0]           older_i,         // bit i*K+j: i was launched before j
  input  logic [MAX_KERNELS-1:0]                       can_admit_i,      // may dispatch
  input  logic                                         in_order_i,
  input  logic                                         in_turn_i,
  input  logic [MAX_KERNELS-1:0]                       pick_kernel_i,   // one-hot, or 0
  output logic [MAX_KERNELS*MAX_KERNELS-1:0]           ahead_o,         // i goes before j
  output logic [MAX_KERNELS-1:0]                       may_wait_o
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, 4)) $error("kernel_order: size out of range");
  localparam int unsigned K         = MAX_KERNELS;
  localparam int unsigned PriorityW = sluice_pkg::PriorityW;

  logic [K*K-1:0] above_d, above_q;     // i has a higher priority than j
  logic [K*K-1:0] later_d, later_q;     // of i < j: i was picked after j
  logic [K*K-1:0] first;                // of two alike
  always_comb begin
    above_d    = '0;
    later_d    = '0;
    first      = '0;
    ahead_o    = '0;
    may_wait_o = '1;
    for (int unsigned i = 0; i < K; i++)
      for (int unsigned j = 0; j < K; j++)
        if (i != j) begin
          above_d[i*K + j] = priority_i[i*PriorityW +: PriorityW] > priority_i[j*PriorityW +: PriorityW];
          if (i < j) later_d[i*K + j] = (later_q[i*K + j] && !pick_kernel_i[j]) || pick_kernel_i[i];
          first[i*K + j]   = in_turn_i ? ((i < j) ? !later_q[i*K + j] : later_q[j*K + i]) : older_i[i*K + j];
          ahead_o[i*K + j] = above_q[i*K + j] || (first[i*K + j] && !above_q[j*K + i]);
          if (in_order_i && can_admit_i[i] && older_i[i*K + j] && !above_q[i*K + j] && !above_q[j*K + i])
            may_wait_o[j] = 1'b0;
        end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      above_q <= '0;
      later_q <= '0;
    end else begin
      above_q <= above_d;
      later_q <= later_d;
    end
endmodule
