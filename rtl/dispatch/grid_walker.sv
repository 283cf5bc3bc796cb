// SPDX-License-Identifier: Apache-2.0
// grid_walker: what the launch port gives a kernel beyond its descriptor: context, priority, and the extents of its
// grid. Tells them with each CTA at the dispatch port, and the CTA's place in the grid: x first, then y, then z, from
// the starting block on. A kernel that was launched by the registers has context and priority 0 and a grid of one
// dimension.
module grid_walker #(
  parameter int unsigned MAX_KERNELS = 4
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic [MAX_KERNELS-1:0]           admit_i,        // a launch of the port goes to this slot: one-hot, or 0,
  input  sluice_pkg::launch_t              launch_i,      // with this
  input  logic [MAX_KERNELS-1:0]           launch_slot_i, // pulses: launched, the cycle after a take or a command
  input  logic [MAX_KERNELS-1:0]           slot_free_i,
  input  logic                             leaves_i,      // the CTA at the dispatch port is taken
  input  logic [sluice_pkg::KIndexW-1:0]   kernel_i,      // whose it is, while there is one,
  input  logic [sluice_pkg::GridW-1:0]     cta_i,         // and its index
  output logic [sluice_pkg::GridW-1:0]     x_o,           // its place,
  output logic [sluice_pkg::BlockW-1:0]    y_o,
  output logic [sluice_pkg::BlockW-1:0]    z_o,
  output logic [sluice_pkg::ContextW-1:0]  context_o,     // and its kernel's
  output logic [sluice_pkg::PriorityW-1:0] priority_o,
  output logic [MAX_KERNELS*(sluice_pkg::ContextW+sluice_pkg::PriorityW)-1:0] tags_o   // by slot: {priority, context}
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, 4)) $error("grid_walker: size out of range");
  localparam int unsigned K     = MAX_KERNELS;
  localparam int unsigned GridW = sluice_pkg::GridW, BlockW = sluice_pkg::BlockW;
  localparam int unsigned TagW  = sluice_pkg::ContextW + sluice_pkg::PriorityW;

  logic [K*GridW-1:0]  x_q, last_x_q;        // of the next CTA; the last in its row
  logic [K*BlockW-1:0] y_q, last_y_q, z_q;
  logic [K*TagW-1:0]   tags_q;
  logic [K-1:0]        walks_q, admitted_q;     // walks: the port's launch; taken: in the cycle before

  logic [K-1:0]        here;
  logic [GridW-1:0]    x;
  logic [BlockW-1:0]   y, z;
  logic                walks;
  always_comb begin
    x = '0;
    y = '0;
    z = '0;
    {priority_o, context_o} = '0;
    for (int unsigned k = 0; k < K; k++) begin
      here[k] = kernel_i == sluice_pkg::KIndexW'(k);
      if (here[k]) begin
        x                       |= x_q[k*GridW +: GridW];
        y                       |= y_q[k*BlockW +: BlockW];
        z                       |= z_q[k*BlockW +: BlockW];
        {priority_o, context_o} |= tags_q[k*TagW +: TagW];
      end
    end
  end
  assign walks = (here & walks_q) != '0;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      walks_q <= '0;
      tags_q  <= '0;
      admitted_q <= '0;
    end else begin
      admitted_q <= admit_i;
      for (int unsigned k = 0; k < K; k++)
        if (admit_i[k]) begin
          walks_q[k]             <= 1'b1;
          tags_q[k*TagW +: TagW] <= {launch_i.urgency, launch_i.ctx};
        end else if (launch_slot_i[k] && slot_free_i[k] && !admitted_q[k]) begin
          walks_q[k]             <= 1'b0;
          tags_q[k*TagW +: TagW] <= '0;
        end
    end
  logic [GridW-1:0]  size_x_q;   // of the launch of the cycle before
  logic [BlockW-1:0] size_y_q;
  always_ff @(posedge clk_i)
    if (admit_i != '0) begin
      size_x_q <= launch_i.size_x;
      size_y_q <= launch_i.size_y;
    end
  // Each kernel counts by itself: what is at the port does not wait for a choice of whose count goes on.
  for (genvar k = 0; k < K; k++) begin : gen_kernel
    logic row_ends, plane_ends;
    assign row_ends   = x_q[k*GridW +: GridW] == last_x_q[k*GridW +: GridW];
    assign plane_ends = row_ends && y_q[k*BlockW +: BlockW] == last_y_q[k*BlockW +: BlockW];
    always_ff @(posedge clk_i)   // looked at only behind a launch of the port: no reset
      if (admit_i[k]) begin
        x_q[k*GridW +: GridW]        <= launch_i.start_x;
        y_q[k*BlockW +: BlockW]      <= launch_i.start_y;
        z_q[k*BlockW +: BlockW]      <= launch_i.start_z;
      end else if (leaves_i && here[k]) begin
        x_q[k*GridW +: GridW]   <= row_ends ? '0 : x_q[k*GridW +: GridW] + 1'b1;
        y_q[k*BlockW +: BlockW] <= plane_ends ? '0 : y_q[k*BlockW +: BlockW] + BlockW'(row_ends);
        z_q[k*BlockW +: BlockW] <= z_q[k*BlockW +: BlockW] + BlockW'(plane_ends);
      end
    always_ff @(posedge clk_i)
      if (admitted_q[k]) begin
        last_x_q[k*GridW +: GridW]   <= size_x_q - 1'b1;
        last_y_q[k*BlockW +: BlockW] <= size_y_q - 1'b1;
      end
  end

  assign x_o    = walks ? x : cta_i;
  assign y_o    = walks ? y : '0;
  assign z_o    = walks ? z : '0;
  assign tags_o = tags_q;

  logic unused_descriptor;
  assign unused_descriptor = ^{launch_i.demand, launch_i.ctas};
endmodule
