// SPDX-License-Identifier: Apache-2.0
// dispatch_errors: the errors of cta_dispatcher, a cycle later, and what the first of a cycle is about, in the order of
// the ports.
module dispatch_errors #(
  parameter int unsigned MAX_KERNELS = 4
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           bad_done_i,
  input  logic [sluice_pkg::SmW-1:0]     bad_sm_i,        // with bad_done_i
  input  logic [sluice_pkg::SlotW-1:0]   bad_slot_i,
  input  logic [MAX_KERNELS-1:0]         cannot_fit_i,    // kernel slots, as the next two
  input  logic [MAX_KERNELS-1:0]         slot_busy_i,
  input  logic [MAX_KERNELS-1:0]         bad_kernel_i,
  input  logic [MAX_KERNELS-1:0]         port_stuck_i,    // whose CTA was taken back from the port, and whose SM did
                                                          // not take it
  input  logic [sluice_pkg::SmW-1:0]     port_sm_i,
  output logic                           bad_done_o,
  output logic                           cannot_fit_o,
  output logic                           slot_busy_o,
  output logic                           bad_kernel_o,
  output logic                           port_stuck_o,
  output logic [sluice_pkg::KIndexW-1:0] error_kernel_o,  // 0 with a bad end
  output logic [sluice_pkg::SmW-1:0]     error_sm_o,      // of a bad end or a stuck port, else 0
  output logic [sluice_pkg::SlotW-1:0]   error_slot_o     // of a bad end, else 0
);
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;

  logic [MAX_KERNELS-1:0] blamed;
  logic [KIndexW-1:0]     error_kernel;
  logic                   stuck_first;
  assign stuck_first = port_stuck_i != '0 && (cannot_fit_i | slot_busy_i | bad_kernel_i) == '0;
  always_comb begin
    blamed = port_stuck_i;
    if (bad_kernel_i != '0) blamed = bad_kernel_i;
    if (slot_busy_i != '0)  blamed = slot_busy_i;
    if (cannot_fit_i != '0) blamed = cannot_fit_i;
    if (bad_done_i)         blamed = '0;
    error_kernel = '0;
    for (int unsigned k = MAX_KERNELS; k > 0; k--)
      if (blamed[k-1]) error_kernel = KIndexW'(k - 1);
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      bad_done_o     <= 1'b0;
      cannot_fit_o   <= 1'b0;
      slot_busy_o    <= 1'b0;
      bad_kernel_o   <= 1'b0;
      port_stuck_o   <= 1'b0;
      error_kernel_o <= '0;
      error_sm_o     <= '0;
      error_slot_o   <= '0;
    end else begin
      bad_done_o     <= bad_done_i;
      cannot_fit_o   <= cannot_fit_i != '0;
      slot_busy_o    <= slot_busy_i != '0;
      bad_kernel_o   <= bad_kernel_i != '0;
      port_stuck_o   <= port_stuck_i != '0;
      error_kernel_o <= error_kernel;
      error_sm_o     <= bad_done_i ? bad_sm_i : stuck_first ? port_sm_i : '0;
      error_slot_o   <= bad_done_i ? bad_slot_i : '0;
    end
endmodule
