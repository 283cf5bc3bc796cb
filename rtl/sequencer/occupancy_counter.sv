// SPDX-License-Identifier: Apache-2.0
// occupancy_counter: how many CTAs of one RUNNING kernel fit into 1/share of an SM
// (docs/reference/blocks/partition_sequencer.md).
// floor(capacity / share) holds t CTAs exactly when capacity holds share * t of them: a CTA a cycle is added up until
// no other one fits, and every share-th counts. The dispatcher adds and compares in its lane A, which rests while a
// plan is made; CTA slots are counted here. From start_i to done_o: n + 3 cycles, n CTAs fit the whole SM, of which one
// is known to fit. A start drops a count under way.
module occupancy_counter #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           start_i,
  input  logic                           abort_i,            // drops a count under way
  input  logic [sluice_pkg::KernelW-1:0] share_i,            // 1..MAX_KERNELS; stands until done_o, as the kernel
  input  logic [sluice_pkg::CtaW-1:0]    capacity_slots_i,   // 1..MAX_CTAS, stable
  output logic                           count_o,            // to the dispatcher: one more in this cycle,
  output logic                           count_first_o,      // or none yet
  input  logic                           fits_i,             // two cycles later: and another one fits
  output logic                           done_o,             // pulse, in which occupancy_o is the answer
  output logic [sluice_pkg::CtaW-1:0]    occupancy_o
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, MAX_CTAS)) $error("occupancy_counter: size out of range");
  localparam int unsigned PartW  = $clog2(MAX_KERNELS);
  localparam int unsigned CountW = $clog2(MAX_CTAS + 1);

  // the high bit: it counts
  typedef enum logic [2:0] {Rest = 3'b000, Done = 3'b001, First = 3'b100, Second = 3'b101, Count = 3'b110} state_e;

  state_e            state_d, state_q;
  logic [CountW-1:0] slots_d, slots_q;   // CTAs that were added up
  logic [PartW-1:0]  part_d, part_q;     // of them, those of the CTA under count
  logic [CountW-1:0] ctas_d, ctas_q;     // the others, by share

  always_comb begin
    state_d = state_q;
    slots_d = slots_q;
    part_d  = part_q;
    ctas_d  = ctas_q;
    unique case (state_q)
      First: begin
        slots_d = '0;
        part_d  = '0;
        ctas_d  = '0;
        state_d = Second;
      end
      Second, Count: begin   // one more fits
        state_d = Count;
        if (state_q == Count && (!fits_i || slots_q == capacity_slots_i[CountW-1:0])) state_d = Done;
        else begin
          slots_d = slots_q + 1'b1;
          part_d  = part_q + 1'b1;
          if (sluice_pkg::KernelW'(part_q) + 1'b1 == share_i) begin
            part_d = '0;
            ctas_d = ctas_q + 1'b1;
          end
        end
      end
      default: state_d = Rest;
    endcase
    if (start_i) state_d = First;
    if (abort_i) state_d = Rest;
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) state_q <= Rest;
    else         state_q <= state_d;

  // Set before they are looked at: no reset.
  always_ff @(posedge clk_i) begin
    slots_q <= slots_d;
    part_q  <= part_d;
    ctas_q  <= ctas_d;
  end

  assign count_o       = state_q[2];
  assign count_first_o = state_q == First;
  assign done_o        = state_q == Done;
  assign occupancy_o   = sluice_pkg::CtaW'(ctas_q);

  logic unused_bits;   // the caller's slots are at most MAX_CTAS
  assign unused_bits = ^capacity_slots_i;
endmodule
