// SPDX-License-Identifier: Apache-2.0
// occupancy_counter: how many CTAs of one kernel fit into 1/share of an SM.
// floor(capacity / share) holds t CTAs exactly when capacity holds share * t of them: demands are taken from the capacity, one a cycle, until a
// resource is short, and every share-th is one CTA. The capacity is loaded with start_i, the demand in the first cycle of busy_o, and one taken in each that
// follows, by waterfill_allocator's subtractors, which rest then. start_i to done_o: n + 3 cycles, n demands fit. Source: occupancy of a CTA on all four resources; share > 1 is
// the Even policy.
module occupancy_counter #(
  parameter int unsigned MAX_CTAS = 8   // demands that fit at most
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           start_i,
  input  logic [sluice_pkg::KernelW-1:0] share_i,  // 1..8, stable from start_i to done_o
  output logic                           busy_o,   // but for its first cycle: one more demand is taken in this one,
  input  logic                           fits_i,   // if it fits
  output logic                           done_o,   // pulse; count_o holds until the next start
  output logic [sluice_pkg::CtaW-1:0]    count_o
);
  localparam int unsigned KernelW = sluice_pkg::KernelW;
  localparam int unsigned CountW  = $clog2(MAX_CTAS + 1);

  logic [CountW-1:0]  count_d, count_q;
  logic [KernelW-1:0] part_d, part_q;    // demands of the CTA under count
  logic               busy_d, busy_q, load_d, load_q, done_d, done_q;   // load: the first cycle

  always_comb begin
    load_d  = start_i;
    busy_d  = start_i || (busy_q && (load_q || fits_i));
    done_d  = busy_q && !load_q && !fits_i && !start_i;
    count_d = count_q;
    part_d  = part_q;
    if (busy_q && !load_q && fits_i) begin
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
    load_q <= load_d;
  end

  assign busy_o  = busy_q;
  assign done_o  = done_q;
  assign count_o = sluice_pkg::CtaW'(count_q);
endmodule
