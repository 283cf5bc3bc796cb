// SPDX-License-Identifier: Apache-2.0
// kernel_slots: all kernel slots (kernel_slot), their grids (grid_index), and the age of the RUNNING ones.
// A launch takes the descriptor, which then stays until the slot is FREE; a refused one changes nothing but the error
// outputs. Whether a kernel fits is known a cycle ahead: its descriptor and the capacity hold from the cycle before its
// launch on.
module kernel_slots #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned FITS_NOW    = 0,   // 1: a descriptor may come with its launch
  parameter int unsigned TAIL        = 0    // 1: a kernel is RUNNING no more when the last CTA of its grid is admitted
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  input  sluice_pkg::amounts_t                         capacity_i,         // of an SM
  input  logic [sluice_pkg::CtaW-1:0]                  capacity_slots_i,
  input  logic [MAX_KERNELS*sluice_pkg::AmountW-1:0]   demand_i,           // of one CTA; it and the grid stable from
                                                                           // the cycle before the launch until FREE
  input  logic [MAX_KERNELS-1:0]                       region_fits_i,      // one CTA's regions fit an empty SM
  input  logic [MAX_KERNELS*sluice_pkg::GridW-1:0]     grid_i,
  input  logic [MAX_KERNELS-1:0]                       repeat_i,
  input  logic                                         in_order_i,         // a grid that starts again is the youngest
  input  logic [MAX_KERNELS-1:0]                       launch_i,
  input  logic [MAX_KERNELS-1:0]                       stop_i,
  input  logic [MAX_KERNELS-1:0]                       evict_i,
  input  logic [15:0]                                  evict_count_i,
  input  logic [MAX_KERNELS-1:0]                       resume_i,
  input  logic [MAX_KERNELS-1:0]                       admit_i,             // a CTA of this one: one-hot, or 0
  input  logic [MAX_KERNELS-1:0]                       port_i,             // whose CTA is at the port; one-hot, or 0
  input  logic                                         fresh_i,            // in its first cycle there
  input  logic                                         free_i,             // the port is free, or its CTA leaves
  input  logic [MAX_KERNELS-1:0]                       release_i,             // one CTA ended
  output logic [MAX_KERNELS-1:0]                       launched_o,         // launch taken in this cycle
  output logic [MAX_KERNELS-1:0]                       can_admit_o,         // RUNNING, CTAs left, no eviction holds it
  output logic [MAX_KERNELS-1:0]                       spent_o,            // RUNNING, but none of that
  output logic [MAX_KERNELS-1:0]                       waits_o,            // can_admit_o, and no CTA of it is there
  output logic [sluice_pkg::GridW-1:0]                 cta_o,              // index of the CTA at the port
  output logic [MAX_KERNELS*MAX_KERNELS-1:0]           older_o,            // bit i*K+j: i was launched before j
  output logic [MAX_KERNELS*2-1:0]                     state_o,
  output logic                                         none_o,             // every slot is FREE
  output logic [sluice_pkg::KernelW-1:0]               num_present_o,
  output logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]   age_o,
  output logic                                         change_o,
  output logic [MAX_KERNELS*sluice_pkg::ResidentW-1:0] resident_o,
  output logic [MAX_KERNELS*sluice_pkg::GridW-1:0]     dispatched_o,
  output logic [MAX_KERNELS-1:0]                       evict_done_o,
  output logic [MAX_KERNELS-1:0]                       kernel_done_o,
  output logic [MAX_KERNELS-1:0]                       cannot_fit_o,       // combinational, as the next two
  output logic [MAX_KERNELS-1:0]                       slot_busy_o,
  output logic [MAX_KERNELS-1:0]                       bad_kernel_o,
  output logic [MAX_KERNELS-1:0]                       busy_o          // changes without an input
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("kernel_slots: size out of range");
  localparam int unsigned K         = MAX_KERNELS;
  localparam int unsigned GridW     = sluice_pkg::GridW;
  localparam int unsigned AmountW   = sluice_pkg::AmountW;
  localparam int unsigned WarpW     = sluice_pkg::WarpW;   // of a demand, in its low bits
  localparam int unsigned ResidentW = sluice_pkg::ResidentW;
  localparam int unsigned KIndexW   = sluice_pkg::KIndexW;
  localparam int unsigned KernelW   = sluice_pkg::KernelW;

  logic [K-1:0] amounts_fit, running, free, offered, last, leaves;

  grid_index #(
    .MAX_KERNELS (K)
  ) i_grid_index (
    .clk_i,
    .rst_ni,
    .grid_i,
    .offer_i    (offered),
    .launched_i (launched_o),
    .admit_i,
    .free_i,
    .fresh_i,
    .cta_o,
    .last_o     (last),
    .dispatched_o
  );

  sm_row_room #(.MAX_KERNELS(K)) i_room (
    .left_i (capacity_i),
    .demand_i,
    .fits_o (amounts_fit)
  );
  for (genvar k = 0; k < K; k++) begin : gen_slot
    logic       fits;
    logic [1:0] state;
    assign fits = demand_i[k*AmountW +: WarpW] != '0 && amounts_fit[k] && grid_i[k*GridW +: GridW] != '0
        && capacity_slots_i != '0 && region_fits_i[k];

    kernel_slot #(
      .MOST_CTAS (NUM_SM * MAX_CTAS),
      .FITS_NOW  (FITS_NOW),
      .TAIL      (TAIL)
    ) i_kernel_slot (
      .clk_i,
      .rst_ni,
      .fits_i        (fits),
      .repeat_i      (repeat_i[k]),
      .launch_i      (launch_i[k]),
      .stop_i        (stop_i[k]),
      .evict_i       (evict_i[k]),
      .evict_count_i,
      .resume_i      (resume_i[k]),
      .admit_i        (admit_i[k]),
      .last_i        (last[k]),
      .admitted_i       (fresh_i && port_i[k]),
      .release_i        (release_i[k]),
      .state_o       (state),
      .offered_o     (offered[k]),
      .launched_o    (launched_o[k]),
      .can_admit_o    (can_admit_o[k]),
      .spent_o       (spent_o[k]),
      .waits_o       (waits_o[k]),
      .leaves_o      (leaves[k]),
      .resident_o    (resident_o[k*ResidentW +: ResidentW]),
      .evict_done_o  (evict_done_o[k]),
      .kernel_done_o (kernel_done_o[k]),
      .busy_o    (busy_o[k])
    );

    assign state_o[k*2 +: 2] = state;
    assign free[k]           = state == sluice_pkg::SlotFree;
    assign running[k]        = state == sluice_pkg::SlotRunning;
  end
  assign none_o       = &free;
  assign cannot_fit_o = offered & ~launched_o;
  assign slot_busy_o  = launch_i & ~free;
  assign bad_kernel_o = ((stop_i & ~kernel_done_o) | evict_i) & free;   // a kernel that just ended is as it is wanted

  // Age: whether the lower one of two slots is the older. A launch makes its slot the youngest, launches of one cycle
  // are ordered by index. In order, a grid that starts again stands in line behind the kernels that wait, before those
  // that are launched in that cycle.
  logic [K*K-1:0] older_d, older_q;   // bit i*K+j of i < j
  logic [K-1:0]   again;
  logic           change_q;
  assign again = admit_i & last & repeat_i & {K{in_order_i}};
  always_comb begin
    older_d = '0;
    older_o = '0;
    for (int unsigned i = 0; i < K; i++)
      for (int unsigned j = i + 1; j < K; j++) begin
        older_d[i*K + j] = (older_q[i*K + j] && !again[i]) || again[j];
        if (launched_o[i]) older_d[i*K + j] = 1'b0;
        if (launched_o[j]) older_d[i*K + j] = 1'b1;
        older_o[i*K + j] = older_q[i*K + j];
        older_o[j*K + i] = !older_q[i*K + j];
      end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      older_q  <= '0;
      change_q <= 1'b0;
    end else begin
      older_q  <= older_d;
      change_q <= (launched_o | leaves) != '0;
    end
  assign change_o = change_q;

  // A RUNNING slot's place in the order is the number of older ones.
  logic [K*KernelW-1:0] rank;
  always_comb begin
    num_present_o = '0;
    rank          = '0;
    age_o         = '0;
    for (int unsigned k = 0; k < K; k++) begin
      num_present_o = num_present_o + KernelW'(running[k]);
      for (int unsigned i = 0; i < K; i++)
        rank[k*KernelW +: KernelW] = rank[k*KernelW +: KernelW] + KernelW'(running[i] && older_o[i*K + k]);
    end
    for (int unsigned p = 0; p < K; p++)
      for (int unsigned k = 0; k < K; k++)
        if (running[k] && rank[k*KernelW +: KernelW] == KernelW'(p)) age_o[p*KIndexW +: KIndexW] |= KIndexW'(k);
  end
endmodule
