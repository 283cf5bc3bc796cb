// SPDX-License-Identifier: Apache-2.0
// occupancy_counter: how many CTAs of one kernel fit into 1/share of an SM (docs/reference/blocks/occupancy_counter.md).
// floor(capacity / share) holds t CTAs exactly when capacity holds share * t of them: a demand a cycle is taken from the capacity until a resource
// is short, and every share-th is one CTA. The capacity is that of start_i; demand and share stand from the next cycle until done_o.
// From start_i to done_o: n + 3 cycles, n demands fit. A start drops a count under way.
module occupancy_counter #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8   // slots of an SM at most
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           start_i,
  input  logic [sluice_pkg::KernelW-1:0] share_i,               // 1..MAX_KERNELS
  input  logic [sluice_pkg::WarpW-1:0]   capacity_warps_i,      // of one SM
  input  logic [sluice_pkg::RegW-1:0]    capacity_registers_i,
  input  logic [sluice_pkg::SharedW-1:0] capacity_shared_i,
  input  logic [sluice_pkg::CtaW-1:0]    capacity_slots_i,      // at most MAX_CTAS
  input  logic [sluice_pkg::WarpW-1:0]   demand_warps_i,        // of one CTA
  input  logic [sluice_pkg::RegW-1:0]    demand_registers_i,
  input  logic [sluice_pkg::SharedW-1:0] demand_shared_i,
  output logic                           done_o,                // pulse, in which count_o is the answer
  output logic [sluice_pkg::CtaW-1:0]    count_o
);
  localparam int unsigned PartW  = $clog2(MAX_KERNELS);
  localparam int unsigned CountW = $clog2(MAX_CTAS + 1);

  logic                           busy_d, busy_q, done_d, done_q;
  logic                           taking, taken_d, taken_q;   // a demand is taken in this cycle; was taken in the last one
  logic                           short_d, short_q;           // which was more than was left
  logic                           warps_short, registers_short, shared_short;
  logic [sluice_pkg::WarpW-1:0]   warps_d, warps_q;           // what is left; the capacity while nothing is counted
  logic [sluice_pkg::RegW-1:0]    registers_d, registers_q;
  logic [sluice_pkg::SharedW-1:0] shared_d, shared_q;
  logic [CountW-1:0]              slots_d, slots_q;
  logic [PartW-1:0]               part_d, part_q;             // demands of the CTA under count
  logic [CountW-1:0]              count_d, count_q;

  always_comb begin
    taking                         = busy_q && !start_i;
    {warps_short, warps_d}         = {1'b0, warps_q} - {1'b0, demand_warps_i};
    {registers_short, registers_d} = {1'b0, registers_q} - {1'b0, demand_registers_i};
    {shared_short, shared_d}       = {1'b0, shared_q} - {1'b0, demand_shared_i};
    slots_d                        = slots_q - 1'b1;
    if (!taking) begin
      warps_d     = capacity_warps_i;
      registers_d = capacity_registers_i;
      shared_d    = capacity_shared_i;
      slots_d     = capacity_slots_i[CountW-1:0];
    end

    short_d = taking && (warps_short || registers_short || shared_short || slots_q == '0);
    taken_d = taking && !short_q;
    busy_d  = start_i || (busy_q && !short_q);
    done_d  = taken_q && short_q && !start_i;
    part_d  = part_q;
    count_d = count_q;
    if (!taken_q && !done_q) begin
      part_d  = '0;
      count_d = '0;
    end else if (taken_q && !short_q) begin
      part_d = part_q + 1'b1;
      if (sluice_pkg::KernelW'(part_q) + 1'b1 == share_i) begin
        part_d  = '0;
        count_d = count_q + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      taken_q <= 1'b0;
      done_q  <= 1'b0;
    end else begin
      busy_q  <= busy_d;
      taken_q <= taken_d;
      done_q  <= done_d;
    end

  // Set before they are looked at: no reset.
  always_ff @(posedge clk_i) begin
    short_q     <= short_d;
    warps_q     <= warps_d;
    registers_q <= registers_d;
    shared_q    <= shared_d;
    slots_q     <= slots_d;
    part_q      <= part_d;
    count_q     <= count_d;
  end

  assign done_o  = done_q;
  assign count_o = sluice_pkg::CtaW'(count_q);

  logic unused_bits;   // the caller's slots are at most MAX_CTAS
  assign unused_bits = ^capacity_slots_i;
endmodule
