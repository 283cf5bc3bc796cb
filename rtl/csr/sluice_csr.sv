// SPDX-License-Identifier: Apache-2.0
// sluice_csr: the registers of the partition unit (docs/reference/register_map.md) behind an AXI4-Lite port.
// A write is looked at in the cycle in which it is complete and acts in the next; commands are pulses of one cycle, at
// least three cycles apart. What is refused (range, state, address, strobe) changes nothing but ERROR, IRQ_STATUS and
// the response. Every output is registered but irq_o, the AND of two registers. Kernel slot 0 is in the low bits of
// every vector.
module sluice_csr #(
  parameter int unsigned NUM_SM       = 16,   // 1..256
  parameter int unsigned MAX_KERNELS  = 4,    // 2..8
  parameter int unsigned MAX_CTAS     = 8,    // 4..32
  parameter int unsigned NUM_SCHED    = 2,    // 1..4, for PARAMS only
  parameter int unsigned REGION_UNITS = 64,   // 0, 16..128, for PARAMS only
  parameter int unsigned SM_ENABLE    = 0,    // 1: with SM_ENABLE and SM_BUSY
  parameter int unsigned SM_READY     = 0,    // for FEATURES only
  parameter int unsigned LAUNCH_QUEUE = 0,    // 1..8: with PORT_SLOTS and SLOTk.TAGS
  parameter int unsigned FLUSH        = 0,    // else with SLOTk.CTRL.FLUSH
  parameter int unsigned PRIORITY     = 0,    // 1: with SLOTk.PRIORITY
  parameter int unsigned PATIENCE     = 0,    // for FEATURES only
  parameter int unsigned CHURN        = 0,    // for FEATURES only
  parameter int unsigned TAIL         = 0,    // for FEATURES only
  parameter int unsigned BALANCE      = 0     // with mode BALANCE, its registers, and SLOTk.WISH; 2: without DYNAMIC
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  sluice_pkg::axi_request_t                   axi_i,
  output sluice_pkg::axi_response_t                  axi_o,
  output logic                                       irq_o,
  // configuration
  output sluice_pkg::decision_config_t               config_o,
  output sluice_pkg::amounts_t                       capacity_o,             // of one SM
  output logic [sluice_pkg::CtaW-1:0]                capacity_slots_o,
  output logic [MAX_KERNELS*sluice_pkg::AmountW-1:0] demand_o,               // of one CTA (amounts_t), by kernel slot
  output logic [MAX_KERNELS*32-1:0]                  grid_o,                 // CTAs
  output logic [MAX_KERNELS-1:0]                     repeat_o,
  output logic [MAX_KERNELS*sluice_pkg::PriorityW-1:0] priority_o,           // 0 without PRIORITY
  output logic [MAX_KERNELS-1:0]                     launch_o,               // pulses; several with CONTROL.GO, else
                                                                             // one of the four vectors' bits
  output logic [MAX_KERNELS-1:0]                     stop_o,
  output logic [MAX_KERNELS-1:0]                     evict_o,
  output logic [MAX_KERNELS-1:0]                     resume_o,
  output logic [MAX_KERNELS-1:0]                     flush_o,                // several with CONTROL.FLUSH_CONTEXT
  output logic [15:0]                                evict_count_o,          // with evict_o
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    quota_o,                // STATIC mode
  output logic [MAX_KERNELS*NUM_SM-1:0]              mask_o,
  output logic                                       static_write_o,         // pulse with new quota_o or mask_o
  output logic [NUM_SM-1:0]                          sm_enable_o,            // SMs that may be given CTAs
  output logic                                       enable_write_o,         // pulse with the (new) sm_enable_o
  output logic [31:0]                                balance_o,              // register BALANCE, by slot SLOTk.WISH;
  output logic [MAX_KERNELS*32-1:0]                  wish_o,                 // 0 without BALANCE
  // launch port
  output logic [MAX_KERNELS-1:0]                     port_slots_o,           // kernel slots that are the port's
  input  logic [MAX_KERNELS-1:0]                     port_admit_i,            // its launch is for this slot, or none
  input  sluice_pkg::descriptor_t                    port_launch_i,
  input  logic [MAX_KERNELS*(sluice_pkg::ContextW+sluice_pkg::PriorityW)-1:0] tags_i,   // by slot: {priority, context}
  output logic                                       purge_o,                // pulse: waiting launches are handed back
  output logic                                       purge_all_o,            // with it: those of all
  output logic [sluice_pkg::ContextW-1:0]            purge_context_o,
  input  logic [3:0]                                 queue_i,                // launches that wait
  // status
  input  logic [MAX_KERNELS*2-1:0]                   slot_state_i,
  input  logic [MAX_KERNELS*16-1:0]                  resident_i,
  input  logic [MAX_KERNELS*32-1:0]                  dispatched_i,
  input  logic [MAX_KERNELS-1:0]                     evict_done_i,           // pulses: an EVICT has drained
  input  logic [MAX_KERNELS-1:0]                     kernel_done_i,          // pulses
  input  logic [sluice_pkg::KernelW-1:0]             num_present_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_i,                 // quotas in force
  input  logic [NUM_SM-1:0]                          sm_busy_i,              // SMs that hold a CTA, or are about to
  input  sluice_pkg::decision_status_t               status_i,
  input  sluice_pkg::dispatch_error_t                error_i,
  input  logic [31:0]                                balance_status_i,       // as they are read
  output logic [3:0]                                 balance_entry_o,        // combinational: this
  input  logic [31:0]                                balance_score_i,        // entry's score
  output logic                                       idle_o                  // no register changes without an input
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("sluice_csr: size out of range");
  localparam int unsigned AmountW   = sluice_pkg::AmountW;
  localparam int unsigned CtaW      = sluice_pkg::CtaW;
  localparam int unsigned KIndexW   = sluice_pkg::KIndexW;
  localparam int unsigned TagsW     = sluice_pkg::ContextW + sluice_pkg::PriorityW;
  localparam int unsigned SlotLsb   = $clog2(sluice_csr_pkg::SlotStride);
  localparam logic [11:0] SlotsEnd  = sluice_csr_pkg::SlotBase + 12'(MAX_KERNELS) * sluice_csr_pkg::SlotStride;

  logic        write, write_exists, read_exists, axi_idle;
  logic [11:0] waddr, raddr;
  logic [31:0] wdata, rdata;

  axi_lite_subordinate #(.AddrW(12)) i_axi (
    .clk_i,
    .rst_ni,
    .s_axi_awaddr_i  (axi_i.awaddr),
    .s_axi_awvalid_i (axi_i.awvalid),
    .s_axi_awready_o (axi_o.awready),
    .s_axi_wdata_i   (axi_i.wdata),
    .s_axi_wstrb_i   (axi_i.wstrb),
    .s_axi_wvalid_i  (axi_i.wvalid),
    .s_axi_wready_o  (axi_o.wready),
    .s_axi_bresp_o   (axi_o.bresp),
    .s_axi_bvalid_o  (axi_o.bvalid),
    .s_axi_bready_i  (axi_i.bready),
    .s_axi_araddr_i  (axi_i.araddr),
    .s_axi_arvalid_i (axi_i.arvalid),
    .s_axi_arready_o (axi_o.arready),
    .s_axi_rdata_o   (axi_o.rdata),
    .s_axi_rresp_o   (axi_o.rresp),
    .s_axi_rvalid_o  (axi_o.rvalid),
    .s_axi_rready_i  (axi_i.rready),
    .write_o         (write),
    .write_addr_o    (waddr),
    .write_data_o    (wdata),
    .write_exists_i  (write_exists),
    .read_addr_o     (raddr),
    .read_exists_i   (read_exists),
    .read_data_i     (rdata),
    .idle_o          (axi_idle)
  );

  // Kernel slots.
  logic                      wslot_hit, rslot_hit, slot_exists, slot_bad_config, slot_busy, slot_read_exists;
  logic [KIndexW-1:0]        wslot, rslot;
  logic [31:0]               slot_rdata;
  logic [MAX_KERNELS-1:0]    exists_k, bad_config_k, slot_busy_k, read_exists_k, static_write_k;
  logic [MAX_KERNELS*32-1:0] rdata_k;

  logic                      go, flush_context, flush_context_q;
  assign wslot_hit = waddr >= sluice_csr_pkg::SlotBase && waddr < SlotsEnd;
  assign rslot_hit = raddr >= sluice_csr_pkg::SlotBase && raddr < SlotsEnd;
  assign wslot     = waddr[SlotLsb +: KIndexW];   // SlotBase is a multiple of eight strides
  assign rslot     = raddr[SlotLsb +: KIndexW];

  for (genvar k = 0; k < MAX_KERNELS; k++) begin : gen_slot
    sluice_csr_slot #(
      .NUM_SM(NUM_SM), .MAX_CTAS(MAX_CTAS), .LAUNCH_QUEUE(LAUNCH_QUEUE), .FLUSH(FLUSH), .PRIORITY(PRIORITY),
      .BALANCE(BALANCE)
    ) i_slot (
      .clk_i,
      .rst_ni,
      .write_i         (write && wslot_hit && wslot == KIndexW'(k)),
      .write_offset_i  (waddr[SlotLsb-1:0]),
      .write_data_i    (wdata),
      .write_exists_o  (exists_k[k]),
      .bad_config_o    (bad_config_k[k]),
      .slot_busy_o     (slot_busy_k[k]),
      .read_offset_i   (raddr[SlotLsb-1:0]),
      .read_exists_o   (read_exists_k[k]),
      .read_data_o     (rdata_k[k*32 +: 32]),
      .demand_o        (demand_o[k*AmountW +: AmountW]),
      .grid_o          (grid_o[k*32 +: 32]),
      .repeat_o        (repeat_o[k]),
      .priority_o      (priority_o[k*sluice_pkg::PriorityW +: sluice_pkg::PriorityW]),
      .wish_o          (wish_o[k*32 +: 32]),
      .port_slot_i     (port_slots_o[k]),
      .port_admit_i    (port_admit_i[k]),
      .port_launch_i,
      .tags_i          (tags_i[k*TagsW +: TagsW]),
      .flush_context_i (flush_context_q),
      .go_i            (go),
      .launch_o        (launch_o[k]),
      .stop_o          (stop_o[k]),
      .evict_o         (evict_o[k]),
      .resume_o        (resume_o[k]),
      .flush_o         (flush_o[k]),
      .quota_o         (quota_o[k*CtaW +: CtaW]),
      .mask_o          (mask_o[k*NUM_SM +: NUM_SM]),
      .static_write_o  (static_write_k[k]),
      .state_i         (slot_state_i[k*2 +: 2]),
      .resident_i      (resident_i[k*16 +: 16]),
      .dispatched_i    (dispatched_i[k*32 +: 32]),
      .ctas_i          (ctas_i[k*CtaW +: CtaW])
    );
  end

  assign static_write_o   = static_write_k != '0;
  assign slot_exists      = exists_k != '0;        // the same in every slot
  assign slot_read_exists = read_exists_k != '0;
  assign slot_bad_config  = bad_config_k != '0;
  assign slot_busy        = slot_busy_k != '0;
  always_comb begin
    slot_rdata = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (rslot == KIndexW'(k)) slot_rdata = rdata_k[k*32 +: 32];
  end

  // Global registers.
  logic        write_global, deciding, config_exists, status_exists, config_read_exists, status_read_exists;
  logic        bad_mode, global_bad_config, top_read_exists, locked;
  logic [31:0] config_rdata, status_rdata, top_rdata;

  assign write_global = write && !wslot_hit;
  assign deciding     = status_i.state != sluice_csr_pkg::SequencerStateIdle
                     && status_i.state != sluice_csr_pkg::SequencerStateMonitor;
  assign write_exists = wslot_hit ? slot_exists : config_exists || status_exists || sms_exists || slots_exist
      || balance_exists;

  sluice_csr_config #(.MAX_CTAS(MAX_CTAS), .BALANCE(BALANCE)) i_config (
    .clk_i,
    .rst_ni,
    .write_i         (write_global),
    .write_addr_i    (waddr),
    .write_data_i    (wdata),
    .write_exists_o  (config_exists),
    .bad_mode_o      (bad_mode),
    .bad_config_o    (global_bad_config),
    .read_addr_i     (raddr),
    .read_exists_o   (config_read_exists),
    .read_data_o     (config_rdata),
    .all_free_i      (slot_state_i == '0 && (LAUNCH_QUEUE == 0 || launch_o == '0)),   // what is launched now is not
                                                                                      // FREE
    .deciding_i      (deciding),
    .config_o,
    .capacity_o,
    .capacity_slots_o,
    .locked_o        (locked),
    .flush_context_o (flush_context),
    .go_o            (go)
  );

  sluice_csr_status #(.MAX_KERNELS(MAX_KERNELS)) i_status (
    .clk_i,
    .rst_ni,
    .write_i            (write_global),
    .write_addr_i       (waddr),
    .write_data_i       (wdata),
    .write_exists_o     (status_exists),
    .read_addr_i        (raddr),
    .read_exists_o      (status_read_exists),
    .read_data_o        (status_rdata),
    .decision_i         (status_i.decision),
    .kernel_done_i,
    .evict_done_i,
    .error_i,
    .slot_busy_i        (slot_busy),
    .bad_mode_i         (bad_mode),
    .bad_config_i       (slot_bad_config || global_bad_config || slots_bad || balance_bad),
    .mode_in_decision_i (config_o.mode_write && deciding),
    .write_kernel_i     (wslot_hit ? wslot : '0),
    .irq_o
  );

  // A bit an SM.
  logic        sms_exists, sms_read_exists;
  logic [31:0] sms_rdata;
  if (SM_ENABLE != 0) begin : gen_sms
    sluice_csr_sms #(.NUM_SM(NUM_SM)) i_sms (
      .clk_i,
      .rst_ni,
      .write_i        (write_global),
      .write_addr_i   (waddr),
      .write_data_i   (wdata),
      .write_exists_o (sms_exists),
      .read_addr_i    (raddr),
      .read_exists_o  (sms_read_exists),
      .read_data_o    (sms_rdata),
      .sm_busy_i,
      .sm_enable_o,
      .enable_write_o
    );
  end else begin : gen_no_sms
    assign {sms_exists, sms_read_exists, sms_rdata, enable_write_o} = '0;
    assign sm_enable_o = '1;
    logic unused_busy;
    assign unused_busy = ^sm_busy_i;
  end

  // A flush of a context purges the queue first. What left the queue in the cycle before is RUNNING or refused in the
  // next one; then the slots are looked at. The data of the write are still there.
  assign purge_o         = FLUSH != 0 && LAUNCH_QUEUE != 0 && flush_context;
  assign purge_all_o     = wdata[sluice_csr_pkg::ControlFlushAllLsb];
  assign purge_context_o = wdata[sluice_csr_pkg::ControlContextLsb +: sluice_pkg::ContextW];
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) flush_context_q <= 1'b0;
    else         flush_context_q <= flush_context;

  // The kernel slots of the launch port, and its queue.
  logic        slots_exist, port_read, slots_bad;
  logic [31:0] port_rdata;
  if (LAUNCH_QUEUE != 0) begin : gen_port
    logic [MAX_KERNELS-1:0] port_slots_q;
    logic                   slots_exist_q, in_range_q, write_slots;
    assign write_slots = write_global && slots_exist_q && in_range_q && !locked;
    always_ff @(posedge clk_i) begin   // looked at only with write_global: no reset
      slots_exist_q <= waddr == sluice_csr_pkg::PortSlotsAddr;
      in_range_q    <= wdata <= sluice_csr_pkg::PortSlotsMax;
    end
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni)          port_slots_q <= '0;
      else if (write_slots) port_slots_q <= wdata[MAX_KERNELS-1:0];
    assign port_slots_o = port_slots_q;
    assign slots_exist  = slots_exist_q;
    assign slots_bad    = write_global && slots_exist_q && (!in_range_q || locked);
    assign port_read    = raddr == sluice_csr_pkg::PortSlotsAddr || raddr == sluice_csr_pkg::QueueAddr;
    assign port_rdata   = !port_read ? '0 : (raddr == sluice_csr_pkg::QueueAddr) ? 32'(queue_i) : 32'(port_slots_q);
  end else begin : gen_no_port
    assign {port_slots_o, slots_exist, slots_bad, port_read, port_rdata} = '0;
    logic unused_port;
    assign unused_port = ^{locked, port_admit_i, port_launch_i, tags_i, queue_i};
  end

  // Mode BALANCE.
  logic        balance_exists, balance_read, balance_bad;
  logic [31:0] balance_rdata;
  if (BALANCE != 0) begin : gen_balance
    sluice_csr_balance i_balance (
      .clk_i,
      .rst_ni,
      .write_i        (write_global),
      .write_addr_i   (waddr),
      .write_data_i   (wdata),
      .write_exists_o (balance_exists),
      .bad_config_o   (balance_bad),
      .refuse_i       (deciding || locked),
      .read_addr_i    (raddr),
      .read_exists_o  (balance_read),
      .read_data_o    (balance_rdata),
      .balance_o,
      .status_i       (balance_status_i),
      .entry_o        (balance_entry_o),
      .score_i        (balance_score_i)
    );
  end else begin : gen_no_balance
    assign {balance_exists, balance_read, balance_bad, balance_rdata, balance_o, balance_entry_o} = '0;
    logic unused_balance;
    assign unused_balance = ^{balance_status_i, balance_score_i};
  end

  // EVICT's count goes with the command, whichever slot it is for.
  logic [15:0] evict_count_d, evict_count_q;
  always_comb begin
    evict_count_d = evict_count_q;
    if (write && wslot_hit && waddr[SlotLsb-1:0] == sluice_csr_pkg::SlotCtrlOffset && !slot_bad_config
        && (LAUNCH_QUEUE == 0 || !slot_busy))
      evict_count_d = wdata[sluice_csr_pkg::SlotCtrlEvictCountLsb +: 16];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) evict_count_q <= '0;
    else         evict_count_q <= evict_count_d;
  end
  assign evict_count_o = evict_count_q;

  always_comb begin
    top_read_exists = 1'b1;
    top_rdata       = '0;
    case (raddr)
      sluice_csr_pkg::IdAddr:     top_rdata = {sluice_csr_pkg::IdMagicReset, sluice_csr_pkg::IdVersionReset};
      sluice_csr_pkg::RevisionAddr: top_rdata = {8'd0, sluice_csr_pkg::RevisionMajorReset,
          sluice_csr_pkg::RevisionMinorReset, sluice_csr_pkg::RevisionPatchReset};
      sluice_csr_pkg::ParamsAddr: top_rdata = (32'(NUM_SM) << sluice_csr_pkg::ParamsNumSmLsb)
                                        | (32'(MAX_KERNELS) << sluice_csr_pkg::ParamsMaxKernelsLsb)
                                        | (32'(MAX_CTAS) << sluice_csr_pkg::ParamsMaxCtasLsb)
                                        | (32'(NUM_SCHED) << sluice_csr_pkg::ParamsNumSchedLsb)
                                        | (32'(REGION_UNITS) << sluice_csr_pkg::ParamsRegionUnitsLsb);
      sluice_csr_pkg::FeaturesAddr: top_rdata = (32'(SM_ENABLE) << sluice_csr_pkg::FeaturesSmEnableLsb)
                                          | (32'(SM_READY) << sluice_csr_pkg::FeaturesSmReadyLsb)
                                          | (32'(FLUSH != 0) << sluice_csr_pkg::FeaturesFlushLsb)
                                          | (32'(PRIORITY) << sluice_csr_pkg::FeaturesPriorityLsb)
                                          | (32'(LAUNCH_QUEUE) << sluice_csr_pkg::FeaturesLaunchQueueLsb)
                                          | (32'(PATIENCE) << sluice_csr_pkg::FeaturesPatienceLsb)
                                          | (32'(TAIL) << sluice_csr_pkg::FeaturesTailLsb)
                                          | (32'(BALANCE) << sluice_csr_pkg::FeaturesBalanceLsb)
                                          | (32'(CHURN) << sluice_csr_pkg::FeaturesChurnLsb);
      sluice_csr_pkg::StatusAddr: begin
        top_rdata[sluice_csr_pkg::StatusSequencerLsb +: 4]                   = status_i.state;
        top_rdata[sluice_csr_pkg::StatusSpatialLsb]                          = status_i.spatial;
        top_rdata[sluice_csr_pkg::StatusNoFitLsb]                            = status_i.no_fit;
        top_rdata[sluice_csr_pkg::StatusDroppedLsb]                          = status_i.dropped;
        top_rdata[sluice_csr_pkg::StatusNoProfileLsb]                        = status_i.no_profile;
        top_rdata[sluice_csr_pkg::StatusPresentLsb +: sluice_pkg::KernelW] = num_present_i;
        top_rdata[sluice_csr_pkg::StatusFellBackLsb]                         = status_i.fell_back;
      end
      default: top_read_exists = 1'b0;
    endcase
  end
  assign read_exists = rslot_hit ? slot_read_exists
      : top_read_exists || config_read_exists || status_read_exists || sms_read_exists || port_read || balance_read;
  assign rdata       = rslot_hit ? slot_rdata : top_rdata | config_rdata | status_rdata | sms_rdata | port_rdata
      | balance_rdata;

  assign idle_o = axi_idle && !config_o.mode_write && !config_o.reprofile && !static_write_o && !enable_write_o
               && (launch_o | stop_o | evict_o | resume_o) == '0 && (FLUSH == 0 || (flush_o == '0 && !flush_context_q));
endmodule
