// occupancy_counter: how many CTAs of one kernel fit into 1/share of an SM, at most MAX_CTAS.
// floor(capacity / share) holds t CTAs exactly when capacity holds share * t of them, so it counts multiples of share * demand.
// start_i to done_o: count + 2 cycles. Source: occupancy of a CTA on all four resources; share > 1 is the Even policy.
module occupancy_counter #(
  parameter int unsigned MAX_CTAS = 8
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           start_i,
  input  logic [sluice_pkg::KernelW-1:0] share_i,               // 1..8; it and the demand are taken with start_i
  input  logic [sluice_pkg::WarpW-1:0]   capacity_warps_i,      // stable until done_o
  input  logic [sluice_pkg::RegW-1:0]    capacity_registers_i,
  input  logic [sluice_pkg::SharedW-1:0] capacity_shared_i,
  input  logic [sluice_pkg::CtaW-1:0]    capacity_slots_i,
  input  logic [sluice_pkg::WarpW-1:0]   demand_warps_i,
  input  logic [sluice_pkg::RegW-1:0]    demand_registers_i,
  input  logic [sluice_pkg::SharedW-1:0] demand_shared_i,
  output logic                           done_o,                // pulse; count_o holds until the next start
  output logic [sluice_pkg::CtaW-1:0]    count_o
);
  localparam int unsigned KernelW = sluice_pkg::KernelW;
  localparam int unsigned WarpsW  = sluice_pkg::WarpW + KernelW;
  localparam int unsigned RegsW   = sluice_pkg::RegW + KernelW;
  localparam int unsigned SharesW = sluice_pkg::SharedW + KernelW;
  localparam int unsigned SlotsW  = sluice_pkg::CtaW + KernelW;

  // One step, and the sum of the steps taken; a sum is at most the capacity, so one more bit holds the next.
  logic [WarpsW-1:0]  step_warps_q, used_warps_d, used_warps_q;
  logic [RegsW-1:0]   step_registers_q, used_registers_d, used_registers_q;
  logic [SharesW-1:0] step_shared_q, used_shared_d, used_shared_q;
  logic [KernelW-1:0] step_slots_q;
  logic [SlotsW-1:0]  used_slots_d, used_slots_q;
  logic [WarpsW:0]    next_warps;
  logic [RegsW:0]     next_registers;
  logic [SharesW:0]   next_shared;
  logic [SlotsW:0]    next_slots;
  logic               busy_d, busy_q, done_d, done_q, fits;
  logic [sluice_pkg::CtaW-1:0] count_d, count_q;

  always_comb begin
    next_warps     = {1'b0, used_warps_q} + {1'b0, step_warps_q};
    next_registers = {1'b0, used_registers_q} + {1'b0, step_registers_q};
    next_shared    = {1'b0, used_shared_q} + {1'b0, step_shared_q};
    next_slots     = {1'b0, used_slots_q} + (SlotsW + 1)'(step_slots_q);
    fits           = next_warps <= (WarpsW + 1)'(capacity_warps_i) && next_registers <= (RegsW + 1)'(capacity_registers_i)
                  && next_shared <= (SharesW + 1)'(capacity_shared_i) && next_slots <= (SlotsW + 1)'(capacity_slots_i)
                  && count_q != sluice_pkg::CtaW'(MAX_CTAS);
    busy_d           = busy_q;
    done_d           = 1'b0;
    count_d          = count_q;
    used_warps_d     = used_warps_q;
    used_registers_d = used_registers_q;
    used_shared_d    = used_shared_q;
    used_slots_d     = used_slots_q;
    if (busy_q) begin
      if (fits) begin
        count_d          = count_q + 1'b1;
        used_warps_d     = next_warps[WarpsW-1:0];
        used_registers_d = next_registers[RegsW-1:0];
        used_shared_d    = next_shared[SharesW-1:0];
        used_slots_d     = next_slots[SlotsW-1:0];
      end else begin
        busy_d = 1'b0;
        done_d = 1'b1;
      end
    end
    if (start_i) begin
      busy_d           = 1'b1;
      done_d           = 1'b0;
      count_d          = '0;
      used_warps_d     = '0;
      used_registers_d = '0;
      used_shared_d    = '0;
      used_slots_d     = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q           <= 1'b0;
      done_q           <= 1'b0;
      count_q          <= '0;
      used_warps_q     <= '0;
      used_registers_q <= '0;
      used_shared_q    <= '0;
      used_slots_q     <= '0;
      step_warps_q     <= '0;
      step_registers_q <= '0;
      step_shared_q    <= '0;
      step_slots_q     <= '0;
    end else begin
      busy_q           <= busy_d;
      done_q           <= done_d;
      count_q          <= count_d;
      used_warps_q     <= used_warps_d;
      used_registers_q <= used_registers_d;
      used_shared_q    <= used_shared_d;
      used_slots_q     <= used_slots_d;
      if (start_i) begin
        step_warps_q     <= demand_warps_i * share_i;
        step_registers_q <= demand_registers_i * share_i;
        step_shared_q    <= demand_shared_i * share_i;
        step_slots_q     <= share_i;
      end
    end
  end

  assign done_o  = done_q;
  assign count_o = count_q;
endmodule
