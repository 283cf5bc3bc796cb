// SPDX-License-Identifier: Apache-2.0
// wait_guard: no kernel waits for ever (docs/reference/blocks/cta_dispatcher.md, Waiting). A kernel waits that may
// dispatch and holds no CTA. After 2**PATIENCE to 2 * 2**PATIENCE cycles of it, it is urgent until one is picked.
// Urgent kernels have the claim one after the other, round robin. The one that has it is picked before others, and the
// first SM that is read or picked, enabled and with a quota for it, is reserved: nobody else is picked there, so its
// CTAs end, and one fits. A claim for which no SM is found in 2**PATIENCE cycles passes on: it must not be shorter than
// it takes to read all SMs. An SM shows life when it is ready, or a CTA of it ends. A reserved SM that shows none in
// 2**PATIENCE cycles is passed over until it does.
module wait_guard #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned PATIENCE    = 16   // 2**PATIENCE is 2 * NUM_SM + 8 or more
) (
  input  logic                                    clk_i,
  input  logic                                    rst_ni,
  input  logic [MAX_KERNELS-1:0]                  waits_i,         // may dispatch, and holds no CTA
  input  logic [MAX_KERNELS-1:0]                  pick_kernel_i,   // one-hot, or 0
  input  logic                                    quota_changed_i,
  input  logic                                    eval_i,          // the quotas
  input  logic [NUM_SM-1:0]                       eval_sm_i,       // of this SM are read; one-hot, or 0
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0] eval_quota_i,
  input  logic [NUM_SM-1:0]                       port_sm_i,       // and of this one, for which a CTA waits at the port
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0] port_quota_i,
  input  logic [NUM_SM-1:0]                       sm_enable_i,
  input  logic [NUM_SM-1:0]                       life_i,          // SMs that show life; all: none is passed over
  output logic [MAX_KERNELS-1:0]                  claim_o,         // goes first: one-hot, or 0
  output logic [NUM_SM-1:0]                       reserved_o,      // for it alone: one-hot, or 0
  output logic                                    sweep_o,         // pulse: every SM is to be read
  output logic                                    busy_o       // changes without an input
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, 4)) $error("wait_guard: size out of range");
  localparam int unsigned K    = MAX_KERNELS;
  localparam int unsigned CtaW = sluice_pkg::CtaW;

  logic [PATIENCE-1:0] timer_d, timer_q;
  logic [K-1:0]        mark_d, mark_q;         // waited when the timer began anew, and since
  logic [K-1:0]        urgent_d, urgent_q, claim_d, claim_q, still, next;
  logic [NUM_SM-1:0]   reserved_d, reserved_q, hung_d, hung_q, fit_for;   // hung: passed over
  logic [NUM_SM-1:0]   read_q, port_q, found;   // of the cycle before: read, at the port; has a quota of the claim
  logic [K*CtaW-1:0]   read_quota_q, port_quota_q;
  logic                read_some, port_some;      // CTAs of the claim
  logic                tick, lost, still_dead, gives_up;
  logic                tired_d, tired_q;
  // tired: there was a tick since the SMs are read for this claim, or since the reserved SM showed life
  assign still   = waits_i & ~pick_kernel_i;
  assign tick    = timer_q == '1;
  assign still_dead = (reserved_q & ~life_i) != '0;
  assign gives_up   = tick && tired_q && still_dead;
  assign lost       = reserved_q != '0 && ((reserved_q & sm_enable_i) == '0 || gives_up);
  rr_arbiter #(.N(K)) i_arbiter (
    .clk_i,
    .rst_ni,
    .request_i (urgent_q & waits_i),   // by registers alone: one that is picked now has no claim
    .grant_o   (next),
    .used_i    ((claim_q == '0) ? next : '0)
  );

  always_comb begin
    timer_d  = (waits_i == '0) ? '0 : timer_q + 1'b1;
    mark_d   = (tick ? '1 : mark_q) & still;
    urgent_d = (urgent_q | (tick ? mark_q : '0)) & still;
    claim_d  = claim_q;
    if (claim_q == '0) claim_d = next & still;
    else if ((claim_q & still) == '0 || (tick && tired_q && reserved_q == '0)) claim_d = '0;
    read_some = 1'b0;   // quotas come late: they are looked at in the next cycle, if it has the same claim
    port_some = 1'b0;
    for (int unsigned k = 0; k < K; k++)
      if (claim_q[k]) begin
        read_some = read_quota_q[k*CtaW +: CtaW] != '0;
        port_some = port_quota_q[k*CtaW +: CtaW] != '0;
      end
    fit_for    = sm_enable_i & ~hung_q;
    found      = read_q & {NUM_SM{read_some}};
    if (found == '0) found = port_q & {NUM_SM{port_some}};
    reserved_d = (reserved_q != '0) ? reserved_q & sm_enable_i & {NUM_SM{!gives_up}} : found & fit_for;
    if (quota_changed_i || claim_d == '0)        reserved_d = '0;
    hung_d  = (hung_q | (reserved_q & {NUM_SM{gives_up}})) & ~life_i;
    tired_d = (tired_q || tick) && claim_q != '0 && !quota_changed_i
        && ((reserved_q == '0) ? reserved_d == '0 : still_dead && !lost);
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      timer_q    <= '0;
      mark_q     <= '0;
      urgent_q   <= '0;
      claim_q    <= '0;
      reserved_q <= '0;
      hung_q     <= '0;
      read_q     <= '0;
      port_q     <= '0;
      tired_q    <= 1'b0;
    end else begin
      timer_q    <= timer_d;
      mark_q     <= mark_d;
      urgent_q   <= urgent_d;
      claim_q    <= claim_d;
      reserved_q <= reserved_d;
      hung_q     <= hung_d;
      read_q     <= eval_sm_i & fit_for & {NUM_SM{eval_i && claim_q != '0}};
      port_q     <= port_sm_i & fit_for & {NUM_SM{claim_q != '0}};
      tired_q    <= tired_d;
    end

  always_ff @(posedge clk_i)   // looked at only with read_q and port_q: no reset
    {read_quota_q, port_quota_q} <= {eval_quota_i, port_quota_i};

  assign claim_o    = claim_q;
  assign reserved_o = reserved_q;
  assign sweep_o    = (claim_q == '0 && next != '0) || lost;
  assign busy_o = waits_i != '0 || timer_q != '0 || (mark_q | urgent_q | claim_q) != '0 || (hung_q & life_i) != '0;
endmodule
