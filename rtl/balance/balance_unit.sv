// SPDX-License-Identifier: Apache-2.0
// balance_unit: mode BALANCE in decision_unit (docs/reference/blocks/balance_unit.md): balance_rounds begins with each
// decision of partition_sequencer in the mode, and from the cycle after it on its outputs stand in for the sequencer's,
// until another plan is made. What was scored and kept is here for the host.
module balance_unit #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned NUM_SCHED   = 2
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic                                       mode_i,            // the mode is BALANCE
  input  logic [31:0]                                balance_i,         // register BALANCE
  input  logic [MAX_KERNELS*32-1:0]                  wish_i,            // SLOTk.WISH
  input  logic [sluice_pkg::TimerW-1:0]              warm_up_i,
  input  logic [sluice_pkg::WindowW-1:0]             window_i,
  input  sluice_pkg::amounts_t                       capacity_i,
  input  logic [sluice_pkg::CtaW-1:0]                capacity_slots_i,
  input  logic                                       abort_i,           // the plan is no longer wanted
  input  logic [sluice_pkg::KernelW-1:0]             num_kernels_i,
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0] slots_i,           // by rank
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_i,            // Warped-Slicer's, by rank
  input  sluice_pkg::amounts_t                       demand_i,          // of demand_kernel_o's CTA
  output logic [sluice_pkg::KernelW-1:0]             demand_kernel_o,
  input  logic [MAX_KERNELS-1:0]                     spent_i,
  input  logic [NUM_SM-1:0]                          settled_i,
  input  logic [NUM_SM-1:0]                          sm_enable_i,
  input  logic [NUM_SM-1:0]                          query_sm_i,        // one-hot
  input  logic [NUM_SM-1:0]                          port_sm_i,
  input  logic                                       sample_valid_i,    // of the profile
  input  sluice_pkg::sample_t                        sample_i,
  input  logic [sluice_pkg::InstW-1:0]               sample_insts_i,
  input  sluice_pkg::sequenced_t                     sequencer_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    query_quota_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    port_quota_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    sequencer_ctas_i,
  input  logic [NUM_SM*sluice_pkg::KIndexW-1:0]      owner_i,
  output sluice_pkg::sequenced_t                     out_o,             // of the unit, in any mode
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    query_quota_o,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    port_quota_o,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_o,            // while SMs differ, Warped-Slicer's
  output logic [NUM_SM*sluice_pkg::KIndexW-1:0]      owner_o,
  output logic                                       active_o,
  output logic                                       measures_o,        // nothing is kept yet
  output logic                                       on_all_o,          // no SM has to keep to its share of bandwidth
  output logic [31:0]                                status_o,          // register BALANCE_STATUS
  input  logic [3:0]                                 entry_i,           // of BALANCE_SCOREi
  output logic [31:0]                                score_o
);
  localparam int unsigned K       = MAX_KERNELS;
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned FloorW  = balance_pkg::RateW;
  localparam int unsigned WeightW = balance_pkg::WeightW;

  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("balance_unit: size out of range");

  logic [K*K-1:0]       has;   // the plan's kernel of that rank is in that slot
  logic [K*WeightW-1:0] weights;
  logic [K*FloorW-1:0]  floors;
  always_comb begin
    weights = '0;
    floors  = '0;
    for (int unsigned r = 0; r < K; r++)
      for (int unsigned k = 0; k < K; k++)
        has[r*K+k] = sluice_pkg::KernelW'(r) < num_kernels_i && slots_i[r*KIndexW +: KIndexW] == KIndexW'(k);
    for (int unsigned r = 0; r < K; r++)
      for (int unsigned k = 0; k < K; k++)
        if (has[r*K+k]) begin
          weights[r*WeightW +: WeightW] = wish_i[k*32+sluice_csr_pkg::SlotWishWeightLsb +: WeightW];
          floors[r*FloorW +: FloorW]    = wish_i[k*32+sluice_csr_pkg::SlotWishFloorLsb +: FloorW];
        end
  end

  // With the decision comes Warped-Slicer's partition, which is in force a cycle later.
  logic                           starts, begun_q, changed, active, held, free, turns, scored, measured, met;
  logic [balance_pkg::EntryW-1:0] scored_entry;
  logic [balance_pkg::W-1:0]      scored_time;
  logic [K*CtaW-1:0]              query_quota, port_quota;
  logic [NUM_SM*KIndexW-1:0]      owner;
  sequencer_pkg::state_e          state;
  sluice_pkg::sequenced_t          rounds;
  assign starts = mode_i && sequencer_i.decision && !sequencer_i.no_fit && !sequencer_i.no_profile;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begun_q <= 1'b0;
    else         begun_q <= starts && !abort_i;

  balance_rounds #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .NUM_SCHED(NUM_SCHED)) i_balance_rounds (
    .clk_i,
    .rst_ni,
    .start_i          (starts),
    .abort_i,
    .candidates_i     (balance_i[sluice_csr_pkg::BalanceCandidatesLsb +: balance_pkg::EntryW]),
    .keep_i           (balance_i[sluice_csr_pkg::BalanceKeepLsb +: balance_pkg::KeepW]),
    .weight_i         (weights),
    .floor_i          (floors),
    .warm_up_i,
    .window_i,
    .capacity_i,
    .capacity_slots_i,
    .num_kernels_i,
    .slots_i,
    .base_i           (ctas_i),
    .demand_i,
    .demand_kernel_o,
    .spent_i,
    .settled_i,
    .sm_enable_i,
    .sample_valid_i,
    .sample_i,
    .sample_insts_i,
    .sample_read_o    (rounds.sample_read),
    .sample_sm_o      (rounds.sample_sm),
    .profile_clear_o  (rounds.profile_clear),
    .profile_enable_o (rounds.profile_enable),
    .profiling_o      (rounds.profiling),
    .on_all_o,
    .owner_o          (owner),
    .query_sm_i,
    .query_quota_o    (query_quota),
    .port_sm_i,
    .port_quota_o     (port_quota),
    .quota_changed_o  (changed),
    .free_o           (free),
    .turns_o          (turns),
    .active_o         (active),
    .held_o           (held),
    .decision_o       (rounds.decision),
    .state_o          (state),
    .scored_o         (scored),
    .scored_entry_o   (scored_entry),
    .measured_o       (measured),
    .time_o           (scored_time),
    .floors_o         (met)
  );
  assign rounds.quota_changed = changed || begun_q;
  assign rounds.sample_drop   = 1'b0;
  assign rounds.regions       = free;
  assign rounds.round_robin   = free && turns;
  assign rounds.in_order      = free && !turns;
  assign rounds.state         = state;
  assign rounds.spatial       = 1'b0;
  assign rounds.no_fit        = sequencer_i.no_fit;
  assign rounds.no_profile    = sequencer_i.no_profile;
  assign rounds.monitoring    = held;
  assign rounds.idle          = held && sequencer_i.idle && !changed;

  always_comb begin
    out_o = sequencer_i;
    if (starts) begin   // what is kept is decided later
      out_o.state      = sequencer_pkg::Allocate;
      out_o.decision   = 1'b0;
      out_o.monitoring = 1'b0;
    end
    if (active) out_o = rounds;
  end
  assign query_quota_o = active ? query_quota : query_quota_i;
  assign port_quota_o  = active ? port_quota : port_quota_i;
  assign ctas_o        = held ? query_quota : sequencer_ctas_i;   // all SMs hold the same
  assign owner_o       = active ? owner : owner_i;
  assign active_o      = active;
  assign measures_o    = active && !held;

  // For the host. The plan stands while it is kept, and so does what Warped-Slicer decided.
  localparam int unsigned Group  = NUM_SM < 8 ? 1 : 2;   // as in balance_rounds
  localparam int unsigned Most   = (NUM_SM - (NUM_SM * 3 / 8 < 1 ? 1 : NUM_SM * 3 / 8)) / Group;
  localparam int unsigned Scores = Most < 1 ? 2 : Most > 15 ? 16 : Most + 1;   // CTAs in turn are the second
  logic [balance_pkg::W:0] score_q [Scores];
  logic [3:0]              rounds_q;
  logic                    other;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) rounds_q <= '0;
    else begin
      if (changed && active && !held) rounds_q <= rounds_q + 1'b1;
      if (starts)                                  rounds_q <= '0;
    end
  for (genvar e = 0; e < Scores; e++) begin : gen_score
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni)                                                score_q[e] <= '0;
      else if (starts)                                            score_q[e] <= '0;
      else if (scored && scored_entry == balance_pkg::EntryW'(e)) score_q[e] <= measured ? {1'b1, scored_time} : '0;
  end
  always_comb begin
    other = free;
    for (int unsigned r = 0; r < K; r++)
      for (int unsigned k = 0; k < K; k++)
        if (has[r*K+k] && query_quota[k*CtaW +: CtaW] != ctas_i[r*CtaW +: CtaW]) other = 1'b1;
    score_o = '0;
    for (int unsigned e = 0; e < Scores; e++)
      if (entry_i == 4'(e)) begin
        score_o[sluice_csr_pkg::BalanceScoreTimeLsb +: balance_pkg::W] = score_q[e][balance_pkg::W-1:0];
        score_o[sluice_csr_pkg::BalanceScoreMeasuredLsb]               = score_q[e][balance_pkg::W];
      end
    status_o = '0;
    status_o[sluice_csr_pkg::BalanceStatusRoundsLsb +: 4] = rounds_q;
    if (held) begin
      status_o[sluice_csr_pkg::BalanceStatusKeptLsb +: 2] = !free ? 2'd1 : turns ? 2'd2 : 2'd3;
      status_o[sluice_csr_pkg::BalanceStatusFloorsLsb]    = met && score_q[0][balance_pkg::W];
      status_o[sluice_csr_pkg::BalanceStatusChangedLsb]   = other;
    end
  end

  logic unused_bits;   // registers are as wide as words
  assign unused_bits = ^{balance_i, wish_i};
endmodule
