// SPDX-License-Identifier: Apache-2.0
// example_cta_slots: which CTA slots of an SM are taken, by CTAs of which kernel slot and tag. It reports CTAs that
// have ended, one at a time, and forgets those that are given up.
module example_cta_slots #(
  parameter int unsigned SLOTS = 8
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            start_i,          // pulse: a CTA takes a slot
  input  logic [$clog2(SLOTS)-1:0]        start_slot_i,
  input  logic [sluice_pkg::KIndexW-1:0]  start_kernel_i,
  input  logic [sluice_pkg::TagW-1:0]     start_tag_i,
  input  logic                            flush_valid_i,    // pulse: CTAs of this kernel slot with this tag go
  input  logic [sluice_pkg::KIndexW-1:0]  flush_kernel_i,
  input  logic [sluice_pkg::TagW-1:0]     flush_tag_i,
  input  logic [SLOTS-1:0]                over_i,           // no warp of the slot's CTA is there, if one has the slot
  input  logic                            may_report_i,
  output logic [SLOTS-1:0]                taken_o,
  output logic [SLOTS-1:0]                given_up_o,       // in this cycle
  output logic                            done_valid_o,     // stays until it is taken, but for a flush
  input  logic                            done_ready_i,
  output logic [sluice_pkg::SlotW-1:0]    done_slot_o,
  output logic [sluice_pkg::KIndexW-1:0]  done_kernel_o,
  output logic [sluice_pkg::TagW-1:0]     done_tag_o
);
  logic [SLOTS-1:0]               taken_d, taken_q, over, finished;   // finished: the lowest that is over, one-hot
  logic [sluice_pkg::KIndexW-1:0] kernel_q [SLOTS];
  logic [sluice_pkg::TagW-1:0]    tag_q [SLOTS];
  assign over         = taken_q & over_i;
  assign finished     = over & (~over + SLOTS'(1)) & {SLOTS{may_report_i}};
  assign done_valid_o = finished != '0;
  assign taken_o      = taken_q;
  always_comb begin
    done_slot_o   = '0;
    done_kernel_o = '0;
    done_tag_o    = '0;
    for (int unsigned s = 0; s < SLOTS; s++) begin
      given_up_o[s] = flush_valid_i && taken_q[s] && kernel_q[s] == flush_kernel_i && tag_q[s] == flush_tag_i;
      if (finished[s]) begin
        done_slot_o   |= sluice_pkg::SlotW'(s);
        done_kernel_o |= kernel_q[s];
        done_tag_o    |= tag_q[s];
      end
    end
    taken_d = taken_q & ~(finished & {SLOTS{done_ready_i}}) & ~given_up_o;
    if (start_i) taken_d[start_slot_i] = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) taken_q <= '0;
    else         taken_q <= taken_d;
  always_ff @(posedge clk_i)   // looked at only where taken_q says so: no reset
    if (start_i) begin
      kernel_q[start_slot_i] <= start_kernel_i;
      tag_q[start_slot_i]    <= start_tag_i;
    end
endmodule
