// sluice_csr: the registers of the partition unit (docs/register_map.md) behind an AXI4-Lite port.
// A write takes effect in the cycle after it is complete; commands are pulses of one cycle, at least two cycles apart. What is refused
// (range, state, address, strobe) changes nothing but ERROR, IRQ_STATUS and the response. Every output is registered but irq_o, the AND
// of two registers. Kernel slot 0 is in the low bits of every vector.
module sluice_csr #(
  parameter int unsigned NUM_SM       = 16,   // 1..256
  parameter int unsigned MAX_KERNELS  = 4,    // 2..8
  parameter int unsigned MAX_CTAS     = 8,    // 4..32
  parameter int unsigned NUM_SCHED    = 2,    // 1..4, for PARAMS only
  parameter int unsigned REGION_UNITS = 64    // 0, 16..128, for PARAMS only
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
  output logic [MAX_KERNELS-1:0]                     launch_o,               // pulses, at most one of the four vectors' bits
  output logic [MAX_KERNELS-1:0]                     stop_o,
  output logic [MAX_KERNELS-1:0]                     evict_o,
  output logic [MAX_KERNELS-1:0]                     resume_o,
  output logic [15:0]                                evict_count_o,          // with evict_o
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    quota_o,                // STATIC mode
  output logic [MAX_KERNELS*NUM_SM-1:0]              mask_o,
  output logic                                       static_write_o,         // pulse with new quota_o or mask_o
  output logic [31:0]                                warm_up_o,              // cycles
  output logic [sluice_pkg::WindowW-1:0]             window_o,
  output logic [15:0]                                delay_o,
  output logic [sluice_pkg::PerfW-1:0]               epsilon_o,
  output logic [15:0]                                loss_limit_o,           // units of 2**-14
  output logic                                       monitor_enable_o,
  output logic [sluice_pkg::PerfW-1:0]               monitor_threshold_o,
  output logic [15:0]                                monitor_window_o,       // cycles
  output logic [7:0]                                 monitor_hold_o,         // monitor windows
  output logic                                       reprofile_o,            // pulse
  // status
  input  logic [MAX_KERNELS*2-1:0]                   slot_state_i,
  input  logic [MAX_KERNELS*16-1:0]                  resident_i,
  input  logic [MAX_KERNELS*32-1:0]                  dispatched_i,
  input  logic [MAX_KERNELS-1:0]                     evict_done_i,           // level: the last EVICT has drained
  input  logic [MAX_KERNELS-1:0]                     kernel_done_i,          // pulses
  input  logic [sluice_pkg::KernelW-1:0]             num_present_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_i,                 // quotas in force
  input  logic [3:0]                                 sequencer_state_i,
  input  logic                                       decision_i,             // pulse: enforced
  input  logic                                       spatial_i,              // of the last decision
  input  logic                                       no_fit_i,
  input  logic [3:0]                                 error_i,                // pulses: BAD_KERNEL, SLOT_BUSY, CANNOT_FIT, BAD_DONE
  input  logic [sluice_pkg::KIndexW-1:0]             error_kernel_i,         // with error_i
  input  logic [sluice_pkg::SmW-1:0]                 error_sm_i,
  output logic                                       idle_o                  // no register changes without an input
);
  localparam int unsigned WarpW     = sluice_pkg::WarpW;
  localparam int unsigned RegW      = sluice_pkg::RegW;
  localparam int unsigned SharedW   = sluice_pkg::SharedW;
  localparam int unsigned CtaW      = sluice_pkg::CtaW;
  localparam int unsigned KIndexW   = sluice_pkg::KIndexW;
  localparam int unsigned NumErrors = 7;
  localparam int unsigned SlotLsb   = $clog2(sluice_csr_pkg::SlotStride);
  localparam logic [11:0] SlotsEnd  = sluice_csr_pkg::SlotBase + 12'(MAX_KERNELS) * sluice_csr_pkg::SlotStride;

  logic        write, write_exists, read_exists, axi_idle;
  logic [11:0] waddr, raddr;
  logic [31:0] wdata, rdata;

  axi_lite_subordinate #(
    .AddrW (12)
  ) i_axi (
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

  assign wslot_hit = waddr >= sluice_csr_pkg::SlotBase && waddr < SlotsEnd;
  assign rslot_hit = raddr >= sluice_csr_pkg::SlotBase && raddr < SlotsEnd;
  assign wslot     = waddr[SlotLsb +: KIndexW];   // SlotBase is a multiple of eight strides
  assign rslot     = raddr[SlotLsb +: KIndexW];

  for (genvar k = 0; k < MAX_KERNELS; k++) begin : gen_slot
    sluice_csr_slot #(
      .NUM_SM   (NUM_SM),
      .MAX_CTAS (MAX_CTAS)
    ) i_slot (
      .clk_i,
      .rst_ni,
      .write_i        (write && wslot_hit && wslot == KIndexW'(k)),
      .write_offset_i (waddr[SlotLsb-1:0]),
      .write_data_i   (wdata),
      .write_exists_o (exists_k[k]),
      .bad_config_o   (bad_config_k[k]),
      .slot_busy_o    (slot_busy_k[k]),
      .read_offset_i  (raddr[SlotLsb-1:0]),
      .read_exists_o  (read_exists_k[k]),
      .read_data_o    (rdata_k[k*32 +: 32]),
      .warps_o        (demand_warps_o[k*WarpW +: WarpW]),
      .registers_o    (demand_registers_o[k*RegW +: RegW]),
      .shared_o       (demand_shared_o[k*SharedW +: SharedW]),
      .grid_o         (grid_o[k*32 +: 32]),
      .repeat_o       (repeat_o[k]),
      .launch_o       (launch_o[k]),
      .stop_o         (stop_o[k]),
      .evict_o        (evict_o[k]),
      .resume_o       (resume_o[k]),
      .quota_o        (quota_o[k*CtaW +: CtaW]),
      .mask_o         (mask_o[k*NUM_SM +: NUM_SM]),
      .static_write_o (static_write_k[k]),
      .state_i        (slot_state_i[k*2 +: 2]),
      .evict_done_i   (evict_done_i[k]),
      .resident_i     (resident_i[k*16 +: 16]),
      .dispatched_i   (dispatched_i[k*32 +: 32]),
      .ctas_i         (ctas_i[k*CtaW +: CtaW])
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

  // What the addressed global register accepts. A decision keeps what it began with.
  logic [31:0] low, high;
  logic        global_exists, is_mode, needs_all_free, needs_undecided, deciding, in_range, write_global, accept, bad_config, bad_mode;
  assign deciding = sequencer_state_i != sluice_csr_pkg::SequencerStateIdle
                 && sequencer_state_i != sluice_csr_pkg::SequencerStateMonitor;
  always_comb begin
    global_exists  = 1'b1;
    low            = '0;
    high           = '1;
    is_mode        = 1'b0;
    needs_all_free  = 1'b0;
    needs_undecided = 1'b0;
    in_range       = 1'b1;
    case (waddr)
      sluice_csr_pkg::ModeAddr:          begin is_mode = 1'b1; high = sluice_csr_pkg::ModeMax; end
      sluice_csr_pkg::ControlAddr,
      sluice_csr_pkg::ErrorAddr,
      sluice_csr_pkg::IrqStatusAddr,
      sluice_csr_pkg::KernelDoneAddr,
      sluice_csr_pkg::EvictDoneAddr,
      sluice_csr_pkg::WarmUpAddr:        ;
      sluice_csr_pkg::IrqEnableAddr:     high = sluice_csr_pkg::IrqEnableMax;
      sluice_csr_pkg::CapWarpsAddr: begin
        needs_all_free = 1'b1;
        low            = sluice_csr_pkg::CapWarpsMin;
        high           = sluice_csr_pkg::CapWarpsMax;
      end
      sluice_csr_pkg::CapRegistersAddr: begin
        needs_all_free = 1'b1;
        low            = sluice_csr_pkg::CapRegistersMin;
        high           = sluice_csr_pkg::CapRegistersMax;
      end
      sluice_csr_pkg::CapSharedAddr:     begin needs_all_free = 1'b1; high = sluice_csr_pkg::CapSharedMax; end
      sluice_csr_pkg::CapSlotsAddr: begin
        needs_all_free = 1'b1;
        low            = sluice_csr_pkg::CapSlotsMin;
        high           = 32'(MAX_CTAS);
      end
      sluice_csr_pkg::WindowAddr: begin
        needs_undecided = 1'b1;
        low             = sluice_csr_pkg::WindowMin;
        high            = sluice_csr_pkg::WindowMax;
      end
      sluice_csr_pkg::DelayAddr:         high = sluice_csr_pkg::DelayMax;
      sluice_csr_pkg::EpsilonAddr:       begin needs_undecided = 1'b1; high = sluice_csr_pkg::EpsilonMax; end
      sluice_csr_pkg::LossLimitAddr:     begin needs_undecided = 1'b1; high = sluice_csr_pkg::LossLimitMax; end
      sluice_csr_pkg::MonitorAddr:       in_range = (wdata & ~sluice_csr_pkg::MonitorMask) == '0;
      sluice_csr_pkg::MonitorWindowAddr: begin low = sluice_csr_pkg::MonitorWindowMin; high = sluice_csr_pkg::MonitorWindowMax; end
      sluice_csr_pkg::MonitorHoldAddr:   begin low = sluice_csr_pkg::MonitorHoldMin; high = sluice_csr_pkg::MonitorHoldMax; end
      default:                           global_exists = 1'b0;
    endcase
    if (wdata < low || wdata > high) in_range = 1'b0;

    write_exists = wslot_hit ? slot_exists : global_exists;
    write_global = write && !wslot_hit && global_exists;
    bad_mode     = write_global && is_mode && !in_range;
    bad_config   = slot_bad_config || (write_global && !is_mode && (!in_range || (needs_all_free && slot_state_i != '0)
                                                                          || (needs_undecided && deciding)));
    accept       = write_global && !bad_mode && !bad_config;
  end

  // Configuration and commands.
  logic [2:0]                     mode_d, mode_q;
  logic                           mode_write_d, mode_write_q, reprofile_d, reprofile_q;
  logic [WarpW-1:0]               cap_warps_d, cap_warps_q;
  logic [RegW-1:0]                cap_registers_d, cap_registers_q;
  logic [SharedW-1:0]             cap_shared_d, cap_shared_q;
  logic [CtaW-1:0]                cap_slots_d, cap_slots_q;
  logic [31:0]                    warm_up_d, warm_up_q;
  logic [sluice_pkg::WindowW-1:0] window_d, window_q;
  logic [15:0]                    delay_d, delay_q, loss_limit_d, loss_limit_q, monitor_window_d, monitor_window_q;
  logic [sluice_pkg::PerfW-1:0]   epsilon_d, epsilon_q, monitor_threshold_d, monitor_threshold_q;
  logic                           monitor_enable_d, monitor_enable_q;
  logic [7:0]                     monitor_hold_d, monitor_hold_q;
  logic [3:0]                     irq_enable_d, irq_enable_q;
  logic [15:0]                    evict_count_d, evict_count_q;

  always_comb begin
    mode_d              = mode_q;
    mode_write_d        = 1'b0;
    reprofile_d         = 1'b0;
    cap_warps_d         = cap_warps_q;
    cap_registers_d     = cap_registers_q;
    cap_shared_d        = cap_shared_q;
    cap_slots_d         = cap_slots_q;
    warm_up_d           = warm_up_q;
    window_d            = window_q;
    delay_d             = delay_q;
    epsilon_d           = epsilon_q;
    loss_limit_d        = loss_limit_q;
    monitor_enable_d    = monitor_enable_q;
    monitor_threshold_d = monitor_threshold_q;
    monitor_window_d    = monitor_window_q;
    monitor_hold_d      = monitor_hold_q;
    irq_enable_d        = irq_enable_q;
    evict_count_d       = evict_count_q;
    if (write && wslot_hit && waddr[SlotLsb-1:0] == sluice_csr_pkg::SlotCtrlOffset && !slot_bad_config)
      evict_count_d = wdata[sluice_csr_pkg::SlotCtrlEvictCountLsb +: 16];
    if (accept) begin
      case (waddr)
        sluice_csr_pkg::ModeAddr: begin
          mode_d       = wdata[2:0];
          mode_write_d = 1'b1;
        end
        sluice_csr_pkg::ControlAddr:       reprofile_d      = wdata[0];
        sluice_csr_pkg::IrqEnableAddr:     irq_enable_d     = wdata[3:0];
        sluice_csr_pkg::CapWarpsAddr:      cap_warps_d      = wdata[WarpW-1:0];
        sluice_csr_pkg::CapRegistersAddr:  cap_registers_d  = wdata[RegW-1:0];
        sluice_csr_pkg::CapSharedAddr:     cap_shared_d     = wdata[SharedW-1:0];
        sluice_csr_pkg::CapSlotsAddr:      cap_slots_d      = wdata[CtaW-1:0];
        sluice_csr_pkg::WarmUpAddr:        warm_up_d        = wdata;
        sluice_csr_pkg::WindowAddr:        window_d         = wdata[sluice_pkg::WindowW-1:0];
        sluice_csr_pkg::DelayAddr:         delay_d          = wdata[15:0];
        sluice_csr_pkg::EpsilonAddr:       epsilon_d        = wdata[sluice_pkg::PerfW-1:0];
        sluice_csr_pkg::LossLimitAddr:     loss_limit_d     = wdata[15:0];
        sluice_csr_pkg::MonitorAddr: begin
          monitor_enable_d    = wdata[sluice_csr_pkg::MonitorEnableLsb];
          monitor_threshold_d = wdata[sluice_csr_pkg::MonitorThresholdLsb +: sluice_pkg::PerfW];
        end
        sluice_csr_pkg::MonitorWindowAddr: monitor_window_d = wdata[15:0];
        sluice_csr_pkg::MonitorHoldAddr:   monitor_hold_d   = wdata[7:0];
        default: ;
      endcase
    end
  end

  // Sticky status. What happens in the cycle that clears stays set.
  logic [NumErrors-1:0]       error_d, error_q, error_set, error_left;
  logic [KIndexW-1:0]         info_kernel_d, info_kernel_q;
  logic [2:0]                 info_cause_d, info_cause_q;
  logic [sluice_pkg::SmW-1:0] info_sm_d, info_sm_q;
  logic [3:0]                 irq_status_d, irq_status_q;
  logic [MAX_KERNELS-1:0]     kernel_done_d, kernel_done_q, evict_done_d, evict_done_q, evict_seen_q, evict_event;
  logic [31:0]                decisions_d, decisions_q;
  logic                       mode_in_decision;

  assign mode_in_decision = mode_write_q && deciding;
  assign evict_event      = evict_done_i & ~evict_seen_q;

  always_comb begin
    error_set                                         = '0;
    error_set[sluice_csr_pkg::ErrorBadDoneLsb]        = error_i[0];
    error_set[sluice_csr_pkg::ErrorCannotFitLsb]      = error_i[1];
    error_set[sluice_csr_pkg::ErrorSlotBusyLsb]       = error_i[2] || slot_busy;
    error_set[sluice_csr_pkg::ErrorBadModeLsb]        = bad_mode;
    error_set[sluice_csr_pkg::ErrorBadConfigLsb]      = bad_config;
    error_set[sluice_csr_pkg::ErrorBadKernelLsb]      = error_i[3];
    error_set[sluice_csr_pkg::ErrorModeInDecisionLsb] = mode_in_decision;

    error_left    = error_q;
    irq_status_d  = irq_status_q;
    kernel_done_d = kernel_done_q;
    evict_done_d  = evict_done_q;
    if (accept) begin
      case (waddr)
        sluice_csr_pkg::ErrorAddr:      error_left    = error_q & ~wdata[NumErrors-1:0];
        sluice_csr_pkg::IrqStatusAddr:  irq_status_d  = irq_status_q & ~wdata[3:0];
        sluice_csr_pkg::KernelDoneAddr: kernel_done_d = kernel_done_q & ~wdata[MAX_KERNELS-1:0];
        sluice_csr_pkg::EvictDoneAddr:  evict_done_d  = evict_done_q & ~wdata[MAX_KERNELS-1:0];
        default: ;
      endcase
    end
    error_d       = error_left | error_set;
    irq_status_d  = irq_status_d | {decision_i, evict_event != '0, kernel_done_i != '0, error_set != '0};
    kernel_done_d = kernel_done_d | kernel_done_i;
    evict_done_d  = evict_done_d | evict_event;
    decisions_d   = decisions_q + 32'(decision_i);

    // The first error. Of several in one cycle: one of the dispatcher's before one of ours, then the lowest bit.
    info_kernel_d = info_kernel_q;
    info_cause_d  = info_cause_q;
    info_sm_d     = info_sm_q;
    if (error_left == '0 && error_set != '0) begin
      info_kernel_d = (error_i != '0) ? error_kernel_i : (wslot_hit ? wslot : '0);
      info_sm_d     = (error_i != '0) ? error_sm_i : '0;
      unique casez (error_i)
        4'b???1: info_cause_d = 3'(sluice_csr_pkg::ErrorBadDoneLsb);
        4'b??10: info_cause_d = 3'(sluice_csr_pkg::ErrorCannotFitLsb);
        4'b?100: info_cause_d = 3'(sluice_csr_pkg::ErrorSlotBusyLsb);
        4'b1000: info_cause_d = 3'(sluice_csr_pkg::ErrorBadKernelLsb);
        default: info_cause_d = slot_busy ? 3'(sluice_csr_pkg::ErrorSlotBusyLsb)
                              : bad_mode      ? 3'(sluice_csr_pkg::ErrorBadModeLsb)
                              : bad_config    ? 3'(sluice_csr_pkg::ErrorBadConfigLsb)
                              :                 3'(sluice_csr_pkg::ErrorModeInDecisionLsb);
      endcase
    end
  end

  always_comb begin
    read_exists = 1'b1;
    rdata       = '0;
    case (raddr)
      sluice_csr_pkg::IdAddr:     rdata = {sluice_csr_pkg::IdMagicReset, sluice_csr_pkg::IdVersionReset};
      sluice_csr_pkg::ParamsAddr: rdata = (32'(NUM_SM) << sluice_csr_pkg::ParamsNumSmLsb)
                                        | (32'(MAX_KERNELS) << sluice_csr_pkg::ParamsMaxKernelsLsb)
                                        | (32'(MAX_CTAS) << sluice_csr_pkg::ParamsMaxCtasLsb)
                                        | (32'(NUM_SCHED) << sluice_csr_pkg::ParamsNumSchedLsb)
                                        | (32'(REGION_UNITS) << sluice_csr_pkg::ParamsRegionUnitsLsb);
      sluice_csr_pkg::ModeAddr:    rdata = 32'(mode_q);
      sluice_csr_pkg::ControlAddr: rdata = '0;
      sluice_csr_pkg::StatusAddr: begin
        rdata[sluice_csr_pkg::StatusSequencerLsb +: 4]                   = sequencer_state_i;
        rdata[sluice_csr_pkg::StatusSpatialLsb]                          = spatial_i;
        rdata[sluice_csr_pkg::StatusNoFitLsb]                            = no_fit_i;
        rdata[sluice_csr_pkg::StatusPresentLsb +: sluice_pkg::KernelW] = num_present_i;
      end
      sluice_csr_pkg::DecisionsAddr:     rdata = decisions_q;
      sluice_csr_pkg::ErrorAddr:         rdata = 32'(error_q);
      sluice_csr_pkg::ErrorInfoAddr: begin
        rdata[sluice_csr_pkg::ErrorInfoKernelLsb +: KIndexW]      = info_kernel_q;
        rdata[sluice_csr_pkg::ErrorInfoCauseLsb +: 3]             = info_cause_q;
        rdata[sluice_csr_pkg::ErrorInfoSmLsb +: sluice_pkg::SmW] = info_sm_q;
      end
      sluice_csr_pkg::IrqStatusAddr:     rdata = 32'(irq_status_q);
      sluice_csr_pkg::IrqEnableAddr:     rdata = 32'(irq_enable_q);
      sluice_csr_pkg::KernelDoneAddr:    rdata = 32'(kernel_done_q);
      sluice_csr_pkg::EvictDoneAddr:     rdata = 32'(evict_done_q);
      sluice_csr_pkg::CapWarpsAddr:      rdata = 32'(cap_warps_q);
      sluice_csr_pkg::CapRegistersAddr:  rdata = 32'(cap_registers_q);
      sluice_csr_pkg::CapSharedAddr:     rdata = 32'(cap_shared_q);
      sluice_csr_pkg::CapSlotsAddr:      rdata = 32'(cap_slots_q);
      sluice_csr_pkg::WarmUpAddr:        rdata = warm_up_q;
      sluice_csr_pkg::WindowAddr:        rdata = 32'(window_q);
      sluice_csr_pkg::DelayAddr:         rdata = 32'(delay_q);
      sluice_csr_pkg::EpsilonAddr:       rdata = 32'(epsilon_q);
      sluice_csr_pkg::LossLimitAddr:     rdata = 32'(loss_limit_q);
      sluice_csr_pkg::MonitorAddr: begin
        rdata[sluice_csr_pkg::MonitorEnableLsb]                         = monitor_enable_q;
        rdata[sluice_csr_pkg::MonitorThresholdLsb +: sluice_pkg::PerfW] = monitor_threshold_q;
      end
      sluice_csr_pkg::MonitorWindowAddr: rdata = 32'(monitor_window_q);
      sluice_csr_pkg::MonitorHoldAddr:   rdata = 32'(monitor_hold_q);
      default:                           read_exists = 1'b0;
    endcase
    if (rslot_hit) begin
      read_exists = slot_read_exists;
      rdata       = slot_rdata;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mode_q              <= sluice_csr_pkg::ModeReset;
      mode_write_q        <= 1'b0;
      reprofile_q         <= 1'b0;
      cap_warps_q         <= sluice_csr_pkg::CapWarpsReset;
      cap_registers_q     <= sluice_csr_pkg::CapRegistersReset;
      cap_shared_q        <= sluice_csr_pkg::CapSharedReset;
      cap_slots_q         <= CtaW'(MAX_CTAS);
      warm_up_q           <= sluice_csr_pkg::WarmUpReset;
      window_q            <= sluice_csr_pkg::WindowReset;
      delay_q             <= sluice_csr_pkg::DelayReset;
      epsilon_q           <= sluice_csr_pkg::EpsilonReset;
      loss_limit_q        <= sluice_csr_pkg::LossLimitReset;
      monitor_enable_q    <= sluice_csr_pkg::MonitorEnableReset;
      monitor_threshold_q <= sluice_csr_pkg::MonitorThresholdReset;
      monitor_window_q    <= sluice_csr_pkg::MonitorWindowReset;
      monitor_hold_q      <= sluice_csr_pkg::MonitorHoldReset;
      irq_enable_q        <= sluice_csr_pkg::IrqEnableReset;
      evict_count_q       <= '0;
      error_q             <= '0;
      info_kernel_q       <= '0;
      info_cause_q        <= '0;
      info_sm_q           <= '0;
      irq_status_q        <= '0;
      kernel_done_q       <= '0;
      evict_done_q        <= '0;
      evict_seen_q        <= '0;
      decisions_q         <= '0;
    end else begin
      mode_q              <= mode_d;
      mode_write_q        <= mode_write_d;
      reprofile_q         <= reprofile_d;
      cap_warps_q         <= cap_warps_d;
      cap_registers_q     <= cap_registers_d;
      cap_shared_q        <= cap_shared_d;
      cap_slots_q         <= cap_slots_d;
      warm_up_q           <= warm_up_d;
      window_q            <= window_d;
      delay_q             <= delay_d;
      epsilon_q           <= epsilon_d;
      loss_limit_q        <= loss_limit_d;
      monitor_enable_q    <= monitor_enable_d;
      monitor_threshold_q <= monitor_threshold_d;
      monitor_window_q    <= monitor_window_d;
      monitor_hold_q      <= monitor_hold_d;
      irq_enable_q        <= irq_enable_d;
      evict_count_q       <= evict_count_d;
      error_q             <= error_d;
      info_kernel_q       <= info_kernel_d;
      info_cause_q        <= info_cause_d;
      info_sm_q           <= info_sm_d;
      irq_status_q        <= irq_status_d;
      kernel_done_q       <= kernel_done_d;
      evict_done_q        <= evict_done_d;
      evict_seen_q        <= evict_done_i;
      decisions_q         <= decisions_d;
    end
  end

  assign irq_o                = (irq_status_q & irq_enable_q) != '0;
  assign mode_o               = mode_q;
  assign idle_o = axi_idle && !mode_write_q && !reprofile_q && !static_write_o && evict_seen_q == '0
               && (launch_o | stop_o | evict_o | resume_o) == '0;
  assign mode_write_o         = mode_write_q;
  assign capacity_warps_o     = cap_warps_q;
  assign capacity_registers_o = cap_registers_q;
  assign capacity_shared_o    = cap_shared_q;
  assign capacity_slots_o     = cap_slots_q;
  assign evict_count_o        = evict_count_q;
  assign warm_up_o            = warm_up_q;
  assign window_o             = window_q;
  assign delay_o              = delay_q;
  assign epsilon_o            = epsilon_q;
  assign loss_limit_o         = loss_limit_q;
  assign monitor_enable_o     = monitor_enable_q;
  assign monitor_threshold_o  = monitor_threshold_q;
  assign monitor_window_o     = monitor_window_q;
  assign monitor_hold_o       = monitor_hold_q;
  assign reprofile_o          = reprofile_q;
endmodule
