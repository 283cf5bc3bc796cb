// SPDX-License-Identifier: Apache-2.0
// sluice_csr_slot: the registers of one kernel slot, for sluice_csr, which decodes the slot. A write that is refused
// changes nothing: bad_config_o (out of range, two commands) or slot_busy_o (descriptor of a slot that is not FREE) say
// so in the cycle of write_i. What the addressed register accepts is found in the cycle before: address and data are
// there by then.
module sluice_csr_slot #(
  parameter int unsigned NUM_SM       = 16,
  parameter int unsigned MAX_CTAS     = 8,
  parameter int unsigned LAUNCH_QUEUE = 0,   // 0: no launch port
  parameter int unsigned FLUSH        = 0,   // 0: no FLUSH
  parameter int unsigned PRIORITY     = 0,   // 0: no PRIORITY
  parameter int unsigned BALANCE      = 0    // 0: no WISH
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           write_i,          // a write to this slot is complete
  input  logic [6:0]                     write_offset_i,
  input  logic [31:0]                    write_data_i,
  output logic                           write_exists_o,   // of the write_offset_i of the cycle before
  output logic                           bad_config_o,
  output logic                           slot_busy_o,
  input  logic [6:0]                     read_offset_i,
  output logic                           read_exists_o,
  output logic [31:0]                    read_data_o,
  output sluice_pkg::amounts_t           demand_o,         // descriptor
  output logic [31:0]                    grid_o,
  output logic                           repeat_o,
  output logic [sluice_pkg::PriorityW-1:0] priority_o,     // 0 without PRIORITY
  output logic [31:0]                    wish_o,           // as it is read; 0 without BALANCE
  input  logic                           port_slot_i,      // the slot is the launch port's: the host can't launch it
  input  logic                           port_admit_i,      // a launch of the port comes: it is made in the next cycle
  input  sluice_pkg::descriptor_t        port_launch_i,
  input  logic [sluice_pkg::ContextW+sluice_pkg::PriorityW-1:0] tags_i,   // {priority, context}
  input  logic                           flush_context_i,  // flush, if the write of the cycle before is of this kernel
  input  logic                           go_i,             // with a write elsewhere: a launch that waits is made
  output logic                           launch_o,         // pulses, the cycle after write_i or go_i
  output logic                           stop_o,
  output logic                           evict_o,
  output logic                           resume_o,
  output logic                           flush_o,
  output logic [sluice_pkg::CtaW-1:0]    quota_o,
  output logic [NUM_SM-1:0]              mask_o,
  output logic                           static_write_o,   // pulse: quota_o or mask_o was written
  input  logic [1:0]                     state_i,
  input  logic [15:0]                    resident_i,
  input  logic [31:0]                    dispatched_i,
  input  logic [sluice_pkg::CtaW-1:0]    ctas_i
);
  if (!sluice_pkg::sizes_exist(NUM_SM, 2, MAX_CTAS)) $error("sluice_csr_slot: size out of range");
  localparam int unsigned CtaW = sluice_pkg::CtaW;

  logic [sluice_pkg::WarpW-1:0]   warps_d, warps_q;
  logic [sluice_pkg::RegW-1:0]    registers_d, registers_q;
  logic [sluice_pkg::SharedW-1:0] shared_d, shared_q;
  logic [31:0]                    grid_d, grid_q;
  logic                           repeat_d, repeat_q;
  logic [3:0]                     command_d, command_q;   // RESUME, EVICT, STOP, LAUNCH, as in CTRL
  logic                           flush, bad_wish;
  logic                           waits_d, waits_q;       // a launch waits for go_i
  logic [CtaW-1:0]                quota_d, quota_q;
  logic [NUM_SM-1:0]              mask_d, mask_q;
  logic                           static_write_d, static_write_q;

  // What the addressed register accepts.
  logic        launches, exists, descriptor, command, in_range, mask_hit, exists_q, descriptor_q, in_range_q, is_free,
    ports, accept;
  logic [31:0] high;
  always_comb begin
    mask_hit   = write_offset_i[6:5] == sluice_csr_pkg::SlotMaskOffset[6:5];
    exists     = 1'b1;
    descriptor = 1'b0;
    command    = 1'b0;
    high       = '1;
    case (write_offset_i)
      sluice_csr_pkg::SlotWarpsOffset:     begin descriptor = 1'b1; high = sluice_csr_pkg::SlotWarpsMax; end
      sluice_csr_pkg::SlotRegistersOffset: begin descriptor = 1'b1; high = sluice_csr_pkg::SlotRegistersMax; end
      sluice_csr_pkg::SlotSharedOffset:    begin descriptor = 1'b1; high = sluice_csr_pkg::SlotSharedMax; end
      sluice_csr_pkg::SlotGridOffset:      descriptor = 1'b1;
      sluice_csr_pkg::SlotPriorityOffset: begin
        descriptor = 1'b1;
        high       = sluice_csr_pkg::SlotPriorityMax;
        exists     = PRIORITY != 0;
      end
      sluice_csr_pkg::SlotWishOffset:      begin descriptor = BALANCE != 0; exists = BALANCE != 0; end
      sluice_csr_pkg::SlotCtrlOffset:      command = 1'b1;
      sluice_csr_pkg::SlotQuotaOffset:     high = 32'(MAX_CTAS);
      default:                             exists = mask_hit;
    endcase
    in_range = write_data_i <= high && !bad_wish && !(command
        && ((write_data_i[3:0] & (write_data_i[3:0] - 4'd1)) != '0 || (flush && write_data_i[3:0] != '0)));
  end
  always_ff @(posedge clk_i) begin   // looked at only with write_i: no reset
    exists_q     <= exists;
    descriptor_q <= descriptor;
    in_range_q   <= in_range;
  end
  assign is_free        = state_i == sluice_csr_pkg::SlotStateFree && !ports;
  assign ports          = LAUNCH_QUEUE != 0 && port_slot_i;
  assign write_exists_o = exists_q;
  assign bad_config_o   = write_i && exists_q && !in_range_q;
  assign slot_busy_o    = write_i && exists_q && in_range_q && (descriptor_q ? !is_free : launches && ports);
  assign accept         = write_i && exists_q && in_range_q && !(descriptor_q ? !is_free : launches && ports);
  if (FLUSH != 0) begin : gen_flush
    logic of_context, flush_d, flush_q;
    assign of_context = flush_context_i && state_i != sluice_csr_pkg::SlotStateFree
        && (write_data_i[sluice_csr_pkg::ControlFlushAllLsb]
        || (LAUNCH_QUEUE != 0 && tags_i[0 +: sluice_pkg::ContextW]
        == write_data_i[sluice_csr_pkg::ControlContextLsb +: sluice_pkg::ContextW]));
    assign flush      = write_data_i[sluice_csr_pkg::SlotCtrlFlushLsb];
    assign flush_d    = of_context || (accept && write_offset_i == sluice_csr_pkg::SlotCtrlOffset && flush);
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) flush_q <= 1'b0;
      else         flush_q <= flush_d;
    assign flush_o = flush_q;
  end else begin : gen_no_flush
    assign flush   = 1'b0;
    assign flush_o = 1'b0;
    logic unused_flush;
    assign unused_flush = flush_context_i;
  end
  if (PRIORITY != 0) begin : gen_priority
    logic [sluice_pkg::PriorityW-1:0] priority_d, priority_q;
    always_comb begin
      priority_d = priority_q;
      if (accept && write_offset_i == sluice_csr_pkg::SlotPriorityOffset)
        priority_d = write_data_i[sluice_pkg::PriorityW-1:0];
      if (LAUNCH_QUEUE != 0 && port_admit_i)                               priority_d = port_launch_i.urgency;
    end
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) priority_q <= sluice_csr_pkg::SlotPriorityReset;
      else         priority_q <= priority_d;
    assign priority_o = priority_q;
  end else begin : gen_no_priority
    assign priority_o = '0;
    logic unused_priority;
    assign unused_priority = ^port_launch_i.urgency;
  end
  if (BALANCE != 0) begin : gen_wish
    logic [sluice_csr_pkg::SlotWishWeightLsb+6:0] wish_q;
    assign bad_wish = write_offset_i == sluice_csr_pkg::SlotWishOffset
        && ((write_data_i & ~sluice_csr_pkg::SlotWishMask) != '0
        || write_data_i[sluice_csr_pkg::SlotWishWeightLsb +: 7] == '0);
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni)
        wish_q <= {sluice_csr_pkg::SlotWishWeightReset, 1'b0, sluice_csr_pkg::SlotWishFloorReset};
      else if (accept && write_offset_i == sluice_csr_pkg::SlotWishOffset) wish_q <= write_data_i[$bits(wish_q)-1:0];
    assign wish_o = 32'(wish_q);
  end else begin : gen_no_wish
    assign {bad_wish, wish_o} = '0;
  end
  assign launches       = write_offset_i == sluice_csr_pkg::SlotCtrlOffset
      && write_data_i[sluice_csr_pkg::SlotCtrlLaunchLsb];

  always_comb begin
    warps_d        = warps_q;
    registers_d    = registers_q;
    shared_d       = shared_q;
    grid_d         = grid_q;
    repeat_d       = repeat_q;
    command_d      = '0;
    waits_d        = waits_q && !go_i && !ports;
    command_d[sluice_csr_pkg::SlotCtrlLaunchLsb] = waits_q && go_i && !ports;
    quota_d        = quota_q;
    mask_d         = mask_q;
    static_write_d = 1'b0;
    if (accept) begin
      case (write_offset_i)
        sluice_csr_pkg::SlotWarpsOffset:     warps_d     = write_data_i[sluice_pkg::WarpW-1:0];
        sluice_csr_pkg::SlotRegistersOffset: registers_d = write_data_i[sluice_pkg::RegW-1:0];
        sluice_csr_pkg::SlotSharedOffset:    shared_d    = write_data_i[sluice_pkg::SharedW-1:0];
        sluice_csr_pkg::SlotGridOffset:      grid_d      = write_data_i;
        sluice_csr_pkg::SlotPriorityOffset:  ;   // gen_priority
        sluice_csr_pkg::SlotCtrlOffset: begin
          command_d = write_data_i[3:0];
          if (write_data_i[sluice_csr_pkg::SlotCtrlLaunchLsb]) begin
            waits_d = write_data_i[sluice_csr_pkg::SlotCtrlWaitLsb] && is_free;
            command_d[sluice_csr_pkg::SlotCtrlLaunchLsb] = !waits_d;
            if (is_free) repeat_d = write_data_i[sluice_csr_pkg::SlotCtrlRepeatLsb];
          end
        end
        sluice_csr_pkg::SlotQuotaOffset: begin
          quota_d        = write_data_i[CtaW-1:0];
          static_write_d = 1'b1;
        end
        default: if (BALANCE == 0 || write_offset_i != sluice_csr_pkg::SlotWishOffset) begin   // gen_wish
          static_write_d = 1'b1;
          for (int unsigned m = 0; m < NUM_SM; m++)
            if (write_offset_i[4:2] == 3'(m / 32)) mask_d[m] = write_data_i[m%32];
        end
      endcase
    end
    if (LAUNCH_QUEUE != 0 && port_admit_i) begin
      {shared_d, registers_d, warps_d} = port_launch_i.demand;
      grid_d                           = port_launch_i.ctas;
      repeat_d                         = 1'b0;
      command_d[sluice_csr_pkg::SlotCtrlLaunchLsb] = 1'b1;
    end
  end

  always_comb begin
    read_exists_o = 1'b1;
    read_data_o   = '0;
    case (read_offset_i)
      sluice_csr_pkg::SlotWarpsOffset:      read_data_o = 32'(warps_q);
      sluice_csr_pkg::SlotRegistersOffset:  read_data_o = 32'(registers_q);
      sluice_csr_pkg::SlotSharedOffset:     read_data_o = 32'(shared_q);
      sluice_csr_pkg::SlotGridOffset:       read_data_o = grid_q;
      sluice_csr_pkg::SlotCtrlOffset:       read_data_o[sluice_csr_pkg::SlotCtrlRepeatLsb] = repeat_q;
      sluice_csr_pkg::SlotStatusOffset:     read_data_o = 32'(state_i);
      sluice_csr_pkg::SlotResidentOffset:   read_data_o = 32'(resident_i);
      sluice_csr_pkg::SlotDispatchedOffset: read_data_o = dispatched_i;
      sluice_csr_pkg::SlotQuotaOffset:      read_data_o = 32'(quota_q);
      sluice_csr_pkg::SlotCtasOffset:       read_data_o = 32'(ctas_i);
      sluice_csr_pkg::SlotPriorityOffset: begin
        read_exists_o = PRIORITY != 0;
        read_data_o   = 32'(priority_o);
      end
      sluice_csr_pkg::SlotWishOffset: begin
        read_exists_o = BALANCE != 0;
        read_data_o   = wish_o;
      end
      sluice_csr_pkg::SlotTagsOffset: begin
        read_exists_o                                                                  = LAUNCH_QUEUE != 0;
        read_data_o[sluice_csr_pkg::SlotTagsContextLsb +: sluice_pkg::ContextW]   = tags_i[0 +: sluice_pkg::ContextW]
            & {sluice_pkg::ContextW{LAUNCH_QUEUE != 0}};
        read_data_o[sluice_csr_pkg::SlotTagsPriorityLsb +: sluice_pkg::PriorityW] =
            tags_i[sluice_pkg::ContextW +: sluice_pkg::PriorityW] & {sluice_pkg::PriorityW{LAUNCH_QUEUE != 0}};
      end
      default: begin
        read_exists_o = read_offset_i[6:5] == sluice_csr_pkg::SlotMaskOffset[6:5];
        for (int unsigned m = 0; m < NUM_SM; m++)
          if (read_exists_o && read_offset_i[4:2] == 3'(m / 32)) read_data_o[m%32] = mask_q[m];
      end
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      warps_q        <= sluice_csr_pkg::SlotWarpsReset;
      registers_q    <= sluice_csr_pkg::SlotRegistersReset;
      shared_q       <= sluice_csr_pkg::SlotSharedReset;
      grid_q         <= sluice_csr_pkg::SlotGridReset;
      repeat_q       <= sluice_csr_pkg::SlotCtrlRepeatReset;
      command_q      <= '0;
      waits_q        <= 1'b0;
      quota_q        <= CtaW'(MAX_CTAS);
      mask_q         <= '1;
      static_write_q <= 1'b0;
    end else begin
      warps_q        <= warps_d;
      registers_q    <= registers_d;
      shared_q       <= shared_d;
      grid_q         <= grid_d;
      repeat_q       <= repeat_d;
      command_q      <= command_d;
      waits_q        <= waits_d;
      quota_q        <= quota_d;
      mask_q         <= mask_d;
      static_write_q <= static_write_d;
    end
  end

  assign demand_o       = {shared_q, registers_q, warps_q};
  assign grid_o         = grid_q;
  assign repeat_o       = repeat_q;
  assign launch_o       = command_q[sluice_csr_pkg::SlotCtrlLaunchLsb];
  assign stop_o         = command_q[sluice_csr_pkg::SlotCtrlStopLsb];
  assign evict_o        = command_q[sluice_csr_pkg::SlotCtrlEvictLsb];
  assign resume_o       = command_q[sluice_csr_pkg::SlotCtrlResumeLsb];
  assign quota_o        = quota_q;
  assign mask_o         = mask_q;
  assign static_write_o = static_write_q;

endmodule
