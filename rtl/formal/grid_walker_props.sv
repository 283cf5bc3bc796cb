// SPDX-License-Identifier: Apache-2.0
// Properties of grid_walker at full width, for any kernel (constant), any launches of the port and of the registers,
// and any CTAs that leave. Assumed: one launch at a time, whose first CTA is within its grid; no CTA of a kernel at the
// port in the cycle of its launch and in the next.
module grid_walker_props #(
  parameter int unsigned K = 2
) (
  input logic                           clk_i,
  input logic                           rst_ni,
  input logic [K-1:0]                   admit_i,
  input sluice_pkg::launch_t            launch_i,
  input logic [K-1:0]                   launch_slot_i,
  input logic [K-1:0]                   slot_free_i,
  input logic                           leaves_i,
  input logic [sluice_pkg::KIndexW-1:0] kernel_i,
  input logic [sluice_pkg::GridW-1:0]   cta_i
);
  localparam int unsigned GridW = sluice_pkg::GridW, BlockW = sluice_pkg::BlockW;
  localparam int unsigned TagW  = sluice_pkg::ContextW + sluice_pkg::PriorityW;

  logic [GridW-1:0]                  x;
  logic [BlockW-1:0]                 y, z;
  logic [sluice_pkg::ContextW-1:0]   ctx;
  logic [sluice_pkg::PriorityW-1:0]  urgency;
  logic [K*TagW-1:0]                 tags;
  grid_walker #(.MAX_KERNELS(K)) dut (
    .*,
    .x_o        (x),
    .y_o        (y),
    .z_o        (z),
    .context_o  (ctx),
    .priority_o (urgency),
    .tags_o     (tags)
  );
  (* hierconn *) wire [K*GridW-1:0]  \dut.x_q , \dut.last_x_q ;
  (* hierconn *) wire [K*BlockW-1:0] \dut.y_q , \dut.z_q , \dut.last_y_q ;
  (* hierconn *) wire [K-1:0]        \dut.walks_q , \dut.admitted_q ;
  (* hierconn *) wire [GridW-1:0]    \dut.size_x_q ;
  (* hierconn *) wire [BlockW-1:0]   \dut.size_y_q ;

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb if (!started) assume (!rst_ni);

  // The kernel that is followed, and what its last launch said.
  (* anyconst *) logic [sluice_pkg::KIndexW-1:0] k;
  logic                of_port_q, of_registers_q, fresh_q;   // fresh: launched in the cycle before
  sluice_pkg::launch_t launch_q;
  logic [GridW-1:0]    x_q;   // the place of its next CTA, by the definition of the order
  logic [BlockW-1:0]   y_q, z_q;
  logic                at_port, by_port, by_registers;
  assign at_port      = kernel_i == k;
  assign by_port      = admit_i[k];
  assign by_registers = launch_slot_i[k] && slot_free_i[k] && !fresh_q && !by_port;

  logic row, plane;   // the next CTA begins one
  assign row   = x_q + 1'b1 == launch_q.size_x;
  assign plane = row && y_q + 1'b1 == launch_q.size_y;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      of_port_q      <= 1'b0;
      of_registers_q <= 1'b0;
      fresh_q        <= 1'b0;
    end else begin
      fresh_q <= by_port;
      if (by_port || by_registers) begin
        of_port_q      <= by_port;
        of_registers_q <= by_registers;
      end
    end
  always_ff @(posedge clk_i)
    if (by_port) begin
      launch_q <= launch_i;
      x_q      <= launch_i.start_x;
      y_q      <= launch_i.start_y;
      z_q      <= launch_i.start_z;
    end else if (leaves_i && at_port) begin
      x_q <= row ? '0 : x_q + 1'b1;
      y_q <= !row ? y_q : plane ? '0 : y_q + 1'b1;
      z_q <= plane ? z_q + 1'b1 : z_q;
    end

  always_comb begin
    assume (k < sluice_pkg::KIndexW'(K));
    assume ((admit_i & (admit_i - 1'b1)) == '0);
    if (by_port) assume (launch_i.start_x < launch_i.size_x && launch_i.start_y < launch_i.size_y);
    if (by_port || fresh_q) assume (!(leaves_i && at_port));
  end

  always_comb if (started && rst_ni) begin
    if (of_port_q && at_port) begin
      places_come_in_their_order: assert (x == x_q && y == y_q && z == z_q);
      a_place_is_in_the_grid: assert (x < launch_q.size_x && y < launch_q.size_y);
      a_cta_has_its_launch_s_context_and_priority: assert (ctx == launch_q.ctx && urgency == launch_q.urgency);
    end
    if (of_registers_q && at_port) begin
      a_grid_of_the_registers_has_one_dimension: assert (x == cta_i && y == '0 && z == '0);
      a_kernel_of_the_registers_has_no_context: assert (ctx == '0 && urgency == '0);
    end
    if (of_port_q) slots_tell_what_their_ctas_tell: assert (tags[k*TagW +: TagW] == {launch_q.urgency, launch_q.ctx});
  end

  // What the others rest on.
  always_comb if (started && rst_ni) begin
    a_launch_is_remembered_for_a_cycle: assert (\dut.admitted_q [k] == fresh_q);
    what_walks_is_the_port_s: assert ((!of_port_q || \dut.walks_q [k]) && (!of_registers_q || !\dut.walks_q [k]));
    if (of_registers_q) nothing_is_told_of_the_registers: assert (tags[k*TagW +: TagW] == '0);
    if (fresh_q) begin
      a_fresh_launch_is_of_the_port: assert (of_port_q);
      the_extents_are_here_for_a_cycle: assert (\dut.size_x_q == launch_q.size_x && \dut.size_y_q == launch_q.size_y);
    end
    if (of_port_q) begin
      the_walker_is_at_the_next_place: assert (\dut.x_q [k*GridW +: GridW] == x_q
        && \dut.y_q [k*BlockW +: BlockW] == y_q && \dut.z_q [k*BlockW +: BlockW] == z_q);
      the_next_place_is_in_the_grid: assert (x_q < launch_q.size_x && y_q < launch_q.size_y);
      if (!fresh_q) the_ends_are_known: assert (\dut.last_x_q [k*GridW +: GridW] == launch_q.size_x - 1'b1
        && \dut.last_y_q [k*BlockW +: BlockW] == launch_q.size_y - 1'b1);
    end
  end

  always_comb if (started && rst_ni) begin
    a_plane_ends: cover (of_port_q && leaves_i && at_port && plane);
    a_row_ends_within_a_plane: cover (of_port_q && leaves_i && at_port && row && !plane);
  end
endmodule
