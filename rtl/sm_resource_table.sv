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
  // Lane B: evaluate.
  input  logic                                       eval_valid_i,
  input  logic [NUM_SM-1:0]                          eval_sm_i,          // one-hot
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    eval_quota_i,
  output logic [MAX_KERNELS-1:0]                     eval_room_o,
  // Lane D: credit the CTA of a slot.
  input  logic                                       done_valid_i,
  input  logic [sluice_pkg::SmW-1:0]                 done_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]               done_slot_i,
  input  logic                                       done_block_i,       // this CTA has not started yet
  output logic                                       done_bad_o,         // nothing to credit there
  output logic                                       give_valid_o,       // credited: where and whose
  output logic [NUM_SM-1:0]                          give_sm_o,          // one-hot
  output logic [MAX_CTAS-1:0]                        give_slot_o,        // one-hot
  output logic [MAX_KERNELS-1:0]                     give_kernel_o       // one-hot
);
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned WarpW   = sluice_pkg::WarpW;
  localparam int unsigned RegW    = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned KVecW   = MAX_KERNELS * CtaW;

  // Rows, side by side.
  logic [NUM_SM*WarpW-1:0]            warps;
  logic [NUM_SM*RegW-1:0]             registers;
  logic [NUM_SM*SharedW-1:0]          shared;
  logic [NUM_SM*CtaW-1:0]             slots;
  logic [NUM_SM*KVecW-1:0]            resident, quota;
  logic [NUM_SM*MAX_CTAS-1:0]         slot_used;
  logic [NUM_SM*MAX_CTAS*KIndexW-1:0] slot_kernel;

  // Lane A: the row, the row with one more CTA of the kernel, and the slot.
  logic [WarpW-1:0]    a_warps, take_warps;
  logic [RegW-1:0]     a_registers, take_registers;
  logic [SharedW-1:0]  a_shared, take_shared;
  logic [CtaW-1:0]     a_slots;
  logic [KVecW-1:0]    a_resident, a_quota, a_more;
  logic [MAX_CTAS-1:0] a_slot_used, a_free_up;
  logic [WarpW-1:0]    sum_warps;
  logic [RegW-1:0]     sum_registers;
  logic [SharedW-1:0]  sum_shared;
  logic [CtaW-1:0]     sum_slots;
  logic [WarpW:0]      left_warps;
  logic [RegW:0]       left_registers;
  logic [SharedW:0]    left_shared;
  always_comb begin
    a_warps     = '0;
    a_registers = '0;
    a_shared    = '0;
    a_slots     = '0;
    a_resident  = '0;
    a_quota     = '0;
    a_slot_used = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (take_sm_i[m]) begin
        a_warps     |= warps[m*WarpW +: WarpW];
        a_registers |= registers[m*RegW +: RegW];
        a_shared    |= shared[m*SharedW +: SharedW];
        a_slots     |= slots[m*CtaW +: CtaW];
        a_resident  |= resident[m*KVecW +: KVecW];
        a_quota     |= quota[m*KVecW +: KVecW];
        a_slot_used |= slot_used[m*MAX_CTAS +: MAX_CTAS];
      end
    take_warps     = '0;
    take_registers = '0;
    take_shared    = '0;
    a_more         = a_resident;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (take_kernel_i[k]) begin
        take_warps     |= demand_warps_i[k*WarpW +: WarpW];
        take_registers |= demand_registers_i[k*RegW +: RegW];
        take_shared    |= demand_shared_i[k*SharedW +: SharedW];
        a_more[k*CtaW +: CtaW] = a_resident[k*CtaW +: CtaW] + 1'b1;
      end
    sum_warps     = a_warps + take_warps;
    sum_registers = a_registers + take_registers;
    sum_shared    = a_shared + take_shared;
    sum_slots     = a_slots + 1'b1;
    // One more fits after the charge if the use before it is within limit - demand, which is known before the row is.
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      left_warps     = {1'b0, limit_warps_i[k*WarpW +: WarpW]} - {1'b0, take_warps};
      left_registers = {1'b0, limit_registers_i[k*RegW +: RegW]} - {1'b0, take_registers};
      left_shared    = {1'b0, limit_shared_i[k*SharedW +: SharedW]} - {1'b0, take_shared};
      take_room_o[k] = !left_warps[WarpW] && a_warps <= left_warps[WarpW-1:0] && !left_registers[RegW] && a_registers <= left_registers[RegW-1:0]
                    && !left_shared[SharedW] && a_shared <= left_shared[SharedW-1:0] && sum_slots < capacity_slots_i
                    && a_more[k*CtaW +: CtaW] < a_quota[k*CtaW +: CtaW];
    end
    a_free_up = ~a_slot_used;
    for (int unsigned s = 1; s < MAX_CTAS; s *= 2) a_free_up = a_free_up | (a_free_up << s);
    take_slot_o = a_free_up & ~(a_free_up << 1);
  end

  // Lane B.
  logic [WarpW-1:0]   b_warps;
  logic [RegW-1:0]    b_registers;
  logic [SharedW-1:0] b_shared;
  logic [CtaW-1:0]    b_slots;
  logic [KVecW-1:0]   b_resident;
  always_comb begin
    b_warps     = '0;
    b_registers = '0;
    b_shared    = '0;
    b_slots     = '0;
    b_resident  = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (eval_sm_i[m]) begin
        b_warps     |= warps[m*WarpW +: WarpW];
        b_registers |= registers[m*RegW +: RegW];
        b_shared    |= shared[m*SharedW +: SharedW];
        b_slots     |= slots[m*CtaW +: CtaW];
        b_resident  |= resident[m*KVecW +: KVecW];
      end
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      eval_room_o[k] = b_warps <= limit_warps_i[k*WarpW +: WarpW] && b_registers <= limit_registers_i[k*RegW +: RegW]
                    && b_shared <= limit_shared_i[k*SharedW +: SharedW] && b_slots < capacity_slots_i
                    && b_resident[k*CtaW +: CtaW] < eval_quota_i[k*CtaW +: CtaW];
  end

  // Lane D: whose CTA it is, and what it gives back.
  logic [WarpW-1:0]            d_warps, give_warps;
  logic [RegW-1:0]             d_registers, give_registers;
  logic [SharedW-1:0]          d_shared, give_shared;
  logic [CtaW-1:0]             d_slots;
  logic [KVecW-1:0]            d_resident, d_less;
  logic [MAX_CTAS-1:0]         d_slot_used, done_slot;
  logic [MAX_CTAS*KIndexW-1:0] d_slot_kernel;
  logic [KIndexW-1:0]          give_kernel;
  logic [NUM_SM-1:0]           done_sm;
  always_comb begin
    for (int unsigned m = 0; m < NUM_SM; m++)   done_sm[m]   = done_sm_i == sluice_pkg::SmW'(m);
    for (int unsigned s = 0; s < MAX_CTAS; s++) done_slot[s] = done_slot_i == sluice_pkg::SlotW'(s);
    d_warps       = '0;
    d_registers   = '0;
    d_shared      = '0;
    d_slots       = '0;
    d_resident    = '0;
    d_slot_used   = '0;
    d_slot_kernel = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (done_sm[m]) begin
        d_warps       |= warps[m*WarpW +: WarpW];
        d_registers   |= registers[m*RegW +: RegW];
        d_shared      |= shared[m*SharedW +: SharedW];
        d_slots       |= slots[m*CtaW +: CtaW];
        d_resident    |= resident[m*KVecW +: KVecW];
        d_slot_used   |= slot_used[m*MAX_CTAS +: MAX_CTAS];
        d_slot_kernel |= slot_kernel[m*MAX_CTAS*KIndexW +: MAX_CTAS*KIndexW];
      end
    give_kernel = '0;
    for (int unsigned s = 0; s < MAX_CTAS; s++)
      if (done_slot[s]) give_kernel |= d_slot_kernel[s*KIndexW +: KIndexW];
    give_valid_o = done_valid_i && !done_block_i && (d_slot_used & done_slot) != '0;
    done_bad_o   = done_valid_i && !give_valid_o;
    give_sm_o    = give_valid_o ? done_sm : '0;
    give_slot_o  = give_valid_o ? done_slot : '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) give_kernel_o[k] = give_valid_o && give_kernel == KIndexW'(k);
  end

  always_comb begin
    give_warps     = '0;
    give_registers = '0;
    give_shared    = '0;
    d_less         = d_resident;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (give_kernel_o[k]) begin
        give_warps     |= demand_warps_i[k*WarpW +: WarpW];
        give_registers |= demand_registers_i[k*RegW +: RegW];
        give_shared    |= demand_shared_i[k*SharedW +: SharedW];
        d_less[k*CtaW +: CtaW] = d_resident[k*CtaW +: CtaW] - 1'b1;
      end
  end

  // A and D on one SM.
  logic             meet;
  logic [KVecW-1:0] both_resident;
  always_comb begin
    meet          = take_valid_i && (take_sm_i & give_sm_o) != '0;
    both_resident = a_resident;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      both_resident[k*CtaW +: CtaW] = a_resident[k*CtaW +: CtaW] + CtaW'(take_kernel_i[k]) - CtaW'(give_kernel_o[k] && meet);
  end

  logic [WarpW-1:0]   a_write_warps;
  logic [RegW-1:0]    a_write_registers;
  logic [SharedW-1:0] a_write_shared;
  logic [CtaW-1:0]    a_write_slots;
  assign a_write_warps     = meet ? sum_warps - give_warps : sum_warps;
  assign a_write_registers = meet ? sum_registers - give_registers : sum_registers;
  assign a_write_shared    = meet ? sum_shared - give_shared : sum_shared;
  assign a_write_slots     = meet ? a_slots : sum_slots;

  logic [WarpW-1:0]   d_write_warps;
  logic [RegW-1:0]    d_write_registers;
  logic [SharedW-1:0] d_write_shared;
  logic [CtaW-1:0]    d_write_slots;
  assign d_write_warps     = d_warps - give_warps;
  assign d_write_registers = d_registers - give_registers;
  assign d_write_shared    = d_shared - give_shared;
  assign d_write_slots     = d_slots - 1'b1;

  logic [KIndexW-1:0] take_kernel;
  always_comb begin
    take_kernel = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (take_kernel_i[k]) take_kernel |= KIndexW'(k);
  end

  for (genvar m = 0; m < NUM_SM; m++) begin : gen_row
    logic take, give;
    assign take = take_valid_i && take_sm_i[m];
    assign give = give_sm_o[m];

    sm_resource_row #(
      .MAX_KERNELS (MAX_KERNELS),
      .MAX_CTAS    (MAX_CTAS)
    ) i_row (
      .clk_i,
      .rst_ni,
      .write_i       (take || give),
      .warps_i       (take ? a_write_warps : d_write_warps),
      .registers_i   (take ? a_write_registers : d_write_registers),
      .shared_i      (take ? a_write_shared : d_write_shared),
      .slots_i       (take ? a_write_slots : d_write_slots),
      .resident_i    (take ? both_resident : d_less),
      .quota_write_i (eval_valid_i && eval_sm_i[m]),
      .quota_i       (eval_quota_i),
      .take_slot_i   (take ? take_slot_o : '0),
      .take_kernel_i (take_kernel),
      .give_slot_i   (give ? give_slot_o : '0),
      .warps_o       (warps[m*WarpW +: WarpW]),
      .registers_o   (registers[m*RegW +: RegW]),
      .shared_o      (shared[m*SharedW +: SharedW]),
      .slots_o       (slots[m*CtaW +: CtaW]),
      .resident_o    (resident[m*KVecW +: KVecW]),
      .quota_o       (quota[m*KVecW +: KVecW]),
      .slot_used_o   (slot_used[m*MAX_CTAS +: MAX_CTAS]),
      .slot_kernel_o (slot_kernel[m*MAX_CTAS*KIndexW +: MAX_CTAS*KIndexW])
    );
  end
endmodule
