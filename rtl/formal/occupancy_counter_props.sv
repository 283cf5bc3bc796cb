// Properties of occupancy_counter with at most four CTAs, at full width, for any inputs. Assumed: the capacity is stable while it counts,
// the share is 1..8.
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
  occupancy_counter #(.MAX_CTAS(N)) dut (
    .clk_i, .rst_ni, .start_i, .share_i, .capacity_warps_i, .capacity_registers_i, .capacity_shared_i, .capacity_slots_i,
    .demand_warps_i, .demand_registers_i, .demand_shared_i, .done_o(done), .count_o(count));
  (* hierconn *) wire                \dut.busy_q ;
  (* hierconn *) wire [WarpW+3:0]    \dut.used_warps_q ;
  (* hierconn *) wire [RegW+3:0]     \dut.used_registers_q ;
  (* hierconn *) wire [SharedW+3:0]  \dut.used_shared_q ;
  (* hierconn *) wire [CtaW+3:0]     \dut.used_slots_q ;
  (* hierconn *) wire [WarpW+3:0]    \dut.step_warps_q ;
  (* hierconn *) wire [RegW+3:0]     \dut.step_registers_q ;
  (* hierconn *) wire [SharedW+3:0]  \dut.step_shared_q ;
  (* hierconn *) wire [3:0]          \dut.step_slots_q ;

  // One step, as taken at the start.
  logic [3:0]         share_q;
  logic [WarpW+3:0]   warps_q;
  logic [RegW+3:0]    registers_q;
  logic [SharedW+3:0] shared_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      share_q     <= '0;
      warps_q     <= '0;
      registers_q <= '0;
      shared_q    <= '0;
    end else if (start_i) begin
      share_q     <= share_i;
      warps_q     <= (WarpW+4)'(demand_warps_i) * (WarpW+4)'(share_i);
      registers_q <= (RegW+4)'(demand_registers_i) * (RegW+4)'(share_i);
      shared_q    <= (SharedW+4)'(demand_shared_i) * (SharedW+4)'(share_i);
    end

  function automatic fit(input logic [2:0] t);   // t CTAs and the share of the others
    fit = (WarpW+7)'(warps_q) * t <= (WarpW+7)'(capacity_warps_i) && (RegW+7)'(registers_q) * t <= (RegW+7)'(capacity_registers_i)
       && (SharedW+7)'(shared_q) * t <= (SharedW+7)'(capacity_shared_i) && 10'(share_q) * t <= 10'(capacity_slots_i);
  endfunction

  logic started, was_up, started_count, pending;   // pending: a start that was not answered yet
  logic [2:0] age;   // cycles since the start
  logic [CtaW-1:0] count_q;
  logic [WarpW+RegW+SharedW+CtaW-1:0] capacity, capacity_q;
  assign capacity = {capacity_warps_i, capacity_registers_i, capacity_shared_i, capacity_slots_i};
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started       <= 1'b1;
    was_up        <= rst_ni;
    capacity_q    <= capacity;
    count_q       <= count;
    started_count <= start_i || \dut.busy_q ;
    age           <= start_i ? 3'd1 : (age == 3'd7) ? age : age + 1'b1;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)      pending <= 1'b0;
    else if (start_i) pending <= 1'b1;
    else if (done)    pending <= 1'b0;
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (share_i >= 4'd1 && share_i <= 4'd8);
    if (started && (\dut.busy_q || done)) assume (capacity == capacity_q);
    if (started) begin
      if (\dut.busy_q || done) steps_are_counted: assert (count <= CtaW'(N) && share_q == \dut.step_slots_q && warps_q == \dut.step_warps_q
        && registers_q == \dut.step_registers_q && shared_q == \dut.step_shared_q && (count == '0 || fit(count[2:0]))
        && (WarpW+7)'(\dut.used_warps_q ) == (WarpW+7)'(warps_q) * count[2:0] && (RegW+7)'(\dut.used_registers_q ) == (RegW+7)'(registers_q) * count[2:0]
        && (SharedW+7)'(\dut.used_shared_q ) == (SharedW+7)'(shared_q) * count[2:0] && (CtaW+4)'(\dut.used_slots_q ) == (CtaW+4)'(share_q) * count[2:0]);
      if (done) result_is_the_most_that_fits: assert (count <= CtaW'(N) && (count == '0 || fit(count[2:0])) && (count == CtaW'(N) || !fit(count[2:0] + 1'b1)));
      ends_after_count_and_two_cycles: assert (pending == (\dut.busy_q || done) && !(\dut.busy_q && done)
        && (!pending || age == count[2:0] + (done ? 3'd2 : 3'd1)));
      if (was_up && rst_ni && !started_count) result_holds_until_the_next_start: assert (count == count_q);
      if (!rst_ni) reset_is_clean: assert (!done && !\dut.busy_q && count == '0);
    end
  end
endmodule
