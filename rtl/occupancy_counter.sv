// occupancy_counter: how many CTAs of one kernel fit into 1/share of an SM.
// floor(capacity / share) holds t CTAs exactly when capacity holds share * t of them: demands are taken from the capacity, one a cycle, until a
// resource is short, and every share-th is one CTA. start_i to done_o: n + 2 cycles, n demands fit. Source: occupancy of a CTA on all four
// resources; share > 1 is the Even policy.
module occupancy_counter #(
  parameter int unsigned MAX_CTAS = 8
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           start_i,
  input  logic [sluice_pkg::KernelW-1:0] share_i,               // 1..8; it and the demand stable from start_i to done_o
  input  logic [sluice_pkg::WarpW-1:0]   capacity_warps_i,      // taken with start_i
  input  logic [sluice_pkg::RegW-1:0]    capacity_registers_i,
  input  logic [sluice_pkg::SharedW-1:0] capacity_shared_i,
  input  logic [sluice_pkg::CtaW-1:0]    capacity_slots_i,      // at most MAX_CTAS
  input  logic [sluice_pkg::WarpW-1:0]   demand_warps_i,
  input  logic [sluice_pkg::RegW-1:0]    demand_registers_i,
  input  logic [sluice_pkg::SharedW-1:0] demand_shared_i,
  output logic                           done_o,                // pulse; count_o holds until the next start
  output logic [sluice_pkg::CtaW-1:0]    count_o
);
  localparam int unsigned WarpW   = sluice_pkg::WarpW;
  localparam int unsigned RegW    = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned KernelW = sluice_pkg::KernelW;
  localparam int unsigned CountW  = $clog2(MAX_CTAS + 1);

  logic [WarpW-1:0]   left_warps_q;
  logic [RegW-1:0]    left_registers_q;
  logic [SharedW-1:0] left_shared_q;
  logic [CountW-1:0]  left_slots_q, count_d, count_q;
  logic [KernelW-1:0] part_d, part_q;    // demands of the CTA under count
  logic               busy_d, busy_q, done_d, done_q;

  // What is left after one more, and whether that is negative.
  logic [WarpW:0]   next_warps;
  logic [RegW:0]    next_registers;
  logic [SharedW:0] next_shared;
  logic             fits;
  always_comb begin
    next_warps     = {1'b0, left_warps_q} - {1'b0, demand_warps_i};
    next_registers = {1'b0, left_registers_q} - {1'b0, demand_registers_i};
    next_shared    = {1'b0, left_shared_q} - {1'b0, demand_shared_i};
    fits           = !next_warps[WarpW] && !next_registers[RegW] && !next_shared[SharedW] && left_slots_q != '0;
  end

  always_comb begin
    busy_d  = start_i || (busy_q && fits);
    done_d  = busy_q && !fits && !start_i;
    count_d = count_q;
    part_d  = part_q;
    if (busy_q && fits) begin
      part_d = part_q + 1'b1;
      if (part_q + 1'b1 == share_i) begin
        part_d  = '0;
        count_d = count_q + 1'b1;
      end
    end
    if (start_i) begin
      part_d  = '0;
      count_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      done_q  <= 1'b0;
      count_q <= '0;
    end else begin
      busy_q  <= busy_d;
      done_q  <= done_d;
      count_q <= count_d;
    end
  end

  // Looked at only while it counts: no reset.
  always_ff @(posedge clk_i) begin
    part_q <= part_d;
    if (start_i) begin
      left_warps_q     <= capacity_warps_i;
      left_registers_q <= capacity_registers_i;
      left_shared_q    <= capacity_shared_i;
      left_slots_q     <= CountW'(capacity_slots_i);
    end else if (busy_q) begin
      left_warps_q     <= next_warps[WarpW-1:0];
      left_registers_q <= next_registers[RegW-1:0];
      left_shared_q    <= next_shared[SharedW-1:0];
      left_slots_q     <= left_slots_q - 1'b1;
    end
  end

  logic unused_high_bits;
  assign unused_high_bits = ^capacity_slots_i;

  assign done_o  = done_q;
  assign count_o = sluice_pkg::CtaW'(count_q);
endmodule
