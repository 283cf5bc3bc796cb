// SPDX-License-Identifier: Apache-2.0
// grid_index: the next CTA of every kernel's grid, and how many of its CTAs were dispatched since its launch. The index
// at the port stays until the CTA leaves; behind a grid's last CTA comes its first. last_o is of the CTA that a kernel
// admits in this cycle: where one of its CTAs is at the port, of the CTA behind that one. One index is counted in a
// cycle, for all kernels by one adder; dispatched CTAs are counted two cycles after the admission.
module grid_index #(
  parameter int unsigned MAX_KERNELS = 4
) (
  input  logic                                     clk_i,
  input  logic                                     rst_ni,
  input  logic [MAX_KERNELS*sluice_pkg::GridW-1:0] grid_i,         // CTAs; stable from the launch on
  input  logic [MAX_KERNELS-1:0]                   offer_i,        // begin with CTA 0
  input  logic [MAX_KERNELS-1:0]                   launched_i,     // of these: the launch is taken
  input  logic [MAX_KERNELS-1:0]                   admit_i,         // one comes to the port: one-hot, or 0; with free_i
  input  logic                                     free_i,         // the port is free, or its CTA leaves
  input  logic                                     fresh_i,        // the CTA there is in its first cycle
  output logic [sluice_pkg::GridW-1:0]             cta_o,          // its index
  output logic [MAX_KERNELS-1:0]                   last_o, // the CTA that is admitted now would be its grid's last
  output logic [MAX_KERNELS*sluice_pkg::GridW-1:0] dispatched_o    // wraps
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, 4)) $error("grid_index: size out of range");
  localparam int unsigned K     = MAX_KERNELS;
  localparam int unsigned GridW = sluice_pkg::GridW;
  localparam int unsigned LowW  = GridW / 2;   // lower half of a count
  localparam logic [GridW-1:0] Apart = {{GridW-2{1'b1}}, 2'b00};   // -4

  logic [GridW-1:0] next_q [K];
  logic [GridW-1:0] dispatched_q [K];
  logic [K-1:0]     last_q, second_q;     // the next CTA is the last of its grid; the one behind that is
  logic [K-1:0]     port_q, count_q;      // whose CTA is at the port; is counted as dispatched. One-hot, or 0
  logic [K-1:0]     count_high_q;         // a copy for the upper half
  logic [GridW-1:0] grid, cta, following, dispatched, carry;
  logic             ends, third;          // the CTA at the port is the last; the second one behind it is
  logic [K-1:0]     next_ones_q, dispatched_ones_q;   // its lower half is all ones

  // x + 1, if low_ones tells whether the lower half of x is all ones: the carry into a bit is that the ones below it in
  // its group of eight, and the groups below in its half, are all ones.
  function automatic logic [GridW-1:0] plus_one(input logic [GridW-1:0] x, input logic low_ones);
    logic lower, below;
    lower = 1'b1;
    below = 1'b1;
    for (int unsigned i = 0; i < GridW; i++) begin
      if (i == LowW || i % 8 == 0) begin
        lower = (i == LowW) ? low_ones : lower && below;
        below = 1'b1;
      end
      plus_one[i] = x[i] ^ (lower && below);
      below       = below && x[i];
    end
  endfunction

  always_comb begin
    cta        = '0;
    grid       = '0;
    dispatched = '0;
    for (int unsigned k = 0; k < K; k++) begin
      if (port_q[k]) begin
        cta  |= next_q[k];
        grid |= grid_i[k*GridW +: GridW];
      end
      if (count_q[k])      dispatched[LowW-1:0]     |= dispatched_q[k][LowW-1:0];
      if (count_high_q[k]) dispatched[GridW-1:LowW] |= dispatched_q[k][GridW-1:LowW];
    end
    ends      = (port_q & last_q) != '0;
    following = plus_one(cta, (port_q & next_ones_q) != '0) & ~{GridW{ends}};
    // cta + 3 == grid: cta + ~grid is the constant -4, compared bit by bit: each bit's carry follows from the
    // constant's bit below it.
    carry = '0;
    for (int unsigned i = 1; i < GridW; i++) carry[i] = Apart[i-1] ? cta[i-1] && !grid[i-1] : cta[i-1] || !grid[i-1];
    // behind the last one: where the grid has one or two
    third = ends ? (cta >> 1) == '0 : (cta ^ ~grid ^ carry) == Apart;
  end
  assign cta_o  = cta;
  assign last_o = (port_q & second_q) | (~port_q & last_q);

  // A copy of its own of what the port knows: it selects many bits. 0 from the first cycle in which the port is free.
  always_ff @(posedge clk_i) begin
    if (free_i) port_q <= admit_i;
    count_high_q <= port_q & {K{fresh_i}};   // looked at only with count_q: no reset
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) count_q <= '0;
    else         count_q <= port_q & {K{fresh_i}};

  // Masked, not multiplexed: with a constant to choose Yosys finds no enable.
  for (genvar k = 0; k < K; k++) begin : gen_kernel
    logic few;   // CTAs in its grid: one or two
    assign few = grid_i[k*GridW +: GridW] == GridW'(1) || grid_i[k*GridW +: GridW] == GridW'(2);
    always_ff @(posedge clk_i)   // looked at only behind a launch: no reset
      if ((free_i && port_q[k]) || offer_i[k]) begin
        next_q[k]      <= following & ~{GridW{offer_i[k]}};
        last_q[k]      <= offer_i[k] ? few && grid_i[k*GridW] : second_q[k];
        second_q[k]    <= offer_i[k] ? few : third;
        next_ones_q[k] <= (&(cta[LowW-1:0] | LowW'(1))) && !cta[0] && !ends && !offer_i[k];
      end
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) begin
        dispatched_q[k]      <= '0;
        dispatched_ones_q[k] <= 1'b0;
      end else if (count_q[k] || launched_i[k]) begin
        dispatched_q[k]      <= plus_one(dispatched, (count_high_q & dispatched_ones_q) != '0)
            & ~{GridW{launched_i[k]}};
        dispatched_ones_q[k] <= (&(dispatched[LowW-1:0] | LowW'(1))) && !dispatched[0] && !launched_i[k];
      end
    assign dispatched_o[k*GridW +: GridW] = dispatched_q[k];

  end
endmodule
