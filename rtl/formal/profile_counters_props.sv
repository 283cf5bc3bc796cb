// SPDX-License-Identifier: Apache-2.0
// Properties of profile_counters with S schedulers, at full width, against sums that are longer by two bits. What
// happens in a cycle is counted in the next. Assumed, as the block's page says: at most 2**WindowW - 1 cycles are
// enabled between clears, none with a clear; the share is 0 without one; slots exist. The share is that of the clear,
// the owner that of each cycle: neither is assumed to be stable.
module profile_counters_props #(
  parameter int unsigned S = 2
) (
  input logic                               clk_i,
  input logic                               clear_i,
  input logic                               enable_i,
  input logic [S-1:0]                       issue_valid_i,
  input logic [S*sluice_pkg::KIndexW-1:0]   issue_kernel_i,
  input logic [sluice_pkg::KIndexW-1:0]     owner_i,
  input logic                               request_i,
  input logic [sluice_pkg::ShareW-1:0]      minus_share_i
);
  localparam int unsigned InstW = sluice_pkg::InstW, WindowW = sluice_pkg::WindowW, KIndexW = sluice_pkg::KIndexW,
    ShareW = sluice_pkg::ShareW;
  localparam int unsigned MaxKernels = 4;
  logic [InstW-1:0] insts;
  profile_counters #(.NUM_SCHED(S), .MAX_KERNELS(MaxKernels)) dut (
    .*,
    .insts_o (insts)
  );
  (* hierconn *) wire [ShareW:0] \dut.left_q ;
  (* hierconn *) wire [S-1:0]    \dut.issue_q ;
  (* hierconn *) wire            \dut.request_q ;

  // What happened in the cycle before; in enabled cycles since the last clear, and how many they were.
  logic               enabled_q, request_q;
  logic [S-1:0]       owned, owned_q;   // issued by the owner
  logic [2:0]         issues;           // of them
  logic [InstW+1:0]   all_insts;
  logic [WindowW-1:0] requests, cycles;
  logic [ShareW:0]    share;            // as of the clear; 0 is 2**ShareW
  logic [InstW-1:0]   insts_q;
  logic [ShareW:0]    left;             // minus the lines that are left
  logic               within, held_q;   // the share is not used up; nothing was enabled for two cycles
  assign within = 32'(requests) < 32'(share);
  assign left   = ((ShareW+1)'(requests) - share) & {(ShareW+1){within}};
  always_comb begin
    issues = '0;
    for (int unsigned s = 0; s < S; s++) issues = issues + 3'(owned_q[s]);
  end
  always_comb
    for (int unsigned s = 0; s < S; s++) owned[s] = issue_valid_i[s] && issue_kernel_i[s*KIndexW +: KIndexW] == owner_i;

  logic started, was_started;   // cleared once
  initial {started, was_started} = 2'b00;
  always_ff @(posedge clk_i) begin
    started     <= started || clear_i;
    was_started <= started;
    enabled_q   <= enable_i;
    owned_q     <= owned & {S{enable_i}};
    request_q   <= request_i && enable_i;
    held_q      <= !enabled_q && !clear_i;
    insts_q     <= insts;
  end
  always_ff @(posedge clk_i)
    if (clear_i) begin
      share     <= {minus_share_i == '0, -minus_share_i};
      all_insts <= '0;
      requests  <= '0;
      cycles    <= '0;
    end else if (enabled_q) begin
      if (within) all_insts <= all_insts + (InstW+2)'(issues);
      requests <= requests + WindowW'(request_q);
      cycles   <= cycles + 1'b1;
    end

  always_comb begin
    assume (!enabled_q || clear_i || cycles != '1);
    assume (!enable_i || !clear_i);
    assume (clear_i || minus_share_i == '0);
    assume (32'(owner_i) < MaxKernels);
    for (int unsigned s = 0; s < S; s++) assume (32'(issue_kernel_i[s*KIndexW +: KIndexW]) < MaxKernels);
    if (started) begin
      instructions_are_the_owners_within_the_share: assert ((InstW+2)'(insts) == all_insts
          && all_insts <= (InstW+2)'(cycles) * (InstW+2)'(S));
      open_while_some_of_the_share_is_left:         assert (\dut.left_q == left && requests <= cycles && share != '0
          && 32'(share) <= (1 << ShareW));
      what_happened_is_kept_for_a_cycle:            assert (\dut.issue_q == owned_q && \dut.request_q == request_q
          && (enabled_q || (owned_q == '0 && !request_q)));
      cleared_it_is_zero:                           assert (cycles != '0 || insts == '0);
    end
    if (was_started && held_q) holds_when_not_enabled: assert (insts == insts_q);
  end
endmodule
