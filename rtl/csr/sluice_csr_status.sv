// SPDX-License-Identifier: Apache-2.0
// sluice_csr_status: what sluice_csr remembers of events until the host clears it: errors and the first one's cause,
// interrupts, kernels done, evictions done; and the number of decisions. What happens in the cycle that clears stays
// set.
// Read data is 0 for addresses that are not here. Kernel slot 0 is in the low bits of every vector.
module sluice_csr_status #(
  parameter int unsigned MAX_KERNELS = 4   // 2..8
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           write_i,               // of a global register
  input  logic [11:0]                    write_addr_i,
  input  logic [31:0]                    write_data_i,
  output logic                           write_exists_o,        // of the write_addr_i of the cycle before
  input  logic [11:0]                    read_addr_i,
  output logic                           read_exists_o,         // combinational
  output logic [31:0]                    read_data_o,
  // events
  input  logic                           decision_i,            // pulse
  input  logic [MAX_KERNELS-1:0]         kernel_done_i,         // pulses
  input  logic [MAX_KERNELS-1:0]         evict_done_i,          // pulses
  input  sluice_pkg::dispatch_error_t    error_i,               // pulses of the dispatcher
  input  logic                           slot_busy_i,           // a write was refused: a descriptor in use,
  input  logic                           bad_mode_i,            // no such mode,
  input  logic                           bad_config_i,          // another register's value or state
  input  logic                           mode_in_decision_i,
  input  logic [sluice_pkg::KIndexW-1:0] write_kernel_i,        // whose register is written; 0 for a global one
  output logic                           irq_o                  // a register
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, 4)) $error("sluice_csr_status: size out of range");
  localparam int unsigned KIndexW   = sluice_pkg::KIndexW;
  localparam int unsigned NumErrors = 8;

  logic [NumErrors-1:0]       error_d, error_q, error_set, error_left;
  logic [KIndexW-1:0]         info_kernel_d, info_kernel_q;
  logic [2:0]                 info_cause_d, info_cause_q;
  logic [sluice_pkg::SmW-1:0] info_sm_d, info_sm_q;
  logic [sluice_pkg::SlotW-1:0] info_slot_d, info_slot_q;
  logic [3:0]                 irq_status_d, irq_status_q;
  logic [MAX_KERNELS-1:0]     kernel_done_d, kernel_done_q, evict_done_d, evict_done_q, done_enable_d, done_enable_q;
  logic [31:0]                decisions_q;
  logic [3:0]                 irq_enable_d, irq_enable_q;
  logic                       bad_config, exists, exists_q, enable_bad_q, irq_q;

  logic [4:0] errors;   // of the dispatcher
  assign errors = {error_i.port_stuck, error_i.bad_kernel, error_i.slot_busy, error_i.cannot_fit, error_i.bad_done};

  always_comb
    unique case (write_addr_i)
      sluice_csr_pkg::ErrorAddr, sluice_csr_pkg::IrqStatusAddr, sluice_csr_pkg::KernelDoneAddr,
          sluice_csr_pkg::EvictDoneAddr,
      sluice_csr_pkg::IrqEnableAddr, sluice_csr_pkg::DoneEnableAddr,
      sluice_csr_pkg::IrqTestAddr:   exists = 1'b1;
      default:                       exists = 1'b0;
    endcase
  always_ff @(posedge clk_i) begin   // looked at only with write_i: no reset
    exists_q     <= exists;
    enable_bad_q <= (write_addr_i == sluice_csr_pkg::IrqEnableAddr && write_data_i > sluice_csr_pkg::IrqEnableMax)
                 || (write_addr_i == sluice_csr_pkg::DoneEnableAddr && write_data_i > sluice_csr_pkg::DoneEnableMax);
  end
  assign write_exists_o = exists_q;
  assign bad_config     = bad_config_i || (write_i && enable_bad_q);

  always_comb begin
    error_set                                         = '0;
    error_set[sluice_csr_pkg::ErrorBadDoneLsb]        = error_i.bad_done;
    error_set[sluice_csr_pkg::ErrorCannotFitLsb]      = error_i.cannot_fit;
    error_set[sluice_csr_pkg::ErrorSlotBusyLsb]       = error_i.slot_busy || slot_busy_i;
    error_set[sluice_csr_pkg::ErrorBadModeLsb]        = bad_mode_i;
    error_set[sluice_csr_pkg::ErrorBadConfigLsb]      = bad_config;
    error_set[sluice_csr_pkg::ErrorBadKernelLsb]      = error_i.bad_kernel;
    error_set[sluice_csr_pkg::ErrorModeInDecisionLsb] = mode_in_decision_i;
    error_set[sluice_csr_pkg::ErrorPortStuckLsb]      = error_i.port_stuck;

    error_left     = error_q;
    irq_status_d   = irq_status_q;
    kernel_done_d  = kernel_done_q;
    evict_done_d   = evict_done_q;
    irq_enable_d   = irq_enable_q;
    done_enable_d  = done_enable_q;
    case (write_addr_i)
      sluice_csr_pkg::ErrorAddr:      if (write_i) error_left    = error_q & ~write_data_i[NumErrors-1:0];
      sluice_csr_pkg::IrqStatusAddr:  if (write_i) irq_status_d  = irq_status_q & ~write_data_i[3:0];
      sluice_csr_pkg::IrqTestAddr:    if (write_i) irq_status_d  = irq_status_q | write_data_i[3:0];
      sluice_csr_pkg::KernelDoneAddr: if (write_i) kernel_done_d = kernel_done_q & ~write_data_i[MAX_KERNELS-1:0];
      sluice_csr_pkg::EvictDoneAddr:  if (write_i) evict_done_d  = evict_done_q & ~write_data_i[MAX_KERNELS-1:0];
      sluice_csr_pkg::IrqEnableAddr:  if (write_i && !enable_bad_q) irq_enable_d = write_data_i[3:0];
      sluice_csr_pkg::DoneEnableAddr: if (write_i && !enable_bad_q) done_enable_d = write_data_i[MAX_KERNELS-1:0];
      default: ;
    endcase
    error_d       = error_left | error_set;
    irq_status_d  = irq_status_d
        | {decision_i, evict_done_i != '0, (kernel_done_i & done_enable_q) != '0, error_set != '0};
    kernel_done_d = kernel_done_d | kernel_done_i;
    evict_done_d  = evict_done_d | evict_done_i;

    // The first error. Of several in one cycle: one of the dispatcher's before one of ours, then the lowest bit.
    info_kernel_d = info_kernel_q;
    info_cause_d  = info_cause_q;
    info_sm_d     = info_sm_q;
    info_slot_d   = info_slot_q;
    if (error_left == '0 && error_set != '0) begin
      info_kernel_d = (errors != '0) ? error_i.kernel : write_kernel_i;
      info_sm_d     = (errors != '0) ? error_i.sm : '0;
      info_slot_d   = (errors != '0) ? error_i.slot : '0;
      unique casez (errors)
        5'b????1: info_cause_d = 3'(sluice_csr_pkg::ErrorBadDoneLsb);
        5'b???10: info_cause_d = 3'(sluice_csr_pkg::ErrorCannotFitLsb);
        5'b??100: info_cause_d = 3'(sluice_csr_pkg::ErrorSlotBusyLsb);
        5'b?1000: info_cause_d = 3'(sluice_csr_pkg::ErrorBadKernelLsb);
        5'b10000: info_cause_d = 3'(sluice_csr_pkg::ErrorPortStuckLsb);
        default: info_cause_d = slot_busy_i ? 3'(sluice_csr_pkg::ErrorSlotBusyLsb)
                              : bad_mode_i  ? 3'(sluice_csr_pkg::ErrorBadModeLsb)
                              : bad_config  ? 3'(sluice_csr_pkg::ErrorBadConfigLsb)
                              :               3'(sluice_csr_pkg::ErrorModeInDecisionLsb);
      endcase
    end
  end

  always_comb begin
    read_exists_o = 1'b1;
    read_data_o   = '0;
    case (read_addr_i)
      sluice_csr_pkg::DecisionsAddr:     read_data_o = decisions_q;
      sluice_csr_pkg::ErrorAddr:         read_data_o = 32'(error_q);
      sluice_csr_pkg::ErrorInfoAddr: begin
        read_data_o[sluice_csr_pkg::ErrorInfoKernelLsb +: KIndexW]      = info_kernel_q;
        read_data_o[sluice_csr_pkg::ErrorInfoCauseLsb +: 3]             = info_cause_q;
        read_data_o[sluice_csr_pkg::ErrorInfoSmLsb +: sluice_pkg::SmW] = info_sm_q;
        read_data_o[sluice_csr_pkg::ErrorInfoCtaSlotLsb +: sluice_pkg::SlotW] = info_slot_q;
      end
      sluice_csr_pkg::IrqStatusAddr:     read_data_o = 32'(irq_status_q);
      sluice_csr_pkg::IrqEnableAddr:     read_data_o = 32'(irq_enable_q);
      sluice_csr_pkg::IrqTestAddr:       read_data_o = '0;
      sluice_csr_pkg::DoneEnableAddr:    read_data_o = 32'(done_enable_q);
      sluice_csr_pkg::KernelDoneAddr:    read_data_o = 32'(kernel_done_q);
      sluice_csr_pkg::EvictDoneAddr:     read_data_o = 32'(evict_done_q);
      default:                           read_exists_o = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      irq_enable_q  <= sluice_csr_pkg::IrqEnableReset;
      error_q       <= '0;
      info_kernel_q <= '0;
      info_cause_q  <= '0;
      info_sm_q     <= '0;
      info_slot_q   <= '0;
      done_enable_q <= '1;
      irq_status_q  <= '0;
      kernel_done_q <= '0;
      evict_done_q  <= '0;
      irq_q         <= 1'b0;
    end else begin
      irq_enable_q  <= irq_enable_d;
      error_q       <= error_d;
      info_kernel_q <= info_kernel_d;
      info_cause_q  <= info_cause_d;
      info_sm_q     <= info_sm_d;
      info_slot_q   <= info_slot_d;
      done_enable_q <= done_enable_d;
      irq_status_q  <= irq_status_d;
      kernel_done_q <= kernel_done_d;
      evict_done_q  <= evict_done_d;
      irq_q         <= (irq_status_d & irq_enable_d) != '0;
    end
  end

  assign irq_o = irq_q;

  // One carry through all bits would be the longest path here: which bytes are all ones is remembered.
  logic [31:0] decisions_d;
  logic [2:0]  full_d, full_q, carry;
  assign carry       = {&full_q, &full_q[1:0], full_q[0]};   // out of each byte but the last
  assign decisions_d = {decisions_q[31:24] + 8'(carry[2]), decisions_q[23:16] + 8'(carry[1]),
      decisions_q[15:8] + 8'(carry[0]), decisions_q[7:0] + 8'd1};
  always_comb begin
    full_d[0] = decisions_q[7:0] == 8'hFE;
    full_d[1] = carry[0] ? decisions_q[15:8] == 8'hFE : full_q[1];
    full_d[2] = carry[1] ? decisions_q[23:16] == 8'hFE : full_q[2];
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      decisions_q <= '0;
      full_q      <= '0;
    end else if (decision_i) begin
      decisions_q <= decisions_d;
      full_q      <= full_d;
    end
endmodule
