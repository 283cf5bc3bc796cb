// SPDX-License-Identifier: Apache-2.0
// profile_counters: what the owner of one SM issued in a profile window, within the SM's share of the memory system's
// bandwidth (docs/reference/blocks/profile_counters.md; Warped-Slicer's equation 3 with B_scaled = min(B_sampled, B_max
// / NUM_SM)). Instructions of owner_i count until the SM has exchanged its share of lines with the memory system: then
// they are what it would have issued among its like. clear_i begins a window; the
// count is whole in the second cycle after it, and holds. A window of at most 2**WindowW - 1 cycles can't
// make it overflow.
module profile_counters #(
  parameter int unsigned NUM_SCHED   = 2,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned CEILING     = 1   // 0: a window has no end but its last cycle
) (
  input  logic                                     clk_i,
  input  logic                                     clear_i,         // before the first window, too: there is no reset
  input  logic                                     enable_i,        // in at most 2**WindowW - 1 cycles between clears
  input  logic [NUM_SCHED-1:0]                     issue_valid_i,   // scheduler s issued a warp instruction
  input  logic [NUM_SCHED*sluice_pkg::KIndexW-1:0] issue_kernel_i,  // of this kernel slot
  input  logic [sluice_pkg::KIndexW-1:0]           owner_i,         // the kernel slot that is sampled on this SM
  input  logic                                     request_i,       // a line, or the request for one, left
  input  logic [sluice_pkg::ShareW-1:0]            minus_share_i,   // minus the lines of a window; 0 without clear_i
  output logic [sluice_pkg::InstW-1:0]             insts_o
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, 4)) $error("profile_counters: size out of range");
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned IndexW  = $clog2(MAX_KERNELS);
  localparam int unsigned ShareW  = sluice_pkg::ShareW;
  // what the schedulers can issue in a window
  localparam int unsigned InstW   = sluice_pkg::WindowW + ((NUM_SCHED > 2) ? 2 : NUM_SCHED - 1);

  logic [InstW-1:0]  insts_d, insts_q;
  logic [ShareW:0]   left_d, left_q;   // minus the lines that are left; the top bit is set while there are some
  logic              open;
  assign open = CEILING == 0 || left_q[ShareW];

  // What happened in the cycle before.
  logic [NUM_SCHED-1:0] issue_d, issue_q;   // by the owner
  logic                 request_q;
  logic [2:0]           low;                // the sum that may carry
  always_comb begin
    low = {2'd0, insts_q[0]};
    for (int unsigned s = 0; s < NUM_SCHED; s++) begin
      issue_d[s] = enable_i && issue_valid_i[s] && issue_kernel_i[s*KIndexW +: IndexW] == owner_i[IndexW-1:0];
      low        = low + 3'(issue_q[s]);
    end
    insts_d = {insts_q[InstW-1:1] + (InstW-1)'(low[2:1]), low[0]} & {InstW{!clear_i}};
    left_d  = ((left_q + 1'b1) & {(ShareW + 1){!clear_i}}) | {clear_i, minus_share_i};
  end

  // insts_d is masked, not multiplexed: with a constant to choose Yosys finds no enable, and no clock gate.
  always_ff @(posedge clk_i) begin
    issue_q   <= issue_d;
    request_q <= enable_i && request_i;
    if ((open && issue_q != '0) || clear_i) insts_q <= insts_d;
    if ((open && request_q) || clear_i)      left_q  <= left_d;
  end

  assign insts_o = sluice_pkg::InstW'(insts_q);

  logic unused_index_bits;   // kernel slots are below MAX_KERNELS
  assign unused_index_bits = ^{issue_kernel_i, owner_i};
endmodule
