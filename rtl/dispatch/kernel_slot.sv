// SPDX-License-Identifier: Apache-2.0
// kernel_slot: the life of one kernel slot (FREE, RUNNING, DRAINING), its eviction and its resident CTAs. Pulses come
// in the first cycle of what they announce. A refused launch changes nothing. docs/reference/blocks/cta_dispatcher.md
// has the rules, corner cases included.
module kernel_slot #(
  parameter int unsigned MOST_CTAS = 128,  // that can be resident
  parameter int unsigned FITS_NOW  = 0,    // 1: fits_i is of the cycle of the launch, not of the one before
  parameter int unsigned TAIL      = 0     // 1: DRAINING from the last CTA of the grid on
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             fits_i,          // a CTA fits; but for FITS_NOW, a cycle before the launch
  input  logic                             repeat_i,
  input  logic                             launch_i,
  input  logic                             stop_i,
  input  logic                             evict_i,
  input  logic [15:0]                      evict_count_i,
  input  logic                             resume_i,
  input  logic                             admit_i,          // one CTA is admitted
  input  logic                             last_i,          // it would be the last of the grid
  input  logic                             admitted_i,         // one was admitted in the cycle before
  input  logic                             release_i,          // one CTA ended
  output logic [1:0]                       state_o,
  output logic                             offered_o,       // launch that finds the slot FREE,
  output logic                             launched_o,      // and is taken
  output logic                             can_admit_o,      // RUNNING, CTAs left, not held by an eviction
  output logic                             spent_o,         // RUNNING, but none of that
  output logic                             waits_o,         // can_admit_o, and no CTA of it is there
  output logic                             leaves_o,        // RUNNING no more with the next edge
  output logic [sluice_pkg::ResidentW-1:0] resident_o,
  output logic                             evict_done_o,    // pulses
  output logic                             kernel_done_o,
  output logic                             busy_o       // changes without an input
);
  if (MOST_CTAS < 1) $error("kernel_slot: MOST_CTAS out of range");
  localparam int unsigned CountW = $clog2(MOST_CTAS + 1);

  localparam logic [1:0] Free = sluice_pkg::SlotFree, Running = sluice_pkg::SlotRunning,
    Draining = sluice_pkg::SlotDraining;

  logic [1:0]        state_d, state_q;
  logic              fits_q;
  logic              finished_d, finished_q;         // the last CTA was admitted
  logic              hold_d, hold_q;                 // not refilled
  logic              can_admit_q;                    // RUNNING, and neither: whose turn it is is known late
  logic              evict_d, evict_q;               // an eviction is to be reported
  logic              evict_done_d, evict_done_q, kernel_done_d, kernel_done_q;
  logic [CountW-1:0] resident_d, resident_q;
  logic [CountW-1:0] evict_left_d, evict_left_q;     // more than can be resident is as good as all
  logic              empty, evicted, drained;

  assign empty   = resident_q == '0 && !admitted_i;
  assign evicted = evict_q && (evict_left_q == '0 || empty);
  assign drained = empty && (state_q == Draining || (state_q == Running && finished_q));

  always_comb begin
    state_d       = state_q;
    finished_d    = finished_q;
    hold_d        = hold_q;
    evict_d       = evict_q && !evicted;
    evict_left_d  = evict_left_q;
    evict_done_d  = evicted;
    kernel_done_d = 1'b0;
    resident_d    = admitted_i ? resident_q + 1'b1 : resident_q - 1'b1;
    if (admit_i && last_i) finished_d = !repeat_i;
    if (release_i && evict_left_q != '0) evict_left_d = evict_left_q - 1'b1;
    if (resume_i) begin
      hold_d       = 1'b0;
      evict_d      = 1'b0;
      evict_done_d = 1'b0;
    end
    if (evict_i && state_q != Free) begin
      hold_d       = 1'b1;
      evict_d      = 1'b1;
      evict_done_d = 1'b0;
      evict_left_d = (evict_count_i > 16'(MOST_CTAS)) ? CountW'(MOST_CTAS) : CountW'(evict_count_i);
    end

    if (state_q == Running && (stop_i || (TAIL != 0 && admit_i && last_i && !repeat_i))) state_d = Draining;
    if (launched_o) begin
      state_d    = Running;
      finished_d = 1'b0;
    end
    if (drained) begin
      state_d       = Free;
      kernel_done_d = 1'b1;
      evict_done_d  = evict_done_d || evict_d;   // an eviction of this very cycle too
      hold_d        = 1'b0;
      evict_d       = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state_q       <= Free;
      fits_q        <= 1'b0;
      finished_q    <= 1'b0;
      hold_q        <= 1'b0;
      can_admit_q   <= 1'b0;
      evict_q       <= 1'b0;
      evict_done_q  <= 1'b0;
      kernel_done_q <= 1'b0;
    end else begin
      state_q       <= state_d;
      fits_q        <= fits_i;
      finished_q    <= finished_d;
      hold_q        <= hold_d;
      can_admit_q   <= state_d == Running && !finished_d && !hold_d;
      evict_q       <= evict_d;
      evict_done_q  <= evict_done_d;
      kernel_done_q <= kernel_done_d;
    end
  always_ff @(posedge clk_i) evict_left_q <= evict_left_d;   // looked at only in an eviction: no reset
  always_ff @(posedge clk_i or negedge rst_ni)   // clocked when it counts
    if (!rst_ni)                resident_q <= '0;
    else if (admitted_i != release_i) resident_q <= resident_d;

  assign state_o       = state_q;
  assign offered_o     = launch_i && state_q == Free;
  assign launched_o    = offered_o && ((FITS_NOW != 0) ? fits_i : fits_q);
  assign can_admit_o   = can_admit_q;
  assign waits_o       = can_admit_q && empty;
  assign spent_o       = state_q == Running && (finished_q || hold_q);
  assign leaves_o      = state_q == Running && state_d != Running;
  assign resident_o    = sluice_pkg::ResidentW'(resident_q);
  assign evict_done_o  = evict_done_q;
  assign kernel_done_o = kernel_done_q;
  assign busy_o    = drained || evicted;

endmodule
