// SPDX-License-Identifier: Apache-2.0
// sm_row_end: lane D of sm_resource_table: the end of a CTA (docs/reference/blocks/sm_resource_table.md). In the cycle
// after done_valid_i its slot is left, or there is nothing to credit there; in the next the row is read; in the one
// behind that it is written. Where a CTA is taken on the same SM, the row changes by both.
module sm_row_end #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned SlotsW      = 24    // bits of a row's CTA slots: which hold a CTA, then their kernels
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic                                       done_valid_i,
  input  logic [sluice_pkg::SmW-1:0]                 done_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]               done_slot_i,
  input  logic [NUM_SM-1:0]                          wait_sm_i,      // the CTA that has not started yet: one-hot, or 0
  input  logic [MAX_CTAS-1:0]                        wait_slot_i,
  input  logic [MAX_KERNELS*sluice_pkg::AmountW-1:0] demand_i,
  // The table.
  input  logic [NUM_SM*sluice_pkg::AmountW-1:0]      amounts_i,      // of every row
  input  logic [NUM_SM*SlotsW-1:0]                   slots_i,
  input  logic [NUM_SM-1:0]                          written_i,      // rows that were; any other is that of an SM
                                                                     // without CTAs:
  input  sluice_pkg::amounts_t                       unwritten_i,    // what such an SM has left
  input  logic [NUM_SM-1:0]                          admit_sm_i,      // a CTA is taken there; one-hot, or 0
  input  sluice_pkg::amounts_t                       admit_i,         // with this demand,
  input  logic [NUM_SM-1:0]                          charge_sm_i,    // charged in the next cycle
  input  sluice_pkg::amounts_t                       charge_i,       // with what is left then
  // In the cycle after the end came:
  output logic                                       bad_o,          // nothing to credit there
  output logic [sluice_pkg::SmW-1:0]                 bad_sm_o,
  output logic [sluice_pkg::SlotW-1:0]               bad_slot_o,
  output logic                                       leave_o,        // the slot is left, if one of these is; known
                                                                     // earlier than
  output logic                                       free_valid_o, // the slot is left, and free from the cycle after on
  output logic [NUM_SM-1:0]                          free_sm_o,      // one-hot or 0
  output logic [MAX_CTAS-1:0]                        free_slot_o,    // one-hot or 0
  output logic [SlotsW-1:0]                          free_slots_o,   // of that SM, before it
  output logic [NUM_SM-1:0]                          release_sm_o, // in the next: where and whose it was; one-hot, or 0
  output logic [MAX_KERNELS-1:0]                     release_kernel_o,
  output logic [NUM_SM-1:0]                          credit_sm_o,    // in the one behind it: the row to write, or 0
  output sluice_pkg::amounts_t                       credit_o,       // with this
  output logic                                       ending_o        // an end is on its way
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("sm_row_end: size out of range");
  localparam int unsigned SmW     = sluice_pkg::SmW;
  localparam int unsigned SlotW   = sluice_pkg::SlotW;
  localparam int unsigned AmountW = sluice_pkg::AmountW;
  localparam int unsigned K       = MAX_KERNELS;
  localparam int unsigned N       = MAX_CTAS;
  localparam int unsigned KernelW = $clog2(K);

  logic                 end_valid_q, end_wait_d, end_wait_q;
  logic [NUM_SM-1:0]    end_sm_d, end_sm_q, release_sm_d, release_sm_q, credit_sm_q;
  logic [N-1:0]         end_slot_d, end_slot_q;
  logic [SmW-1:0]       end_index_q;
  logic [sluice_pkg::SlotW-1:0] end_number_q;
  logic [SlotsW-1:0]    slots;
  logic [KernelW-1:0]   kernel;
  logic                 found;
  logic [K-1:0]         release_kernel_d, release_kernel_q;
  sluice_pkg::amounts_t row, left_d, left_q, released, change_d, change_q;

  // As it came; whether a CTA runs there.
  always_comb begin
    for (int unsigned m = 0; m < NUM_SM; m++) end_sm_d[m]   = done_sm_i == SmW'(m);
    for (int unsigned s = 0; s < N; s++)      end_slot_d[s] = done_slot_i == SlotW'(s);
    end_wait_d = (end_sm_d & wait_sm_i) != '0 && (end_slot_d & wait_slot_i) != '0;
    kernel     = '0;
    for (int unsigned s = 0; s < N; s++)
      if (end_slot_q[s]) kernel |= slots[N + s*KernelW +: KernelW];
    found     = leave_o && (slots[N-1:0] & end_slot_q) != '0;
    release_sm_d = found ? end_sm_q : '0;
    for (int unsigned k = 0; k < K; k++) release_kernel_d[k] = found && kernel == KernelW'(k);
  end

  // What is left in the row, with what lane A and the end before this one are about to write; and what the row changes
  // by.
  sm_row_read #(.NUM_SM(NUM_SM), .SlotsW(SlotsW)) i_read (
    .amounts_sm_i (release_sm_q),
    .slots_sm_i   (end_sm_q),
    .written_i,
    .unwritten_i,
    .amounts_i,
    .slots_i,
    .amounts_o    (row),
    .slots_o      (slots)
  );
  always_comb begin
    left_d = row;
    if ((release_sm_q & charge_sm_i) != '0) left_d = charge_i;
    if ((release_sm_q & credit_sm_q) != '0) left_d = credit_o;
    released = '0;
    for (int unsigned k = 0; k < K; k++)
      if (release_kernel_q[k]) released |= demand_i[k*AmountW +: AmountW];
    change_d = released;
    if ((release_sm_q & admit_sm_i) != '0) begin
      change_d.warps     = released.warps - admit_i.warps;
      change_d.registers = released.registers - admit_i.registers;
      change_d.shared    = released.shared - admit_i.shared;
    end
  end
  assign credit_o.warps     = left_q.warps + change_q.warps;
  assign credit_o.registers = left_q.registers + change_q.registers;
  assign credit_o.shared    = left_q.shared + change_q.shared;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      end_valid_q   <= 1'b0;
      release_sm_q     <= '0;
      release_kernel_q <= '0;
      credit_sm_q   <= '0;
    end else begin
      end_valid_q   <= done_valid_i;
      release_sm_q     <= release_sm_d;
      release_kernel_q <= release_kernel_d;
      credit_sm_q   <= release_sm_q;
    end
  always_ff @(posedge clk_i) begin   // looked at only behind something valid: no reset
    if (done_valid_i) begin
      end_wait_q  <= end_wait_d;
      end_sm_q    <= end_sm_d;
      end_slot_q  <= end_slot_d;
      end_index_q <= done_sm_i;
      end_number_q <= done_slot_i;
    end
    if (release_kernel_q != '0) begin
      left_q   <= left_d;
      change_q <= change_d;
    end
  end

  assign bad_o         = end_valid_q && !found;
  assign bad_sm_o      = end_index_q;
  assign bad_slot_o    = end_number_q;
  assign leave_o       = end_valid_q && !end_wait_q;
  assign free_valid_o  = found;
  assign free_sm_o     = end_sm_q;
  assign free_slot_o   = end_slot_q;
  assign free_slots_o  = slots;
  assign release_sm_o     = release_sm_q;
  assign release_kernel_o = release_kernel_q;
  assign credit_sm_o   = credit_sm_q;
  assign ending_o      = end_valid_q || release_kernel_q != '0 || credit_sm_q != '0;
endmodule
