// SPDX-License-Identifier: Apache-2.0
// sluice_top: the SM resource partitioner (docs/reference/blocks/sluice_top.md): registers, sequencer, profile
// counters, partition core, phase monitor and CTA dispatcher. Kernels are programmed through AXI4-Lite; CTAs leave
// through the dispatch port; SMs report what they issue, what they exchange with the memory system, and ended CTAs.
module sluice_top #(
  parameter int unsigned NUM_SM       = 16,   // 1..256
  parameter int unsigned MAX_KERNELS  = 4,    // 2..8
  parameter int unsigned MAX_CTAS     = 8,    // 4..32, CTA slots of an SM
  parameter int unsigned NUM_SCHED    = 2,    // 1..4, warp schedulers of an SM
  parameter int unsigned REGION_UNITS = 64,   // 0: count-only admission; else 16..128 units of registers and of shared
                                              // memory
  parameter int unsigned SM_ENABLE    = 0,    // 0..1; 1: SMs can be disabled by register SM_ENABLE
  parameter int unsigned SM_READY     = 0,    // 0..1; 1: sm_ready_i is looked at
  parameter int unsigned FLUSH        = 0,    // 0..20; else kernels can be flushed; above 1 a flush waits 2**FLUSH
                                              // cycles for the dispatch port, not for ever
  parameter int unsigned PRIORITY     = 0,    // 0..1; 1: kernels of higher priority go first
  parameter int unsigned PATIENCE     = 0,    // 0..20; else a kernel that waits for 2**PATIENCE cycles or more goes
                                              // first
  parameter int unsigned CHURN        = 0,    // 0..19; else profiles outlive changes, and what is in force lives for
                                              // 2**CHURN cycles or more
  parameter int unsigned TAIL         = 0,    // 0..1; 1: a kernel keeps no share once the last CTA of its grid has been
                                              // sent
  parameter int unsigned LAUNCH_QUEUE = 0     // 0..8; places in the queue of the launch port; 0: no such port
) (
  input  logic                                             clk_i,
  input  logic                                             rst_ni,
  input  logic                                             tag_rst_ni,        // with FLUSH: of the tags of CTAs, which
                                                                              // outlive rst_ni while it is high
  input  logic [11:0]                                      s_axi_awaddr_i,
  input  logic                                             s_axi_awvalid_i,
  output logic                                             s_axi_awready_o,
  input  logic [31:0]                                      s_axi_wdata_i,
  input  logic [3:0]                                       s_axi_wstrb_i,
  input  logic                                             s_axi_wvalid_i,
  output logic                                             s_axi_wready_o,
  output logic [1:0]                                       s_axi_bresp_o,
  output logic                                             s_axi_bvalid_o,
  input  logic                                             s_axi_bready_i,
  input  logic [11:0]                                      s_axi_araddr_i,
  input  logic                                             s_axi_arvalid_i,
  output logic                                             s_axi_arready_o,
  output logic [31:0]                                      s_axi_rdata_o,
  output logic [1:0]                                       s_axi_rresp_o,
  output logic                                             s_axi_rvalid_o,
  input  logic                                             s_axi_rready_i,
  output logic                                             irq_o,
  input  logic                                             launch_valid_i,    // a kernel, beside those of the
                                                                              // registers; only with LAUNCH_QUEUE
  output logic                                             launch_ready_o,
  input  logic [sluice_pkg::WarpW-1:0]                     launch_warps_i,    // of one CTA
  input  logic [sluice_pkg::RegW-1:0]                      launch_registers_i,
  input  logic [sluice_pkg::SharedW-1:0]                   launch_shared_i,
  input  logic [sluice_pkg::GridW-1:0]                     launch_ctas_i,     // to run
  input  logic [sluice_pkg::GridW-1:0]                     launch_size_x_i,   // CTAs of the grid along x,
  input  logic [sluice_pkg::BlockW-1:0]                    launch_size_y_i,   // and along y
  input  logic [sluice_pkg::GridW-1:0]                     launch_start_x_i,  // the first CTA to run
  input  logic [sluice_pkg::BlockW-1:0]                    launch_start_y_i,
  input  logic [sluice_pkg::BlockW-1:0]                    launch_start_z_i,
  input  logic [sluice_pkg::ContextW-1:0]                  launch_context_i,
  input  logic [sluice_pkg::PriorityW-1:0]                 launch_priority_i,
  output logic                                             launched_valid_o,  // pulse: the next launch of the port
  output logic [sluice_pkg::KIndexW-1:0]                   launched_kernel_o, // got this kernel slot,
  output logic                                             launched_refused_o,// and could not fit;
  output logic                                             launched_flushed_o,// or it was handed back by a flush,
                                                                              // without a slot
  output logic [MAX_KERNELS-1:0]                           kernel_done_o,     // pulses: the kernel of this slot has
                                                                              // ended
  input  logic [NUM_SM*NUM_SCHED-1:0]                      issue_valid_i,     // scheduler s of SM m issued: bit
                                                                              // m*NUM_SCHED+s
  input  logic [NUM_SM*NUM_SCHED*sluice_pkg::KIndexW-1:0]  issue_kernel_i,    // for this kernel slot
  input  logic [NUM_SM-1:0]                                request_i,         // SM m exchanged a line with the memory
                                                                              // system
  input  logic [NUM_SM-1:0]                                sm_ready_i,        // SM m takes the next CTA without delay;
                                                                              // only with SM_READY
  output logic                                             dispatch_valid_o,
  input  logic                                             dispatch_ready_i,
  output logic [sluice_pkg::SmW-1:0]                       dispatch_sm_o,
  output logic [sluice_pkg::KIndexW-1:0]                   dispatch_kernel_o,
  output logic [sluice_pkg::SlotW-1:0]                     dispatch_slot_o,   // names the CTA on its SM until it is
                                                                              // done
  output logic [sluice_pkg::GridW-1:0]                     dispatch_cta_o,
  output logic [sluice_pkg::GridW-1:0]                     dispatch_x_o,      // its place in the grid of a kernel of
                                                                              // the launch port
  output logic [sluice_pkg::BlockW-1:0]                    dispatch_y_o,
  output logic [sluice_pkg::BlockW-1:0]                    dispatch_z_o,
  output logic [sluice_pkg::ContextW-1:0]                  dispatch_context_o,
  output logic [sluice_pkg::PriorityW-1:0]                 dispatch_priority_o,
  output logic [sluice_pkg::RegW-1:0]                      dispatch_register_base_o,
  output logic [sluice_pkg::SharedW-1:0]                   dispatch_shared_base_o,
  output logic                                             dispatch_region_valid_o,   // these are bases of the CTA's
                                                                                      // regions; else the SM places it
  input  logic                                             done_valid_i,      // a CTA ended
  input  logic [sluice_pkg::SmW-1:0]                       done_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]                     done_slot_i,
  input  logic [sluice_pkg::KIndexW-1:0]                   done_kernel_i,     // with FLUSH: its kernel slot, and the
                                                                              // tag
  input  logic [sluice_pkg::TagW-1:0]                      done_tag_i,        // that came with it
  output logic [sluice_pkg::TagW-1:0]                      dispatch_tag_o,
  output logic                                             flush_valid_o,     // pulse: SMs give up the CTAs of this
                                                                              // kernel slot with this tag
  output logic [sluice_pkg::KIndexW-1:0]                   flush_kernel_o,
  output logic [sluice_pkg::TagW-1:0]                      flush_tag_o,
  output logic                                             profile_window_o,  // a profile window runs
  output logic                                             profile_valid_o,   // an entry of the performance table, for
                                                                              // tracing
  output logic [sluice_pkg::KernelW-1:0]                   profile_kernel_o,  // by age among the present
  output logic [sluice_pkg::CtaW-1:0]                      profile_ctas_o,
  output logic [sluice_pkg::ScaledW-1:0]                   profile_scaled_o,  // {exponent, mantissa}:
                                                                              // docs/reference/blocks/partition_core.md
  output logic                                             idle_o             // the clock may stop until an input other
                                                                              // than issue_*
                                                                              // and request_i changes
);
  if (NUM_SM < 1 || NUM_SM > 256) $error("sluice_top: NUM_SM must be 1..256");
  if (MAX_KERNELS < 2 || MAX_KERNELS > 8) $error("sluice_top: MAX_KERNELS must be 2..8");
  if (MAX_CTAS < 4 || MAX_CTAS > 32) $error("sluice_top: MAX_CTAS must be 4..32");
  if (NUM_SCHED < 1 || NUM_SCHED > 4) $error("sluice_top: NUM_SCHED must be 1..4");
  if (REGION_UNITS != 0 && (REGION_UNITS < 16 || REGION_UNITS > 128))
    $error("sluice_top: REGION_UNITS must be 0 or 16..128");
  if (SM_ENABLE > 1) $error("sluice_top: SM_ENABLE must be 0..1");
  if (SM_READY > 1) $error("sluice_top: SM_READY must be 0..1");
  if (FLUSH > 20) $error("sluice_top: FLUSH must be 0..20");
  if (PRIORITY > 1) $error("sluice_top: PRIORITY must be 0..1");
  if (PATIENCE > 20 || (PATIENCE != 0 && 2**PATIENCE < 2*NUM_SM + 8))
    $error("sluice_top: PATIENCE must be 0, or at most 20 and 2**PATIENCE at least 2*NUM_SM+8");
  if (CHURN > 19) $error("sluice_top: CHURN must be 0..19");
  if (TAIL > 1) $error("sluice_top: TAIL must be 0..1");
  if (LAUNCH_QUEUE > 8) $error("sluice_top: LAUNCH_QUEUE must be 0..8");

  // the blocks do not get as far as the message above
  localparam int unsigned K         = (MAX_KERNELS < 2) ? 2 : MAX_KERNELS;
  localparam int unsigned KernelW   = sluice_pkg::KernelW;
  localparam int unsigned KIndexW   = sluice_pkg::KIndexW;
  localparam int unsigned CtaW      = sluice_pkg::CtaW;
  localparam int unsigned SmW       = sluice_pkg::SmW;
  localparam int unsigned WarpW     = sluice_pkg::WarpW;
  localparam int unsigned RegW      = sluice_pkg::RegW;
  localparam int unsigned SharedW   = sluice_pkg::SharedW;
  localparam int unsigned AmountW   = sluice_pkg::AmountW;
  localparam int unsigned GridW     = sluice_pkg::GridW;
  localparam int unsigned InstW     = sluice_pkg::InstW;
  localparam int unsigned WindowW   = sluice_pkg::WindowW;
  localparam int unsigned PerfW     = sluice_pkg::PerfW;
  localparam int unsigned ResidentW = sluice_pkg::ResidentW;

  // Configuration and commands.
  logic [sluice_pkg::ModeW-1:0]  mode;
  logic [NUM_SM-1:0]             sm_enable, sm_busy;
  logic                          enable_write;
  logic                          mode_write, static_write, reprofile, monitor_enable, monitor_request;
  logic [WarpW-1:0]              capacity_warps;
  logic [RegW-1:0]               capacity_registers;
  logic [SharedW-1:0]            capacity_shared;
  sluice_pkg::amounts_t          capacity;      // the three of them
  logic [CtaW-1:0]               capacity_slots;
  logic [K*WarpW-1:0]            demand_warps;
  logic [K*RegW-1:0]             demand_registers;
  logic [K*SharedW-1:0]          demand_shared;
  logic [K*AmountW-1:0]          demand;        // the three of them (amounts_t), by kernel slot
  logic [K*GridW-1:0]            grid;
  logic [K*sluice_pkg::PriorityW-1:0] priorities;              // by kernel slot
  logic                          count, count_first, count_fits, lane_a_fits;   // occupancy
  logic [K-1:0]                  count_kernel;
  logic [K-1:0]                  repeat_grid, launch, stop, evict, resume, flush;
  logic [15:0]                   evict_count, loss_limit;
  logic [K*CtaW-1:0]             static_quota;
  logic [K*NUM_SM-1:0]           static_mask;
  logic [sluice_pkg::TimerW-1:0] warm_up;
  logic [WindowW-1:0]            window, delay, monitor_window;
  logic [PerfW-1:0]              epsilon, monitor_threshold;
  logic [7:0]                    monitor_hold, drain_limit;
  logic [sluice_pkg::ShareW-1:0] request_share, minus_share;

  // Kernels and status.
  logic [K*2-1:0]         slot_state;
  logic [KernelW-1:0]     num_present;
  logic [K*KIndexW-1:0]   age;
  logic                   change, quota_changed, regions, round_robin, in_order;
  logic [K*ResidentW-1:0] resident;
  logic [K*GridW-1:0]     dispatched;
  logic [K-1:0]           evict_done, kernel_done;
  logic                   bad_done, cannot_fit, slot_busy, bad_kernel, port_stuck;
  logic [KIndexW-1:0]     error_kernel;
  logic [SmW-1:0]         error_sm;
  logic [sluice_pkg::SlotW-1:0] error_slot;
  logic [NUM_SM-1:0]      query_sm, port_sm;
  logic [K*CtaW-1:0]      query_quota, port_quota, ctas;
  logic [3:0]             state;
  logic                   decision, spatial, no_fit, dropped, no_profile, monitoring, profiling;
  logic [NUM_SM-1:0]      settled;
  logic [K-1:0]           spent;
  logic [K-1:0]           watch;
  logic [K*SmW-1:0]       watch_sm;
  logic                   csr_idle, dispatcher_idle, sequencer_idle, queue_busy;
  logic [K-1:0]           port_slots, port_admit;
  logic                   giving_up, unused_giving_up;
  logic [SmW-1:0]         giving_sm;
  logic [sluice_pkg::SlotW-1:0] giving_slot;
  assign unused_giving_up = ^{giving_up, giving_sm, giving_slot};   // for benches of the dispatcher
  sluice_pkg::launch_t    port_launch;
  logic                   purge, purge_all;
  logic [sluice_pkg::ContextW-1:0] purge_context;
  logic [3:0]             queue_count;
  logic [K*(sluice_pkg::ContextW+sluice_pkg::PriorityW)-1:0] tags;


  sluice_csr #(
    .NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .NUM_SCHED(NUM_SCHED), .REGION_UNITS(REGION_UNITS),
    .SM_ENABLE(SM_ENABLE), .SM_READY(SM_READY), .LAUNCH_QUEUE(LAUNCH_QUEUE), .FLUSH(FLUSH), .PRIORITY(PRIORITY),
    .PATIENCE(PATIENCE), .CHURN(CHURN), .TAIL(TAIL)
  ) i_sluice_csr (
    .clk_i,
    .rst_ni,
    .s_axi_awaddr_i,
    .s_axi_awvalid_i,
    .s_axi_awready_o,
    .s_axi_wdata_i,
    .s_axi_wstrb_i,
    .s_axi_wvalid_i,
    .s_axi_wready_o,
    .s_axi_bresp_o,
    .s_axi_bvalid_o,
    .s_axi_bready_i,
    .s_axi_araddr_i,
    .s_axi_arvalid_i,
    .s_axi_arready_o,
    .s_axi_rdata_o,
    .s_axi_rresp_o,
    .s_axi_rvalid_o,
    .s_axi_rready_i,
    .irq_o,
    .mode_o               (mode),
    .mode_write_o         (mode_write),
    .capacity_warps_o     (capacity_warps),
    .capacity_registers_o (capacity_registers),
    .capacity_shared_o    (capacity_shared),
    .capacity_slots_o     (capacity_slots),
    .demand_warps_o       (demand_warps),
    .demand_registers_o   (demand_registers),
    .demand_shared_o      (demand_shared),
    .grid_o               (grid),
    .repeat_o             (repeat_grid),
    .priority_o           (priorities),
    .launch_o             (launch),
    .stop_o               (stop),
    .evict_o              (evict),
    .resume_o             (resume),
    .flush_o              (flush),
    .evict_count_o        (evict_count),
    .quota_o              (static_quota),
    .mask_o               (static_mask),
    .static_write_o       (static_write),
    .warm_up_o            (warm_up),
    .window_o             (window),
    .delay_o              (delay),
    .epsilon_o            (epsilon),
    .loss_limit_o         (loss_limit),
    .monitor_enable_o     (monitor_enable),
    .monitor_threshold_o  (monitor_threshold),
    .monitor_window_o     (monitor_window),
    .monitor_hold_o       (monitor_hold),
    .request_share_o      (request_share),
    .drain_limit_o        (drain_limit),
    .reprofile_o          (reprofile),
    .sm_enable_o          (sm_enable),
    .enable_write_o       (enable_write),
    .slot_state_i         (slot_state),
    .resident_i           (resident),
    .dispatched_i         (dispatched),
    .evict_done_i         (evict_done),
    .kernel_done_i        (kernel_done),
    .num_present_i        (num_present),
    .ctas_i               (ctas),
    .port_slots_o         (port_slots),
    .purge_o              (purge),
    .purge_all_o          (purge_all),
    .purge_context_o      (purge_context),
    .queue_i              (queue_count),
    .port_admit_i         (port_admit),
    .port_demand_i        (port_launch.demand),
    .port_ctas_i          (port_launch.ctas),
    .port_priority_i      (port_launch.urgency),
    .tags_i               (tags),
    .sm_busy_i            (sm_busy),
    .sequencer_state_i    (state),
    .decision_i           (decision),
    .spatial_i            (spatial),
    .no_fit_i             (no_fit),
    .dropped_i            (dropped),
    .no_profile_i         (no_profile),
    .error_i              ({port_stuck, bad_kernel, slot_busy, cannot_fit, bad_done}),
    .error_kernel_i       (error_kernel),
    .error_sm_i           (error_sm),
    .error_slot_i         (error_slot),
    .fell_back_i          (regions && mode != sluice_pkg::ModeLeftOver && mode != sluice_pkg::ModeFcfs),
    .idle_o               (csr_idle)
  );


  assign capacity = {capacity_shared, capacity_registers, capacity_warps};
  for (genvar k = 0; k < K; k++) begin : gen_demand
    assign demand[k*AmountW +: AmountW] =
        {demand_shared[k*SharedW +: SharedW], demand_registers[k*RegW +: RegW], demand_warps[k*WarpW +: WarpW]};
  end

  cta_dispatcher #(
    .NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .REGION_UNITS(REGION_UNITS), .SM_ENABLE(SM_ENABLE),
    .SM_READY(SM_READY), .FLUSH(FLUSH), .PRIORITY(PRIORITY), .PATIENCE(PATIENCE), .TAIL(TAIL),
    .FITS_NOW((LAUNCH_QUEUE != 0) ? 1 : 0)
  ) i_cta_dispatcher (
    .clk_i,
    .rst_ni,
    .tag_rst_ni,
    .capacity_warps_i     (capacity_warps),
    .capacity_registers_i (capacity_registers),
    .capacity_shared_i    (capacity_shared),
    .capacity_slots_i     (capacity_slots),
    .demand_warps_i       (demand_warps),
    .demand_registers_i   (demand_registers),
    .demand_shared_i      (demand_shared),
    .grid_i               (grid),
    .repeat_i             (repeat_grid),
    .priority_i           (priorities),
    .launch_i             (launch),
    .stop_i               (stop),
    .evict_i              (evict),
    .evict_count_i        (evict_count),
    .resume_i             (resume),
    .flush_i              (flush),
    .count_i              (count && CHURN == 0),
    .count_first_i        (count_first),
    .count_kernel_i       (count_kernel),
    .count_fits_o         (lane_a_fits),
    .round_robin_i        (round_robin),
    .in_order_i           (in_order),
    .regions_i            (regions),
    .sm_enable_i          (sm_enable),
    .sm_ready_i,
    .sm_busy_o            (sm_busy),
    .query_sm_o           (query_sm),
    .query_quota_i        (query_quota),
    .port_sm_o            (port_sm),
    .port_quota_i         (port_quota),
    .quota_changed_i      (quota_changed),
    .profiling_i          (profiling),
    .settled_o            (settled),
    .spent_o              (spent),
    .slot_state_o         (slot_state),
    .num_present_o        (num_present),
    .age_o                (age),
    .change_o             (change),
    .resident_o           (resident),
    .dispatched_o         (dispatched),
    .evict_done_o         (evict_done),
    .kernel_done_o        (kernel_done),
    .bad_done_o           (bad_done),
    .cannot_fit_o         (cannot_fit),
    .slot_busy_o          (slot_busy),
    .bad_kernel_o         (bad_kernel),
    .port_stuck_o         (port_stuck),
    .error_kernel_o       (error_kernel),
    .error_sm_o           (error_sm),
    .error_slot_o         (error_slot),
    .dispatch_valid_o,
    .dispatch_ready_i,
    .dispatch_sm_o,
    .dispatch_kernel_o,
    .dispatch_slot_o,
    .dispatch_cta_o,
    .dispatch_register_base_o,
    .dispatch_shared_base_o,
    .dispatch_region_valid_o,
    .done_valid_i,
    .done_sm_i,
    .done_slot_i,
    .done_kernel_i,
    .done_tag_i,
    .dispatch_tag_o,
    .flush_valid_o,
    .flush_kernel_o,
    .flush_tag_o,
    .giving_up_o          (giving_up),
    .giving_sm_o          (giving_sm),
    .giving_slot_o        (giving_slot),
    .idle_o               (dispatcher_idle)
  );

  // Profile counters of every SM, read one at a time.
  logic                      profile_clear, profile_enable, sample_read, sample_drop;
  logic [SmW-1:0]            sample_sm;
  logic [InstW-1:0]          sample_insts, sample_insts_q;
  logic [NUM_SM*InstW-1:0]   insts;
  logic [NUM_SM*KIndexW-1:0] owner;

  // The share does not change while a decision is made.
  logic [sluice_pkg::ShareW-1:0] minus_share_q;
  always_ff @(posedge clk_i) minus_share_q <= -request_share;   // looked at only then: no reset
  assign minus_share = minus_share_q & {sluice_pkg::ShareW{profile_clear}};
  for (genvar m = 0; m < NUM_SM; m++) begin : gen_counters
    profile_counters #(
      .NUM_SCHED   (NUM_SCHED),
      .MAX_KERNELS (K)
    ) i_profile_counters (
      .clk_i,
      .clear_i        (profile_clear),
      .enable_i       (profile_enable),
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
      if (sample_sm == SmW'(m) && !sample_drop) sample_insts |= insts[m*InstW +: InstW];
  end

  always_ff @(posedge clk_i)   // looked at only with sample_valid: no reset
    if (sample_read) sample_insts_q <= sample_insts;

  logic                 core_start, core_abort, core_idle, sample_valid;
  sluice_pkg::sample_t  sample;
  logic                 core_done, core_no_fit, core_spatial;
  logic [KernelW-1:0]   core_num_kernels;
  logic                 count_start, count_done;
  logic [KernelW-1:0]   count_share;
  logic [CtaW-1:0]      occupancy;
  logic [KernelW-1:0]   demand_kernel;
  sluice_pkg::amounts_t core_demand;
  logic [K*CtaW-1:0]    core_ctas;
  logic [K-1:0]         core_kept;
  logic [K*KIndexW-1:0] core_rows;

  partition_sequencer #(
    .NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .SM_ENABLE(SM_ENABLE), .CHURN(CHURN)
  ) i_partition_sequencer (
    .clk_i,
    .rst_ni,
    .mode_i               (mode),
    .mode_write_i         (mode_write),
    .demand_i             (demand),
    .quota_i              (static_quota),
    .mask_i               (static_mask),
    .static_write_i       (static_write),
    .warm_up_i            (warm_up),
    .window_i             (window),
    .drain_limit_i        (drain_limit),
    .delay_i              (delay),
    .reprofile_i          (reprofile || monitor_request),
    .sm_enable_i          (sm_enable),
    .enable_write_i       (enable_write),
    .num_present_i        (num_present),
    .age_i                (age),
    .change_i             (change),
    .spent_i              (spent),
    .settled_i            (settled),
    .profiling_o          (profiling),
    .query_sm_i           (query_sm),
    .query_quota_o        (query_quota),
    .port_sm_i            (port_sm),
    .port_quota_o         (port_quota),
    .quota_changed_o      (quota_changed),
    .regions_o            (regions),
    .round_robin_o        (round_robin),
    .in_order_o           (in_order),
    .profile_clear_o      (profile_clear),
    .profile_enable_o     (profile_enable),
    .sample_read_o        (sample_read),
    .sample_sm_o          (sample_sm),
    .sample_drop_o        (sample_drop),
    .owner_o              (owner),
    .core_start_o         (core_start),
    .core_abort_o         (core_abort),
    .core_num_kernels_o   (core_num_kernels),
    .core_demand_kernel_i (demand_kernel),
    .core_demand_o        (core_demand),
    .count_start_o        (count_start),
    .count_kernel_o       (count_kernel),
    .count_share_o        (count_share),
    .count_done_i         (count_done),
    .occupancy_i          (occupancy),
    .sample_valid_o       (sample_valid),
    .sample_o             (sample),
    .core_done_i          (core_done),
    .core_no_fit_i        (core_no_fit),
    .core_spatial_i       (core_spatial),
    .core_ctas_i          (core_ctas),
    .state_o              (state),
    .ctas_o               (ctas),
    .decision_o           (decision),
    .spatial_o            (spatial),
    .no_fit_o             (no_fit),
    .dropped_o            (dropped),
    .no_profile_o         (no_profile),
    .monitoring_o         (monitoring),
    .watch_o              (watch),
    .watch_sm_o           (watch_sm),
    .core_kept_o          (core_kept),
    .core_rows_o          (core_rows),
    .idle_o               (sequencer_idle)
  );

  if (CHURN != 0) begin : gen_occupancy_lane   // CTAs start while a plan is made
    occupancy_lane #(.MAX_KERNELS(K)) i_occupancy_lane (
      .clk_i,
      .count_i       (count),
      .count_first_i (count_first),
      .kernel_i      (count_kernel),
      .demand_i      (demand),
      .capacity_i    (capacity),
      .fits_o        (count_fits)
    );
    logic unused_lane_a;
    assign unused_lane_a = lane_a_fits;
  end else begin : gen_lane_a
    assign count_fits = lane_a_fits;
  end
  occupancy_counter #(.MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS)) i_occupancy_counter (
    .clk_i,
    .rst_ni,
    .start_i          (count_start),
    .abort_i          (core_abort),
    .share_i          (count_share),
    .capacity_slots_i (capacity_slots),
    .count_o          (count),
    .count_first_o    (count_first),
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
    .capacity_i       (capacity),
    .capacity_slots_i (capacity_slots),
    .demand_kernel_o  (demand_kernel),
    .demand_i         (core_demand),
    .epsilon_i        (epsilon),
    .loss_limit_i     (loss_limit),
    .sample_valid_i   (sample_valid),
    .sample_i         (sample),
    .sample_insts_i   (sample_insts_q),
    .scaled_valid_o   (profile_valid_o),
    .scaled_kernel_o  (profile_kernel_o),
    .scaled_ctas_o    (profile_ctas_o),
    .scaled_o         (profile_scaled_o),
    .idle_o           (core_idle),
    .done_o           (core_done),
    .no_fit_o         (core_no_fit),
    .spatial_o        (core_spatial),
    .ctas_o           (core_ctas)
  );

  // The launch port.
  sluice_pkg::launch_t launch_in;
  always_comb begin
    launch_in.urgency = launch_priority_i;
    launch_in.ctx     = launch_context_i;
    launch_in.start_z = launch_start_z_i;
    launch_in.start_y = launch_start_y_i;
    launch_in.start_x = launch_start_x_i;
    launch_in.size_y  = launch_size_y_i;
    launch_in.size_x  = launch_size_x_i;
    launch_in.ctas    = launch_ctas_i;
    launch_in.demand  = {launch_shared_i, launch_registers_i, launch_warps_i};
  end
  if (LAUNCH_QUEUE != 0) begin : gen_launch
    logic [K-1:0] slot_free;
    always_comb
      for (int unsigned k = 0; k < K; k++) slot_free[k] = slot_state[k*2 +: 2] == sluice_pkg::SlotFree;
    launch_queue #(.MAX_KERNELS(K), .DEPTH(LAUNCH_QUEUE)) i_launch_queue (
      .clk_i,
      .rst_ni,
      .launch_valid_i,
      .launch_ready_o,
      .launch_i        (launch_in),
      .purge_i         (purge),
      .purge_all_i     (purge_all),
      .purge_context_i (purge_context),
      .slot_i          (port_slots),
      .slot_free_i     (slot_free),
      .admit_o         (port_admit),
      .admit_launch_o  (port_launch),
      .launched_valid_o,
      .launched_kernel_o,
      .launched_refused_o,
      .launched_flushed_o,
      .waiting_o       (queue_count),
      .busy_o          (queue_busy)
    );
    grid_walker #(.MAX_KERNELS(K)) i_grid_walker (
      .clk_i,
      .rst_ni,
      .admit_i       (port_admit),
      .launch_i      (port_launch),
      .launch_slot_i (launch),
      .slot_free_i   (slot_free),
      .leaves_i      (dispatch_valid_o && dispatch_ready_i),
      .kernel_i      (dispatch_kernel_o),
      .cta_i         (dispatch_cta_o),
      .x_o           (dispatch_x_o),
      .y_o           (dispatch_y_o),
      .z_o           (dispatch_z_o),
      .context_o     (dispatch_context_o),
      .priority_o    (dispatch_priority_o),
      .tags_o        (tags)
    );
  end else begin : gen_no_launch
    assign {launch_ready_o, launched_valid_o, launched_kernel_o, launched_refused_o, launched_flushed_o, port_admit,
        port_launch, tags, queue_count, queue_busy} = '0;
    assign {dispatch_x_o, dispatch_y_o, dispatch_z_o, dispatch_context_o, dispatch_priority_o} = '0;
    logic unused_launch;
    assign unused_launch = ^{launch_valid_i, launch_in, port_slots, port_launch, purge, purge_all, purge_context};
  end
  assign kernel_done_o = kernel_done[MAX_KERNELS-1:0];

  // What each kernel issues on the SM that stands for it; counted a cycle later.
  logic                   watching;
  logic [K*NUM_SCHED-1:0] watched, watched_q;
  assign watching = monitoring && monitor_enable;
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
    .window_i    (monitor_window),
    .threshold_i (monitor_threshold),
    .hold_i      (monitor_hold),
    .issue_i     (watched_q),
    .request_o   (monitor_request)
  );

  // A monitor that watches never rests. What rests, and is asked for nothing, rests in the next cycle, too: so this may
  // be told a cycle later.
  logic rests, idle_q;
  assign rests = csr_idle && !queue_busy && dispatcher_idle && sequencer_idle && core_idle && !watching;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) idle_q <= 1'b0;   // the dispatcher has to look at every SM
    else         idle_q <= rests && !s_axi_awvalid_i && !s_axi_wvalid_i && !s_axi_arvalid_i && !done_valid_i
                        && !(LAUNCH_QUEUE != 0 && launch_valid_i);
  assign idle_o           = idle_q;
  assign profile_window_o = profile_enable;
endmodule
