// SPDX-License-Identifier: Apache-2.0
// sm_resource_table: what every SM has left, and which kernels have room there
// (docs/reference/blocks/sm_resource_table.md). Lane A charges a CTA: its SM's row is read and its slot taken in the
// cycle of admit_i, what is left is written in the next one (charge) and compared with the demands in the one after.
// Lane B reads a row and its quotas, and compares them from the next cycle on until it reads another. Lane D
// (sm_row_end) takes the end of a CTA: its slot is free two cycles later, its resources four. A row that is written may
// be read for the next write in the same cycle. Room is never optimistic: an end only adds to it.
// Lanes are read by one-hot selects; a slot that holds no CTA can't be credited.
module sm_resource_table #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  sluice_pkg::amounts_t                       capacity_i,         // of an SM; stable from the cycle before a
                                                                         // launch on until none_i
  input  logic [sluice_pkg::CtaW-1:0]                capacity_slots_i,   // at most MAX_CTAS
  input  logic                                       none_i,             // no kernel is present: every row is full
  input  logic [MAX_KERNELS*sluice_pkg::AmountW-1:0] demand_i,           // of one CTA; stable while one is resident
  // Lane A: charge one CTA, where there is room; not an SM again before its room is known.
  input  logic                                       admit_i,
  input  logic [NUM_SM-1:0]                          admit_sm_i,          // one-hot
  input  logic [MAX_KERNELS-1:0]                     admit_kernel_i,      // one-hot
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    admit_quota_i,       // of that SM
  output logic [MAX_CTAS-1:0]                        admit_slot_o,        // one-hot: the lowest free slot
  output logic [NUM_SM-1:0]                          held_o,             // SMs that hold a CTA: a slot is used
  output logic [NUM_SM*MAX_CTAS*(1+$clog2(MAX_KERNELS))-1:0] slots_o,    // CTA slots of every SM, as look_slots_o
  output logic [NUM_SM-1:0]                          charge_sm_o,        // in the next cycle: the SM; one-hot, or 0
  output logic [NUM_SM-1:0]                          charged_sm_o,       // and in the one after,
  output logic [MAX_KERNELS-1:0]                     charged_room_o,     // with whether one more CTA fits there,
  output logic                                       charged_full_o,     // and whether it holds just its quotas
  // Lane A between charges: CTAs of one kernel on an empty SM, one more in each cycle but the first.
  input  logic                                       count_i,            // never with admit_i
  input  logic                                       count_first_i,
  input  logic [MAX_KERNELS-1:0]                     count_kernel_i,     // one-hot
  output logic                                       count_fits_o,       // two cycles later: and another one fits
  // The CTA slots of an SM: kernel of each, and in the low bits which are used.
  input  logic [NUM_SM-1:0]                          look_sm_i,          // one-hot
  output logic [MAX_CTAS*(1+$clog2(MAX_KERNELS))-1:0] look_slots_o,
  // Lane B: evaluate.
  input  logic                                       eval_i,
  input  logic [NUM_SM-1:0]                          eval_sm_i,          // one-hot
  input  logic [NUM_SM-1:0]                          eval_slots_sm_i,    // the same
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    eval_quota_i,
  output logic [MAX_CTAS-1:0]                        eval_used_o,        // its CTA slots
  output logic [MAX_KERNELS-1:0]                     eval_room_o,        // from the next cycle on, until eval_i
  output logic                                       eval_full_o,        // and whether it holds just its quotas
  // Lane D: credit the CTA of a slot. As sm_row_end has it.
  input  logic                                       done_valid_i,
  input  logic [sluice_pkg::SmW-1:0]                 done_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]               done_slot_i,
  input  logic [MAX_CTAS-1:0]                        wait_slot_i,        // of the CTA on admit_sm_i, not started yet
  output logic                                       done_bad_o,
  output logic [sluice_pkg::SmW-1:0]                 done_bad_sm_o,
  output logic [sluice_pkg::SlotW-1:0]               done_bad_slot_o,
  output logic                                       free_valid_o,
  output logic [NUM_SM-1:0]                          free_sm_o,
  output logic [MAX_CTAS-1:0]                        free_slot_o,
  output logic [MAX_CTAS*(1+$clog2(MAX_KERNELS))-1:0] free_slots_o,
  output logic [NUM_SM-1:0]                          release_sm_o,
  output logic [MAX_KERNELS-1:0]                     release_kernel_o,
  output logic                                       ending_o
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("sm_resource_table: size out of range");
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned AmountW = sluice_pkg::AmountW;
  localparam int unsigned K       = MAX_KERNELS;
  localparam int unsigned N       = MAX_CTAS;
  localparam int unsigned CountW  = $clog2(N + 1);   // CTAs on one SM
  localparam int unsigned KernelW = $clog2(K);
  localparam int unsigned SlotsW  = N * (1 + KernelW);

  // Rows: amounts left; slots {kernel of each, which are used}.
  logic [NUM_SM*AmountW-1:0] amounts;
  logic [NUM_SM*SlotsW-1:0]  slots;
  logic [NUM_SM-1:0]         written_d, written_q;

  // Written in this cycle.
  logic [NUM_SM-1:0]    charge_sm_q, credit_sm;
  sluice_pkg::amounts_t charge, credit;

  // Lane A, read: the row, what the kernel takes, and the slot. While an SM is taken nothing but an end writes its row.
  sluice_pkg::amounts_t a_row, a_left, a_left_q, admit, admit_q;
  logic [SlotsW-1:0]    a_slots, a_slots_q;
  logic [N-1:0]         a_free_up;
  logic [NUM_SM-1:0]    admitted_sm;
  logic [K*CountW-1:0]  a_quota, a_quota_q;
  assign admitted_sm = admit_sm_i & {NUM_SM{admit_i}};
  sm_row_read #(.NUM_SM(NUM_SM), .SlotsW(SlotsW)) i_read_a (
    .amounts_sm_i (admitted_sm),
    .slots_sm_i   (admit_sm_i),
    .written_i    (written_q),
    .unwritten_i  (capacity_i),
    .amounts_i    (amounts),
    .slots_i      (slots),
    .amounts_o    (a_row),
    .slots_o      (a_slots)
  );
  always_comb begin
    a_left = (admitted_sm & credit_sm) != '0 ? credit : a_row;
    if (count_i && !count_first_i) a_left = charge;
    admit = '0;
    for (int unsigned k = 0; k < K; k++) begin
      if (count_i ? count_kernel_i[k] : admit_kernel_i[k]) admit |= demand_i[k*AmountW +: AmountW];
      a_quota[k*CountW +: CountW] = CountW'(admit_quota_i[k*CtaW +: CtaW]);   // no more than MAX_CTAS
    end
    a_free_up = ~a_slots[N-1:0];
    for (int unsigned s = 1; s < N; s *= 2) a_free_up = a_free_up | (a_free_up << s);
    admit_slot_o = a_free_up & ~(a_free_up << 1);
  end
  assign slots_o = slots;
  always_comb
    for (int unsigned m = 0; m < NUM_SM; m++) held_o[m] = slots[m*SlotsW +: N] != '0;
  always_comb begin
    look_slots_o = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (look_sm_i[m]) look_slots_o |= slots[m*SlotsW +: SlotsW];
  end

  // Charge: the row with it, and its CTAs against the quotas.
  logic                 charge_q, count_q;
  logic [NUM_SM-1:0]    charged_sm_q;
  logic [K-1:0]         charge_kernel_q;
  logic [K*CountW-1:0]  a_resident;
  logic [CountW-1:0]    a_count, capacity_slots;
  logic [K-1:0]         a_room, a_room_q, charged_fits;
  logic                 charged_full_q;
  sluice_pkg::amounts_t charged_q;
  sm_row_count #(.MAX_KERNELS(K), .MAX_CTAS(N), .CountW(CountW), .KernelW(KernelW)) i_count_a (
    .slots_i    (a_slots_q),
    .add_i      (charge_kernel_q),
    .resident_o (a_resident),
    .count_o    (a_count)
  );
  assign capacity_slots = CountW'(capacity_slots_i);
  always_comb begin
    charge.warps     = a_left_q.warps - admit_q.warps;
    charge.registers = a_left_q.registers - admit_q.registers;
    charge.shared    = a_left_q.shared - admit_q.shared;
    for (int unsigned k = 0; k < K; k++)
      a_room[k] = a_count < capacity_slots && a_resident[k*CountW +: CountW] < a_quota_q[k*CountW +: CountW];
  end

  // Compared.
  sm_row_room #(.MAX_KERNELS(K)) i_room_a (
    .left_i (charged_q),
    .demand_i,
    .fits_o (charged_fits)
  );
  assign charged_room_o = charged_fits & a_room_q;
  assign charged_full_o = charged_full_q;
  assign count_fits_o   = (charged_fits & count_kernel_i) != '0;

  // Lane B: read and counted, then compared.
  sluice_pkg::amounts_t b_left, b_left_q;
  logic [SlotsW-1:0]    b_slots;
  logic [K*CountW-1:0]  b_quota, b_quota_q, b_resident, b_resident_q;
  logic [CountW-1:0]    b_count, b_count_q;
  logic [K-1:0]         b_fits;
  sm_row_read #(.NUM_SM(NUM_SM), .SlotsW(SlotsW)) i_read_b (
    .amounts_sm_i (eval_sm_i),
    .slots_sm_i   (eval_slots_sm_i),
    .written_i    (written_q),
    .unwritten_i  (capacity_i),
    .amounts_i    (amounts),
    .slots_i      (slots),
    .amounts_o    (b_left),
    .slots_o      (b_slots)
  );
  sm_row_count #(.MAX_KERNELS(K), .MAX_CTAS(N), .CountW(CountW), .KernelW(KernelW)) i_count_b (
    .slots_i    (b_slots),
    .add_i      ('0),
    .resident_o (b_resident),
    .count_o    (b_count)
  );
  sm_row_room #(.MAX_KERNELS(K)) i_room_b (
    .left_i (b_left_q),
    .demand_i,
    .fits_o (b_fits)
  );
  always_comb
    for (int unsigned k = 0; k < K; k++) begin
      b_quota[k*CountW +: CountW] = CountW'(eval_quota_i[k*CtaW +: CtaW]);
      eval_room_o[k]              = b_fits[k] && b_count_q < capacity_slots
          && b_resident_q[k*CountW +: CountW] < b_quota_q[k*CountW +: CountW];
    end
  assign eval_used_o = b_slots[N-1:0];
  assign eval_full_o = b_resident_q == b_quota_q;

  // Lane D.
  logic [NUM_SM-1:0] free_sm;
  logic              leave;
  logic [N-1:0]      free_slot;
  sm_row_end #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(N), .SlotsW(SlotsW)) i_end (
    .clk_i,
    .rst_ni,
    .done_valid_i,
    .done_sm_i,
    .done_slot_i,
    .wait_sm_i   (admit_sm_i),
    .wait_slot_i,
    .demand_i,
    .amounts_i   (amounts),
    .slots_i     (slots),
    .written_i   (written_q),
    .unwritten_i (capacity_i),
    .admit_sm_i  (admitted_sm),
    .admit_i     (admit),
    .charge_sm_i (charge_sm_q),
    .charge_i    (charge),
    .bad_o       (done_bad_o),
    .bad_sm_o    (done_bad_sm_o),
    .bad_slot_o  (done_bad_slot_o),
    .leave_o     (leave),
    .free_valid_o,
    .free_sm_o   (free_sm),
    .free_slot_o (free_slot),
    .free_slots_o,
    .release_sm_o,
    .release_kernel_o,
    .credit_sm_o (credit_sm),
    .credit_o    (credit),
    .ending_o
  );
  assign free_sm_o    = free_sm;
  assign free_slot_o  = free_slot;

  assign charge_sm_o  = charge_sm_q;
  assign charged_sm_o = charged_sm_q;
  assign written_d    = (written_q | charge_sm_q) & ~{NUM_SM{none_i}};
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      written_q    <= '0;
      charge_q     <= 1'b0;
      count_q      <= 1'b0;
      charge_sm_q  <= '0;
      charged_sm_q <= '0;
    end else begin
      written_q    <= written_d;
      charge_q     <= admit_i;
      count_q      <= count_i;
      charge_sm_q  <= admitted_sm;
      charged_sm_q <= charge_sm_q;
    end

  // Looked at only behind something valid: no reset.
  always_ff @(posedge clk_i) begin
    if (admit_i || count_i) begin
      a_left_q <= a_left;
      admit_q   <= admit;
    end
    if (admit_i) begin
      charge_kernel_q <= admit_kernel_i;
      a_slots_q       <= a_slots;
      a_quota_q       <= a_quota;
    end
    if (charge_q || count_q) charged_q <= charge;
    if (charge_q) begin
      a_room_q       <= a_room;
      charged_full_q <= a_resident == a_quota_q;
    end
    if (eval_i || none_i) b_left_q <= b_left;   // the capacity may change where no kernel is present
    if (eval_i) begin
      b_resident_q <= b_resident;
      b_count_q    <= b_count;
      b_quota_q    <= b_quota;
    end
  end

  logic [KernelW-1:0] admit_kernel;
  always_comb begin
    admit_kernel = '0;
    for (int unsigned k = 0; k < K; k++)
      if (admit_kernel_i[k]) admit_kernel |= KernelW'(k);
  end

  for (genvar m = 0; m < NUM_SM; m++) begin : gen_row
    sm_resource_row #(
      .MAX_CTAS (N),
      .KernelW  (KernelW)
    ) i_row (
      .clk_i,
      .rst_ni,
      .write_i       (charge_sm_q[m] || credit_sm[m]),
      .amounts_i     (credit_sm[m] ? credit : charge),
      .admit_slot_i   (admitted_sm[m] ? admit_slot_o : '0),
      .admit_kernel_i (admitted_sm[m] ? admit_kernel : '0),   // a net of its own to the slots of a row: one to all
                                                              // would hold up the sums
      .release_slot_i   (leave && free_sm[m] ? free_slot : '0),
      .amounts_o     (amounts[m*AmountW +: AmountW]),
      .slot_used_o   (slots[m*SlotsW +: N]),
      .slot_kernel_o (slots[m*SlotsW + N +: N*KernelW])
    );
  end

  logic unused_bits;
  assign unused_bits = ^{capacity_slots_i, eval_quota_i, admit_quota_i};
endmodule
