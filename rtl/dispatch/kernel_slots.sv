// SPDX-License-Identifier: Apache-2.0
// kernel_slots: the life of every kernel slot (FREE, RUNNING, DRAINING), its grid, its eviction, and the age of the RUNNING ones.
// A launch takes the descriptor, which then stays until the slot is FREE; a refused one changes nothing but the error outputs. Pulses come in the first cycle of what they
// announce, errors the cycle after their cause. Whether a kernel fits is known a cycle ahead: its descriptor and the capacity hold from the cycle before its
// launch on. docs/reference/blocks/cta_dispatcher.md has the rules, corner cases included.
module kernel_slots #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  input  logic [sluice_pkg::WarpW-1:0]                 capacity_warps_i,
  input  logic [sluice_pkg::RegW-1:0]                  capacity_registers_i,
  input  logic [sluice_pkg::SharedW-1:0]               capacity_shared_i,
  input  logic [sluice_pkg::CtaW-1:0]                  capacity_slots_i,
  input  logic [MAX_KERNELS*sluice_pkg::WarpW-1:0]     demand_warps_i,     // it and the grid stable from the cycle before the launch until FREE
  input  logic [MAX_KERNELS*sluice_pkg::RegW-1:0]      demand_registers_i,
  input  logic [MAX_KERNELS*sluice_pkg::SharedW-1:0]   demand_shared_i,
  input  logic [MAX_KERNELS-1:0]                       region_fits_i,      // one CTA's regions fit an empty SM
  input  logic [MAX_KERNELS*sluice_pkg::GridW-1:0]     grid_i,
  input  logic [MAX_KERNELS-1:0]                       repeat_i,
  input  logic                                         in_order_i,         // a grid that starts again is launched anew: the youngest
  input  logic [MAX_KERNELS-1:0]                       launch_i,
  input  logic [MAX_KERNELS-1:0]                       stop_i,
  input  logic [MAX_KERNELS-1:0]                       evict_i,
  input  logic [15:0]                                  evict_count_i,
  input  logic [MAX_KERNELS-1:0]                       resume_i,
  input  logic [MAX_KERNELS-1:0]                       take_i,             // one CTA of this kernel is admitted; one-hot, one of can_take_o, or 0
  input  logic [MAX_KERNELS-1:0]                       give_i,             // one CTA ended
  output logic [MAX_KERNELS-1:0]                       launched_o,         // launch taken in this cycle
  output logic [MAX_KERNELS-1:0]                       can_take_o,         // RUNNING, CTAs left, not held by an eviction
  output logic [MAX_KERNELS-1:0]                       spent_o,            // RUNNING, but none of that
  output logic [sluice_pkg::GridW-1:0]                 cta_o,              // the index given last, from the cycle after the admission on
  output logic [MAX_KERNELS*MAX_KERNELS-1:0]           older_o,            // bit i*K+j: i was launched before j
  output logic [MAX_KERNELS*sluice_pkg::WarpW-1:0]     limit_warps_o,      // capacity - demand, from the cycle after the launch on
  output logic [MAX_KERNELS*sluice_pkg::RegW-1:0]      limit_registers_o,
  output logic [MAX_KERNELS*sluice_pkg::SharedW-1:0]   limit_shared_o,
  output logic [MAX_KERNELS*2-1:0]                     state_o,
  output logic [sluice_pkg::KernelW-1:0]               num_present_o,
  output logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]   age_o,
  output logic                                         change_o,
  output logic [MAX_KERNELS*sluice_pkg::ResidentW-1:0] resident_o,
  output logic [MAX_KERNELS*sluice_pkg::GridW-1:0]     dispatched_o,
  output logic [MAX_KERNELS-1:0]                       evict_done_o,
  output logic [MAX_KERNELS-1:0]                       kernel_done_o,
  output logic [MAX_KERNELS-1:0]                       cannot_fit_o,       // combinational, as the next two
  output logic [MAX_KERNELS-1:0]                       slot_busy_o,
  output logic [MAX_KERNELS-1:0]                       stirring_o,            // changes without an input
  output logic [MAX_KERNELS-1:0]                       bad_kernel_o
);
  localparam int unsigned K         = MAX_KERNELS;
  localparam int unsigned WarpW     = sluice_pkg::WarpW;
  localparam int unsigned RegW      = sluice_pkg::RegW;
  localparam int unsigned SharedW   = sluice_pkg::SharedW;
  localparam int unsigned GridW     = sluice_pkg::GridW;
  localparam int unsigned ResidentW = sluice_pkg::ResidentW;
  localparam int unsigned KIndexW   = sluice_pkg::KIndexW;
  localparam int unsigned KernelW   = sluice_pkg::KernelW;

  localparam int unsigned CountW    = $clog2(NUM_SM * MAX_CTAS + 1);   // CTAs of a kernel that can be resident

  localparam logic [1:0] Free = 2'd0, Running = 2'd1, Draining = 2'd2;

  logic [K-1:0] running, leaves;   // leaves: out of the present set with the next edge

  // x + 1: the carry into a bit is that the ones below it in its group of four, and the groups below, are all ones.
  localparam int unsigned Groups = (GridW + 3) / 4;
  function automatic logic [Groups-1:0] ones_of(input logic [GridW-1:0] x);   // the groups that are all ones
    ones_of = '1;
    for (int unsigned i = 0; i < GridW; i++) ones_of[i/4] = ones_of[i/4] && x[i];
  endfunction
  function automatic logic [Groups-1:0] carries(input logic [Groups-1:0] ones);   // into each group
    logic [Groups-1:0] full;   // this group and those below
    full = ones;
    for (int unsigned d = 1; d < Groups; d *= 2) full = full & ((full << d) | Groups'((1 << d) - 1));
    carries = (full << 1) | Groups'(1);
  endfunction
  function automatic logic [GridW-1:0] next_of(input logic [GridW-1:0] x, input logic [Groups-1:0] carry);
    logic below;
    below = 1'b1;
    for (int unsigned i = 0; i < GridW; i++) begin
      if (i % 4 == 0) below = 1'b1;
      next_of[i] = x[i] ^ (below && carry[i/4]);
      below      = below && x[i];
    end
  endfunction
  function automatic logic [Groups-1:0] ones_of_next(input logic [GridW-1:0] x, input logic [Groups-1:0] carry);
    ones_of_next = (ones_of(x ^ GridW'({Groups{4'b0001}})) & carry) | (ones_of(x) & ~carry);   // a group of ones with a carry into it turns to zeros
  endfunction

  // a + b == c.
  function automatic logic adds_up(input logic [GridW-1:0] a, input logic [GridW-1:0] b, input logic [GridW-1:0] c);
    logic [GridW-1:0] carry;   // into each bit, if the bits below add up
    carry   = {(a[GridW-2:0] & b[GridW-2:0]) | ((a[GridW-2:0] | b[GridW-2:0]) & ~c[GridW-2:0]), 1'b0};
    adds_up = (a ^ b ^ carry) == c;
  endfunction

  // Indices are counted in the cycle after a CTA got its own, once for all slots; one of the same kernel that gets its own in that cycle gets
  // what is being counted. Between a CTA's admission and its count two others may be admitted: whether one is the grid's last is known for three in advance.
  logic [K*GridW-1:0] next, dispatched;
  logic [K-1:0]       next_last, second_last;   // next is the last of its grid; so is the one after it
  logic [K-1:0]       taken, count, last;
  logic               index_q, count_q;         // one was admitted in the cycle before: it gets its index; it has it
  logic [K-1:0]       index_kernel_q, count_kernel_q;   // a copy of its own of what the dispatcher knows: it is looked at in many places
  logic               again;                    // of the kernel that is counted
  logic [GridW-1:0]   cta_d, cta_q, count_grid_d, count_grid_q, following;
  logic [Groups-1:0]  cta_ones_d, cta_ones_q, cta_carries;
  logic [2:0]         apart;                    // count_grid_q - cta_q is 1, 2, 3
  logic               ends, following_last, third_last;
  assign taken = index_kernel_q;
  assign count = count_q ? count_kernel_q : '0;
  always_comb begin
    count_grid_d = '0;
    for (int unsigned k = 0; k < K; k++)
      if (index_kernel_q[k]) count_grid_d |= grid_i[k*GridW +: GridW];
    // x + ~y is the constant -1 - d of y = x + d: compared bit by bit, without a carry, as each bit's carry follows from the constant below it.
    for (int unsigned d = 1; d <= 3; d++) apart[d-1] = adds_up(cta_q, ~count_grid_q, GridW'(~d));
    ends           = apart[0];
    following_last = ends ? count_grid_q == GridW'(1) : apart[1];
    third_last     = ends ? count_grid_q == GridW'(1) || count_grid_q == GridW'(2) : apart[2];   // behind the last there is another one only if it ends
    cta_carries    = carries(cta_ones_q);
    following      = next_of(cta_q, cta_carries);   // behind the last one: 0

    again = (count & index_kernel_q) != '0;
    cta_d      = following & {GridW{again && !ends}};
    cta_ones_d = ones_of_next(cta_q, cta_carries) & {Groups{again && !ends}};
    for (int unsigned k = 0; k < K; k++)
      if (index_kernel_q[k] && !again) begin
        cta_d      |= next[k*GridW +: GridW];
        cta_ones_d |= ones_of(next[k*GridW +: GridW]);
      end
    // Of the CTA that each kernel admits next: behind the one that gets its index in this cycle, and the one that is counted.
    for (int unsigned k = 0; k < K; k++)
      last[k] = taken[k] ? (count[k] ? third_last : second_last[k]) : (count[k] ? following_last : next_last[k]);
  end

  // Of the CTA at the port, which is valid by itself.
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      cta_q      <= '0;
      cta_ones_q <= '0;
    end else if (index_q) begin
      cta_q      <= cta_d;
      cta_ones_q <= cta_ones_d;
    end
  assign cta_o = index_q ? cta_d : cta_q;

  always_ff @(posedge clk_i)   // looked at only with count_q: no reset
    if (index_q) begin
      count_kernel_q <= index_kernel_q;
      count_grid_q   <= count_grid_d;
    end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      index_q        <= 1'b0;
      index_kernel_q <= '0;
      count_q        <= 1'b0;
    end else begin
      index_q        <= take_i != '0;
      index_kernel_q <= take_i;
      count_q        <= index_q;
    end

  for (genvar k = 0; k < K; k++) begin : gen_slot
    logic [1:0]           state_d, state_q;
    logic                 finished_d, finished_q;         // the last CTA was admitted
    logic                 hold_d, hold_q;                 // not refilled
    logic                 evict_d, evict_q;               // an eviction is to be reported
    logic                 evict_done_d, evict_done_q, kernel_done_d, kernel_done_q;
    logic [GridW-1:0]     next_q, dispatched_q;
    logic                 next_last_q, second_last_q;
    logic [CountW-1:0]    resident_d, resident_q;
    logic [CountW-1:0]    evict_left_d, evict_left_q;     // more than can be resident is as good as all

    logic [WarpW-1:0] warps;
    logic [GridW-1:0] grid;
    logic [WarpW:0]   left_warps;       // capacity - demand, and whether it is negative
    logic [RegW:0]    left_registers;
    logic [SharedW:0] left_shared;
    logic [WarpW-1:0]   limit_warps_q;
    logic [RegW-1:0]    limit_registers_q;
    logic [SharedW-1:0] limit_shared_q;
    logic             fits_d, fits_q, empty, offered;
    assign warps          = demand_warps_i[k*WarpW +: WarpW];
    assign grid           = grid_i[k*GridW +: GridW];
    assign left_warps     = {1'b0, capacity_warps_i} - {1'b0, warps};
    assign left_registers = {1'b0, capacity_registers_i} - {1'b0, demand_registers_i[k*RegW +: RegW]};
    assign left_shared    = {1'b0, capacity_shared_i} - {1'b0, demand_shared_i[k*SharedW +: SharedW]};
    assign fits_d = warps != '0 && grid != '0 && !left_warps[WarpW] && !left_registers[RegW] && !left_shared[SharedW]
                 && capacity_slots_i != '0 && region_fits_i[k];
    assign empty     = resident_q == '0 && !taken[k];

    assign running[k]      = state_q == Running;
    assign offered         = launch_i[k] && state_q == Free;
    assign launched_o[k]   = offered && fits_q;
    assign cannot_fit_o[k] = offered && !fits_q;
    assign slot_busy_o[k]  = launch_i[k] && state_q != Free;
    assign bad_kernel_o[k] = (stop_i[k] || evict_i[k]) && state_q == Free;
    assign can_take_o[k]   = state_q == Running && !finished_q && !hold_q;
    assign spent_o[k]      = state_q == Running && (finished_q || hold_q);

    always_comb begin
      state_d            = state_q;
      finished_d         = finished_q;
      hold_d             = hold_q;
      evict_d            = evict_q;
      evict_left_d       = evict_left_q;
      evict_done_d       = 1'b0;
      kernel_done_d      = 1'b0;
      resident_d         = taken[k] ? resident_q + 1'b1 : resident_q - 1'b1;
      if (take_i[k] && last[k]) finished_d = !repeat_i[k];

      if (give_i[k] && evict_left_q != '0) evict_left_d = evict_left_q - 1'b1;
      if (evict_q && (evict_left_q == '0 || empty)) begin
        evict_done_d = 1'b1;
        evict_d      = 1'b0;
      end
      if (resume_i[k]) begin
        hold_d       = 1'b0;
        evict_d      = 1'b0;
        evict_done_d = 1'b0;
      end
      if (evict_i[k] && state_q != Free) begin
        hold_d       = 1'b1;
        evict_d      = 1'b1;
        evict_done_d = 1'b0;
        evict_left_d = (evict_count_i > 16'(NUM_SM * MAX_CTAS)) ? CountW'(NUM_SM * MAX_CTAS) : CountW'(evict_count_i);
      end

      unique case (state_q)
        Free: if (launched_o[k]) begin
          state_d            = Running;
          finished_d         = 1'b0;
        end
        Running: begin
          if (finished_q && empty) state_d = Free;
          else if (stop_i[k])      state_d = Draining;
        end
        default: if (empty) state_d = Free;
      endcase
      if (state_q != Free && state_d == Free) begin
        kernel_done_d = 1'b1;
        evict_done_d  = evict_done_d || evict_d;   // an eviction of this very cycle too
        hold_d        = 1'b0;
        evict_d       = 1'b0;
      end
    end
    assign stirring_o[k] = (state_q != Free && (state_q != Running || finished_q) && empty) || (evict_q && (evict_left_q == '0 || empty));
    assign leaves[k] = state_q == Running && state_d != Running;

    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) begin
        state_q            <= Free;
        finished_q         <= 1'b0;
        hold_q             <= 1'b0;
        evict_q            <= 1'b0;
        evict_left_q       <= '0;
        evict_done_q       <= 1'b0;
        kernel_done_q      <= 1'b0;
      end else begin
        state_q            <= state_d;
        finished_q         <= finished_d;
        hold_q             <= hold_d;
        evict_q            <= evict_d;
        evict_left_q       <= evict_left_d;
        evict_done_q       <= evict_done_d;
        kernel_done_q      <= kernel_done_d;
      end

    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) fits_q <= 1'b0;
      else         fits_q <= fits_d;

    // Counters are clocked when they count. Masked, not multiplexed: with a constant to choose Yosys finds no enable.
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni)                        dispatched_q <= '0;
      else if (count[k] || launched_o[k]) dispatched_q <= next_of(dispatched_q, carries(ones_of(dispatched_q))) & ~{GridW{launched_o[k]}};
    // Loaded also by a launch that is refused: looked at only while the slot is not FREE. No reset.
    always_ff @(posedge clk_i)
      if (count[k] || offered) begin
        next_q        <= following & ~{GridW{offered || ends}};
        next_last_q   <= offered ? grid == GridW'(1) : following_last;
        second_last_q <= offered ? grid == GridW'(1) || grid == GridW'(2) : third_last;
      end
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni)                      resident_q <= '0;
      else if (taken[k] != give_i[k]) resident_q <= resident_d;
    always_ff @(posedge clk_i)
      if (offered) begin
        limit_warps_q     <= left_warps[WarpW-1:0];
        limit_registers_q <= left_registers[RegW-1:0];
        limit_shared_q    <= left_shared[SharedW-1:0];
      end

    assign state_o[k*2 +: 2]                       = state_q;
    assign next[k*GridW +: GridW]                  = next_q;
    assign next_last[k]                            = next_last_q;
    assign second_last[k]                          = second_last_q;
    assign dispatched[k*GridW +: GridW]            = dispatched_q;
    assign resident_o[k*ResidentW +: ResidentW]    = ResidentW'(resident_q);
    assign evict_done_o[k]                         = evict_done_q;
    assign kernel_done_o[k]                        = kernel_done_q;
    assign limit_warps_o[k*WarpW +: WarpW]         = limit_warps_q;
    assign limit_registers_o[k*RegW +: RegW]       = limit_registers_q;
    assign limit_shared_o[k*SharedW +: SharedW]    = limit_shared_q;
  end

  assign dispatched_o = dispatched;

  // Age: a matrix; a launch makes its slot the youngest, launches of one cycle are ordered by index. In order, a grid that starts again stands in
  // line behind the kernels that wait, before those that are launched in that cycle.
  logic [K*K-1:0] older_d, older_q;
  logic [K-1:0]   again_k;
  logic           change_q;
  assign again_k = take_i & last & repeat_i & {K{in_order_i}};
  always_comb begin
    older_d = older_q;
    for (int unsigned i = 0; i < K; i++)
      for (int unsigned j = 0; j < K; j++) begin
        if (launched_o[i] && (!launched_o[j] || i >= j)) older_d[i*K + j] = 1'b0;
        else if (launched_o[j])                          older_d[i*K + j] = 1'b1;
        else if (again_k[i])                             older_d[i*K + j] = 1'b0;
        else if (again_k[j])                             older_d[i*K + j] = 1'b1;
      end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      older_q  <= '0;
      change_q <= 1'b0;
    end else begin
      older_q  <= older_d;
      change_q <= (launched_o | leaves) != '0;
    end
  assign older_o  = older_q;
  assign change_o = change_q;

  // A RUNNING slot's place in the order is the number of older ones.
  logic [K*KernelW-1:0] rank;
  always_comb begin
    num_present_o = '0;
    rank          = '0;
    age_o         = '0;
    for (int unsigned k = 0; k < K; k++) begin
      num_present_o = num_present_o + KernelW'(running[k]);
      for (int unsigned i = 0; i < K; i++)
        rank[k*KernelW +: KernelW] = rank[k*KernelW +: KernelW] + KernelW'(running[i] && older_q[i*K + k]);
    end
    for (int unsigned p = 0; p < K; p++)
      for (int unsigned k = 0; k < K; k++)
        if (running[k] && rank[k*KernelW +: KernelW] == KernelW'(p)) age_o[p*KIndexW +: KIndexW] |= KIndexW'(k);
  end
endmodule
