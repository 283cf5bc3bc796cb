// SPDX-License-Identifier: Apache-2.0
// Properties of kernel_slots at the real width of a grid, two slots: the indices of a kernel's CTAs count from 0 to the end of its grid and begin again, its last CTA is
// known when it is admitted, and CTAs are counted. The proof of cta_dispatcher has the same with grids of three bits, and no carry beyond them. Assumed of the
// user: what the header of kernel_slots asks.
module kernel_slots_props (
  input logic                                clk_i,
  input logic                                rst_ni,
  input logic [sluice_pkg::WarpW-1:0]        warps_i,
  input logic [2*sluice_pkg::GridW-1:0]      grid_i,
  input logic [1:0]                          repeat_i,
  input logic                                in_order_i,
  input logic [1:0]                          launch_i,
  input logic [1:0]                          stop_i,
  input logic [1:0]                          take_i,
  input logic [1:0]                          give_i
);
  localparam int unsigned K = 2, GridW = sluice_pkg::GridW;
  logic [K-1:0]       launched, can_take;
  logic [GridW-1:0]   cta;
  logic [K*2-1:0]     state;
  logic [K*GridW-1:0] dispatched;
  kernel_slots #(.NUM_SM (2), .MAX_KERNELS (K), .MAX_CTAS (4)) dut (
    .clk_i, .rst_ni, .capacity_warps_i ('1), .capacity_registers_i ('0), .capacity_shared_i ('0), .capacity_slots_i (6'd4), .demand_warps_i ({warps_i, warps_i}),
    .demand_registers_i ('0), .demand_shared_i ('0), .region_fits_i ('1), .grid_i, .repeat_i, .in_order_i, .launch_i, .stop_i, .evict_i ('0), .evict_count_i ('0), .resume_i ('0),
    .take_i, .give_i, .launched_o (launched), .can_take_o (can_take), .cta_o (cta), .state_o (state), .dispatched_o (dispatched));
  (* hierconn *) wire [K*GridW-1:0]     \dut.next ;
  (* hierconn *) wire [K-1:0]           \dut.next_last , \dut.second_last , \dut.count_kernel_q , \dut.index_kernel_q , \dut.last ;
  (* hierconn *) wire [GridW-1:0]       \dut.cta_q , \dut.count_grid_q ;
  (* hierconn *) wire                   \dut.index_q , \dut.count_q ;
  (* hierconn *) wire [GridW/4-1:0]     \dut.cta_ones_q ;
  (* hierconn *) wire                   \dut.gen_slot[0].fits_q , \dut.gen_slot[1].fits_q ;

  // Index of the next CTA of each kernel, and how many have been counted.
  logic [K*GridW-1:0] index_q, after, counted_q, grid_q;
  logic [K-1:0]       count, launch_q;
  logic               started;
  initial started = 1'b0;
  assign count = \dut.count_q ? \dut.count_kernel_q : '0;
  always_comb
    for (int unsigned k = 0; k < K; k++) begin
      after[k*GridW +: GridW] = index_q[k*GridW +: GridW] + 1'b1;
      if (after[k*GridW +: GridW] == grid_i[k*GridW +: GridW]) after[k*GridW +: GridW] = '0;
    end
  always_ff @(posedge clk_i) begin
    started  <= 1'b1;
    grid_q   <= grid_i;
    launch_q <= launched;
    for (int unsigned k = 0; k < K; k++) begin
      if (\dut.index_kernel_q [k]) index_q[k*GridW +: GridW] <= after[k*GridW +: GridW];
      if (count[k])                counted_q[k*GridW +: GridW] <= counted_q[k*GridW +: GridW] + 1'b1;
      if (launched[k]) begin
        index_q[k*GridW +: GridW]   <= '0;
        counted_q[k*GridW +: GridW] <= '0;
      end
    end
    if (!rst_ni) counted_q <= '0;
  end

  // What the registers of the design mean.
  logic ok_index, ok_pipeline, ok_ones, ok_next, ok_cta, ok_last;
  logic [K-1:0] fits;
  assign fits     = {\dut.gen_slot[1].fits_q , \dut.gen_slot[0].fits_q };
  always_comb begin
    ok_pipeline = \dut.index_q == (\dut.index_kernel_q != '0) && \dut.index_kernel_q != '1 && (!\dut.count_q || count == K'(1) || count == K'(2));
    ok_index    = 1'b1;
    ok_ones     = 1'b1;
    ok_next     = 1'b1;
    ok_cta      = 1'b1;
    ok_last     = 1'b1;
    for (int unsigned g = 0; g < GridW / 4; g++)
      if (\dut.cta_ones_q [g] != (\dut.cta_q [g*4 +: 4] == 4'd15)) ok_ones = 1'b0;
    for (int unsigned k = 0; k < K; k++) begin
      if (\dut.index_kernel_q [k] && cta != index_q[k*GridW +: GridW]) ok_index = 1'b0;
      if ((\dut.index_kernel_q [k] || count[k]) && state[k*2 +: 2] == 2'd0) ok_pipeline = 1'b0;
      if (fits[k] && grid_q[k*GridW +: GridW] == '0) ok_pipeline = 1'b0;
      if (state[k*2 +: 2] != 2'd0) begin
        if (index_q[k*GridW +: GridW] >= grid_i[k*GridW +: GridW]) ok_next = 1'b0;
        if (\dut.next [k*GridW +: GridW] >= grid_i[k*GridW +: GridW] || (!count[k] && \dut.next [k*GridW +: GridW] != index_q[k*GridW +: GridW])) ok_next = 1'b0;
        if (\dut.next_last [k] != (\dut.next [k*GridW +: GridW] + 1'b1 == grid_i[k*GridW +: GridW])) ok_next = 1'b0;
        if (\dut.second_last [k] != (\dut.next_last [k] ? grid_i[k*GridW +: GridW] == GridW'(1)
          : \dut.next [k*GridW +: GridW] + GridW'(2) == grid_i[k*GridW +: GridW])) ok_next = 1'b0;
        if (count[k] && (\dut.cta_q >= grid_i[k*GridW +: GridW] || \dut.count_grid_q != grid_i[k*GridW +: GridW]
            || index_q[k*GridW +: GridW] != (\dut.cta_q + 1'b1 == grid_i[k*GridW +: GridW] ? '0 : \dut.cta_q + 1'b1))) ok_cta = 1'b0;
        // The one that is admitted now: behind the one that gets its index.
        if (take_i[k] && \dut.last [k] != ((\dut.index_kernel_q [k] ? after[k*GridW +: GridW] : index_q[k*GridW +: GridW]) + 1'b1 == grid_i[k*GridW +: GridW])) ok_last = 1'b0;
      end
    end
  end

  always_comb begin
    if (!started) assume (!rst_ni);
    assume ((take_i & ~can_take) == '0 && take_i != '1);
    if (started)
      for (int unsigned k = 0; k < K; k++)   // descriptors are there a cycle before their launch and stay until the slot is FREE
        assume (!(launch_i[k] || launch_q[k] || (rst_ni && state[k*2 +: 2] != 2'd0)) || grid_i[k*GridW +: GridW] == grid_q[k*GridW +: GridW]);
    if (started && rst_ni) begin
      indices_count_up_to_the_grid: assert (ok_index);
      ctas_are_counted: assert (dispatched == counted_q);
      last_cta_is_known_at_its_admission: assert (ok_last);
      stages_hold_one_kernel: assert (ok_pipeline);
      groups_of_ones_are_known: assert (ok_ones);
      next_index_is_known: assert (ok_next);
      last_index_is_kept: assert (ok_cta);
    end
  end
endmodule
