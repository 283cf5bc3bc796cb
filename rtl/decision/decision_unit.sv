// SPDX-License-Identifier: Apache-2.0
// decision_unit: the half of sluice_top that decides how many CTAs of each kernel an SM may hold: partition_sequencer
// runs a decision, profile_counters of every SM give it samples, occupancy_counter says what fits, partition_core finds
// the partition, phase_monitor asks for the next one. launch_unit does what it says.
module decision_unit #(
  // as those of sluice_top
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned NUM_SCHED   = 2,
  parameter int unsigned SM_ENABLE   = 0,
  parameter int unsigned CHURN       = 0,
  parameter int unsigned BALANCE     = 0
) (
  input  logic                                                 clk_i,
  input  logic                                                 rst_ni,
  // Configuration (sluice_csr).
  input  sluice_pkg::decision_config_t                         config_i,
  input  sluice_pkg::amounts_t                                 capacity_i,        // of one SM
  input  logic [sluice_pkg::CtaW-1:0]                          capacity_slots_i,
  input  logic [MAX_KERNELS*sluice_pkg::AmountW-1:0]           demand_i,          // of one CTA (amounts_t)
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]              quota_i,           // STATIC
  input  logic [MAX_KERNELS*NUM_SM-1:0]                        mask_i,
  input  logic                                                 static_write_i,    // pulse: these are new
  input  logic [NUM_SM-1:0]                                    sm_enable_i,
  input  logic                                                 enable_write_i,    // pulse: it is new
  // Kernels, quotas and order: cta_dispatcher's ports of the same names.
  input  logic [sluice_pkg::KernelW-1:0]                       num_present_i,
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]           age_i,
  input  logic                                                 change_i,
  input  logic [MAX_KERNELS-1:0]                               spent_i,
  input  logic [NUM_SM-1:0]                                    settled_i,
  output logic                                                 profiling_o,
  input  logic [NUM_SM-1:0]                                    query_sm_i,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]              query_quota_o,
  input  logic [NUM_SM-1:0]                                    port_sm_i,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]              port_quota_o,
  output logic                                                 quota_changed_o,
  output logic                                                 regions_o,
  output logic                                                 round_robin_o,
  output logic                                                 in_order_o,
  output logic                                                 count_o,           // its lane A counts an occupancy;
  output logic                                                 count_first_o,     // not with CHURN
  output logic [MAX_KERNELS-1:0]                               count_kernel_o,
  input  logic                                                 count_fits_i,
  // What SMs do: bit m*NUM_SCHED+s is of scheduler s of SM m.
  input  logic [NUM_SM*NUM_SCHED-1:0]                          issue_valid_i,
  input  logic [NUM_SM*NUM_SCHED*sluice_pkg::KIndexW-1:0]      issue_kernel_i,
  input  logic [NUM_SM-1:0]                                    request_i,
  // Mode BALANCE: the registers.
  input  logic [31:0]                                          balance_i,
  input  logic [MAX_KERNELS*32-1:0]                            wish_i,            // SLOTk.WISH
  output logic [31:0]                                          balance_status_o,
  input  logic [3:0]                                           balance_entry_i,   // whose score is wanted:
  output logic [31:0]                                          balance_score_o,   // combinational
  output sluice_pkg::decision_status_t                         status_o,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]              ctas_o,            // quotas in force
  output logic                                                 profile_window_o,  // a profile window runs
  output logic                                                 profile_valid_o,   // an entry of the performance table
  output logic [sluice_pkg::KernelW-1:0]                       profile_kernel_o,  // by age among the present
  output logic [sluice_pkg::CtaW-1:0]                          profile_ctas_o,
  output logic [sluice_pkg::ScaledW-1:0]                       profile_scaled_o,
  output logic                                                 idle_o             // no decision, and nothing watched
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("decision_unit: size out of range");
  localparam int unsigned K       = MAX_KERNELS;
  localparam int unsigned KernelW = sluice_pkg::KernelW;
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned SmW     = sluice_pkg::SmW;
  localparam int unsigned InstW   = sluice_pkg::InstW;
  localparam int unsigned Alone   = BALANCE == 2 ? 1 : 0;   // mode BALANCE without DYNAMIC

  logic                    count, count_fits, monitor_request;   // occupancy; phase monitor
  logic [K-1:0]            watch;
  logic [K*SmW-1:0]        watch_sm;

  // Profile counters of every SM, read one at a time.
  sluice_pkg::sequenced_t    sequencer, out;   // of partition_sequencer; of the unit
  logic [InstW-1:0]          sample_insts, sample_insts_q;
  logic [NUM_SM*InstW-1:0]   insts;
  logic [NUM_SM*KIndexW-1:0] sequencer_owner, owner;
  logic [K*CtaW-1:0]         sequencer_query, sequencer_port, sequencer_ctas;
  logic                      measures, on_all;   // mode BALANCE measures; what all SMs hold

  // The share does not change while a decision is made.
  logic [sluice_pkg::ShareW-1:0] minus_share, minus_share_q;
  always_ff @(posedge clk_i) minus_share_q <= -config_i.request_share;   // looked at only then: no reset
  assign minus_share = minus_share_q & {sluice_pkg::ShareW{out.profile_clear && !on_all}};
  for (genvar m = 0; m < NUM_SM; m++) begin : gen_counters
    profile_counters #(
      .NUM_SCHED   (NUM_SCHED),
      .MAX_KERNELS (K),
      .CEILING     (1 - Alone)
    ) i_profile_counters (
      .clk_i,
      .clear_i        (out.profile_clear),
      .enable_i       (profile_window_o),
      .issue_valid_i  (issue_valid_i[m*NUM_SCHED +: NUM_SCHED]),
      .issue_kernel_i (issue_kernel_i[m*NUM_SCHED*KIndexW +: NUM_SCHED*KIndexW]),
      .owner_i        (owner[m*KIndexW +: KIndexW]),
      .request_i      (request_i[m]),
      .minus_share_i  (minus_share),
      .insts_o        (insts[m*InstW +: InstW])
    );
  end

  always_comb begin
    sample_insts = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (out.sample_sm == SmW'(m) && !out.sample_drop) sample_insts |= insts[m*InstW +: InstW];
  end

  always_ff @(posedge clk_i)   // looked at only with sample_valid: no reset
    if (out.sample_read) sample_insts_q <= sample_insts;

  logic                 core_start, core_abort, core_idle, sample_valid;
  sluice_pkg::sample_t  sample;
  logic                 core_done, core_no_fit, core_spatial;
  logic [KernelW-1:0]   core_num_kernels;
  logic                 count_start, count_done;
  logic [KernelW-1:0]   count_share;
  logic [CtaW-1:0]      occupancy;
  logic [KernelW-1:0]   demand_kernel, wanted_kernel;
  logic                 balances;   // the mode
  sluice_pkg::amounts_t core_demand;
  logic [K*CtaW-1:0]    core_ctas, plan_ctas, base_ctas;
  logic                 core_valid;
  logic [KernelW-1:0]   core_kernel;
  logic [CtaW-1:0]      core_level;
  logic [sluice_pkg::ScaledW-1:0] core_scaled;
  logic [K-1:0]         core_kept;
  logic [K*KIndexW-1:0] core_rows;

  partition_sequencer #(
    .NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .SM_ENABLE(SM_ENABLE), .CHURN(CHURN), .EVEN_BASE(Alone)
  ) i_partition_sequencer (
    .clk_i,
    .rst_ni,
    .mode_i               (BALANCE != 0 && balances ? sluice_pkg::ModeDynamic : config_i.mode),
    .mode_write_i         (config_i.mode_write),
    .demand_i,
    .quota_i,
    .mask_i,
    .static_write_i,
    .warm_up_i            (config_i.warm_up),
    .window_i             (config_i.window),
    .drain_limit_i        (config_i.drain_limit),
    .delay_i              (config_i.delay),
    .reprofile_i          ((config_i.reprofile || monitor_request) && !measures),
    .sm_enable_i,
    .enable_write_i,
    .num_present_i,
    .age_i,
    .change_i,
    .spent_i,
    .settled_i,
    .profiling_o          (sequencer.profiling),
    .query_sm_i,
    .query_quota_o        (sequencer_query),
    .port_sm_i,
    .port_quota_o         (sequencer_port),
    .quota_changed_o      (sequencer.quota_changed),
    .regions_o            (sequencer.regions),
    .round_robin_o        (sequencer.round_robin),
    .in_order_o           (sequencer.in_order),
    .profile_clear_o      (sequencer.profile_clear),
    .profile_enable_o     (sequencer.profile_enable),
    .sample_read_o        (sequencer.sample_read),
    .sample_sm_o          (sequencer.sample_sm),
    .sample_drop_o        (sequencer.sample_drop),
    .owner_o              (sequencer_owner),
    .core_start_o         (core_start),
    .core_abort_o         (core_abort),
    .core_num_kernels_o   (core_num_kernels),
    .core_demand_kernel_i (wanted_kernel),
    .core_demand_o        (core_demand),
    .count_start_o        (count_start),
    .count_kernel_o,
    .count_share_o        (count_share),
    .count_done_i         (count_done),
    .occupancy_i          (occupancy),
    .sample_valid_o       (sample_valid),
    .sample_o             (sample),
    .core_done_i          (core_done),
    .core_no_fit_i        (core_no_fit),
    .core_spatial_i       (core_spatial),
    .core_ctas_i          (core_ctas),
    .state_o              (sequencer.state),
    .ctas_o               (sequencer_ctas),
    .decision_o           (sequencer.decision),
    .spatial_o            (sequencer.spatial),
    .no_fit_o             (sequencer.no_fit),
    .dropped_o            (status_o.dropped),
    .no_profile_o         (sequencer.no_profile),
    .monitoring_o         (sequencer.monitoring),
    .watch_o              (watch),
    .watch_sm_o           (watch_sm),
    .plan_ctas_o          (plan_ctas),
    .core_kept_o          (core_kept),
    .core_rows_o          (core_rows),
    .idle_o               (sequencer.idle)
  );

  // In mode BALANCE what the sequencer decides is where another block begins.
  if (BALANCE != 0) begin : gen_balance
    if (CHURN != 0) $error("decision_unit: BALANCE and CHURN exclude each other");
    logic               active;
    logic [KernelW-1:0] balance_kernel;
    assign balances      = config_i.mode == sluice_pkg::ModeBalance;
    assign wanted_kernel = active || Alone != 0 ? balance_kernel : demand_kernel;
    balance_unit #(
      .NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .NUM_SCHED(NUM_SCHED)
    ) i_balance_unit (
      .clk_i,
      .rst_ni,
      .mode_i           (balances),
      .balance_i,
      .wish_i,
      .warm_up_i        (config_i.warm_up),
      .window_i         (config_i.window),
      .capacity_i,
      .capacity_slots_i,
      .abort_i          (core_abort),
      .num_kernels_i    (core_num_kernels),
      .slots_i          (core_rows),
      .ctas_i           (base_ctas),
      .demand_i         (core_demand),
      .demand_kernel_o  (balance_kernel),
      .spent_i,
      .settled_i,
      .sm_enable_i,
      .query_sm_i,
      .port_sm_i,
      .sample_valid_i   (sample_valid),
      .sample_i         (sample),
      .sample_insts_i   (sample_insts_q),
      .sequencer_i      (sequencer),
      .query_quota_i    (sequencer_query),
      .port_quota_i     (sequencer_port),
      .sequencer_ctas_i (sequencer_ctas),
      .owner_i          (sequencer_owner),
      .out_o            (out),
      .query_quota_o,
      .port_quota_o,
      .ctas_o,
      .owner_o          (owner),
      .active_o         (active),
      .measures_o       (measures),
      .on_all_o         (on_all),
      .status_o         (balance_status_o),
      .entry_i          (balance_entry_i),
      .score_o          (balance_score_o)
    );
  end else begin : gen_no_balance
    assign out           = sequencer;
    assign query_quota_o = sequencer_query;
    assign port_quota_o  = sequencer_port;
    assign ctas_o        = sequencer_ctas;
    assign owner         = sequencer_owner;
    assign wanted_kernel = demand_kernel;
    assign {balances, measures, on_all, balance_status_o, balance_score_o} = '0;
    logic unused_balance;
    assign unused_balance = ^{balance_i, wish_i, balance_entry_i, base_ctas};
  end
  assign profile_window_o    = out.profile_enable;
  assign profiling_o         = out.profiling;
  assign quota_changed_o     = out.quota_changed;
  assign regions_o           = out.regions;
  assign round_robin_o       = out.round_robin;
  assign in_order_o          = out.in_order;
  assign status_o.state      = out.state;
  assign status_o.decision   = out.decision;
  assign status_o.spatial    = out.spatial;
  assign status_o.no_fit     = out.no_fit;
  assign status_o.no_profile = out.no_profile;

  assign status_o.fell_back =
      out.regions && config_i.mode != sluice_pkg::ModeLeftOver && config_i.mode != sluice_pkg::ModeFcfs;

  // An occupancy is counted in lane A of the dispatcher, unless CTAs start while a plan is made.
  assign count_o = count && CHURN == 0;
  if (CHURN != 0) begin : gen_occupancy_lane
    occupancy_lane #(.MAX_KERNELS(K)) i_occupancy_lane (
      .clk_i,
      .count_i       (count),
      .count_first_i (count_first_o),
      .kernel_i      (count_kernel_o),
      .demand_i,
      .capacity_i,
      .fits_o        (count_fits)
    );
    logic unused_lane_a;
    assign unused_lane_a = count_fits_i;
  end else begin : gen_lane_a
    assign count_fits = count_fits_i;
  end
  occupancy_counter #(.MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS)) i_occupancy_counter (
    .clk_i,
    .rst_ni,
    .start_i          (count_start),
    .abort_i          (core_abort),
    .share_i          (count_share),
    .capacity_slots_i,
    .count_o          (count),
    .count_first_o,
    .fits_i           (count_fits),
    .done_o           (count_done),
    .occupancy_o      (occupancy)
  );

  partition_core #(.MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .CHURN(CHURN)) i_partition_core (
    .clk_i,
    .rst_ni,
    .start_i          (core_start),
    .abort_i          (core_abort),
    .num_kernels_i    (core_num_kernels),
    .kept_i           (core_kept),
    .rows_i           (core_rows),
    .capacity_i,
    .capacity_slots_i,
    .demand_kernel_o  (demand_kernel),
    .demand_i         (core_demand),
    .epsilon_i        (config_i.epsilon),
    .loss_limit_i     (config_i.loss_limit),
    .sample_valid_i   (sample_valid),
    .sample_i         (sample),
    .sample_insts_i   (sample_insts_q),
    .scaled_valid_o   (core_valid),
    .scaled_kernel_o  (core_kernel),
    .scaled_ctas_o    (core_level),
    .scaled_o         (core_scaled),
    .idle_o           (core_idle),
    .done_o           (core_done),
    .no_fit_o         (core_no_fit),
    .spatial_o        (core_spatial),
    .ctas_o           (core_ctas)
  );
  // Without DYNAMIC nobody looks at the core: nothing of it is left.
  assign base_ctas        = Alone != 0 ? plan_ctas : core_ctas;
  assign profile_valid_o  = core_valid && Alone == 0;
  assign profile_kernel_o = core_kernel & {KernelW{Alone == 0}};
  assign profile_ctas_o   = core_level & {CtaW{Alone == 0}};
  assign profile_scaled_o = core_scaled & {sluice_pkg::ScaledW{Alone == 0}};

  // What each kernel issues on the SM that stands for it; counted a cycle later.
  logic                   watching;
  logic [K*NUM_SCHED-1:0] watched, watched_q;
  assign watching = out.monitoring && config_i.monitor_enable;
  always_comb begin
    watched = '0;
    for (int unsigned k = 0; k < K; k++)
      for (int unsigned m = 0; m < NUM_SM; m++)
        for (int unsigned s = 0; s < NUM_SCHED; s++)
          if (watch[k] && watch_sm[k*SmW +: SmW] == SmW'(m) && issue_valid_i[m*NUM_SCHED+s]
              && issue_kernel_i[(m*NUM_SCHED+s)*KIndexW +: KIndexW] == KIndexW'(k)) watched[k*NUM_SCHED+s] = 1'b1;
  end
  always_ff @(posedge clk_i)   // nothing is counted in the first cycle of watching: no reset
    if (watching) watched_q <= watched;

  phase_monitor #(.MAX_KERNELS(K), .NUM_SCHED(NUM_SCHED)) i_phase_monitor (
    .clk_i,
    .rst_ni,
    .active_i    (watching),
    .window_i    (config_i.monitor_window),
    .threshold_i (config_i.monitor_threshold),
    .hold_i      (config_i.monitor_hold),
    .issue_i     (watched_q),
    .request_o   (monitor_request)
  );

  // A monitor that watches never rests.
  assign idle_o = out.idle && (core_idle || Alone != 0) && !watching;
endmodule
