// SPDX-License-Identifier: Apache-2.0
// Properties of wait_guard alone: when a kernel that waits has the claim, and what that is worth; for any kernel
// (constant), and any inputs but that a kernel holds a CTA, and so does not wait, in the cycle after a pick.
module wait_guard_props #(
  parameter int unsigned M = 3,
  parameter int unsigned K = 3,
  parameter int unsigned P = 2
) (
  input logic                          clk_i,
  input logic                          rst_ni,
  input logic [K-1:0]                  waits_i,
  input logic [K-1:0]                  pick_kernel_i,
  input logic                          quota_changed_i,
  input logic                          eval_i,
  input logic [M-1:0]                  eval_sm_i,
  input logic [K*sluice_pkg::CtaW-1:0] eval_quota_i,
  input logic [M-1:0]                  port_sm_i,
  input logic [K*sluice_pkg::CtaW-1:0] port_quota_i,
  input logic [M-1:0]                  sm_enable_i,
  input logic [M-1:0]                  life_i
);
  localparam int unsigned Tick = 2**P;

  (* anyconst *) logic [K-1:0] kernel;
  logic [K-1:0] claim, picked_q;
  logic [M-1:0] reserved;
  logic         sweep, busy;
  wait_guard #(.NUM_SM(M), .MAX_KERNELS(K), .PATIENCE(P)) dut (
    .*,
    .claim_o    (claim),
    .reserved_o (reserved),
    .sweep_o    (sweep),
    .busy_o     (busy)
  );
  (* hierconn *) logic [K-1:0] \dut.urgent_q , \dut.claim_q , \dut.mark_q ;
  (* hierconn *) logic [M-1:0] \dut.reserved_q , \dut.hung_q , \dut.found ;
  (* hierconn *) logic [P-1:0] \dut.timer_q ;

  logic         waits, urgent, mine;
  logic [P+1:0] waited, idle, dead;  // cycles: of the kernel; of a claim without an SM, since all are read for it; of a
                                     // reserved SM without life
  logic [M-1:0] read, seen_q;        // an enabled SM with a quota for the claim is read; was in the cycle before
  logic [M-1:0] fit_for, gone, life_q;   // gone: lost its reservation by showing no life, and showed none since
  logic [2:0]   others;              // claims of others since the kernel is urgent
  logic [K-1:0] claim_before;
  logic [M-1:0] reserved_before;
  logic         read_q;              // one was in the one before that, none being reserved
  logic         lost_q, changed_q;
  logic         read_quota, port_quota;
  assign waits  = (waits_i & kernel) != '0;
  assign urgent = (\dut.urgent_q & kernel) != '0;
  assign mine   = (\dut.claim_q & kernel) != '0;
  always_comb begin
    read_quota = 1'b0;
    port_quota = 1'b0;
    for (int unsigned k = 0; k < K; k++)
      if (\dut.claim_q [k]) begin
        if (eval_quota_i[k*sluice_pkg::CtaW +: sluice_pkg::CtaW] != '0) read_quota = 1'b1;
        if (port_quota_i[k*sluice_pkg::CtaW +: sluice_pkg::CtaW] != '0) port_quota = 1'b1;
      end
  end
  assign fit_for = sm_enable_i & ~\dut.hung_q ;
  always_comb begin
    read = (eval_i && read_quota) ? eval_sm_i & fit_for : '0;
    if (read == '0 && port_quota) read = port_sm_i & fit_for;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      waited          <= '0;
      others          <= '0;
      idle            <= '0;
      picked_q        <= '0;
      claim_before    <= '0;
      reserved_before <= '0;
      dead            <= '0;
      gone            <= '0;
      life_q          <= '1;
      read_q          <= 1'b0;
      seen_q          <= '0;
      lost_q          <= 1'b0;
      changed_q       <= 1'b0;
    end else begin
      picked_q  <= pick_kernel_i;
      changed_q <= quota_changed_i;
      if (!waits || (pick_kernel_i & kernel) != '0) waited <= '0;
      else if (waited != (P+2)'(2 * Tick))          waited <= waited + 1'b1;
      claim_before <= \dut.claim_q ;
      if (!urgent || mine)                                                            others <= '0;
      else if (claim_before == '0 && \dut.claim_q != '0 && others != 3'd7)             others <= others + 1'b1;
      if (\dut.claim_q == '0 || \dut.reserved_q != '0 || quota_changed_i || sweep)     idle <= '0;
      else if (idle != '1)                                                             idle <= idle + 1'b1;
      reserved_before <= \dut.reserved_q ;
      dead   <= (\dut.reserved_q != '0 && (\dut.reserved_q & life_i) == '0
          && (reserved_before == '0 || reserved_before == \dut.reserved_q )) ? dead + 1'b1 : '0;
      life_q <= life_i;
      if (\dut.reserved_q == '0 && !lost_q && \dut.claim_q != '0) gone <= (gone | reserved_before) & ~life_i;
      else                                                         gone <= gone & ~life_i;
      seen_q <= read;
      read_q <= (seen_q & fit_for) != '0 && \dut.reserved_q == '0 && \dut.claim_q != '0 && !quota_changed_i;
      lost_q <= (\dut.reserved_q & sm_enable_i) != \dut.reserved_q || quota_changed_i;
    end

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb begin
    assume (kernel != '0 && (kernel & (kernel - 1'b1)) == '0);
    assume ((pick_kernel_i & (pick_kernel_i - 1'b1)) == '0);
    assume ((eval_sm_i & (eval_sm_i - 1'b1)) == '0 && (port_sm_i & (port_sm_i - 1'b1)) == '0);
    assume ((picked_q & waits_i) == '0);
    if (!started) assume (!rst_ni);
    if (started && rst_ni) begin
      one_that_waits_is_urgent_in_two_ticks:     assert (waited != (P+2)'(2 * Tick) || urgent);
      nobody_is_urgent_before_a_tick:            assert (!urgent || waited >= (P+2)'(Tick) || !waits);
      an_urgent_one_is_passed_by_each_other_once: assert (others < 3'(K));
      one_has_the_claim:                         assert ((\dut.claim_q & (\dut.claim_q - 1'b1)) == '0
              && (claim & ~\dut.claim_q ) == '0 && (\dut.claim_q & ~\dut.urgent_q ) == '0);
      one_sm_is_reserved_for_a_claim:            assert ((\dut.reserved_q & (\dut.reserved_q - 1'b1)) == '0
          && (\dut.reserved_q == '0 || \dut.claim_q != '0)
              && (reserved == '0 || claim != '0));
      the_first_sm_with_a_quota_is_reserved:     assert (\dut.claim_q == '0
          || (\dut.found == seen_q && (!read_q || \dut.reserved_q != '0)));
      it_stays_until_the_claim_ends:             assert (reserved_before == '0 || lost_q || \dut.claim_q == '0
          || \dut.reserved_q == reserved_before || dead >= (P+2)'(Tick));
      a_change_of_quotas_ends_a_reservation:     assert (!changed_q || \dut.reserved_q == '0);
      a_dead_sm_is_not_kept_for_longer:          assert (dead < (P+2)'(2 * Tick) || \dut.reserved_q == '0);
      a_dead_sm_is_not_reserved_again:           assert ((\dut.reserved_q & ~reserved_before & gone) == '0);
      an_sm_that_shows_life_is_not_passed_over:  assert ((\dut.hung_q & life_q) == '0);
      a_claim_is_kept_for_a_tick:                assert (!(claim_before != '0 && \dut.claim_q == '0)
          || past_idle >= (P+2)'(Tick) || past_reserved || past_served);
      a_claim_without_an_sm_passes_on:           assert (\dut.claim_q == '0 || idle < (P+2)'(2 * Tick));
      at_rest_nothing_is_read_again:             assert (busy || !sweep);
      what_waits_is_not_at_rest:                 assert (busy || (\dut.urgent_q | \dut.claim_q | \dut.mark_q ) == '0);
      one_that_waited_has_an_sm_for_itself:      cover (mine && reserved != '0);
      a_dead_sm_has_been_given_up:               cover (gone != '0);
    end
  end
  logic [P+1:0] past_idle;
  logic         past_reserved, past_served;
  always_ff @(posedge clk_i) begin
    past_idle     <= idle;
    past_reserved <= \dut.reserved_q != '0;
    past_served   <= (\dut.claim_q & waits_i & ~pick_kernel_i) == '0;
  end
endmodule
