// sm_resource_table: what every SM holds, and which kernels have room there (docs/blocks/sm_resource_table.md).
// A CTA is charged (take) and one credited (done) in the same cycle, on the same SM too. Two SMs are evaluated a cycle for all
// kernels: the one that is charged, as it will be, and the one that eval_sm_i names, whose quotas are stored. Room is
// conservative: a credit counts from the next cycle on. Lanes are read by one-hot selects; a slot that holds no CTA can't be credited.
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
  // Lane A: charge one CTA, where there is room.
  input  logic                                       take_valid_i,
  input  logic [NUM_SM-1:0]                          take_sm_i,          // one-hot
  input  logic [MAX_KERNELS-1:0]                     take_kernel_i,      // one-hot
  output logic [MAX_CTAS-1:0]                        take_slot_o,        // one-hot: the lowest free slot
  output logic [MAX_KERNELS-1:0]                     take_room_o,        // one more CTA fits after it
  output logic [MAX_CTAS*(1+$clog2(MAX_KERNELS))-1:0] take_slots_o,      // before it: kernel of each CTA slot, and in the low bits which are used
  // Lane B: evaluate.
  input  logic                                       eval_valid_i,
  input  logic [NUM_SM-1:0]                          eval_sm_i,          // one-hot
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    eval_quota_i,
  output logic [MAX_KERNELS-1:0]                     eval_room_o,
  output logic [MAX_CTAS-1:0]                        eval_used_o,        // its CTA slots
  // Lane D: credit the CTA of a slot.
  input  logic                                       done_valid_i,
  input  logic [sluice_pkg::SmW-1:0]                 done_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]               done_slot_i,
  input  logic                                       done_block_i,       // this CTA has not started yet
  output logic                                       done_bad_o,         // nothing to credit there
  output logic [NUM_SM-1:0]                          done_sm_o,          // one-hot, whether credited or not
  output logic [MAX_CTAS-1:0]                        done_slot_o,        // one-hot
  output logic [MAX_CTAS*(1+$clog2(MAX_KERNELS))-1:0] done_slots_o,      // of that SM, before it
  output logic                                       give_valid_o,       // credited: where and whose
  output logic [NUM_SM-1:0]                          give_sm_o,          // one-hot
  output logic [MAX_KERNELS-1:0]                     give_kernel_o       // one-hot
);
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned WarpW   = sluice_pkg::WarpW;
  localparam int unsigned RegW    = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned CountW  = $clog2(MAX_CTAS + 1);   // CTAs on one SM
  localparam int unsigned KernelW = $clog2(MAX_KERNELS);
  localparam int unsigned SlotsW  = MAX_CTAS * (1 + KernelW);
  localparam int unsigned AmountW = WarpW + RegW + SharedW;

  // Rows: amounts {shared, registers, warps}; slots {kernel of each, which are used}; quotas.
  logic [NUM_SM*AmountW-1:0]            amounts;
  logic [NUM_SM*SlotsW-1:0]             slots;
  logic [NUM_SM*MAX_KERNELS*CountW-1:0] quotas;

  // Rows with a CTA; the amounts of the others mean nothing, and they read as zeros.
  logic [NUM_SM-1:0] holds;
  always_comb
    for (int unsigned m = 0; m < NUM_SM; m++) holds[m] = slots[m*SlotsW +: MAX_CTAS] != '0;

  // Quotas as counts: no more than MAX_CTAS.
  logic [MAX_KERNELS*CountW-1:0] eval_quota;
  logic [CountW-1:0]             capacity_slots;
  always_comb begin
    for (int unsigned k = 0; k < MAX_KERNELS; k++) eval_quota[k*CountW +: CountW] = CountW'(eval_quota_i[k*CtaW +: CtaW]);
    capacity_slots = CountW'(capacity_slots_i);
  end

  // Lane A: the row, its CTAs, and the slot.
  logic [AmountW-1:0]            a_amounts;
  logic [SlotsW-1:0]             a_slots;
  logic [MAX_KERNELS*CountW-1:0] a_quota, a_resident;
  logic [CountW-1:0]             a_count;
  logic [MAX_CTAS-1:0]           a_free_up;
  sm_row_read #(.NUM_SM(NUM_SM), .MAX_KERNELS(MAX_KERNELS), .MAX_CTAS(MAX_CTAS), .AmountW(AmountW), .CountW(CountW), .KernelW(KernelW), .SlotsW(SlotsW)) i_read_a (
    .select_i(take_sm_i & holds), .amounts_i(amounts), .slots_i(slots), .amounts_o(a_amounts), .slots_o(a_slots), .resident_o(a_resident), .count_o(a_count));

  // What the kernel takes: the row with it, for which all kernels' limits are compared.
  logic [AmountW-1:0] take_amounts, sum_amounts;
  always_comb begin
    a_quota = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (take_sm_i[m]) a_quota |= quotas[m*MAX_KERNELS*CountW +: MAX_KERNELS*CountW];
    take_amounts = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (take_kernel_i[k])
        take_amounts |= {demand_shared_i[k*SharedW +: SharedW], demand_registers_i[k*RegW +: RegW], demand_warps_i[k*WarpW +: WarpW]};
    sum_amounts = {a_amounts[WarpW+RegW +: SharedW] + take_amounts[WarpW+RegW +: SharedW],
                   a_amounts[WarpW +: RegW] + take_amounts[WarpW +: RegW], a_amounts[0 +: WarpW] + take_amounts[0 +: WarpW]};
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      take_room_o[k] = sum_amounts[0 +: WarpW] <= limit_warps_i[k*WarpW +: WarpW]
                    && sum_amounts[WarpW +: RegW] <= limit_registers_i[k*RegW +: RegW]
                    && sum_amounts[WarpW+RegW +: SharedW] <= limit_shared_i[k*SharedW +: SharedW]
                    && a_count + 1'b1 < capacity_slots
                    && a_resident[k*CountW +: CountW] + CountW'(take_kernel_i[k]) < a_quota[k*CountW +: CountW];
    end
    a_free_up = ~a_slots[MAX_CTAS-1:0];
    for (int unsigned s = 1; s < MAX_CTAS; s *= 2) a_free_up = a_free_up | (a_free_up << s);
    take_slot_o = a_free_up & ~(a_free_up << 1);
  end

  // Lane B.
  logic [AmountW-1:0]            b_amounts;
  logic [MAX_KERNELS*CountW-1:0] b_resident;
  logic [CountW-1:0]             b_count;
  logic [SlotsW-1:0]             b_slots;
  sm_row_read #(.NUM_SM(NUM_SM), .MAX_KERNELS(MAX_KERNELS), .MAX_CTAS(MAX_CTAS), .AmountW(AmountW), .CountW(CountW), .KernelW(KernelW), .SlotsW(SlotsW)) i_read_b (
    .select_i(eval_sm_i & holds), .amounts_i(amounts), .slots_i(slots), .amounts_o(b_amounts), .slots_o(b_slots), .resident_o(b_resident), .count_o(b_count));
  always_comb
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      eval_room_o[k] = b_amounts[0 +: WarpW] <= limit_warps_i[k*WarpW +: WarpW]
                    && b_amounts[WarpW +: RegW] <= limit_registers_i[k*RegW +: RegW]
                    && b_amounts[WarpW+RegW +: SharedW] <= limit_shared_i[k*SharedW +: SharedW]
                    && b_count < capacity_slots && b_resident[k*CountW +: CountW] < eval_quota[k*CountW +: CountW];

  // Lane D: whose CTA it is, and the row without it.
  logic [NUM_SM-1:0]   done_sm;
  logic [MAX_CTAS-1:0] done_slot;
  logic [AmountW-1:0]  d_amounts, give_amounts, less_amounts;
  logic [SlotsW-1:0]   d_slots;
  logic [KernelW-1:0]  give_kernel;
  logic [MAX_KERNELS*CountW-1:0] d_resident;
  logic [CountW-1:0]   d_count;
  always_comb begin
    for (int unsigned m = 0; m < NUM_SM; m++)   done_sm[m]   = done_sm_i == sluice_pkg::SmW'(m);
    for (int unsigned s = 0; s < MAX_CTAS; s++) done_slot[s] = done_slot_i == sluice_pkg::SlotW'(s);
  end
  sm_row_read #(.NUM_SM(NUM_SM), .MAX_KERNELS(MAX_KERNELS), .MAX_CTAS(MAX_CTAS), .AmountW(AmountW), .CountW(CountW), .KernelW(KernelW), .SlotsW(SlotsW)) i_read_d (
    .select_i(done_sm), .amounts_i(amounts), .slots_i(slots), .amounts_o(d_amounts), .slots_o(d_slots), .resident_o(d_resident), .count_o(d_count));
  always_comb begin
    give_kernel = '0;
    for (int unsigned s = 0; s < MAX_CTAS; s++)
      if (done_slot[s]) give_kernel |= d_slots[MAX_CTAS + s*KernelW +: KernelW];
    give_valid_o = done_valid_i && !done_block_i && (d_slots[MAX_CTAS-1:0] & done_slot) != '0;
    done_bad_o   = done_valid_i && !give_valid_o;
    give_sm_o    = give_valid_o ? done_sm : '0;
    give_amounts = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      give_kernel_o[k] = give_valid_o && give_kernel == KernelW'(k);
      if (give_kernel == KernelW'(k))
        give_amounts |= {demand_shared_i[k*SharedW +: SharedW], demand_registers_i[k*RegW +: RegW], demand_warps_i[k*WarpW +: WarpW]};
    end
  end

  // A and D on one SM: the row is charged and credited at once.
  logic               meet;
  logic [AmountW-1:0] meet_amounts;
  always_comb begin
    meet         = take_valid_i && (take_sm_i & done_sm) != '0;
    meet_amounts = meet ? take_amounts : '0;
    less_amounts = {d_amounts[WarpW+RegW +: SharedW] - give_amounts[WarpW+RegW +: SharedW] + meet_amounts[WarpW+RegW +: SharedW],
                    d_amounts[WarpW +: RegW] - give_amounts[WarpW +: RegW] + meet_amounts[WarpW +: RegW],
                    d_amounts[0 +: WarpW] - give_amounts[0 +: WarpW] + meet_amounts[0 +: WarpW]};
  end

  assign take_slots_o = a_slots;
  assign eval_used_o  = b_slots[MAX_CTAS-1:0];
  assign done_sm_o    = done_sm;
  assign done_slot_o  = done_slot;
  assign done_slots_o = d_slots;

  logic unused_reads;
  assign unused_reads = ^{b_slots, d_resident, d_count, capacity_slots_i};

  logic [KernelW-1:0] take_kernel;
  always_comb begin
    take_kernel = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (take_kernel_i[k]) take_kernel |= KernelW'(k);
  end

  for (genvar m = 0; m < NUM_SM; m++) begin : gen_row
    logic               take, give;
    logic [AmountW-1:0] write_amounts;
    assign take          = take_valid_i && take_sm_i[m];
    assign give          = give_sm_o[m];
    assign write_amounts = give ? less_amounts : sum_amounts;

    sm_resource_row #(
      .MAX_KERNELS (MAX_KERNELS),
      .MAX_CTAS    (MAX_CTAS),
      .CountW      (CountW),
      .KernelW     (KernelW)
    ) i_row (
      .clk_i,
      .rst_ni,
      .write_i       (take || give),
      .warps_i       (write_amounts[0 +: WarpW]),
      .registers_i   (write_amounts[WarpW +: RegW]),
      .shared_i      (write_amounts[WarpW+RegW +: SharedW]),
      .quota_write_i (eval_valid_i && eval_sm_i[m]),
      .quota_i       (eval_quota),
      .take_slot_i   (take ? take_slot_o : '0),
      .take_kernel_i (take ? take_kernel : '0),   // a net of its own to the slots of a row: one to all would hold up the sums
      .give_slot_i   (give ? done_slot : '0),
      .warps_o       (amounts[m*AmountW +: WarpW]),
      .registers_o   (amounts[m*AmountW + WarpW +: RegW]),
      .shared_o      (amounts[m*AmountW + WarpW + RegW +: SharedW]),
      .quota_o       (quotas[m*MAX_KERNELS*CountW +: MAX_KERNELS*CountW]),
      .slot_used_o   (slots[m*SlotsW +: MAX_CTAS]),
      .slot_kernel_o (slots[m*SlotsW + MAX_CTAS +: MAX_CTAS*KernelW])
    );
  end
endmodule
