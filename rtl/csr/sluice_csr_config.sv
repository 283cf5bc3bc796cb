// SPDX-License-Identifier: Apache-2.0
// sluice_csr_config: the global configuration registers of sluice_csr and the commands MODE and CONTROL. A write acts
// in the next cycle; one that is out of range (bad_mode_o, bad_config_o), finds a kernel slot that is not FREE where
// all must be, comes while the sequencer decides on what a decision keeps, or while LOCK is 1, changes nothing. What
// the addressed register accepts is found in the cycle before write_i: address and data are there by then. Read data is
// 0 for addresses that are not here.
module sluice_csr_config #(
  parameter int unsigned MAX_CTAS = 8,   // 4..32
  parameter int unsigned BALANCE  = 0    // 1: its mode is there; 2: instead of DYNAMIC
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           write_i,                // of a global register
  input  logic [11:0]                    write_addr_i,
  input  logic [31:0]                    write_data_i,
  output logic                           write_exists_o,         // of the write_addr_i of the cycle before
  output logic                           bad_mode_o,             // with write_i: refused
  output logic                           bad_config_o,
  input  logic [11:0]                    read_addr_i,
  output logic                           read_exists_o,          // combinational
  output logic [31:0]                    read_data_o,
  input  logic                           all_free_i,             // every kernel slot is FREE
  input  logic                           deciding_i,             // the sequencer is neither IDLE nor in MONITOR
  output sluice_pkg::decision_config_t   config_o,
  output sluice_pkg::amounts_t           capacity_o,             // of one SM
  output logic [sluice_pkg::CtaW-1:0]    capacity_slots_o,
  output logic                           locked_o,               // LOCK is 1
  output logic                           flush_context_o, // with write_i: kernels of a context, or all, are flushed
  output logic                           go_o // with write_i: waiting slots are launched a cycle later
);
  if (!sluice_pkg::sizes_exist(1, 2, MAX_CTAS)) $error("sluice_csr_config: size out of range");
  localparam int unsigned WarpW   = sluice_pkg::WarpW;
  localparam int unsigned RegW    = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned CtaW    = sluice_pkg::CtaW;

  // What the addressed register accepts.
  logic [31:0] low, high;
  logic        exists, is_mode, needs_all_free, needs_undecided, in_range, exists_q, is_mode_q, needs_all_free_q,
    needs_undecided_q, in_range_q, is_control_q, flushes_q, accept, lock_d, lock_q;
  always_comb begin
    exists          = 1'b1;
    low             = '0;
    high            = '1;
    is_mode         = 1'b0;
    needs_all_free  = 1'b0;
    needs_undecided = 1'b0;
    in_range        = 1'b1;
    case (write_addr_i)
      sluice_csr_pkg::ModeAddr:          begin is_mode = 1'b1; high = BALANCE != 0 ? 32'(sluice_csr_pkg::ModeBalance)
        : sluice_csr_pkg::ModeMax; end
      sluice_csr_pkg::ControlAddr:       ;
      sluice_csr_pkg::WarmUpAddr:        in_range = (write_data_i >> sluice_pkg::TimerW) == '0;
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
      sluice_csr_pkg::MonitorAddr:       in_range = (write_data_i & ~sluice_csr_pkg::MonitorMask) == '0;
      sluice_csr_pkg::MonitorWindowAddr: begin
        low = sluice_csr_pkg::MonitorWindowMin;
        high = sluice_csr_pkg::MonitorWindowMax;
      end
      sluice_csr_pkg::MonitorHoldAddr: begin
        low = sluice_csr_pkg::MonitorHoldMin;
        high = sluice_csr_pkg::MonitorHoldMax;
      end
      sluice_csr_pkg::RequestShareAddr:  begin needs_undecided = 1'b1; high = sluice_csr_pkg::RequestShareMax; end
      sluice_csr_pkg::DrainLimitAddr:    high = sluice_csr_pkg::DrainLimitMax;
      sluice_csr_pkg::LockAddr:          high = sluice_csr_pkg::LockMax;
      default:                           exists = 1'b0;
    endcase
    if (write_data_i < low || write_data_i > high) in_range = 1'b0;
    if (BALANCE == 2 && is_mode && write_data_i[2:0] == sluice_csr_pkg::ModeDynamic) in_range = 1'b0;
  end
  always_ff @(posedge clk_i) begin   // looked at only with write_i: no reset
    exists_q          <= exists;
    is_mode_q         <= is_mode;
    is_control_q      <= write_addr_i == sluice_csr_pkg::ControlAddr;
    flushes_q         <= write_addr_i == sluice_csr_pkg::ControlAddr
        && (write_data_i[sluice_csr_pkg::ControlFlushContextLsb] || write_data_i[sluice_csr_pkg::ControlFlushAllLsb]);
    needs_all_free_q  <= needs_all_free;
    needs_undecided_q <= needs_undecided;
    in_range_q        <= in_range;
  end
  logic refused;
  assign refused        = !in_range_q || (needs_all_free_q && !all_free_i) || (needs_undecided_q && deciding_i)
      || (lock_q && !is_mode_q && !is_control_q);
  assign write_exists_o = exists_q;
  assign bad_mode_o     = write_i && exists_q && is_mode_q && refused;
  assign bad_config_o   = write_i && exists_q && !is_mode_q && refused;
  assign accept         = write_i && exists_q && !refused;
  // CONTROL is never refused: what it starts waits for no other register.
  assign go_o            = write_i && is_control_q && write_data_i[sluice_csr_pkg::ControlGoLsb];
  assign flush_context_o = write_i && flushes_q;

  // Registers.
  sluice_pkg::decision_config_t config_d, config_q;
  sluice_pkg::amounts_t         capacity_d, capacity_q;
  logic [CtaW-1:0]              cap_slots_d, cap_slots_q;

  always_comb begin
    config_d            = config_q;
    config_d.mode_write = 1'b0;
    config_d.reprofile  = 1'b0;
    capacity_d          = capacity_q;
    cap_slots_d         = cap_slots_q;
    lock_d              = lock_q;
    if (accept) begin
      case (write_addr_i)
        sluice_csr_pkg::ModeAddr: begin
          config_d.mode       = write_data_i[2:0];
          config_d.mode_write = 1'b1;
        end
        sluice_csr_pkg::ControlAddr:       config_d.reprofile      = write_data_i[sluice_csr_pkg::ControlReprofileLsb];
        sluice_csr_pkg::CapWarpsAddr:      capacity_d.warps      = write_data_i[WarpW-1:0];
        sluice_csr_pkg::CapRegistersAddr:  capacity_d.registers  = write_data_i[RegW-1:0];
        sluice_csr_pkg::CapSharedAddr:     capacity_d.shared     = write_data_i[SharedW-1:0];
        sluice_csr_pkg::CapSlotsAddr:      cap_slots_d      = write_data_i[CtaW-1:0];
        sluice_csr_pkg::WarmUpAddr:        config_d.warm_up        = write_data_i[sluice_pkg::TimerW-1:0];
        sluice_csr_pkg::WindowAddr:        config_d.window         = write_data_i[sluice_pkg::WindowW-1:0];
        sluice_csr_pkg::DelayAddr:         config_d.delay          = write_data_i[15:0];
        sluice_csr_pkg::EpsilonAddr:       config_d.epsilon        = write_data_i[sluice_pkg::PerfW-1:0];
        sluice_csr_pkg::LossLimitAddr:     config_d.loss_limit     = write_data_i[15:0];
        sluice_csr_pkg::MonitorAddr: begin
          config_d.monitor_enable    = write_data_i[sluice_csr_pkg::MonitorEnableLsb];
          config_d.monitor_threshold = write_data_i[sluice_csr_pkg::MonitorThresholdLsb +: sluice_pkg::PerfW];
        end
        sluice_csr_pkg::MonitorWindowAddr: config_d.monitor_window = write_data_i[15:0];
        sluice_csr_pkg::MonitorHoldAddr:   config_d.monitor_hold   = write_data_i[7:0];
        sluice_csr_pkg::RequestShareAddr:  config_d.request_share  = write_data_i[sluice_pkg::ShareW-1:0];
        sluice_csr_pkg::DrainLimitAddr:    config_d.drain_limit    = write_data_i[7:0];
        sluice_csr_pkg::LockAddr:          lock_d                  = write_data_i[0];
        default: ;
      endcase
    end
    if (BALANCE == 2) begin   // nobody looks at these
      config_d.epsilon       = config_q.epsilon;
      config_d.loss_limit    = config_q.loss_limit;
      config_d.request_share = config_q.request_share;
    end
  end

  always_comb begin
    read_exists_o = 1'b1;
    read_data_o   = '0;
    case (read_addr_i)
      sluice_csr_pkg::ModeAddr:          read_data_o = 32'(config_q.mode);
      sluice_csr_pkg::ControlAddr:       read_data_o = '0;
      sluice_csr_pkg::CapWarpsAddr:      read_data_o = 32'(capacity_q.warps);
      sluice_csr_pkg::CapRegistersAddr:  read_data_o = 32'(capacity_q.registers);
      sluice_csr_pkg::CapSharedAddr:     read_data_o = 32'(capacity_q.shared);
      sluice_csr_pkg::CapSlotsAddr:      read_data_o = 32'(cap_slots_q);
      sluice_csr_pkg::WarmUpAddr:        read_data_o = 32'(config_q.warm_up);
      sluice_csr_pkg::WindowAddr:        read_data_o = 32'(config_q.window);
      sluice_csr_pkg::DelayAddr:         read_data_o = 32'(config_q.delay);
      sluice_csr_pkg::EpsilonAddr:       read_data_o = 32'(config_q.epsilon);
      sluice_csr_pkg::LossLimitAddr:     read_data_o = 32'(config_q.loss_limit);
      sluice_csr_pkg::MonitorAddr: begin
        read_data_o[sluice_csr_pkg::MonitorEnableLsb]                         = config_q.monitor_enable;
        read_data_o[sluice_csr_pkg::MonitorThresholdLsb +: sluice_pkg::PerfW] = config_q.monitor_threshold;
      end
      sluice_csr_pkg::MonitorWindowAddr: read_data_o = 32'(config_q.monitor_window);
      sluice_csr_pkg::MonitorHoldAddr:   read_data_o = 32'(config_q.monitor_hold);
      sluice_csr_pkg::RequestShareAddr:  read_data_o = 32'(config_q.request_share);
      sluice_csr_pkg::DrainLimitAddr:    read_data_o = 32'(config_q.drain_limit);
      sluice_csr_pkg::LockAddr:          read_data_o = 32'(lock_q);
      default:                           read_exists_o = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      config_q.mode              <= sluice_csr_pkg::ModeReset;
      config_q.mode_write        <= 1'b0;
      config_q.reprofile         <= 1'b0;
      config_q.warm_up           <= sluice_csr_pkg::WarmUpReset;
      config_q.window            <= sluice_csr_pkg::WindowReset;
      config_q.delay             <= sluice_csr_pkg::DelayReset;
      config_q.epsilon           <= sluice_csr_pkg::EpsilonReset;
      config_q.loss_limit        <= sluice_csr_pkg::LossLimitReset;
      config_q.monitor_enable    <= sluice_csr_pkg::MonitorEnableReset;
      config_q.monitor_threshold <= sluice_csr_pkg::MonitorThresholdReset;
      config_q.monitor_window    <= sluice_csr_pkg::MonitorWindowReset;
      config_q.monitor_hold      <= sluice_csr_pkg::MonitorHoldReset;
      config_q.request_share     <= sluice_csr_pkg::RequestShareReset;
      config_q.drain_limit       <= sluice_csr_pkg::DrainLimitReset;
      capacity_q.warps           <= sluice_csr_pkg::CapWarpsReset;
      capacity_q.registers       <= sluice_csr_pkg::CapRegistersReset;
      capacity_q.shared          <= sluice_csr_pkg::CapSharedReset;
      cap_slots_q                <= CtaW'(MAX_CTAS);
      lock_q                     <= sluice_csr_pkg::LockReset;
    end else begin
      config_q    <= config_d;
      capacity_q  <= capacity_d;
      cap_slots_q <= cap_slots_d;
      lock_q      <= lock_d;
    end
  end

  assign config_o         = config_q;
  assign capacity_o       = capacity_q;
  assign capacity_slots_o = cap_slots_q;
  assign locked_o         = lock_q;
endmodule
