// SPDX-License-Identifier: Apache-2.0
// Properties of occupancy_counter with at most four slots and eight kernels, at full width, for any inputs. Assumed: share and demand stand from the
// cycle after the start until done_o, the share is 1..8.
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

  logic            done;
  logic [CtaW-1:0] count;
  occupancy_counter #(.MAX_KERNELS(8), .MAX_CTAS(N)) dut (
    .clk_i, .rst_ni, .start_i, .share_i, .capacity_warps_i, .capacity_registers_i, .capacity_shared_i, .capacity_slots_i,
    .demand_warps_i, .demand_registers_i, .demand_shared_i, .done_o(done), .count_o(count));
  (* hierconn *) wire               \dut.busy_q , \dut.taken_q , \dut.short_q ;
  (* hierconn *) wire [WarpW-1:0]   \dut.warps_q ;
  (* hierconn *) wire [RegW-1:0]    \dut.registers_q ;
  (* hierconn *) wire [SharedW-1:0] \dut.shared_q ;
  (* hierconn *) wire [2:0]         \dut.slots_q , \dut.part_q ;

  // The capacity as it was at the start.
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

  logic started, was_up, pending;   // pending: a start that was not answered yet
  logic [2:0] age;                  // cycles since the start
  logic [2:0] fitted;               // demands that were taken and fitted
  logic [WarpW+RegW+SharedW+3:0] asked, asked_q;
  assign asked = {share_i, demand_warps_i, demand_registers_i, demand_shared_i};
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    was_up  <= rst_ni;
    asked_q <= asked;
    age     <= start_i ? 3'd1 : (age == 3'd7) ? age : age + 1'b1;
    fitted  <= start_i ? 3'd0 : (\dut.taken_q && !\dut.short_q ) ? fitted + 1'b1 : fitted;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)      pending <= 1'b0;
    else if (start_i) pending <= 1'b1;
    else if (done)    pending <= 1'b0;

  logic [5:0] of_count, seen;   // demands of the CTAs counted; that were taken
  assign of_count = 6'(count) * 6'(share_i);
  assign seen     = 6'(fitted) + 6'(\dut.taken_q );
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (share_i >= 4'd1 && share_i <= 4'd8 && capacity_slots_i <= CtaW'(N));
    if (started && pending && age != 3'd1) assume (asked == asked_q);
    if (started && rst_ni && pending) begin
      if (\dut.taken_q ) tells_whether_the_last_demand_fitted: assert (\dut.short_q == !fit(6'(fitted) + 6'd1));
      if (\dut.busy_q && !(\dut.taken_q && \dut.short_q )) what_is_left_is_kept:
        assert (\dut.slots_q == 3'(6'(slots_q) - seen) && \dut.warps_q == warps_q - WarpW'(demand_warps_i * seen)
             && \dut.registers_q == registers_q - RegW'(demand_registers_i * seen) && \dut.shared_q == shared_q - SharedW'(demand_shared_i * seen)
             && fit(seen));
      demands_are_counted: assert (slots_q <= CtaW'(N) && fit(6'(fitted)) && (age == 3'd1 || (count <= CtaW'(N) && 4'(\dut.part_q ) < share_i
        && 6'(fitted) == of_count + 6'(\dut.part_q ))));
      if (done) result_is_the_most_that_fits: assert (count <= CtaW'(N) && fit(of_count) && !fit(of_count + 6'(share_i)) && !fit(6'(fitted) + 6'd1));
    end
    if (started && rst_ni) begin
      ends_after_demands_and_three_cycles: assert (pending == (\dut.busy_q || done) && !(\dut.busy_q && done)
        && (!\dut.taken_q || \dut.busy_q ) && (!pending || (age == fitted + (done ? 3'd3 : \dut.taken_q ? 3'd2 : 3'd1)
        && (\dut.taken_q || done || (fitted == 3'd0 && !\dut.short_q )))));
    end
    if (started && !rst_ni) reset_is_clean: assert (!done && !\dut.busy_q && !\dut.taken_q );
  end
endmodule
