// SPDX-License-Identifier: Apache-2.0
// sm_resource_table: what every SM holds, and which kernels have room there (docs/reference/blocks/sm_resource_table.md).
// Lane A charges a CTA: its SM's row is read and its slot taken in the cycle of take_i, the amounts are written in the next one (charge) and
// compared with the limits in the one after. Lane B reads a row and its quotas, and compares them from the next cycle on until it reads another.
// Lane D takes the end of a CTA: its slot is free two cycles later, its resources four. A row that is written may be read for the next
// write in the same cycle. Room is never optimistic: an end only adds to it.
// Lanes are read by one-hot selects; a slot that holds no CTA can't be credited.
module sm_resource_table #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic [sluice_pkg::CtaW-1:0]                capacity_slots_i,   // at most MAX_CTAS
  input  logic [MAX_KERNELS*sluice_pkg::WarpW-1:0]   demand_warps_i,     // of one CTA; stable while one is resident
  input  logic [MAX_KERNELS*sluice_pkg::RegW-1:0]    demand_registers_i,
  input  logic [MAX_KERNELS*sluice_pkg::SharedW-1:0] demand_shared_i,
  input  logic [MAX_KERNELS*sluice_pkg::WarpW-1:0]   limit_warps_i,      // capacity - demand: one more fits up to this use
  input  logic [MAX_KERNELS*sluice_pkg::RegW-1:0]    limit_registers_i,
  input  logic [MAX_KERNELS*sluice_pkg::SharedW-1:0] limit_shared_i,
  // Lane A: charge one CTA, where there is room; not an SM again before its room is known.
  input  logic                                       take_i,
  input  logic [NUM_SM-1:0]                          take_sm_i,          // one-hot
  input  logic [MAX_KERNELS-1:0]                     take_kernel_i,      // one-hot
  output logic [MAX_CTAS-1:0]                        take_slot_o,        // one-hot: the lowest free slot
  output logic [NUM_SM-1:0]                          charge_sm_o,        // in the next cycle: the SM; one-hot, or 0
  output logic [NUM_SM-1:0]                          charged_sm_o,       // and in the one after,
  output logic [MAX_KERNELS-1:0]                     charged_room_o,     // with whether one more CTA fits there,
  output logic                                       charged_full_o,     // and whether it holds just its quotas
  // Lane A between charges: CTAs of one kernel on an empty SM, one more in each cycle but the first.
  input  logic                                       count_i,            // never with take_i
  input  logic                                       count_first_i,
  input  logic [MAX_KERNELS-1:0]                     count_kernel_i,     // one-hot
  output logic                                       count_fits_o,       // two cycles later: and another one fits
  // The CTA slots of an SM: kernel of each, and in the low bits which are used.
  input  logic [NUM_SM-1:0]                          look_sm_i,          // one-hot
  output logic [MAX_CTAS*(1+$clog2(MAX_KERNELS))-1:0] look_slots_o,
  // Lane B: evaluate.
  input  logic                                       eval_i,
  input  logic [NUM_SM-1:0]                          eval_sm_i,          // one-hot
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    eval_quota_i,
  output logic [MAX_CTAS-1:0]                        eval_used_o,        // its CTA slots
  output logic [MAX_KERNELS-1:0]                     eval_room_o,        // from the next cycle on, until eval_i
  output logic                                       eval_full_o,        // and whether it holds just its quotas
  // Lane D: credit the CTA of a slot.
  input  logic                                       done_valid_i,
  input  logic [sluice_pkg::SmW-1:0]                 done_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]               done_slot_i,
  input  logic [NUM_SM-1:0]                          wait_sm_i,          // the CTA that has not started yet: one-hot, or 0
  input  logic [MAX_CTAS-1:0]                        wait_slot_i,
  output logic                                       done_bad_o,         // in the next cycle: nothing to credit there
  output logic [sluice_pkg::SmW-1:0]                 done_bad_sm_o,
  output logic                                       free_valid_o,       // in the next cycle: the slot is left, and with the cycle after it free
  output logic [NUM_SM-1:0]                          free_sm_o,          // one-hot or 0
  output logic [MAX_CTAS-1:0]                        free_slot_o,        // one-hot or 0
  output logic [MAX_CTAS*(1+$clog2(MAX_KERNELS))-1:0] free_slots_o,      // of that SM, before it
  output logic [NUM_SM-1:0]                          give_sm_o,          // in the cycle after that: where and whose it was; its resources are
  output logic [MAX_KERNELS-1:0]                     give_kernel_o,      // credited in the one behind. One-hot, or 0
  output logic                                       ending_o            // an end is on its way
);
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned WarpW   = sluice_pkg::WarpW;
  localparam int unsigned RegW    = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned SmW     = sluice_pkg::SmW;
  localparam int unsigned SlotW   = sluice_pkg::SlotW;
  localparam int unsigned K       = MAX_KERNELS;
  localparam int unsigned N       = MAX_CTAS;
  localparam int unsigned CountW  = $clog2(N + 1);   // CTAs on one SM
  localparam int unsigned KernelW = $clog2(K);
  localparam int unsigned SlotsW  = N * (1 + KernelW);
  localparam int unsigned AmountW = WarpW + RegW + SharedW;

  // Rows: amounts {shared, registers, warps}; slots {kernel of each, which are used}; quotas.
  logic [NUM_SM*AmountW-1:0]  amounts;
  logic [NUM_SM*SlotsW-1:0]   slots;
  logic [NUM_SM*K*CountW-1:0] quotas;

  // The amounts of a row mean nothing before they are written, and read as zeros.
  logic [NUM_SM-1:0] written_d, written_q;

  logic [K*AmountW-1:0] demand;
  always_comb
    for (int unsigned k = 0; k < K; k++)
      demand[k*AmountW +: AmountW] = {demand_shared_i[k*SharedW +: SharedW], demand_registers_i[k*RegW +: RegW], demand_warps_i[k*WarpW +: WarpW]};

  // Written in this cycle.
  logic [NUM_SM-1:0]  charge_sm_q, credit_sm_q;
  logic [AmountW-1:0] charge_amounts, credit_amounts;

  // Lane A, read: the row, what the kernel takes, and the slot. While an SM is taken nothing but an end writes its row.
  logic [AmountW-1:0] a_row, a_amounts, a_amounts_q, take_amounts, take_amounts_q;
  logic [SlotsW-1:0]  a_slots, a_slots_q;
  logic [N-1:0]       a_free_up;
  sm_row_read #(.NUM_SM(NUM_SM), .AmountW(AmountW), .SlotsW(SlotsW)) i_read_a (
    .amounts_sm_i(take_sm_i & written_q), .slots_sm_i(take_sm_i), .amounts_i(amounts), .slots_i(slots), .amounts_o(a_row), .slots_o(a_slots));
  always_comb begin
    a_amounts    = (take_sm_i & credit_sm_q) != '0 ? credit_amounts : a_row;
    if (count_i) a_amounts = charge_amounts & ~{AmountW{count_first_i}};
    take_amounts = '0;
    for (int unsigned k = 0; k < K; k++)
      if (count_i ? count_kernel_i[k] : take_kernel_i[k]) take_amounts |= demand[k*AmountW +: AmountW];
    a_free_up = ~a_slots[N-1:0];
    for (int unsigned s = 1; s < N; s *= 2) a_free_up = a_free_up | (a_free_up << s);
    take_slot_o = a_free_up & ~(a_free_up << 1);
  end
  always_comb begin
    look_slots_o = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (look_sm_i[m]) look_slots_o |= slots[m*SlotsW +: SlotsW];
  end

  // Charge: the row with it, and its CTAs against the quotas.
  logic                charge_q, count_q;
  logic [K-1:0]        charge_fits, unused_fits;
  logic [NUM_SM-1:0]   charged_sm_q;
  logic [K-1:0]        charge_kernel_q;
  logic [K*CountW-1:0] a_resident, a_quota;
  logic [CountW-1:0]   a_count, capacity_slots;
  logic [K-1:0]        count_room_d, count_room_q;
  logic                charged_full_q;
  logic [AmountW-1:0]  charge_amounts_q;
  sm_row_count #(.MAX_KERNELS(K), .MAX_CTAS(N), .CountW(CountW), .KernelW(KernelW)) i_count_a (
    .slots_i(a_slots_q), .add_i(charge_kernel_q), .resident_o(a_resident), .count_o(a_count));
  assign capacity_slots = CountW'(capacity_slots_i);
  always_comb begin
    charge_amounts = {a_amounts_q[WarpW+RegW +: SharedW] + take_amounts_q[WarpW+RegW +: SharedW],
                      a_amounts_q[WarpW +: RegW] + take_amounts_q[WarpW +: RegW], a_amounts_q[0 +: WarpW] + take_amounts_q[0 +: WarpW]};
    a_quota = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (charge_sm_q[m]) a_quota |= quotas[m*K*CountW +: K*CountW];
    for (int unsigned k = 0; k < K; k++)
      count_room_d[k] = a_count < capacity_slots && a_resident[k*CountW +: CountW] < a_quota[k*CountW +: CountW];
  end

  // Compared.
  sm_row_room #(.MAX_KERNELS(K)) i_room_a (
    .amounts_i(charge_amounts_q), .limit_warps_i, .limit_registers_i, .limit_shared_i, .count_room_i(count_room_q), .fits_o(charge_fits), .room_o(charged_room_o));
  assign count_fits_o = (charge_fits & count_kernel_i) != '0;

  // Lane B: read and counted, then compared.
  logic [AmountW-1:0]  b_amounts, b_amounts_q;
  logic [SlotsW-1:0]   b_slots;
  logic [K*CountW-1:0] b_quota, b_quota_q, b_resident, b_resident_q;
  logic [CountW-1:0]   b_count, b_count_q;
  logic [K-1:0]        b_count_room;
  sm_row_read #(.NUM_SM(NUM_SM), .AmountW(AmountW), .SlotsW(SlotsW)) i_read_b (
    .amounts_sm_i(eval_sm_i & written_q), .slots_sm_i(eval_sm_i), .amounts_i(amounts), .slots_i(slots), .amounts_o(b_amounts), .slots_o(b_slots));
  sm_row_count #(.MAX_KERNELS(K), .MAX_CTAS(N), .CountW(CountW), .KernelW(KernelW)) i_count_b (
    .slots_i(b_slots), .add_i('0), .resident_o(b_resident), .count_o(b_count));
  always_comb
    for (int unsigned k = 0; k < K; k++) begin
      b_quota[k*CountW +: CountW] = CountW'(eval_quota_i[k*CtaW +: CtaW]);   // no more than MAX_CTAS
      b_count_room[k]             = b_count_q < capacity_slots && b_resident_q[k*CountW +: CountW] < b_quota_q[k*CountW +: CountW];
    end
  // A net of its own to every four rows: one to all of them would hold up the quotas. Masked, not chosen: Yosys would take the choice away.
  localparam int unsigned Groups = (NUM_SM + 3) / 4;
  logic [Groups-1:0]          eval_group;
  logic [Groups*K*CountW-1:0] row_quota;
  always_comb begin
    eval_group = '0;
    for (int unsigned m = 0; m < NUM_SM; m++) eval_group[m/4] |= eval_sm_i[m];
    for (int unsigned g = 0; g < Groups; g++) row_quota[g*K*CountW +: K*CountW] = b_quota & {K*CountW{eval_group[g]}};
  end
  sm_row_room #(.MAX_KERNELS(K)) i_room_b (
    .amounts_i(b_amounts_q), .limit_warps_i, .limit_registers_i, .limit_shared_i, .count_room_i(b_count_room), .fits_o(unused_fits), .room_o(eval_room_o));
  assign eval_used_o    = b_slots[N-1:0];
  assign eval_full_o    = b_resident_q == b_quota_q;
  assign charged_full_o = charged_full_q;

  // Lane D: the end as it came; whether a CTA runs there.
  logic              end_valid_q, end_wait_d, end_wait_q;
  logic [NUM_SM-1:0] end_sm_d, end_sm_q;
  logic [N-1:0]      end_slot_d, end_slot_q;
  logic [SmW-1:0]    end_index_q;
  always_comb begin
    for (int unsigned m = 0; m < NUM_SM; m++) end_sm_d[m]   = done_sm_i == SmW'(m);
    for (int unsigned s = 0; s < N; s++)      end_slot_d[s] = done_slot_i == SlotW'(s);
    end_wait_d = (end_sm_d & wait_sm_i) != '0 && (end_slot_d & wait_slot_i) != '0;
  end

  // Its slot is left.
  logic [SlotsW-1:0]  d_slots;
  logic [AmountW-1:0] d_row;
  logic [KernelW-1:0] end_kernel;
  logic               end_found;
  logic [K-1:0]       give_kernel_d, give_kernel_q;
  logic [NUM_SM-1:0]  give_sm_d, give_sm_q;
  sm_row_read #(.NUM_SM(NUM_SM), .AmountW(AmountW), .SlotsW(SlotsW)) i_read_d (
    .amounts_sm_i(give_sm_q & written_q), .slots_sm_i(end_sm_q), .amounts_i(amounts), .slots_i(slots), .amounts_o(d_row), .slots_o(d_slots));
  always_comb begin
    end_kernel = '0;
    for (int unsigned s = 0; s < N; s++)
      if (end_slot_q[s]) end_kernel |= d_slots[N + s*KernelW +: KernelW];
    end_found = end_valid_q && !end_wait_q && (d_slots[N-1:0] & end_slot_q) != '0;
    give_sm_d = end_found ? end_sm_q : '0;
    for (int unsigned k = 0; k < K; k++) give_kernel_d[k] = end_found && end_kernel == KernelW'(k);
  end
  assign done_bad_o    = end_valid_q && !end_found;
  assign done_bad_sm_o = end_index_q;
  assign free_valid_o  = end_found;
  assign free_sm_o     = end_sm_q;
  assign free_slot_o   = end_slot_q;
  assign free_slots_o  = d_slots;

  // What it gives back; with a CTA that is taken on the same SM the row changes by both.
  logic [AmountW-1:0] d_amounts, d_amounts_q, give_amounts, change_d, change_q;
  logic               meet, meet_q;
  always_comb begin
    d_amounts = (give_sm_q & credit_sm_q) != '0 ? credit_amounts : (give_sm_q & charge_sm_q) != '0 ? charge_amounts : d_row;
    give_amounts = '0;
    for (int unsigned k = 0; k < K; k++)
      if (give_kernel_q[k]) give_amounts |= demand[k*AmountW +: AmountW];
    meet         = take_i && (give_sm_q & take_sm_i) != '0;
    change_d     = ~give_amounts;   // and 1 is added: known before it is known whether they meet
    if (meet) change_d = {take_amounts[WarpW+RegW +: SharedW] - give_amounts[WarpW+RegW +: SharedW],
                          take_amounts[WarpW +: RegW] - give_amounts[WarpW +: RegW], take_amounts[0 +: WarpW] - give_amounts[0 +: WarpW]};
  end
  assign give_sm_o     = give_sm_q;
  assign give_kernel_o = give_kernel_q;

  // Credit.
  logic [SharedW:0] credit_shared;   // a bit below for the carry into the sum
  logic [RegW:0]    credit_registers;
  logic [WarpW:0]   credit_warps;
  assign credit_shared    = {d_amounts_q[WarpW+RegW +: SharedW], 1'b1} + {change_q[WarpW+RegW +: SharedW], !meet_q};
  assign credit_registers = {d_amounts_q[WarpW +: RegW], 1'b1} + {change_q[WarpW +: RegW], !meet_q};
  assign credit_warps     = {d_amounts_q[0 +: WarpW], 1'b1} + {change_q[0 +: WarpW], !meet_q};
  assign credit_amounts   = {credit_shared[SharedW:1], credit_registers[RegW:1], credit_warps[WarpW:1]};
  assign ending_o       = end_valid_q || give_kernel_q != '0 || credit_sm_q != '0;

  assign charge_sm_o  = charge_sm_q;
  assign charged_sm_o = charged_sm_q;
  assign written_d    = written_q | charge_sm_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      written_q     <= '0;
      charge_q      <= 1'b0;
      count_q       <= 1'b0;
      charge_sm_q   <= '0;
      charged_sm_q  <= '0;
      end_valid_q   <= 1'b0;
      give_sm_q     <= '0;
      give_kernel_q <= '0;
      credit_sm_q   <= '0;
    end else begin
      written_q     <= written_d;
      charge_q      <= take_i;
      count_q       <= count_i;
      charge_sm_q   <= take_i ? take_sm_i : '0;
      charged_sm_q  <= charge_sm_q;
      end_valid_q   <= done_valid_i;
      give_sm_q     <= give_sm_d;
      give_kernel_q <= give_kernel_d;
      credit_sm_q   <= give_sm_q;
    end

  // Looked at only behind something valid: no reset.
  always_ff @(posedge clk_i) begin
    if (take_i || count_i) begin
      a_amounts_q    <= a_amounts;
      take_amounts_q <= take_amounts;
    end
    if (take_i) begin
      charge_kernel_q <= take_kernel_i;
      a_slots_q       <= a_slots;
    end
    if (charge_q || count_q) charge_amounts_q <= charge_amounts;
    if (charge_q) begin
      count_room_q   <= count_room_d;
      charged_full_q <= a_resident == a_quota;
    end
    if (eval_i) begin
      b_amounts_q  <= b_amounts;
      b_resident_q <= b_resident;
      b_count_q    <= b_count;
      b_quota_q    <= b_quota;
    end
    if (done_valid_i) begin
      end_wait_q  <= end_wait_d;
      end_sm_q    <= end_sm_d;
      end_slot_q  <= end_slot_d;
      end_index_q <= done_sm_i;
    end
    if (give_kernel_q != '0) begin
      d_amounts_q <= d_amounts;
      change_q    <= change_d;
      meet_q      <= meet;
    end
  end

  logic [KernelW-1:0] take_kernel;
  always_comb begin
    take_kernel = '0;
    for (int unsigned k = 0; k < K; k++)
      if (take_kernel_i[k]) take_kernel |= KernelW'(k);
  end

  for (genvar m = 0; m < NUM_SM; m++) begin : gen_row
    logic               take, credit, leave;
    logic [AmountW-1:0] write_amounts;
    assign take          = take_i && take_sm_i[m];
    assign credit        = credit_sm_q[m];
    assign leave         = end_valid_q && !end_wait_q && end_sm_q[m];
    assign write_amounts = credit ? credit_amounts : charge_amounts;

    sm_resource_row #(
      .MAX_KERNELS (K),
      .MAX_CTAS    (N),
      .CountW      (CountW),
      .KernelW     (KernelW)
    ) i_row (
      .clk_i,
      .rst_ni,
      .write_i       (charge_sm_q[m] || credit),
      .warps_i       (write_amounts[0 +: WarpW]),
      .registers_i   (write_amounts[WarpW +: RegW]),
      .shared_i      (write_amounts[WarpW+RegW +: SharedW]),
      .quota_write_i (eval_i && eval_sm_i[m]),
      .quota_i       (row_quota[(m/4)*K*CountW +: K*CountW]),
      .take_slot_i   (take ? take_slot_o : '0),
      .take_kernel_i (take ? take_kernel : '0),   // a net of its own to the slots of a row: one to all would hold up the sums
      .give_slot_i   (leave ? end_slot_q : '0),
      .warps_o       (amounts[m*AmountW +: WarpW]),
      .registers_o   (amounts[m*AmountW + WarpW +: RegW]),
      .shared_o      (amounts[m*AmountW + WarpW + RegW +: SharedW]),
      .quota_o       (quotas[m*K*CountW +: K*CountW]),
      .slot_used_o   (slots[m*SlotsW +: N]),
      .slot_kernel_o (slots[m*SlotsW + N +: N*KernelW])
    );
  end

  logic unused_bits;
  assign unused_bits = ^{unused_fits, capacity_slots_i, eval_quota_i, credit_shared, credit_registers, credit_warps};
endmodule
