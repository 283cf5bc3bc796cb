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
  parameter int unsigned TAIL         = 0     // for FEATURES only
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic [11:0]                                s_axi_awaddr_i,
  input  logic                                       s_axi_awvalid_i,
  output logic                                       s_axi_awready_o,
  input  logic [31:0]                                s_axi_wdata_i,
  input  logic [3:0]                                 s_axi_wstrb_i,
  input  logic                                       s_axi_wvalid_i,
  output logic                                       s_axi_wready_o,
  output logic [1:0]                                 s_axi_bresp_o,
  output logic                                       s_axi_bvalid_o,
  input  logic                                       s_axi_bready_i,
  input  logic [11:0]                                s_axi_araddr_i,
  input  logic                                       s_axi_arvalid_i,
  output logic                                       s_axi_arready_o,
  output logic [31:0]                                s_axi_rdata_o,
  output logic [1:0]                                 s_axi_rresp_o,
  output logic                                       s_axi_rvalid_o,
  input  logic                                       s_axi_rready_i,
  output logic                                       irq_o,
  // configuration
  output logic [2:0]                                 mode_o,
  output logic                                       mode_write_o,           // pulse with the (new) mode
  output logic [sluice_pkg::WarpW-1:0]               capacity_warps_o,       // of one SM
  output logic [sluice_pkg::RegW-1:0]                capacity_registers_o,
  output logic [sluice_pkg::SharedW-1:0]             capacity_shared_o,      // bytes
  output logic [sluice_pkg::CtaW-1:0]                capacity_slots_o,
  output logic [MAX_KERNELS*sluice_pkg::WarpW-1:0]   demand_warps_o,         // of one CTA
  output logic [MAX_KERNELS*sluice_pkg::RegW-1:0]    demand_registers_o,
  output logic [MAX_KERNELS*sluice_pkg::SharedW-1:0] demand_shared_o,
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
  output logic [sluice_pkg::TimerW-1:0]              warm_up_o,              // cycles
  output logic [sluice_pkg::WindowW-1:0]             window_o,
  output logic [15:0]                                delay_o,
  output logic [sluice_pkg::PerfW-1:0]               epsilon_o,
  output logic [15:0]                                loss_limit_o,           // units of 2**-14
  output logic                                       monitor_enable_o,
  output logic [sluice_pkg::PerfW-1:0]               monitor_threshold_o,
  output logic [15:0]                                monitor_window_o,       // cycles
  output logic [7:0]                                 monitor_hold_o,         // monitor windows
  output logic [sluice_pkg::ShareW-1:0]              request_share_o,        // lines a window; 0: 2**ShareW
  output logic [7:0]                                 drain_limit_o,          // units of 4,096 cycles
  output logic                                       reprofile_o,            // pulse
  output logic [NUM_SM-1:0]                          sm_enable_o,            // SMs that may be given CTAs
  output logic                                       enable_write_o,         // pulse with the (new) sm_enable_o
  // launch port
  output logic [MAX_KERNELS-1:0]                     port_slots_o,           // kernel slots that are the port's
  input  logic [MAX_KERNELS-1:0]                     port_admit_i,            // its launch goes to this slot: one-hot,
                                                                              // or 0; launch_o in the next cycle
  input  sluice_pkg::amounts_t                       port_demand_i,
  input  logic [sluice_pkg::GridW-1:0]               port_ctas_i,
  input  logic [sluice_pkg::PriorityW-1:0]           port_priority_i,
  input  logic [MAX_KERNELS*(sluice_pkg::ContextW+sluice_pkg::PriorityW)-1:0] tags_i,   // of each slot: {priority,
                                                                                        // context}
  output logic                                       purge_o,                // pulse, combinational: launches of a
                                                                             // context that wait are handed back
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
  input  logic [3:0]                                 sequencer_state_i,
  input  logic                                       decision_i,             // pulse: enforced
  input  logic                                       spatial_i,              // of the last decision
  input  logic                                       no_fit_i,
  input  logic                                       dropped_i,              // of the last profile
  input  logic                                       no_profile_i,
  input  logic [4:0]                                 error_i,                // pulses: PORT_STUCK, BAD_KERNEL,
                                                                             // SLOT_BUSY, CANNOT_FIT, BAD_DONE
  input  logic [sluice_pkg::KIndexW-1:0]             error_kernel_i,         // with error_i
  input  logic [sluice_pkg::SmW-1:0]                 error_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]               error_slot_i,
  input  logic                                       fell_back_i,            // a mode that would have ranges has none
                                                                             // to give
  output logic                                       idle_o                  // no register changes without an input
);
  localparam int unsigned WarpW     = sluice_pkg::WarpW;
  localparam int unsigned RegW      = sluice_pkg::RegW;
  localparam int unsigned SharedW   = sluice_pkg::SharedW;
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
    .s_axi_awaddr_i,
    .s_axi_awvalid_i,
    .s_axi_awready_o,
    .s_axi_wdata_i,
    .s_axi_wstrb_i,
    .s_axi_wvalid_i,
    .s_axi_wready_o,
    .s_axi_bresp_o,
    .s_axi_bvalid_o,
    .s_axi_bready_i,
    .s_axi_araddr_i,
    .s_axi_arvalid_i,
    .s_axi_arready_o,
    .s_axi_rdata_o,
    .s_axi_rresp_o,
    .s_axi_rvalid_o,
    .s_axi_rready_i,
    .write_o        (write),
    .write_addr_o   (waddr),
    .write_data_o   (wdata),
    .write_exists_i (write_exists),
    .read_addr_o    (raddr),
    .read_exists_i  (read_exists),
    .read_data_i    (rdata),
    .idle_o         (axi_idle)
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
      .NUM_SM(NUM_SM), .MAX_CTAS(MAX_CTAS), .LAUNCH_QUEUE(LAUNCH_QUEUE), .FLUSH(FLUSH), .PRIORITY(PRIORITY)
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
      .warps_o         (demand_warps_o[k*WarpW +: WarpW]),
      .registers_o     (demand_registers_o[k*RegW +: RegW]),
      .shared_o        (demand_shared_o[k*SharedW +: SharedW]),
      .grid_o          (grid_o[k*32 +: 32]),
      .repeat_o        (repeat_o[k]),
      .priority_o      (priority_o[k*sluice_pkg::PriorityW +: sluice_pkg::PriorityW]),
      .port_slot_i     (port_slots_o[k]),
      .port_admit_i    (port_admit_i[k]),
      .port_demand_i,
      .port_ctas_i,
      .port_priority_i,
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
  logic        bad_mode, global_bad_config, top_read_exists;
  logic [31:0] config_rdata, status_rdata, top_rdata;

  assign write_global = write && !wslot_hit;
  assign deciding     = sequencer_state_i != sluice_csr_pkg::SequencerStateIdle
                     && sequencer_state_i != sluice_csr_pkg::SequencerStateMonitor;
  assign write_exists = wslot_hit ? slot_exists : config_exists || status_exists || sms_exists || slots_exist;

  sluice_csr_config #(.MAX_CTAS(MAX_CTAS)) i_config (
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
    .mode_o,
    .mode_write_o,
    .reprofile_o,
    .capacity_warps_o,
    .capacity_registers_o,
    .capacity_shared_o,
    .capacity_slots_o,
    .warm_up_o,
    .window_o,
    .delay_o,
    .epsilon_o,
    .loss_limit_o,
    .monitor_enable_o,
    .monitor_threshold_o,
    .monitor_window_o,
    .monitor_hold_o,
    .request_share_o,
    .drain_limit_o,
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
    .decision_i,
    .kernel_done_i,
    .evict_done_i,
    .error_i,
    .error_kernel_i,
    .error_sm_i,
    .error_slot_i,
    .slot_busy_i        (slot_busy),
    .bad_mode_i         (bad_mode),
    .bad_config_i       (slot_bad_config || global_bad_config || slots_bad),
    .mode_in_decision_i (mode_write_o && deciding),
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
    assign write_slots = write_global && slots_exist_q && in_range_q;
    always_ff @(posedge clk_i) begin   // looked at only with write_global: no reset
      slots_exist_q <= waddr == sluice_csr_pkg::PortSlotsAddr;
      in_range_q    <= wdata <= sluice_csr_pkg::PortSlotsMax;
    end
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni)          port_slots_q <= '0;
      else if (write_slots) port_slots_q <= wdata[MAX_KERNELS-1:0];
    assign port_slots_o = port_slots_q;
    assign slots_exist  = slots_exist_q;
    assign slots_bad    = write_global && slots_exist_q && !in_range_q;
    assign port_read    = raddr == sluice_csr_pkg::PortSlotsAddr || raddr == sluice_csr_pkg::QueueAddr;
    assign port_rdata   = !port_read ? '0 : (raddr == sluice_csr_pkg::QueueAddr) ? 32'(queue_i) : 32'(port_slots_q);
  end else begin : gen_no_port
    assign {port_slots_o, slots_exist, slots_bad, port_read, port_rdata} = '0;
    logic unused_port;
    assign unused_port = ^{port_admit_i, port_demand_i, port_ctas_i, port_priority_i, tags_i, queue_i};
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
                                          | (32'(CHURN) << sluice_csr_pkg::FeaturesChurnLsb);
      sluice_csr_pkg::StatusAddr: begin
        top_rdata[sluice_csr_pkg::StatusSequencerLsb +: 4]                   = sequencer_state_i;
        top_rdata[sluice_csr_pkg::StatusSpatialLsb]                          = spatial_i;
        top_rdata[sluice_csr_pkg::StatusNoFitLsb]                            = no_fit_i;
        top_rdata[sluice_csr_pkg::StatusDroppedLsb]                          = dropped_i;
        top_rdata[sluice_csr_pkg::StatusNoProfileLsb]                        = no_profile_i;
        top_rdata[sluice_csr_pkg::StatusPresentLsb +: sluice_pkg::KernelW] = num_present_i;
        top_rdata[sluice_csr_pkg::StatusFellBackLsb]                         = fell_back_i;
      end
      default: top_read_exists = 1'b0;
    endcase
  end
  assign read_exists = rslot_hit ? slot_read_exists
      : top_read_exists || config_read_exists || status_read_exists || sms_read_exists || port_read;
  assign rdata       = rslot_hit ? slot_rdata : top_rdata | config_rdata | status_rdata | sms_rdata | port_rdata;

  assign idle_o = axi_idle && !mode_write_o && !reprofile_o && !static_write_o && !enable_write_o
               && (launch_o | stop_o | evict_o | resume_o) == '0 && (FLUSH == 0 || (flush_o == '0 && !flush_context_q));
endmodule
