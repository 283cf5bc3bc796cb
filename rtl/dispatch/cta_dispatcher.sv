// SPDX-License-Identifier: Apache-2.0
// cta_dispatcher: one CTA a cycle to an SM on which all its resources fit and its kernel's quota allows one more
// (docs/reference/blocks/cta_dispatcher.md: pipeline, orders, corner cases). Kernel slots take and finish grids; quotas are asked for SM by SM;
// nothing is killed. Every output but idle_o comes from registers; a CTA that waits at the port counts as resident.
module cta_dispatcher #(
  parameter int unsigned NUM_SM       = 16,   // 1..256
  parameter int unsigned MAX_KERNELS  = 4,    // 2..8
  parameter int unsigned MAX_CTAS     = 8,    // 4..32
  parameter int unsigned REGION_UNITS = 64    // 0: no regions; else 16..128
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  input  logic [sluice_pkg::WarpW-1:0]                 capacity_warps_i,      // of one SM; stable unless all slots are FREE
  input  logic [sluice_pkg::RegW-1:0]                  capacity_registers_i,
  input  logic [sluice_pkg::SharedW-1:0]               capacity_shared_i,     // bytes
  input  logic [sluice_pkg::CtaW-1:0]                  capacity_slots_i,      // at most MAX_CTAS
  input  logic [MAX_KERNELS*sluice_pkg::WarpW-1:0]     demand_warps_i,        // of one CTA; it and the grid stable while the slot is not FREE
  input  logic [MAX_KERNELS*sluice_pkg::RegW-1:0]      demand_registers_i,
  input  logic [MAX_KERNELS*sluice_pkg::SharedW-1:0]   demand_shared_i,
  input  logic [MAX_KERNELS*sluice_pkg::GridW-1:0]     grid_i,                // CTAs
  input  logic [MAX_KERNELS-1:0]                       repeat_i,              // level: the grid starts again at its end
  input  logic [MAX_KERNELS-1:0]                       launch_i,              // pulses
  input  logic [MAX_KERNELS-1:0]                       stop_i,
  input  logic [MAX_KERNELS-1:0]                       evict_i,
  input  logic [15:0]                                  evict_count_i,
  input  logic [MAX_KERNELS-1:0]                       resume_i,
  input  logic                                         count_i,               // occupancy_counter: CTAs of a RUNNING kernel, one more a cycle; only while
  input  logic                                         count_first_i,         // no CTA is given out, from the cycle after that in which the quotas became 0
  input  logic [MAX_KERNELS-1:0]                       count_kernel_i,        // one-hot
  output logic                                         count_fits_o,          // two cycles later: and another one fits an empty SM, its slots left aside
  input  logic                                         round_robin_i,         // over the kernels, instead of oldest first
  input  logic                                         in_order_i,            // no kernel before an older one has issued its last CTA
  input  logic                                         regions_i,
  output logic [sluice_pkg::SmW-1:0]                   query_sm_o,            // whose quotas are wanted
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]      query_quota_i,         // in the same cycle; MAX_CTAS: no limit
  input  logic                                         quota_changed_i,       // first cycle of new quotas
  input  logic                                         profiling_i,           // settled_o stays as it is
  output logic [NUM_SM-1:0]                            settled_o,             // SMs that have held just their quotas since these changed
  output logic [MAX_KERNELS-1:0]                       spent_o,               // RUNNING, but dispatch nothing: grid issued, or held by an eviction
  output logic [MAX_KERNELS*2-1:0]                     slot_state_o,          // 0 FREE, 1 RUNNING, 2 DRAINING
  output logic [sluice_pkg::KernelW-1:0]               num_present_o,
  output logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]   age_o,                 // RUNNING slots, oldest first
  output logic                                         change_o,              // pulse: first cycle of a new present set
  output logic [MAX_KERNELS*sluice_pkg::ResidentW-1:0] resident_o,
  output logic [MAX_KERNELS*sluice_pkg::GridW-1:0]     dispatched_o,
  output logic [MAX_KERNELS-1:0]                       evict_done_o,          // pulses
  output logic [MAX_KERNELS-1:0]                       kernel_done_o,
  output logic                                         bad_done_o,            // pulses, the cycle after the cause
  output logic                                         cannot_fit_o,
  output logic                                         slot_busy_o,
  output logic                                         bad_kernel_o,
  output logic [sluice_pkg::KIndexW-1:0]               error_kernel_o,
  output logic [sluice_pkg::SmW-1:0]                   error_sm_o,
  output logic                                         dispatch_valid_o,
  input  logic                                         dispatch_ready_i,
  output logic [sluice_pkg::SmW-1:0]                   dispatch_sm_o,
  output logic [sluice_pkg::KIndexW-1:0]               dispatch_kernel_o,
  output logic [sluice_pkg::SlotW-1:0]                 dispatch_slot_o,
  output logic [sluice_pkg::GridW-1:0]                 dispatch_cta_o,
  output logic [sluice_pkg::RegW-1:0]                  dispatch_register_base_o,
  output logic [sluice_pkg::SharedW-1:0]               dispatch_shared_base_o,
  input  logic                                         done_valid_i,
  input  logic [sluice_pkg::SmW-1:0]                   done_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]                 done_slot_i,
  output logic                                         idle_o                 // no register changes without an input
);
  localparam int unsigned K       = MAX_KERNELS;
  localparam int unsigned WarpW   = sluice_pkg::WarpW;
  localparam int unsigned RegW    = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned SmW     = sluice_pkg::SmW;
  localparam int unsigned SlotW   = sluice_pkg::SlotW;
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned SlotsW  = MAX_CTAS * (1 + $clog2(K));

  logic [K-1:0]         launched, can_take, region_fits, cannot_fit, slot_busy, bad_kernel, stirring;
  logic [K*K-1:0]       older;
  logic [K*WarpW-1:0]   limit_warps;
  logic [K*RegW-1:0]    limit_registers;
  logic [K*SharedW-1:0] limit_shared;

  // A CTA on its way: picked, then at the port, where its SM's row is read and its slot and regions are taken in the first cycle (fresh); charged in the
  // cycle after, compared in the next: then it is known what more fits on its SM.
  logic                pick_valid, valid_d, valid_q, fresh_q, with_regions_q, free_to_pick, regions;
  logic                charge_stale_q, charge_regions_q, charged_stale_q;
  logic [NUM_SM-1:0]   pick_sm, sm_q, charge_sm, charged_sm;   // one-hot, or 0
  logic [K-1:0]        pick_kernel, kernel_q, charged_room, check_regions, charged_regions_q;
  logic [MAX_CTAS-1:0] take_slot, slot, slot_q;
  logic [SlotsW-1:0]   pick_slots;

  logic                charged_full, eval_full;
  logic                pending, eval, done_bad, ending, free_valid;
  logic [NUM_SM-1:0]   eval_sm, free_sm, give_sm;
  logic [K-1:0]        eval_room, eval_regions, give_kernel;
  logic [MAX_CTAS-1:0] eval_used, free_slot;
  logic [SlotsW-1:0]   free_slots;
  logic [SmW-1:0]      sm, bad_sm;
  logic [SlotW-1:0]    slot_index;

  kernel_slots #(
    .NUM_SM      (NUM_SM),
    .MAX_KERNELS (K),
    .MAX_CTAS    (MAX_CTAS)
  ) i_kernel_slots (
    .clk_i,
    .rst_ni,
    .capacity_warps_i,
    .capacity_registers_i,
    .capacity_shared_i,
    .capacity_slots_i,
    .demand_warps_i,
    .demand_registers_i,
    .demand_shared_i,
    .region_fits_i      (region_fits),
    .grid_i,
    .repeat_i,
    .in_order_i,
    .launch_i,
    .stop_i,
    .evict_i,
    .evict_count_i,
    .resume_i,
    .take_i             (pick_kernel),
    .give_i             (give_kernel),
    .launched_o         (launched),
    .can_take_o         (can_take),
    .spent_o,
    .cta_o              (dispatch_cta_o),
    .older_o            (older),
    .limit_warps_o      (limit_warps),
    .limit_registers_o  (limit_registers),
    .limit_shared_o     (limit_shared),
    .state_o            (slot_state_o),
    .num_present_o,
    .age_o,
    .change_o,
    .resident_o,
    .dispatched_o,
    .evict_done_o,
    .kernel_done_o,
    .cannot_fit_o       (cannot_fit),
    .slot_busy_o        (slot_busy),
    .bad_kernel_o       (bad_kernel),
    .stirring_o         (stirring)
  );

  sm_resource_table #(
    .NUM_SM      (NUM_SM),
    .MAX_KERNELS (K),
    .MAX_CTAS    (MAX_CTAS)
  ) i_sm_resource_table (
    .clk_i,
    .rst_ni,
    .capacity_slots_i,
    .demand_warps_i,
    .demand_registers_i,
    .demand_shared_i,
    .limit_warps_i      (limit_warps),
    .limit_registers_i  (limit_registers),
    .limit_shared_i     (limit_shared),
    .take_i             (fresh_q),
    .take_sm_i          (sm_q),
    .take_kernel_i      (kernel_q),
    .take_slot_o        (take_slot),
    .count_i,
    .count_first_i,
    .count_kernel_i,
    .count_fits_o,
    .charge_sm_o        (charge_sm),
    .charged_sm_o       (charged_sm),
    .charged_room_o     (charged_room),
    .charged_full_o     (charged_full),
    .look_sm_i          (pick_sm),
    .look_slots_o       (pick_slots),
    .eval_i             (eval),
    .eval_sm_i          (eval_sm),
    .eval_quota_i       (query_quota_i),
    .eval_used_o        (eval_used),
    .eval_room_o        (eval_room),
    .eval_full_o        (eval_full),
    .done_valid_i,
    .done_sm_i,
    .done_slot_i,
    .wait_sm_i          (sm_q),
    .wait_slot_i        (slot),
    .done_bad_o         (done_bad),
    .done_bad_sm_o      (bad_sm),
    .free_valid_o       (free_valid),
    .free_sm_o          (free_sm),
    .free_slot_o        (free_slot),
    .free_slots_o       (free_slots),
    .give_sm_o          (give_sm),
    .give_kernel_o      (give_kernel),
    .ending_o           (ending)
  );

  dispatch_picker #(
    .NUM_SM      (NUM_SM),
    .MAX_KERNELS (K)
  ) i_dispatch_picker (
    .clk_i,
    .rst_ni,
    .can_take_i      (can_take),
    .older_i         (older),
    .round_robin_i,
    .in_order_i,
    .ready_i         (free_to_pick),
    .quota_changed_i,
    .profiling_i,
    .launched_i      (launched),
    .give_sm_i       (give_sm),
    .pending_o       (pending),
    .pick_valid_o    (pick_valid),
    .pick_sm_o       (pick_sm),
    .pick_kernel_o   (pick_kernel),
    .picked_sm_i     (sm_q),
    .charged_sm_i    (charged_sm),
    .charged_stale_i (charged_stale_q),
    .charged_room_i  (charged_room & charged_regions_q),
    .charged_full_i  (charged_full),
    .eval_o          (eval),
    .eval_sm_o       (eval_sm),
    .eval_index_o    (query_sm_o),
    .eval_room_i     (eval_room & (eval_regions | {K{!regions}})),
    .eval_full_i     (eval_full),
    .settled_o
  );

  assign regions      = regions_i && REGION_UNITS != 0;
  assign free_to_pick = !valid_q || dispatch_ready_i;
  assign valid_d      = pick_valid || (valid_q && !dispatch_ready_i);
  assign slot         = fresh_q ? take_slot : slot_q;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      fresh_q  <= 1'b0;
      sm_q     <= '0;
      kernel_q <= '0;
      slot_q   <= '0;
    end else begin
      valid_q <= valid_d;
      fresh_q <= pick_valid;
      if (free_to_pick) begin
        sm_q     <= pick_sm;
        kernel_q <= pick_kernel;
      end
      if (fresh_q) slot_q <= take_slot;
    end

  // Where quotas change, what is about to be charged or compared is so by the old ones. Looked at only with a CTA there: no reset.
  always_ff @(posedge clk_i) begin
    if (free_to_pick) with_regions_q <= regions;
    charge_stale_q    <= quota_changed_i;
    charged_stale_q   <= quota_changed_i || charge_stale_q;
    charge_regions_q  <= with_regions_q;
    charged_regions_q <= (check_regions & ~launched) | {K{!charge_regions_q}};   // not by the demand of the kernel before
  end

  logic [KIndexW-1:0] kernel;
  always_comb begin
    sm         = '0;
    slot_index = '0;
    kernel     = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (sm_q[m]) sm |= SmW'(m);
    for (int unsigned s = 0; s < MAX_CTAS; s++)
      if (slot[s]) slot_index |= SlotW'(s);
    for (int unsigned k = 0; k < K; k++)
      if (kernel_q[k]) kernel |= KIndexW'(k);
  end
  assign dispatch_valid_o  = valid_q;
  assign dispatch_sm_o     = sm;
  assign dispatch_kernel_o = kernel;
  assign dispatch_slot_o   = slot_index;

  // Regions, found in the CTA's first cycle at the port and kept while it waits.
  if (REGION_UNITS != 0) begin : gen_regions
    localparam int unsigned LenW  = $clog2(REGION_UNITS + 1);
    localparam int unsigned BaseW = $clog2(REGION_UNITS);

    // Units of the capacity, as of the last launch: it is stable while a slot is taken.
    logic [4:0]         register_shift_d, register_shift_q, shared_shift_d, shared_shift_q;
    logic [LenW-1:0]    register_total_d, register_total_q, shared_total_d, shared_total_q;
    logic [K*LenW-1:0]  register_length_d, register_length_q, shared_length_d, shared_length_q;
    logic [K-1:0]       register_fits, shared_fits;
    logic [BaseW-1:0]   register_found, register_base, register_base_q, shared_found, shared_base, shared_base_q;

    region_units #(.MAX_KERNELS(K), .UNITS(REGION_UNITS), .AmountW(RegW)) i_register_units (
      .capacity_i(capacity_registers_i), .demand_i(demand_registers_i), .shift_o(register_shift_d), .total_o(register_total_d),
      .length_o(register_length_d), .fits_o(register_fits));
    region_units #(.MAX_KERNELS(K), .UNITS(REGION_UNITS), .AmountW(SharedW)) i_shared_units (
      .capacity_i(capacity_shared_i), .demand_i(demand_shared_i), .shift_o(shared_shift_d), .total_o(shared_total_d),
      .length_o(shared_length_d), .fits_o(shared_fits));
    assign region_fits = register_fits & shared_fits;

    always_ff @(posedge clk_i) begin   // looked at only after a launch: no reset
      if (launched != '0) begin
        register_shift_q <= register_shift_d;
        register_total_q <= register_total_d;
        shared_shift_q   <= shared_shift_d;
        shared_total_q   <= shared_total_d;
      end
      for (int unsigned k = 0; k < K; k++)
        if (launched[k]) begin
          register_length_q[k*LenW +: LenW] <= register_length_d[k*LenW +: LenW];
          shared_length_q[k*LenW +: LenW]   <= shared_length_d[k*LenW +: LenW];
        end
    end
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) begin
        register_base_q <= '0;
        shared_base_q   <= '0;
      end else if (fresh_q) begin
        register_base_q <= register_found;
        shared_base_q   <= shared_found;
      end

    region_allocator #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .UNITS(REGION_UNITS)) i_region_allocator (
      .clk_i, .rst_ni, .total_i({shared_total_q, register_total_q}), .length_i({shared_length_q, register_length_q}),
      .take_valid_i(pick_valid), .take_sm_i(pick_sm), .take_slots_i(pick_slots),
      .alloc_valid_i(fresh_q), .alloc_region_i(with_regions_q), .alloc_sm_i(sm_q), .alloc_slot_i(take_slot), .alloc_kernel_i(kernel_q),
      .alloc_base_o({shared_found, register_found}), .check_valid_i(charge_sm != '0 && charge_regions_q), .check_sm_i(charge_sm), .check_fits_o(check_regions),
      .free_valid_i(free_valid), .free_sm_i(free_sm), .free_slot_i(free_slot), .free_slots_i(free_slots),
      .eval_i(eval), .eval_sm_i(eval_sm), .eval_used_i(eval_used), .eval_fits_o(eval_regions));

    assign register_base            = fresh_q ? register_found : register_base_q;
    assign shared_base              = fresh_q ? shared_found : shared_base_q;
    assign dispatch_register_base_o = RegW'(register_base) << register_shift_q;
    assign dispatch_shared_base_o   = SharedW'(shared_base) << shared_shift_q;
  end else begin : gen_no_regions
    assign region_fits              = '1;
    assign eval_regions             = '1;
    assign check_regions            = '1;
    assign dispatch_register_base_o = '0;
    assign dispatch_shared_base_o   = '0;
    logic unused_without_regions;
    assign unused_without_regions = ^{free_valid, free_sm, free_slot, free_slots, pick_slots, eval_used, charge_sm};
  end

  // Errors, first of a cycle in the order of the ports.
  logic               bad_done_q, cannot_fit_q, slot_busy_q, bad_kernel_q;
  logic [KIndexW-1:0] error_kernel_d, error_kernel_q;
  logic [SmW-1:0]     error_sm_q;
  logic [K-1:0]       blamed;
  always_comb begin
    blamed = bad_kernel;
    if (slot_busy != '0) blamed = slot_busy;
    if (cannot_fit != '0) blamed = cannot_fit;
    if (done_bad) blamed = '0;
    error_kernel_d = '0;
    for (int unsigned k = K; k > 0; k--)
      if (blamed[k-1]) error_kernel_d = KIndexW'(k - 1);
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      bad_done_q     <= 1'b0;
      cannot_fit_q   <= 1'b0;
      slot_busy_q    <= 1'b0;
      bad_kernel_q   <= 1'b0;
      error_kernel_q <= '0;
      error_sm_q     <= '0;
    end else begin
      bad_done_q     <= done_bad;
      cannot_fit_q   <= cannot_fit != '0;
      slot_busy_q    <= slot_busy != '0;
      bad_kernel_q   <= bad_kernel != '0;
      error_kernel_q <= error_kernel_d;
      error_sm_q     <= done_bad ? bad_sm : '0;
    end
  assign idle_o = !pending && stirring == '0 && !valid_q && !ending && !change_o && evict_done_o == '0
               && kernel_done_o == '0 && !bad_done_q && !cannot_fit_q && !slot_busy_q && !bad_kernel_q;
  assign bad_done_o     = bad_done_q;
  assign cannot_fit_o   = cannot_fit_q;
  assign slot_busy_o    = slot_busy_q;
  assign bad_kernel_o   = bad_kernel_q;
  assign error_kernel_o = error_kernel_q;
  assign error_sm_o     = error_sm_q;
endmodule
