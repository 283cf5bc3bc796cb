// SPDX-License-Identifier: Apache-2.0
// sluice_csr_config: the global configuration registers of sluice_csr and the commands MODE and CONTROL. A write acts
// in the next cycle; one that is out of range (bad_mode_o, bad_config_o), finds a kernel slot that is not FREE where
// all must be, or comes while the sequencer decides on what a decision keeps, changes nothing. What the addressed
// register accepts is found in the cycle before write_i: address and data are there by then. Read data is 0 for
// addresses that are not here.
module sluice_csr_config #(
  parameter int unsigned MAX_CTAS = 8    // 4..32
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
  // sluice_csr's outputs of the same names
  output logic [2:0]                     mode_o,
  output logic                           mode_write_o,
  output logic                           reprofile_o,
  output logic [sluice_pkg::WarpW-1:0]   capacity_warps_o,
  output logic [sluice_pkg::RegW-1:0]    capacity_registers_o,
  output logic [sluice_pkg::SharedW-1:0] capacity_shared_o,
  output logic [sluice_pkg::CtaW-1:0]    capacity_slots_o,
  output logic [sluice_pkg::TimerW-1:0]  warm_up_o,
  output logic [sluice_pkg::WindowW-1:0] window_o,
  output logic [15:0]                    delay_o,
  output logic [sluice_pkg::PerfW-1:0]   epsilon_o,
  output logic [15:0]                    loss_limit_o,
  output logic                           monitor_enable_o,
  output logic [sluice_pkg::PerfW-1:0]   monitor_threshold_o,
  output logic [15:0]                    monitor_window_o,
  output logic [7:0]                     monitor_hold_o,
  output logic [sluice_pkg::ShareW-1:0]  request_share_o,
  output logic [7:0]                     drain_limit_o,
  output logic                           flush_context_o,        // with write_i: kernels of a context are flushed, or
                                                                 // all
  output logic                           go_o                    // with write_i: every waiting slot is launched in the
                                                                 // next cycle
);
  localparam int unsigned WarpW   = sluice_pkg::WarpW;
  localparam int unsigned RegW    = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned CtaW    = sluice_pkg::CtaW;

  // What the addressed register accepts.
  logic [31:0] low, high;
  logic        exists, is_mode, needs_all_free, needs_undecided, in_range, exists_q, is_mode_q, needs_all_free_q,
    needs_undecided_q, in_range_q, accept;
  always_comb begin
    exists          = 1'b1;
    low             = '0;
    high            = '1;
    is_mode         = 1'b0;
    needs_all_free  = 1'b0;
    needs_undecided = 1'b0;
    in_range        = 1'b1;
    case (write_addr_i)
      sluice_csr_pkg::ModeAddr:          begin is_mode = 1'b1; high = sluice_csr_pkg::ModeMax; end
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
      default:                           exists = 1'b0;
    endcase
    if (write_data_i < low || write_data_i > high) in_range = 1'b0;
  end
  always_ff @(posedge clk_i) begin   // looked at only with write_i: no reset
    exists_q          <= exists;
    is_mode_q         <= is_mode;
    needs_all_free_q  <= needs_all_free;
    needs_undecided_q <= needs_undecided;
    in_range_q        <= in_range;
  end
  logic refused;
  assign refused        = !in_range_q || (needs_all_free_q && !all_free_i) || (needs_undecided_q && deciding_i);
  assign write_exists_o = exists_q;
  assign bad_mode_o     = write_i && exists_q && is_mode_q && refused;
  assign bad_config_o   = write_i && exists_q && !is_mode_q && refused;
  assign accept         = write_i && exists_q && !refused;

  // Registers.
  logic [2:0]                     mode_d, mode_q;
  logic                           mode_write_d, mode_write_q, reprofile_d, reprofile_q;
  logic [WarpW-1:0]               cap_warps_d, cap_warps_q;
  logic [RegW-1:0]                cap_registers_d, cap_registers_q;
  logic [SharedW-1:0]             cap_shared_d, cap_shared_q;
  logic [CtaW-1:0]                cap_slots_d, cap_slots_q;
  logic [sluice_pkg::TimerW-1:0]  warm_up_d, warm_up_q;
  logic [sluice_pkg::WindowW-1:0] window_d, window_q;
  logic [15:0]                    delay_d, delay_q, loss_limit_d, loss_limit_q, monitor_window_d, monitor_window_q;
  logic [sluice_pkg::PerfW-1:0]   epsilon_d, epsilon_q, monitor_threshold_d, monitor_threshold_q;
  logic                           monitor_enable_d, monitor_enable_q;
  logic [7:0]                     monitor_hold_d, monitor_hold_q, drain_limit_d, drain_limit_q;
  logic [sluice_pkg::ShareW-1:0]  request_share_d, request_share_q;

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
    request_share_d     = request_share_q;
    drain_limit_d       = drain_limit_q;
    go_o                = 1'b0;
    flush_context_o     = 1'b0;
    if (accept) begin
      case (write_addr_i)
        sluice_csr_pkg::ModeAddr: begin
          mode_d       = write_data_i[2:0];
          mode_write_d = 1'b1;
        end
        sluice_csr_pkg::ControlAddr: begin
          reprofile_d = write_data_i[sluice_csr_pkg::ControlReprofileLsb];
          go_o        = write_data_i[sluice_csr_pkg::ControlGoLsb];
          flush_context_o = write_data_i[sluice_csr_pkg::ControlFlushContextLsb]
              || write_data_i[sluice_csr_pkg::ControlFlushAllLsb];
        end
        sluice_csr_pkg::CapWarpsAddr:      cap_warps_d      = write_data_i[WarpW-1:0];
        sluice_csr_pkg::CapRegistersAddr:  cap_registers_d  = write_data_i[RegW-1:0];
        sluice_csr_pkg::CapSharedAddr:     cap_shared_d     = write_data_i[SharedW-1:0];
        sluice_csr_pkg::CapSlotsAddr:      cap_slots_d      = write_data_i[CtaW-1:0];
        sluice_csr_pkg::WarmUpAddr:        warm_up_d        = write_data_i[sluice_pkg::TimerW-1:0];
        sluice_csr_pkg::WindowAddr:        window_d         = write_data_i[sluice_pkg::WindowW-1:0];
        sluice_csr_pkg::DelayAddr:         delay_d          = write_data_i[15:0];
        sluice_csr_pkg::EpsilonAddr:       epsilon_d        = write_data_i[sluice_pkg::PerfW-1:0];
        sluice_csr_pkg::LossLimitAddr:     loss_limit_d     = write_data_i[15:0];
        sluice_csr_pkg::MonitorAddr: begin
          monitor_enable_d    = write_data_i[sluice_csr_pkg::MonitorEnableLsb];
          monitor_threshold_d = write_data_i[sluice_csr_pkg::MonitorThresholdLsb +: sluice_pkg::PerfW];
        end
        sluice_csr_pkg::MonitorWindowAddr: monitor_window_d = write_data_i[15:0];
        sluice_csr_pkg::MonitorHoldAddr:   monitor_hold_d   = write_data_i[7:0];
        sluice_csr_pkg::RequestShareAddr:  request_share_d  = write_data_i[sluice_pkg::ShareW-1:0];
        sluice_csr_pkg::DrainLimitAddr:    drain_limit_d    = write_data_i[7:0];
        default: ;
      endcase
    end
  end

  always_comb begin
    read_exists_o = 1'b1;
    read_data_o   = '0;
    case (read_addr_i)
      sluice_csr_pkg::ModeAddr:          read_data_o = 32'(mode_q);
      sluice_csr_pkg::ControlAddr:       read_data_o = '0;
      sluice_csr_pkg::CapWarpsAddr:      read_data_o = 32'(cap_warps_q);
      sluice_csr_pkg::CapRegistersAddr:  read_data_o = 32'(cap_registers_q);
      sluice_csr_pkg::CapSharedAddr:     read_data_o = 32'(cap_shared_q);
      sluice_csr_pkg::CapSlotsAddr:      read_data_o = 32'(cap_slots_q);
      sluice_csr_pkg::WarmUpAddr:        read_data_o = 32'(warm_up_q);
      sluice_csr_pkg::WindowAddr:        read_data_o = 32'(window_q);
      sluice_csr_pkg::DelayAddr:         read_data_o = 32'(delay_q);
      sluice_csr_pkg::EpsilonAddr:       read_data_o = 32'(epsilon_q);
      sluice_csr_pkg::LossLimitAddr:     read_data_o = 32'(loss_limit_q);
      sluice_csr_pkg::MonitorAddr: begin
        read_data_o[sluice_csr_pkg::MonitorEnableLsb]                         = monitor_enable_q;
        read_data_o[sluice_csr_pkg::MonitorThresholdLsb +: sluice_pkg::PerfW] = monitor_threshold_q;
      end
      sluice_csr_pkg::MonitorWindowAddr: read_data_o = 32'(monitor_window_q);
      sluice_csr_pkg::MonitorHoldAddr:   read_data_o = 32'(monitor_hold_q);
      sluice_csr_pkg::RequestShareAddr:  read_data_o = 32'(request_share_q);
      sluice_csr_pkg::DrainLimitAddr:    read_data_o = 32'(drain_limit_q);
      default:                           read_exists_o = 1'b0;
    endcase
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
      request_share_q     <= sluice_csr_pkg::RequestShareReset;
      drain_limit_q       <= sluice_csr_pkg::DrainLimitReset;
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
      request_share_q     <= request_share_d;
      drain_limit_q       <= drain_limit_d;
    end
  end

  assign mode_o               = mode_q;
  assign mode_write_o         = mode_write_q;
  assign capacity_warps_o     = cap_warps_q;
  assign capacity_registers_o = cap_registers_q;
  assign capacity_shared_o    = cap_shared_q;
  assign capacity_slots_o     = cap_slots_q;
  assign warm_up_o            = warm_up_q;
  assign window_o             = window_q;
  assign delay_o              = delay_q;
  assign epsilon_o            = epsilon_q;
  assign loss_limit_o         = loss_limit_q;
  assign monitor_enable_o     = monitor_enable_q;
  assign monitor_threshold_o  = monitor_threshold_q;
  assign monitor_window_o     = monitor_window_q;
  assign monitor_hold_o       = monitor_hold_q;
  assign request_share_o      = request_share_q;
  assign drain_limit_o        = drain_limit_q;
  assign reprofile_o          = reprofile_q;

endmodule
