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
  input  logic [MAX_KERNELS-1:0]         port_stuck_i,    // whose CTA its SM did not take, and was taken back
  input  logic [sluice_pkg::SmW-1:0]     port_sm_i,
  output sluice_pkg::dispatch_error_t    error_o
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, 4)) $error("dispatch_errors: size out of range");
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
    if (!rst_ni) error_o <= '0;
    else begin
      error_o.bad_done   <= bad_done_i;
      error_o.cannot_fit <= cannot_fit_i != '0;
      error_o.slot_busy  <= slot_busy_i != '0;
      error_o.bad_kernel <= bad_kernel_i != '0;
      error_o.port_stuck <= port_stuck_i != '0;
      error_o.kernel     <= error_kernel;
      error_o.sm         <= bad_done_i ? bad_sm_i : stuck_first ? port_sm_i : '0;
      error_o.slot       <= bad_done_i ? bad_slot_i : '0;
    end
endmodule
