// SPDX-License-Identifier: Apache-2.0
// Properties of occupancy_counter and the allocator's subtractors that it uses, with at most four CTAs, at full width, for any inputs. Assumed: share
// and demand are stable while it counts, the share is 1..8; no decision is under way.
module occupancy_counter_props (
  input logic                           clk_i,
  input logic                           rst_ni,
  input logic                           start_i,
  input logic [sluice_pkg::KernelW-1:0] share_i,
  input logic [sluice_pkg::WarpW-1:0]   capacity_warps_i,
  input logic [sluice_pkg::RegW-1:0]    capacity_registers_i,
  input logic [sluice_pkg::SharedW-1:0] capacity_shared_i,
  input logic [sluice_pkg::CtaW-1:0]    capacity_slots_i,
  input logic [sluice_pkg::WarpW-1:0]   demand_warps_i,
  input logic [sluice_pkg::RegW-1:0]    demand_registers_i,
  input logic [sluice_pkg::SharedW-1:0] demand_shared_i
);
  localparam int unsigned N = 4;
  localparam int unsigned WarpW = sluice_pkg::WarpW, RegW = sluice_pkg::RegW, SharedW = sluice_pkg::SharedW, CtaW = sluice_pkg::CtaW;

  logic            done, busy, fits;
  logic [CtaW-1:0] count;
  occupancy_counter #(.MAX_CTAS(N)) dut (.clk_i, .rst_ni, .start_i, .share_i, .busy_o(busy), .fits_i(fits), .done_o(done), .count_o(count));
  waterfill_allocator #(.MAX_KERNELS(2), .MAX_CTAS(N)) allocator (
    .clk_i, .rst_ni, .start_i(1'b0), .abort_i(1'b0), .num_kernels_i('0), .capacity_warps_i, .capacity_registers_i, .capacity_shared_i,
    .capacity_slots_i, .demand_warps_i, .demand_registers_i, .demand_shared_i, .epsilon_i('0), .count_start_i(start_i), .count_i(busy),
    .count_fits_o(fits), .first_valid_i(1'b0), .first_kernel_i('0), .first_perf_i('0), .work_has_i(1'b0), .work_step_i('0), .work_perf_i('0),
    .other_has_i(1'b0), .other_step_i('0), .other_perf_i('0));
  (* hierconn *) wire               \dut.busy_q ;
  (* hierconn *) wire               \dut.load_q ;
  (* hierconn *) wire [2:0]         \allocator.state_q ;
  (* hierconn *) wire               \allocator.counting_q ;
  (* hierconn *) wire [WarpW+1:0]   \allocator.asked_warps_q ;
  (* hierconn *) wire [RegW+1:0]    \allocator.asked_registers_q ;
  (* hierconn *) wire [SharedW+1:0] \allocator.asked_shared_q ;
  (* hierconn *) wire [1:0]         \allocator.asked_slots_q ;
  (* hierconn *) wire [WarpW-1:0]   \allocator.warps_q ;
  (* hierconn *) wire [RegW-1:0]    \allocator.registers_q ;
  (* hierconn *) wire [SharedW-1:0] \allocator.shared_q ;
  (* hierconn *) wire [2:0]         \allocator.slots_q ;
  (* hierconn *) wire [3:0]         \dut.part_q ;

  // The capacity as taken at the start.
  logic [WarpW-1:0]   warps_q;
  logic [RegW-1:0]    registers_q;
  logic [SharedW-1:0] shared_q;
  logic [CtaW-1:0]    slots_q;
  always_ff @(posedge clk_i)
    if (start_i) begin
      warps_q     <= capacity_warps_i;
      registers_q <= capacity_registers_i;
      shared_q    <= capacity_shared_i;
      slots_q     <= capacity_slots_i;
    end

  function automatic fit(input logic [5:0] t);   // t demands
    fit = (WarpW+6)'(demand_warps_i) * t <= (WarpW+6)'(warps_q) && (RegW+6)'(demand_registers_i) * t <= (RegW+6)'(registers_q)
       && (SharedW+6)'(demand_shared_i) * t <= (SharedW+6)'(shared_q) && t <= 6'(slots_q);
  endfunction

  logic started, was_up, started_count, pending;   // pending: a start that was not answered yet
  logic [2:0] age;                                 // cycles since the start
  logic [2:0] taken_q;                             // demands that fitted
  logic [CtaW-1:0] count_q;
  logic [WarpW+RegW+SharedW+3:0] asked, asked_q;
  assign asked = {share_i, demand_warps_i, demand_registers_i, demand_shared_i};
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started       <= 1'b1;
    was_up        <= rst_ni;
    asked_q       <= asked;
    count_q       <= count;
    started_count <= start_i || \dut.busy_q ;
    age           <= start_i ? 3'd1 : (age == 3'd7) ? age : age + 1'b1;
    taken_q       <= start_i ? 3'd0 : (\dut.busy_q && !\dut.load_q && fit(6'(taken_q) + 6'd1)) ? taken_q + 1'b1 : taken_q;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)      pending <= 1'b0;
    else if (start_i) pending <= 1'b1;
    else if (done)    pending <= 1'b0;

  logic [5:0] of_count;   // demands of the CTAs counted
  assign of_count = 6'(count) * 6'(share_i);
  logic counting;         // what a start in this cycle asks for is of the next count
  assign counting = (\dut.busy_q || done) && !start_i;
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (share_i >= 4'd1 && share_i <= 4'd8 && capacity_slots_i <= CtaW'(N));
    if (started && counting) assume (asked == asked_q);
    if (started) begin
      if (counting) demands_are_counted: assert (count <= CtaW'(N) && slots_q <= CtaW'(N) && fit(6'(taken_q))
        && \dut.part_q < share_i && 6'(taken_q) == of_count + 6'(\dut.part_q ));
      if (counting && !done) what_is_left_is_kept: assert (\allocator.slots_q == 3'(slots_q) - taken_q
        && \allocator.warps_q == warps_q - WarpW'(demand_warps_i * taken_q) && \allocator.registers_q == registers_q - RegW'(demand_registers_i * taken_q)
        && \allocator.shared_q == shared_q - SharedW'(demand_shared_i * taken_q));
      if (counting && !done && !\dut.load_q ) demand_is_asked_for: assert (\allocator.counting_q && \allocator.asked_warps_q == (WarpW+2)'(demand_warps_i)
        && \allocator.asked_registers_q == (RegW+2)'(demand_registers_i) && \allocator.asked_shared_q == (SharedW+2)'(demand_shared_i)
        && \allocator.asked_slots_q == 2'd1);
      first_cycle_loads: assert (!(\dut.load_q && \dut.busy_q ) || (!\allocator.counting_q && taken_q == '0 && age == 3'd1));
      allocator_rests: assert (\allocator.state_q == 3'd0);
      if (counting && done) ends_when_no_more_fits: assert (!fit(6'(taken_q) + 6'd1));
      if (counting && done) result_is_the_most_that_fits: assert (count <= CtaW'(N) && fit(of_count) && !fit(of_count + 6'(share_i)));
      ends_after_demands_and_three_cycles: assert (pending == (\dut.busy_q || done) && !(\dut.busy_q && done)
        && (!pending || age == taken_q + (done ? 3'd3 : \dut.load_q ? 3'd1 : 3'd2)));
      if (was_up && rst_ni && !started_count) result_holds_until_the_next_start: assert (count == count_q);
      if (!rst_ni) reset_is_clean: assert (!done && !\dut.busy_q && count == '0);
    end
  end
endmodule
