// SPDX-License-Identifier: Apache-2.0
// Properties of kernel_slots at the real width of a grid, two slots: the indices of a kernel's CTAs count from 0 to the
// end of its grid and begin again, its last CTA is known when it is admitted, and CTAs are counted; with TAIL it is
// RUNNING just until then, if nobody stops it. The proof of cta_dispatcher has the same with grids of three bits, and
// no carry beyond them. Assumed of the user: what the header of kernel_slots asks.
module kernel_slots_props #(
  parameter int unsigned K    = 2,   // 2 or 3
  parameter int unsigned TAIL = 0
) (
  input logic                                clk_i,
  input logic                                rst_ni,
  input logic [sluice_pkg::WarpW-1:0]        warps_i,
  input logic [K*sluice_pkg::GridW-1:0]      grid_i,
  input logic [K-1:0]                        repeat_i,
  input logic                                in_order_i,
  input logic [K-1:0]                        launch_i,
  input logic [K-1:0]                        stop_i,
  input logic [K-1:0]                        admit_i,
  input logic                                ready_i,
  input logic [K-1:0]                        release_i
);
  localparam int unsigned GridW = sluice_pkg::GridW, ResidentW = sluice_pkg::ResidentW;
  logic [K-1:0]       launched, can_admit, port_q, bad_kernel, absent, absent_q;
  logic               valid, fresh_q, free;
  logic [GridW-1:0]   cta;
  logic [K*2-1:0]     state;
  logic [K*GridW-1:0] dispatched;
  logic [K*ResidentW-1:0] resident;
  kernel_slots #(.NUM_SM (2), .MAX_KERNELS (K), .MAX_CTAS (4), .TAIL (TAIL)) dut (
    .clk_i,
    .rst_ni,
    .capacity_i       ('1),
    .capacity_slots_i (6'd4),
    .demand_i         ({K{35'd0, warps_i}}),
    .region_fits_i    ('1),
    .grid_i,
    .repeat_i,
    .in_order_i,
    .launch_i,
    .stop_i,
    .evict_i          ('0),
    .evict_count_i    ('0),
    .resume_i         ('0),
    .admit_i,
    .port_i           (port_q),
    .fresh_i          (fresh_q),
    .free_i           (free),
    .release_i,
    .launched_o       (launched),
    .can_admit_o      (can_admit),
    .cta_o            (cta),
    .state_o          (state),
    .resident_o       (resident),
    .bad_kernel_o     (bad_kernel),
    .dispatched_o     (dispatched)
  );
  (* hierconn *) wire [GridW-1:0] \dut.i_grid_index.next_q[0] , \dut.i_grid_index.next_q[1] ;
  (* hierconn *) wire [K-1:0]
    \dut.i_grid_index.last_q , \dut.i_grid_index.second_q , \dut.i_grid_index.port_q , \dut.i_grid_index.count_q ,
    \dut.i_grid_index.next_ones_q , \dut.i_grid_index.dispatched_ones_q , \dut.i_grid_index.count_high_q , \dut.last ;
  (* hierconn *) wire             \dut.gen_slot[0].i_kernel_slot.fits_q , \dut.gen_slot[1].i_kernel_slot.fits_q ;
  logic [K*GridW-1:0] next;
  logic [K-1:0]       fits;
  assign next[0 +: 2*GridW] = {\dut.i_grid_index.next_q[1] , \dut.i_grid_index.next_q[0] };
  assign fits[1:0]          = {\dut.gen_slot[1].i_kernel_slot.fits_q , \dut.gen_slot[0].i_kernel_slot.fits_q };
  (* hierconn *) wire [GridW-1:0] \dut.i_grid_index.next_q[2] ;   // of three
  (* hierconn *) wire             \dut.gen_slot[2].i_kernel_slot.fits_q ;
  if (K == 3) begin : gen_third
    assign next[(K-1)*GridW +: GridW] = \dut.i_grid_index.next_q[2] ;
    assign fits[K-1]                  = \dut.gen_slot[2].i_kernel_slot.fits_q ;
  end

  // The port: a CTA comes a cycle after its admission, and stays until it is taken.
  assign valid = port_q != '0;
  assign free  = !valid || ready_i;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      port_q  <= '0;
      fresh_q <= 1'b0;
    end else begin
      fresh_q <= admit_i != '0;
      if (free) port_q <= admit_i;
    end

  // Index of the CTA of each kernel that comes to the port next, or is there; and how many have been counted.
  logic [K*GridW-1:0] index_q, after, second, counted_q, grid_q;
  logic [K-1:0]       counts_q, launch_q;
  logic               started;
  initial started = 1'b0;
  always_comb
    for (int unsigned k = 0; k < K; k++) begin
      after[k*GridW +: GridW] = index_q[k*GridW +: GridW] + 1'b1;
      if (after[k*GridW +: GridW] == grid_i[k*GridW +: GridW]) after[k*GridW +: GridW] = '0;
      second[k*GridW +: GridW] = after[k*GridW +: GridW] + 1'b1;
      if (second[k*GridW +: GridW] == grid_i[k*GridW +: GridW]) second[k*GridW +: GridW] = '0;
    end
  always_ff @(posedge clk_i) begin
    started  <= 1'b1;
    grid_q   <= grid_i;
    launch_q <= launched;
    counts_q <= (fresh_q && rst_ni) ? port_q : '0;
    for (int unsigned k = 0; k < K; k++) begin
      if (port_q[k] && ready_i) index_q[k*GridW +: GridW]   <= after[k*GridW +: GridW];
      if (counts_q[k])          counted_q[k*GridW +: GridW] <= counted_q[k*GridW +: GridW] + 1'b1;
      if (launched[k]) begin
        index_q[k*GridW +: GridW]   <= '0;
        counted_q[k*GridW +: GridW] <= '0;
      end
    end
    if (!rst_ni) counted_q <= '0;
  end

  (* hierconn *) wire \dut.gen_slot[0].i_kernel_slot.finished_q , \dut.gen_slot[1].i_kernel_slot.finished_q ;
  // With TAIL: of each kernel, whether it was RUNNING, and nothing ended that.
  if (TAIL != 0) begin : gen_tail
    logic [K-1:0] running, finished, ran_q, goes_on_q;
    assign finished = {\dut.gen_slot[1].i_kernel_slot.finished_q , \dut.gen_slot[0].i_kernel_slot.finished_q };
    always_comb
      for (int unsigned k = 0; k < K; k++) running[k] = state[k*2 +: 2] == 2'd1;
    always_ff @(posedge clk_i) begin
      ran_q     <= rst_ni ? running & ~stop_i : '0;
      goes_on_q <= ~(admit_i & \dut.last & ~repeat_i);
    end
    always_comb
      if (started && rst_ni) begin
        a_running_kernel_has_ctas_left: assert ((running & finished) == '0);
        a_kernel_leaves_with_its_last_cta: assert ((ran_q & (running ^ goes_on_q)) == '0);
      end
  end

  // A kernel that ends in the cycle before a STOP is not missed: who sent it could not know.
  always_comb
    for (int unsigned k = 0; k < K; k++) absent[k] = state[k*2 +: 2] == 2'd0;
  always_ff @(posedge clk_i) absent_q <= absent;
  always_comb
    if (started && rst_ni)
      a_stop_is_an_error_where_no_kernel_just_ended: assert (bad_kernel == (stop_i & absent & absent_q));

  // What the registers of the design mean.
  (* hierconn *) wire [K-1:0] \dut.spent_o ;
  logic ok_index, ok_port, ok_next, ok_last;
  always_comb begin
    ok_port  = \dut.i_grid_index.port_q == port_q && (port_q & (port_q - 1'b1)) == '0
        && \dut.i_grid_index.count_q == counts_q
      && (counts_q == '0 || \dut.i_grid_index.count_high_q == counts_q) && (!fresh_q || valid)
      && (counts_q & (counts_q - 1'b1)) == '0;
    ok_index = 1'b1;
    ok_next  = 1'b1;
    ok_last  = 1'b1;
    for (int unsigned k = 0; k < K; k++) begin
      if (port_q[k] && cta != index_q[k*GridW +: GridW]) ok_index = 1'b0;
      if ((port_q[k] || counts_q[k]) && state[k*2 +: 2] == 2'd0) ok_port = 1'b0;
      if (resident[k*ResidentW +: ResidentW] + ResidentW'(port_q[k] && fresh_q) > ResidentW'(8)) ok_port = 1'b0;
      if (port_q[k] && !fresh_q && resident[k*ResidentW +: ResidentW] == '0) ok_port = 1'b0;
      if (\dut.i_grid_index.dispatched_ones_q [k] != (&dispatched[k*GridW +: GridW/2])) ok_port = 1'b0;
      if (fits[k] && grid_q[k*GridW +: GridW] == '0) ok_port = 1'b0;
      if (can_admit[k] != (state[k*2 +: 2] == 2'd1 && !\dut.spent_o [k])) ok_port = 1'b0;
      if (state[k*2 +: 2] != 2'd0) begin
        if (next[k*GridW +: GridW] != index_q[k*GridW +: GridW]
            || index_q[k*GridW +: GridW] >= grid_i[k*GridW +: GridW]) ok_next = 1'b0;
        if (\dut.i_grid_index.next_ones_q [k] != (&next[k*GridW +: GridW/2])) ok_next = 1'b0;
        if (\dut.i_grid_index.last_q [k] != (after[k*GridW +: GridW] == '0)) ok_next = 1'b0;
        if (\dut.i_grid_index.second_q [k] != (second[k*GridW +: GridW] == '0)) ok_next = 1'b0;
        // The one that is admitted now: behind the one at the port.
        if (admit_i[k] && \dut.last [k] != ((port_q[k] ? second[k*GridW +: GridW] : after[k*GridW +: GridW]) == '0))
          ok_last = 1'b0;
      end
    end
  end

  always_comb begin
    if (!started) assume (!rst_ni);
    assume ((admit_i & ~can_admit) == '0 && (admit_i & (admit_i - 1'b1)) == '0 && (free || admit_i == '0));
    if (started)
      // descriptors are there a cycle before their launch and stay until the slot is FREE
      for (int unsigned k = 0; k < K; k++)
        assume (!(launch_i[k] || launch_q[k] || (rst_ni && state[k*2 +: 2] != 2'd0))
            || grid_i[k*GridW +: GridW] == grid_q[k*GridW +: GridW]);
    for (int unsigned k = 0; k < K; k++)   // what ends is resident, and not at the port; no more are resident than fit
      assume ((!release_i[k] || resident[k*ResidentW +: ResidentW] > ResidentW'(port_q[k] && !fresh_q))
           && (!admit_i[k] || resident[k*ResidentW +: ResidentW] + ResidentW'(port_q[k] && fresh_q) < ResidentW'(8)));
    if (started && rst_ni) begin
      indices_count_up_to_the_grid: assert (ok_index);
      ctas_are_counted: assert (dispatched == counted_q);
      last_cta_is_known_at_its_admission: assert (ok_last);
      port_is_of_one_kernel: assert (ok_port);
      next_index_is_known: assert (ok_next);
    end
  end
endmodule
