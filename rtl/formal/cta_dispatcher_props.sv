// SPDX-License-Identifier: Apache-2.0
// Properties of cta_dispatcher: M SMs, two kernel slots, N CTA slots of an SM; with REGIONS four region units. Inputs are anything at all, a reset
// and an end of a CTA that never was included; assumed is only what docs/reference/blocks/cta_dispatcher.md asks of the neighbours: the capacity is stable
// from the cycle before a launch on while a kernel slot is taken, a descriptor while its own is, quotas are at most N and change with
// quota_changed_i only, as does regions_i. What the hardware should hold is rebuilt from the ports
// (who was started, which index comes next); the names with dots are the registers of the design, for the invariants that tie both.
module cta_dispatcher_props #(
  parameter int unsigned M = 2,   // SMs, at most 2
  parameter int unsigned N = 3,   // CTA slots, at most 4
  parameter int unsigned U = 0    // region units; 0: without regions
) (
  input logic                                     clk_i,
  input logic                                     rst_ni,
  input logic [sluice_pkg::WarpW-1:0]             capacity_warps_i,
  input logic [sluice_pkg::RegW-1:0]              capacity_registers_i,
  input logic [sluice_pkg::SharedW-1:0]           capacity_shared_i,
  input logic [sluice_pkg::CtaW-1:0]              capacity_slots_i,
  input logic [2*sluice_pkg::WarpW-1:0]           demand_warps_i,
  input logic [2*sluice_pkg::RegW-1:0]            demand_registers_i,
  input logic [2*sluice_pkg::SharedW-1:0]         demand_shared_i,
  input logic [2*sluice_pkg::GridW-1:0]           grid_i,
  input logic [1:0]                               repeat_i,
  input logic [1:0]                               launch_i,
  input logic [1:0]                               stop_i,
  input logic [1:0]                               evict_i,
  input logic [15:0]                              evict_count_i,
  input logic [1:0]                               resume_i,
  input logic                                     count_i,
  input logic                                     count_first_i,
  input logic [K-1:0]                             count_kernel_i,
  input logic                                     round_robin_i,
  input logic                                     in_order_i,
  input logic                                     regions_i,
  input logic [M-1:0]                             sm_enable_i,
  input logic [M-1:0]                             sm_ready_i,
  input logic [4*sluice_pkg::CtaW-1:0]            quota_i,          // of kernel k on SM m: field 2*m+k
  input logic                                     quota_changed_i,
  input logic                                     profiling_i,
  input logic                                     dispatch_ready_i,
  input logic                                     done_valid_i,
  input logic [sluice_pkg::SmW-1:0]               done_sm_i,
  input logic [sluice_pkg::SlotW-1:0]             done_slot_i
);
  localparam int unsigned K = 2;
  localparam int unsigned WarpW = sluice_pkg::WarpW, RegW = sluice_pkg::RegW, SharedW = sluice_pkg::SharedW, CtaW = sluice_pkg::CtaW;
  localparam int unsigned GridW = sluice_pkg::GridW, ResidentW = sluice_pkg::ResidentW, KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned SmW = sluice_pkg::SmW, SlotW = sluice_pkg::SlotW;

  logic [M-1:0]           query_sm, port_sm, sm_busy;
  logic [K*2-1:0]         state;
  logic [3:0]             num_present;
  logic [K*KIndexW-1:0]   age;
  logic                   change, bad_done, cannot_fit, slot_busy, bad_kernel, valid;
  logic [K*ResidentW-1:0] resident;
  logic [K*GridW-1:0]     dispatched;
  logic [K-1:0]           evict_done, kernel_done, gives_none;
  logic [M-1:0]           settled;
  logic [KIndexW-1:0]     error_kernel, kernel;
  logic [SmW-1:0]         error_sm, sm;
  logic [SlotW-1:0]       slot;
  logic [GridW-1:0]       cta;
  logic [RegW-1:0]        register_base;
  logic [SharedW-1:0]     shared_base;

  cta_dispatcher #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(N), .REGION_UNITS(U), .SM_ENABLE(1), .SM_READY(1)) dut (
    .clk_i, .rst_ni, .tag_rst_ni(rst_ni), .capacity_warps_i, .capacity_registers_i, .capacity_shared_i, .capacity_slots_i, .demand_warps_i, .demand_registers_i,
    .demand_shared_i, .grid_i, .repeat_i, .launch_i, .stop_i, .evict_i, .evict_count_i, .resume_i,
    .count_i, .count_first_i, .count_kernel_i, .round_robin_i, .in_order_i, .regions_i,
    .sm_enable_i, .sm_ready_i, .sm_busy_o(sm_busy),
    .query_sm_o(query_sm), .query_quota_i(query_sm[0] ? quota_i[K*CtaW-1:0] : quota_i[2*K*CtaW-1:K*CtaW]),
    .port_sm_o(port_sm), .port_quota_i(port_sm[0] ? quota_i[K*CtaW-1:0] : quota_i[2*K*CtaW-1:K*CtaW]), .quota_changed_i,
    .profiling_i, .settled_o(settled), .spent_o(gives_none), .slot_state_o(state), .num_present_o(num_present), .age_o(age), .change_o(change),
      .resident_o(resident), .dispatched_o(dispatched),
    .evict_done_o(evict_done), .kernel_done_o(kernel_done), .bad_done_o(bad_done), .cannot_fit_o(cannot_fit), .slot_busy_o(slot_busy),
    .bad_kernel_o(bad_kernel), .error_kernel_o(error_kernel), .error_sm_o(error_sm), .dispatch_valid_o(valid), .dispatch_ready_i,
    .dispatch_sm_o(sm), .dispatch_kernel_o(kernel), .dispatch_slot_o(slot), .dispatch_cta_o(cta), .dispatch_register_base_o(register_base),
    .dispatch_shared_base_o(shared_base), .done_valid_i, .done_sm_i, .done_slot_i);

  // Registers of the design.
  localparam int unsigned CountW = $clog2(N + 1), AmountW = WarpW + RegW + SharedW, LeftW = $clog2(M * N + 1);
  (* hierconn *) logic [M*AmountW-1:0]   \dut.i_sm_resource_table.amounts ;
  (* hierconn *) logic [M*2*N-1:0]       \dut.i_sm_resource_table.slots ;
  (* hierconn *) logic [K*CountW-1:0]    \dut.i_sm_resource_table.a_quota_q ;
  (* hierconn *) logic [M-1:0]           \dut.i_sm_resource_table.written_q , \dut.i_sm_resource_table.charge_sm_q , \dut.i_sm_resource_table.charged_sm_q ;
  (* hierconn *) logic [M-1:0]           \dut.i_sm_resource_table.i_end.end_sm_q , \dut.i_sm_resource_table.i_end.release_sm_q , \dut.i_sm_resource_table.i_end.credit_sm_q ;
  (* hierconn *) logic [K-1:0]           \dut.i_sm_resource_table.charge_kernel_q , \dut.i_sm_resource_table.a_room_q , \dut.i_sm_resource_table.i_end.release_kernel_q ;
  (* hierconn *) logic                   \dut.i_sm_resource_table.charge_q , \dut.i_sm_resource_table.i_end.end_valid_q ,
    \dut.i_sm_resource_table.i_end.end_wait_q ;
  (* hierconn *) logic [N-1:0]           \dut.i_sm_resource_table.i_end.end_slot_q ;
  (* hierconn *) logic [AmountW-1:0]     \dut.i_sm_resource_table.a_left_q , \dut.i_sm_resource_table.admit_q , \dut.i_sm_resource_table.charged_q ;
  (* hierconn *) logic [AmountW-1:0]     \dut.i_sm_resource_table.b_left_q , \dut.i_sm_resource_table.i_end.left_q , \dut.i_sm_resource_table.i_end.change_q ;
  (* hierconn *) logic [2*N-1:0]         \dut.i_sm_resource_table.a_slots_q ;
  (* hierconn *) logic [K*CountW-1:0]    \dut.i_sm_resource_table.b_resident_q , \dut.i_sm_resource_table.b_quota_q ;
  (* hierconn *) logic [CountW-1:0]      \dut.i_sm_resource_table.b_count_q ;
  (* hierconn *) logic [K*M-1:0]         \dut.i_dispatch_picker.room_q ;
  (* hierconn *) logic [M-1:0]           \dut.i_dispatch_picker.eval_q , \dut.i_dispatch_picker.answer_q , \dut.i_dispatch_picker.busy_q ;
  (* hierconn *) logic                   \dut.i_dispatch_picker.new_q , \dut.i_sm_resource_table.charged_full_q ;
  (* hierconn *) logic [GridW-1:0]       \dut.i_kernel_slots.i_grid_index.next_q[0] , \dut.i_kernel_slots.i_grid_index.next_q[1] ;
  (* hierconn *) logic [K-1:0]           \dut.i_kernel_slots.i_grid_index.last_q , \dut.i_kernel_slots.i_grid_index.second_q ,
    \dut.i_kernel_slots.i_grid_index.next_ones_q , \dut.i_kernel_slots.i_grid_index.port_q , \dut.i_kernel_slots.i_grid_index.count_q ;
  (* hierconn *) logic [M-1:0]           \dut.eval_slots_sm ;
  (* hierconn *) logic                   \dut.pick_valid , \dut.fresh , \dut.charge_stale_q , \dut.charged_stale_q ;
  (* hierconn *) logic [M-1:0]           \dut.pick_sm , \dut.port_sm ;
  (* hierconn *) logic [K-1:0]           \dut.can_admit , \dut.pick_kernel , \dut.port_kernel ;
  (* hierconn *) logic [N-1:0]           \dut.i_dispatch_port.slot_q ;
  (* hierconn *) logic [K*K-1:0]         \dut.older ;
  (* hierconn *) logic                   \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.hold_q , \dut.i_kernel_slots.gen_slot[1].i_kernel_slot.hold_q ;
  (* hierconn *) logic                   \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.finished_q , \dut.i_kernel_slots.gen_slot[1].i_kernel_slot.finished_q ;
  (* hierconn *) logic                   \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.evict_q , \dut.i_kernel_slots.gen_slot[1].i_kernel_slot.evict_q ;
  (* hierconn *) logic [LeftW-1:0]       \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.evict_left_q , \dut.i_kernel_slots.gen_slot[1].i_kernel_slot.evict_left_q ;

  logic started;   // past the first cycle
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;

  // The neighbours.
  logic [4*CtaW-1:0]                              quota_q;
  logic                                           up_q;
  logic [K*AmountW-1:0]                           descriptor_q;
  logic [K*GridW-1:0]                             grid_before_q;
  logic [WarpW+RegW+SharedW+CtaW-1:0]             capacity, capacity_q;
  assign capacity = {capacity_warps_i, capacity_registers_i, capacity_shared_i, capacity_slots_i};
  always_ff @(posedge clk_i) begin
    quota_q    <= quota_i;
    up_q       <= rst_ni;
    for (int unsigned k = 0; k < K; k++)
      descriptor_q[k*AmountW +: AmountW] <= {demand_shared_i[k*SharedW +: SharedW], demand_registers_i[k*RegW +: RegW], demand_warps_i[k*WarpW +: WarpW]};
    grid_before_q <= grid_i;
    capacity_q <= capacity;
  end
  // The rows of the table: what is left; that of one that was not written is the capacity. The capacity is that of the cycle before: where a kernel is
  // present it is this one's, too.
  logic [AmountW-1:0] capacity_left;
  assign capacity_left = {capacity_q[CtaW +: SharedW], capacity_q[CtaW+SharedW +: RegW], capacity_q[CtaW+SharedW+RegW +: WarpW]};
  logic [M*AmountW-1:0] row;
  logic [M*N-1:0]       slot_used, owner;   // owner: kernel of each slot (there are two)
  always_comb begin
    for (int unsigned m = 0; m < M; m++) begin
      slot_used[m*N +: N]         = \dut.i_sm_resource_table.slots [m*2*N +: N];
      owner[m*N +: N]             = \dut.i_sm_resource_table.slots [m*2*N + N +: N];
      row[m*AmountW +: AmountW]   = \dut.i_sm_resource_table.written_q [m] ? \dut.i_sm_resource_table.amounts [m*AmountW +: AmountW] : capacity_left;
    end
  end

  always_comb begin
    if (!started) assume (!rst_ni);
    assume (capacity_slots_i <= CtaW'(N));
    if (started && (state != '0 || launch_i != '0)) assume (capacity == capacity_q);
    if (started && !quota_changed_i) assume (quota_i == quota_q);
    assume (!count_i || (started && quota_i == '0 && quota_q == '0));
    for (int unsigned i = 0; i < M*K; i++) assume (quota_i[i*CtaW +: CtaW] <= CtaW'(N));
    if (started) assume (up_q || launch_i == '0);
    for (int unsigned k = 0; k < K; k++)   // sluice_csr: a descriptor holds while its slot is busy, and was written three cycles before its launch
      if (started && (state[k*2 +: 2] != 2'd0 || launch_i[k])) assume (demand_warps_i[k*WarpW +: WarpW] == descriptor_q[k*AmountW +: WarpW]
        && demand_registers_i[k*RegW +: RegW] == descriptor_q[k*AmountW + WarpW +: RegW]
        && demand_shared_i[k*SharedW +: SharedW] == descriptor_q[k*AmountW + WarpW + RegW +: SharedW]
        && grid_i[k*GridW +: GridW] == grid_before_q[k*GridW +: GridW]);
  end

  // Rebuilt from the ports: CTAs that were started and have not ended, the index that each kernel has to send next.
  logic [M*N-1:0]       runs;
  logic [K*GridW-1:0]   expected;
  logic                 starts, ends;
  logic [2:0]           place, end_place;   // SM * N + slot
  assign starts    = valid && dispatch_ready_i;
  assign place     = 3'(sm[0] ? N : 0) + 3'(slot[1:0]);
  assign end_place = (done_sm_i < SmW'(M) && done_slot_i < SlotW'(N)) ? 3'(done_sm_i[0] ? N : 0) + 3'(done_slot_i[1:0]) : 3'd0;
  assign ends      = done_valid_i && done_sm_i < SmW'(M) && done_slot_i < SlotW'(N) && runs[end_place];

  logic [K*GridW-1:0] grid;   // as launched
  for (genvar k = 0; k < K; k++) begin : gen_kernel
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) begin
        expected[k*GridW +: GridW] <= '0;
        grid[k*GridW +: GridW]     <= '0;
      end else if (state[k*2 +: 2] == 2'd0) begin
        expected[k*GridW +: GridW] <= '0;
        if (launch_i[k]) grid[k*GridW +: GridW] <= grid_i[k*GridW +: GridW];
      end else if (starts && kernel == KIndexW'(k)) begin
        expected[k*GridW +: GridW] <= (cta + 1'b1 == grid[k*GridW +: GridW]) ? '0 : cta + 1'b1;
      end
  end
  for (genvar i = 0; i < M*N; i++) begin : gen_runs
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni)                                     runs[i] <= 1'b0;
      else if (starts && place == 3'(i))               runs[i] <= 1'b1;
      else if (ends && end_place == 3'(i))             runs[i] <= 1'b0;
  end

  // Ends on their way: the slot of one that came in the cycle before is left in this one, the one behind it is counted, the last is credited.
  logic           leaves_q, counted_q, credited_q, bad_done_before;
  logic [2:0]     leaves_place_q;
  logic [M-1:0]   counted_sm_q, credited_sm_q;
  logic           counted_kernel_q, credited_kernel_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      leaves_q    <= 1'b0;
      counted_q  <= 1'b0;
      credited_q <= 1'b0;
    end else begin
      leaves_q    <= ends;
      counted_q  <= leaves_q;
      credited_q <= counted_q;
    end
  always_ff @(posedge clk_i) begin
    leaves_place_q     <= end_place;
    bad_done_before   <= done_valid_i && !ends && rst_ni;
    counted_sm_q      <= M'(1) << (leaves_place_q >= 3'(N));
    counted_kernel_q  <= owner[leaves_place_q];
    credited_sm_q     <= counted_sm_q;
    credited_kernel_q <= counted_kernel_q;
  end

  // What a CTA of each kernel takes, and the rows of what the CTAs hold that have a slot, of those whose end is not credited, and of the one that is new
  // at the port (fresh). Wide enough to add up.
  localparam int unsigned SumW = RegW + SharedW + WarpW + 9;   // {shared, registers, warps} with three bits more each
  function automatic logic [SumW-1:0] widened(input logic [AmountW-1:0] a);
    widened = {3'd0, a[WarpW+RegW +: SharedW], 3'd0, a[WarpW +: RegW], 3'd0, a[0 +: WarpW]};
  endfunction
  function automatic logic within(input logic [SumW-1:0] a, input logic [SumW-1:0] b);   // of every resource a is at most b
    within = a[0 +: WarpW+3] <= b[0 +: WarpW+3] && a[WarpW+3 +: RegW+3] <= b[WarpW+3 +: RegW+3] && a[WarpW+RegW+6 +: SharedW+3] <= b[WarpW+RegW+6 +: SharedW+3];
  endfunction
  logic [K*AmountW-1:0]          demand;
  logic [M*N-1:0]                waiting;     // at the port
  logic [M*SumW-1:0]             holding, owed, fresh;
  logic [K*GridW-1:0]            given, index;   // the index of the CTA of each kernel that is at the port, or comes there next; and is picked next
  logic [M*K*CtaW-1:0]           count;
  logic [K*ResidentW-1:0]        total;
  logic [M*CtaW-1:0]             ctas;
  logic [SumW-1:0]               capacity_sum;
  assign capacity_sum = widened({capacity_shared_i, capacity_registers_i, capacity_warps_i});
  always_comb begin
    holding = '0;
    owed    = '0;
    fresh   = '0;
    count   = '0;
    total   = '0;
    ctas    = '0;
    waiting = '0;
    if (valid) waiting[place] = 1'b1;
    for (int unsigned k = 0; k < K; k++) begin
      demand[k*AmountW +: AmountW] = {demand_shared_i[k*SharedW +: SharedW], demand_registers_i[k*RegW +: RegW], demand_warps_i[k*WarpW +: WarpW]};
      given[k*GridW +: GridW]      = k == 0 ? \dut.i_kernel_slots.i_grid_index.next_q[0] : \dut.i_kernel_slots.i_grid_index.next_q[1] ;
      index[k*GridW +: GridW]      = given[k*GridW +: GridW];
      if (valid && kernel == KIndexW'(k))
        index[k*GridW +: GridW] = (given[k*GridW +: GridW] + 1'b1 == grid[k*GridW +: GridW]) ? '0 : given[k*GridW +: GridW] + 1'b1;
    end
    for (int unsigned m = 0; m < M; m++)
      for (int unsigned k = 0; k < K; k++) begin
        for (int unsigned s = 0; s < N; s++)
          if (slot_used[m*N + s] && owner[m*N + s] == k[0]) begin
            holding[m*SumW +: SumW]            = holding[m*SumW +: SumW] + widened(demand[k*AmountW +: AmountW]);
            count[(m*K + k)*CtaW +: CtaW]   = count[(m*K + k)*CtaW +: CtaW] + 1'b1;
            total[k*ResidentW +: ResidentW] = total[k*ResidentW +: ResidentW] + 1'b1;
            ctas[m*CtaW +: CtaW]            = ctas[m*CtaW +: CtaW] + 1'b1;
          end
        if (counted_q && counted_sm_q[m] && counted_kernel_q == k[0])    owed[m*SumW +: SumW] = owed[m*SumW +: SumW] + widened(demand[k*AmountW +: AmountW]);
        if (credited_q && credited_sm_q[m] && credited_kernel_q == k[0]) owed[m*SumW +: SumW] = owed[m*SumW +: SumW] + widened(demand[k*AmountW +: AmountW]);
        if (\dut.fresh && sm == SmW'(m) && kernel == KIndexW'(k))     fresh[m*SumW +: SumW] = widened(demand[k*AmountW +: AmountW]);
      end
  end

  // Lane A's registers: what it read of the slots, with the CTA that it charges.
  logic [K*CtaW-1:0]   a_count;
  logic [CtaW-1:0]     a_ctas;
  logic [AmountW-1:0]  charge_demand, credit_demand;
  always_comb begin
    a_count = '0;
    a_ctas  = '0;
    charge_demand = '0;
    credit_demand = '0;
    for (int unsigned k = 0; k < K; k++) begin
      for (int unsigned s = 0; s < N; s++)
        if (\dut.i_sm_resource_table.a_slots_q [s] && \dut.i_sm_resource_table.a_slots_q [N + s] == k[0]) begin
          a_count[k*CtaW +: CtaW] = a_count[k*CtaW +: CtaW] + 1'b1;
          a_ctas                  = a_ctas + 1'b1;
        end
      if (\dut.i_sm_resource_table.charge_kernel_q [k]) begin
        a_count[k*CtaW +: CtaW] = a_count[k*CtaW +: CtaW] + 1'b1;
        a_ctas                  = a_ctas + 1'b1;
        charge_demand           = charge_demand | demand[k*AmountW +: AmountW];
      end
      if (credited_kernel_q == k[0]) credit_demand = credit_demand | demand[k*AmountW +: AmountW];
    end
  end

  logic ok_last_index_is_known, ok_lane_a_is_of_its_sm, ok_lane_d_is_of_its_sm, ok_answer_is_not_optimistic, ok_verdict_is_not_optimistic;
  logic ok_an_end_names_its_slot, ok_used_is_the_sum_over_ctas, ok_no_resource_over_allocated, ok_slot_is_one_of_the_sm,
    ok_remembered_room_is_there, ok_charge_knows_the_quotas, ok_quota_never_exceeded, ok_resident_counts_all_sms,
    ok_a_free_slot_has_no_cta, ok_slot_state_exists, ok_a_launched_cta_fits_an_empty_sm, ok_no_cta_lost_or_sent_twice, ok_index_is_next,
    ok_index_stays_in_the_grid, ok_in_order_the_older_go_first;
  always_comb begin
    ok_lane_a_is_of_its_sm = 1'b1;
    ok_lane_d_is_of_its_sm = 1'b1;
    ok_answer_is_not_optimistic = 1'b1;
    ok_verdict_is_not_optimistic = 1'b1;
    ok_last_index_is_known = 1'b1;
    ok_used_is_the_sum_over_ctas = 1'b1;
    // The slot that is left is the one that ended, or there is none.
    ok_an_end_names_its_slot = !leaves_q || (\dut.i_sm_resource_table.i_end.end_valid_q && !\dut.i_sm_resource_table.i_end.end_wait_q );
    for (int unsigned m = 0; m < M; m++)
      for (int unsigned s = 0; s < N; s++)
        if (\dut.i_sm_resource_table.i_end.end_valid_q && !\dut.i_sm_resource_table.i_end.end_wait_q && \dut.i_sm_resource_table.i_end.end_sm_q [m]
          && \dut.i_sm_resource_table.i_end.end_slot_q [s] && slot_used[m*N + s] && !(leaves_q && leaves_place_q == 3'(m*N + s)))
          ok_an_end_names_its_slot = 1'b0;
    if (leaves_q && (\dut.i_sm_resource_table.i_end.end_sm_q != M'(1) << (leaves_place_q >= 3'(N))
      || \dut.i_sm_resource_table.i_end.end_slot_q != N'(1) << (leaves_place_q >= 3'(N) ? leaves_place_q - 3'(N) : leaves_place_q)))
      ok_an_end_names_its_slot = 1'b0;
    ok_no_resource_over_allocated = 1'b1;
    ok_slot_is_one_of_the_sm = 1'b1;
    ok_remembered_room_is_there = 1'b1;
    ok_charge_knows_the_quotas = 1'b1;
    ok_quota_never_exceeded = 1'b1;
    ok_resident_counts_all_sms = 1'b1;
    ok_a_free_slot_has_no_cta = 1'b1;
    ok_slot_state_exists = 1'b1;
    ok_a_launched_cta_fits_an_empty_sm = 1'b1;
    ok_no_cta_lost_or_sent_twice = 1'b1;
    ok_index_is_next = 1'b1;
    ok_index_stays_in_the_grid = 1'b1;
    ok_in_order_the_older_go_first = !(in_order_i && \dut.pick_valid  && ((\dut.pick_kernel [0] && \dut.can_admit [1] && \dut.older [2])
                                                                    || (\dut.pick_kernel [1] && \dut.can_admit [0] && \dut.older [1])));
    // The table is the sum of its CTAs, less the one that is charged in this cycle, with those whose end is not credited.
    for (int unsigned m = 0; m < M; m++) begin
      if (widened(row[m*AmountW +: AmountW]) + holding[m*SumW +: SumW] + owed[m*SumW +: SumW]
        != widened(capacity_left) + (\dut.i_sm_resource_table.charge_sm_q [m] ? widened(charge_demand) : '0))
        ok_used_is_the_sum_over_ctas = 1'b0;
      if (state != '0 && !(within(holding[m*SumW +: SumW] + owed[m*SumW +: SumW] + fresh[m*SumW +: SumW], capacity_sum)
          && ctas[m*CtaW +: CtaW] + CtaW'(\dut.fresh && \dut.port_sm [m]) <= capacity_slots_i)) ok_no_resource_over_allocated = 1'b0;
      for (int unsigned s = 0; s < N; s++)
        if (!(!(slot_used[m*N + s] || waiting[m*N + s]) || CtaW'(s) < capacity_slots_i || state == '0)) ok_slot_is_one_of_the_sm = 1'b0;
      // What the lanes carry from one cycle to the next.
      if (\dut.i_sm_resource_table.charge_sm_q [m] && (\dut.i_sm_resource_table.a_left_q != row[m*AmountW +: AmountW]
        || \dut.i_sm_resource_table.admit_q != charge_demand || a_ctas < ctas[m*CtaW +: CtaW] || a_ctas > CtaW'(N)))
        ok_lane_a_is_of_its_sm = 1'b0;
      if (\dut.i_sm_resource_table.i_end.credit_sm_q [m] && (\dut.i_sm_resource_table.i_end.left_q != row[m*AmountW +: AmountW]
        || \dut.i_sm_resource_table.i_end.change_q != (\dut.i_sm_resource_table.charge_sm_q [m] ? {credit_demand[WarpW+RegW +: SharedW] - charge_demand[WarpW+RegW +: SharedW],
             credit_demand[WarpW +: RegW] - charge_demand[WarpW +: RegW], credit_demand[0 +: WarpW] - charge_demand[0 +: WarpW]} : credit_demand)))
        ok_lane_d_is_of_its_sm = 1'b0;
      if ((slot_used[m*N +: N] != '0 || \dut.i_sm_resource_table.i_end.release_sm_q [m]) && !\dut.i_sm_resource_table.written_q [m] && !\dut.i_sm_resource_table.charge_sm_q [m])
        ok_lane_d_is_of_its_sm = 1'b0;   // a row that has a CTA was written, and so one where a CTA ended
      if (\dut.i_dispatch_picker.answer_q [m] && !\dut.i_dispatch_picker.busy_q [m]
        && ((state != '0 && !within(holding[m*SumW +: SumW] + owed[m*SumW +: SumW] + widened(\dut.i_sm_resource_table.b_left_q ), capacity_sum))
        || CtaW'(\dut.i_sm_resource_table.b_count_q ) < ctas[m*CtaW +: CtaW]))
        ok_answer_is_not_optimistic = 1'b0;
      if (\dut.i_sm_resource_table.charged_sm_q [m] && state != '0
        && !within(holding[m*SumW +: SumW] + owed[m*SumW +: SumW] + widened(\dut.i_sm_resource_table.charged_q ), capacity_sum)) ok_verdict_is_not_optimistic = 1'b0;
      for (int unsigned k = 0; k < K; k++) begin
        if (\dut.i_sm_resource_table.charge_sm_q [m] && a_count[k*CtaW +: CtaW] < count[(m*K + k)*CtaW +: CtaW]) ok_lane_a_is_of_its_sm = 1'b0;
        if (\dut.i_dispatch_picker.answer_q [m] && !\dut.i_dispatch_picker.busy_q [m]
          && (CtaW'(\dut.i_sm_resource_table.b_resident_q [k*CountW +: CountW]) < count[(m*K + k)*CtaW +: CtaW]
            || CtaW'(\dut.i_sm_resource_table.b_quota_q [k*CountW +: CountW]) != quota_q[(m*K + k)*CtaW +: CtaW]))
          ok_answer_is_not_optimistic = 1'b0;
        if (\dut.i_sm_resource_table.charged_sm_q [m] && !\dut.charged_stale_q && \dut.i_sm_resource_table.a_room_q [k]
          && !(ctas[m*CtaW +: CtaW] < capacity_slots_i && count[(m*K + k)*CtaW +: CtaW] < quota_q[(m*K + k)*CtaW +: CtaW]) && state != '0)
          ok_verdict_is_not_optimistic = 1'b0;
        // The quotas of the SM that is charged are those of the cycle before.
        if (\dut.i_sm_resource_table.charge_sm_q [m] && CtaW'(\dut.i_sm_resource_table.a_quota_q [k*CountW +: CountW]) != quota_q[(m*K + k)*CtaW +: CtaW])
          ok_charge_knows_the_quotas = 1'b0;
        // What the picker remembers is true: one more fits, under the quota in force.
        if (!(!\dut.i_dispatch_picker.room_q [k*M + m] || \dut.i_dispatch_picker.busy_q [m] || state[k*2 +: 2] == 2'd0
            || (within(holding[m*SumW +: SumW] + owed[m*SumW +: SumW] + widened(demand[k*AmountW +: AmountW]), capacity_sum)
             && ctas[m*CtaW +: CtaW] < capacity_slots_i
             && count[(m*K + k)*CtaW +: CtaW] < quota_q[(m*K + k)*CtaW +: CtaW]))) ok_remembered_room_is_there = 1'b0;
        if (!(!(\dut.pick_valid && \dut.pick_sm [m] && \dut.pick_kernel [k])
            || count[(m*K + k)*CtaW +: CtaW] < quota_i[(m*K + k)*CtaW +: CtaW])) ok_quota_never_exceeded = 1'b0;
      end
    end
    for (int unsigned k = 0; k < K; k++) begin
      if (resident[k*ResidentW +: ResidentW] != total[k*ResidentW +: ResidentW] + ResidentW'(counted_q && counted_kernel_q == k[0])) ok_resident_counts_all_sms = 1'b0;
      if (!(state[k*2 +: 2] != 2'd0 || (total[k*ResidentW +: ResidentW] == '0 && !(counted_q && counted_kernel_q == k[0]) && !(credited_q && credited_kernel_q == k[0])
          && !(valid && kernel == KIndexW'(k)) && !(\dut.i_sm_resource_table.charge_q && \dut.i_sm_resource_table.charge_kernel_q [k])))) ok_a_free_slot_has_no_cta = 1'b0;
      if (!(state[k*2 +: 2] != 2'd3)) ok_slot_state_exists = 1'b0;
      if (state[k*2 +: 2] != 2'd0 && !within(widened(demand[k*AmountW +: AmountW]), capacity_sum)) ok_a_launched_cta_fits_an_empty_sm = 1'b0;
      // Indices leave in order: with the one at the port they are exactly those admitted.
      if (!(state[k*2 +: 2] == 2'd0
          || index[k*GridW +: GridW] == ((valid && kernel == KIndexW'(k)) ? ((cta + 1'b1 == grid[k*GridW +: GridW]) ? '0 : cta + 1'b1)
          : expected[k*GridW +: GridW]))) ok_no_cta_lost_or_sent_twice = 1'b0;
      if (state[k*2 +: 2] != 2'd0 && (given[k*GridW +: GridW] >= grid[k*GridW +: GridW]
          || \dut.i_kernel_slots.i_grid_index.next_ones_q [k] != given[k*GridW]
          || \dut.i_kernel_slots.i_grid_index.last_q [k] != (given[k*GridW +: GridW] + 1'b1 == grid[k*GridW +: GridW])
          || \dut.i_kernel_slots.i_grid_index.second_q [k] != (given[k*GridW +: GridW] + 1'b1 == grid[k*GridW +: GridW] ? grid[k*GridW +: GridW] == GridW'(1)
          : given[k*GridW +: GridW] + GridW'(2) == grid[k*GridW +: GridW])))
        ok_last_index_is_known = 1'b0;
      if (!(!(valid && kernel == KIndexW'(k)) || (cta == expected[k*GridW +: GridW] && cta < grid[k*GridW +: GridW]))) ok_index_is_next = 1'b0;
      if (!(state[k*2 +: 2] == 2'd0 || expected[k*GridW +: GridW] < grid[k*GridW +: GridW])) ok_index_stays_in_the_grid = 1'b0;
    end
    if (started) begin
      slots_are_the_ctas_that_run_or_wait: assert (slot_used == (runs | (\dut.fresh ? '0 : waiting) | (leaves_q ? (M*N)'(1) << leaves_place_q : '0)));
      a_cta_waits_where_none_runs: assert ((runs & waiting) == '0 && (!\dut.fresh || (slot_used & waiting) == '0) && (!leaves_q
        || !runs[leaves_place_q]) && (!leaves_q || !waiting[leaves_place_q]));
      port_names_what_exists: assert (valid ? sm < SmW'(M) && slot < SlotW'(N) && kernel < KIndexW'(K) && state[kernel[0]*2 +: 2] != 2'd0
        && (\dut.fresh || owner[place] == kernel[0]) && \dut.port_sm == M'(1) << sm[0] && (\dut.fresh || \dut.i_dispatch_port.slot_q == N'(1) << slot[1:0])
        && \dut.port_kernel == K'(1) << kernel[0] : \dut.port_sm == '0 && \dut.port_kernel == '0);
      busy_is_what_is_on_its_way: assert (\dut.i_dispatch_picker.busy_q == ((\dut.fresh ? \dut.port_sm 
        : '0) | \dut.i_sm_resource_table.charge_sm_q | \dut.i_sm_resource_table.charged_sm_q )
        && (!\dut.fresh || (\dut.port_sm & (\dut.i_sm_resource_table.charge_sm_q | \dut.i_sm_resource_table.charged_sm_q )) == '0)
        && (\dut.i_sm_resource_table.charge_sm_q & \dut.i_sm_resource_table.charged_sm_q ) == '0
        && (\dut.i_sm_resource_table.charge_sm_q & (\dut.i_sm_resource_table.charge_sm_q - 1'b1)) == '0
        && (\dut.i_sm_resource_table.charged_sm_q & (\dut.i_sm_resource_table.charged_sm_q - 1'b1)) == '0
        && \dut.i_sm_resource_table.charge_q == (\dut.i_sm_resource_table.charge_sm_q != '0)
        && (\dut.i_sm_resource_table.charge_q ? \dut.i_kernel_slots.i_grid_index.count_q == \dut.i_sm_resource_table.charge_kernel_q
          && (\dut.i_sm_resource_table.charge_kernel_q == K'(1) || \dut.i_sm_resource_table.charge_kernel_q == K'(2))
        : \dut.i_kernel_slots.i_grid_index.count_q == '0));
      each_end_is_counted_and_credited: assert ((!leaves_q || {1'b0, leaves_place_q} < 4'(M * N)) && (!counted_q || (counted_sm_q != '0
        && (counted_sm_q & (counted_sm_q - 1'b1)) == '0))
        && (!credited_q || (credited_sm_q != '0 && (credited_sm_q & (credited_sm_q - 1'b1)) == '0))
        && \dut.i_sm_resource_table.i_end.release_sm_q == (counted_q ? counted_sm_q : '0)
        && \dut.i_sm_resource_table.i_end.release_kernel_q == (counted_q ? K'(1) << counted_kernel_q : '0)
        && \dut.i_sm_resource_table.i_end.credit_sm_q == (credited_q ? credited_sm_q : '0));
      an_end_names_its_slot: assert (ok_an_end_names_its_slot
        && (!rst_ni || (\dut.i_sm_resource_table.i_end.end_valid_q == (leaves_q || bad_done_before) && !(leaves_q && bad_done_before))));
      lane_a_is_of_its_sm: assert (ok_lane_a_is_of_its_sm);
      lane_d_is_of_its_sm: assert (ok_lane_d_is_of_its_sm);
      answer_is_not_optimistic: assert (ok_answer_is_not_optimistic);
      verdict_is_not_optimistic: assert (ok_verdict_is_not_optimistic);
      one_sm_is_read: assert (query_sm == \dut.i_dispatch_picker.eval_q && (!rst_ni || query_sm == '0 || \dut.eval_slots_sm == query_sm)
        && (\dut.i_dispatch_picker.eval_q & (\dut.i_dispatch_picker.eval_q - 1'b1)) == '0
        && (\dut.i_dispatch_picker.answer_q & (\dut.i_dispatch_picker.answer_q - 1'b1)) == '0);
      last_index_is_known: assert (ok_last_index_is_known);
      what_is_fresh_is_valid: assert ((!\dut.fresh || valid) && (!rst_ni || \dut.i_kernel_slots.i_grid_index.port_q == \dut.port_kernel ));
      when_nothing_runs_all_is_free: assert ((runs | waiting) != '0 || leaves_q || counted_q || credited_q || \dut.i_sm_resource_table.charge_q || (row == {M{capacity_left}}
        && resident == '0));
      reset_is_clean: assert (rst_ni || (state == '0 && resident == '0 && !valid && !change && !bad_done && !cannot_fit && !slot_busy && !bad_kernel
        && evict_done == '0 && kernel_done == '0 && num_present == '0 && slot_used == '0 && \dut.i_dispatch_picker.busy_q == '0
        && \dut.i_sm_resource_table.i_end.release_sm_q == '0 && \dut.i_sm_resource_table.i_end.credit_sm_q == '0 && \dut.i_dispatch_picker.room_q == '0
        && settled == '0 && gives_none == '0));
      used_is_the_sum_over_ctas: assert (ok_used_is_the_sum_over_ctas);
      no_resource_over_allocated: assert (ok_no_resource_over_allocated);
      slot_is_one_of_the_sm: assert (ok_slot_is_one_of_the_sm);
      remembered_room_is_there: assert (ok_remembered_room_is_there);
      charge_knows_the_quotas: assert (ok_charge_knows_the_quotas);
      age_is_an_order: assert (!\dut.older [0] && !\dut.older [3] && (state == '0 || \dut.older [1] != \dut.older [2]));
      quota_never_exceeded: assert (ok_quota_never_exceeded);
      resident_counts_all_sms: assert (ok_resident_counts_all_sms);
      a_free_slot_has_no_cta: assert (ok_a_free_slot_has_no_cta);
      slot_state_exists: assert (ok_slot_state_exists);
      a_launched_cta_fits_an_empty_sm: assert (ok_a_launched_cta_fits_an_empty_sm);
      no_cta_lost_or_sent_twice: assert (ok_no_cta_lost_or_sent_twice);
      index_is_next: assert (ok_index_is_next);
      index_stays_in_the_grid: assert (ok_index_stays_in_the_grid);
      in_order_the_older_go_first: assert (ok_in_order_the_older_go_first);
    end
  end

  // Pairs of cycles.
  logic                   was_up, waited, past_bad_done;
  logic [SmW+KIndexW+SlotW+GridW+RegW+SharedW-1:0] port, port_q;
  logic [K*2-1:0]         state_q;
  logic [K*ResidentW-1:0] resident_q;
  logic [K-1:0]           asked_q;                 // to evict, and not FREE
  logic [K-1:0]           held, over, over_q;      // held: an eviction and no resume since
  logic [K*16-1:0]        left;                    // CTAs that an eviction still waits for
  logic [K-1:0]           evicting;
  logic [K-1:0]           empty, empty_q;
  logic [K-1:0]           spent, spent_q;                   // its last CTA was admitted, and it does not repeat
  logic [K-1:0]           evicting_q, ended, ended_q;
  logic [K*16-1:0]        evict_left, present;
  logic [K*16-1:0]        rank, rank_q;            // ends that an eviction waits for, at most
  assign port = {sm, kernel, slot, cta, register_base, shared_base};
  always_ff @(posedge clk_i) begin
    was_up        <= rst_ni;
    waited        <= valid && !dispatch_ready_i;
    port_q        <= port;
    past_bad_done <= bad_done_before;
    state_q       <= state;
    resident_q    <= resident;
    rank_q        <= rank;
    evicting_q    <= evicting & ~resume_i & ~evict_i;
    ended_q       <= ended;
    spent_q       <= spent;
    empty_q       <= empty;
    over_q        <= over & ~resume_i & ~evict_i;
  end
  for (genvar k = 0; k < K; k++) begin : gen_evict
    logic taken;
    assign taken   = evict_i[k] && state[k*2 +: 2] != 2'd0;
    always_ff @(posedge clk_i) asked_q[k] <= taken;
    assign ended[k] = counted_q && counted_kernel_q == k[0];   // that its kernel gets to know
    assign present[k*16 +: 16] = 16'(resident[k*ResidentW +: ResidentW]) + 16'(\dut.fresh && kernel == KIndexW'(k));
    assign rank[k*16 +: 16] = (evict_left[k*16 +: 16] < present[k*16 +: 16]) ? evict_left[k*16 +: 16] : present[k*16 +: 16];
    assign empty[k] = resident[k*ResidentW +: ResidentW] == '0 && !(\dut.fresh && kernel == KIndexW'(k));
    assign over[k] = evicting[k] && state[k*2 +: 2] != 2'd0 && (left[k*16 +: 16] == '0 || empty[k]);
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) begin
        held[k]          <= 1'b0;
        evicting[k]      <= 1'b0;
        spent[k]         <= 1'b0;
        left[k*16 +: 16] <= '0;
      end else begin
        if (state[k*2 +: 2] == 2'd0) spent[k] <= 1'b0;
        else if (\dut.pick_valid  && \dut.pick_kernel [k] && !repeat_i[k] && index[k*GridW +: GridW] + 1'b1 == grid[k*GridW +: GridW])
          spent[k] <= 1'b1;
        if (resume_i[k] || state[k*2 +: 2] == 2'd0) held[k] <= 1'b0;
        if (resume_i[k] || state[k*2 +: 2] == 2'd0 || over[k]) evicting[k] <= 1'b0;
        if (ended[k] && left[k*16 +: 16] != '0) left[k*16 +: 16] <= left[k*16 +: 16] - 1'b1;
        if (taken) begin
          held[k]          <= 1'b1;
          evicting[k]      <= 1'b1;
          left[k*16 +: 16] <= (evict_count_i > 16'(M * N)) ? 16'(M * N) : evict_count_i;   // as good as all
        end
      end
  end
  logic ok_evicted_kernel_is_not_refilled, ok_eviction_is_reported_when_enough_ended, ok_only_running_kernels_dispatch,
    ok_slot_is_freed_only_when_empty, ok_a_grid_is_sent_once, ok_a_kernel_ends_by_itself_only_after_its_grid, ok_a_drained_kernel_leaves,
    ok_each_end_brings_an_eviction_nearer, ok_no_cta_is_killed, ok_an_eviction_ends_with_its_kernel;
  always_comb begin
    ok_a_grid_is_sent_once = 1'b1;
    ok_a_kernel_ends_by_itself_only_after_its_grid = 1'b1;
    ok_a_drained_kernel_leaves = 1'b1;
    ok_each_end_brings_an_eviction_nearer = 1'b1;
    ok_no_cta_is_killed = 1'b1;
    ok_evicted_kernel_is_not_refilled = 1'b1;
    ok_eviction_is_reported_when_enough_ended = 1'b1;
    ok_an_eviction_ends_with_its_kernel = 1'b1;
    ok_only_running_kernels_dispatch = 1'b1;
    ok_slot_is_freed_only_when_empty = 1'b1;
    for (int unsigned k = 0; k < K; k++) begin
      if (spent[k] && state[k*2 +: 2] != 2'd0 && \dut.pick_valid  && \dut.pick_kernel [k]) ok_a_grid_is_sent_once = 1'b0;
      if (state_q[k*2 +: 2] == 2'd1 && state[k*2 +: 2] == 2'd0 && !spent_q[k]) ok_a_kernel_ends_by_itself_only_after_its_grid = 1'b0;
      if ((state_q[k*2 +: 2] == 2'd2 || (state_q[k*2 +: 2] == 2'd1 && spent_q[k])) && empty_q[k]
          && state[k*2 +: 2] != 2'd0) ok_a_drained_kernel_leaves = 1'b0;
      if (evicting_q[k] && state_q[k*2 +: 2] != 2'd0 && rank[k*16 +: 16] + 16'(ended_q[k] && rank_q[k*16 +: 16] != '0) > rank_q[k*16 +: 16])
        ok_each_end_brings_an_eviction_nearer = 1'b0;
      if (resident[k*ResidentW +: ResidentW] + ResidentW'(ended_q[k]) < resident_q[k*ResidentW +: ResidentW]) ok_no_cta_is_killed = 1'b0;
      if (!(!(held[k] && state[k*2 +: 2] != 2'd0 && \dut.pick_valid && \dut.pick_kernel [k]))) ok_evicted_kernel_is_not_refilled = 1'b0;
      if (!(!over_q[k] || evict_done[k])) ok_eviction_is_reported_when_enough_ended = 1'b0;
      if (asked_q[k] && state[k*2 +: 2] == 2'd0 && !evict_done[k]) ok_an_eviction_ends_with_its_kernel = 1'b0;   // asked for when it left
      if (!(!(\dut.pick_valid && \dut.pick_kernel [k]) || state[k*2 +: 2] == 2'd1)) ok_only_running_kernels_dispatch = 1'b0;
      if (!(!(state_q[k*2 +: 2] != 2'd0 && state[k*2 +: 2] == 2'd0) || (kernel_done[k] && empty_q[k]))) ok_slot_is_freed_only_when_empty = 1'b0;
    end
    if (started && was_up && rst_ni) begin
      port_is_stable_while_it_waits: assert (!waited || (valid && port == port_q));
      an_end_that_was_never_started_is_an_error: assert (bad_done == past_bad_done);
      evicted_kernel_is_not_refilled: assert (ok_evicted_kernel_is_not_refilled);
      eviction_is_reported_when_enough_ended: assert (ok_eviction_is_reported_when_enough_ended);
      an_eviction_ends_with_its_kernel: assert (ok_an_eviction_ends_with_its_kernel);
      only_running_kernels_dispatch: assert (ok_only_running_kernels_dispatch);
      slot_is_freed_only_when_empty: assert (ok_slot_is_freed_only_when_empty);
      a_grid_is_sent_once: assert (ok_a_grid_is_sent_once);
      a_kernel_ends_by_itself_only_after_its_grid: assert (ok_a_kernel_ends_by_itself_only_after_its_grid);
      a_drained_kernel_leaves: assert (ok_a_drained_kernel_leaves);
      each_end_brings_an_eviction_nearer: assert (ok_each_end_brings_an_eviction_nearer);
      no_cta_is_killed: assert (ok_no_cta_is_killed);
    end
  end

  // SMs that have held just their quotas since these changed, in some cycle: the CTAs in slots and the one that is new at the port.
  logic [M-1:0] holds_quotas, held_quotas, settled_q;
  logic         quota_changed_q, profiling_q, ok_settled, ok_full;
  always_comb
    for (int unsigned m = 0; m < M; m++) begin
      holds_quotas[m] = 1'b1;
      for (int unsigned k = 0; k < K; k++)
        if (count[(m*K + k)*CtaW +: CtaW] + CtaW'(\dut.fresh && \dut.port_sm [m] && \dut.port_kernel [k]) != quota_i[(m*K + k)*CtaW +: CtaW]) holds_quotas[m] = 1'b0;
    end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) held_quotas <= '0;
    else         held_quotas <= holds_quotas | (held_quotas & {M{!quota_changed_i}});
  always_ff @(posedge clk_i) begin
    settled_q       <= settled;
    quota_changed_q <= quota_changed_i;
    profiling_q     <= profiling_i;
  end
  always_comb begin
    ok_settled = (settled & ~held_quotas) == '0;
    ok_full    = 1'b1;
    for (int unsigned m = 0; m < M; m++)
      if (!held_quotas[m]) begin
        // Lane A's verdict, before and after it is compared; lane B's.
        if (\dut.i_sm_resource_table.charge_sm_q [m] && !\dut.charge_stale_q && a_count == quota_q[m*K*CtaW +: K*CtaW]) ok_full = 1'b0;
        if (\dut.i_sm_resource_table.charged_sm_q [m] && !\dut.charged_stale_q && \dut.i_sm_resource_table.charged_full_q ) ok_full = 1'b0;
        if (\dut.i_dispatch_picker.answer_q [m] && !\dut.i_dispatch_picker.busy_q [m] && \dut.i_dispatch_picker.new_q
            && \dut.i_sm_resource_table.b_resident_q == \dut.i_sm_resource_table.b_quota_q ) ok_full = 1'b0;
      end
    if (started) begin
      settled_only_after_it_held_its_quotas: assert (ok_settled);
      full_is_told_of_what_was_full:         assert (ok_full);
    end
    if (started && was_up && rst_ni) begin
      if (!quota_changed_q)                settled_stays_until_the_quotas_change: assert ((settled_q & ~settled) == '0);
      if (!quota_changed_q && profiling_q) settled_stays_as_it_is_while_profiling: assert (settled == settled_q);
    end
  end

  // SMs that can be given a CTA: enabled now, and a cycle ago ready, with none waiting for them at the port.
  (* hierconn *) logic [M-1:0] \dut.i_sm_available.gen_ready.ready_q ;
  logic [M-1:0] was_ready, available, occupied, stays_empty;
  logic         ok_available_room_is_picked;
  assign available = sm_enable_i & was_ready;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) was_ready <= '0;
    else         was_ready <= sm_ready_i & ~(M'(valid) << sm[0]);
  always_ff @(posedge clk_i) stays_empty <= ~sm_enable_i & ~sm_busy;
  always_comb begin
    ok_available_room_is_picked = 1'b1;
    for (int unsigned m = 0; m < M; m++) begin
      occupied[m] = (slot_used[m*N +: N] | waiting[m*N +: N]) != '0 || \dut.port_sm [m];
      for (int unsigned k = 0; k < K; k++)
        if (available[m] && \dut.i_dispatch_picker.room_q [k*M + m] && !\dut.i_dispatch_picker.busy_q [m] && \dut.can_admit [k] && !quota_changed_i
            && (!valid || dispatch_ready_i) && !(in_order_i && \dut.can_admit [1-k] && \dut.older [(1-k)*K + k]) && !\dut.pick_valid )
          ok_available_room_is_picked = 1'b0;
    end
    if (started) begin
      only_available_sms_are_picked: assert (!\dut.pick_valid || (\dut.pick_sm & ~available) == '0);
      readiness_is_a_cycle_old: assert (\dut.i_sm_available.gen_ready.ready_q == was_ready);
      an_sm_with_room_waits_for_no_other: assert (ok_available_room_is_picked);
      busy_tells_what_an_sm_holds: assert (sm_busy == occupied);
    end
    if (started && was_up && rst_ni) a_disabled_sm_that_is_empty_stays_empty: assert ((stays_empty & sm_busy) == '0);
  end

  // In order, a grid that starts again is behind all that run.
  logic [K-1:0] again_q;
  logic         ok_spent, ok_again;
  always_ff @(posedge clk_i)
    for (int unsigned k = 0; k < K; k++)
      again_q[k] <= in_order_i && \dut.pick_valid && \dut.pick_kernel [k] && repeat_i[k] && index[k*GridW +: GridW] + 1'b1 == grid[k*GridW +: GridW];
  always_comb begin
    ok_spent = 1'b1;
    ok_again = 1'b1;
    for (int unsigned k = 0; k < K; k++) begin
      if (gives_none[k] != (state[k*2 +: 2] == 2'd1 && !\dut.can_admit [k]) || gives_none[k] != (state[k*2 +: 2] == 2'd1 && (spent[k] || held[k]))) ok_spent = 1'b0;
      if (again_q[k] && state[(1-k)*2 +: 2] == 2'd1 && state_q[(1-k)*2 +: 2] == 2'd1 && (\dut.older [k*K + 1 - k] || !\dut.older [(1-k)*K + k])) ok_again = 1'b0;
    end
    if (started) spent_is_running_without_a_cta_to_give: assert (ok_spent);
    if (started) nothing_is_charged_while_ctas_are_counted: assert (!count_i || !\dut.fresh );
    if (started && was_up && rst_ni) a_grid_that_starts_again_is_the_youngest: assert (ok_again);
  end

  // Whether a kernel fits is known a cycle ahead.
  (* hierconn *) logic \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.fits_q , \dut.i_kernel_slots.gen_slot[1].i_kernel_slot.fits_q ;
  logic [K-1:0] fitted, regions_fitted;   // by the descriptors and the capacity of the cycle before
  always_comb begin
    fitted = regions_fitted;
    for (int unsigned k = 0; k < K; k++)
      if (descriptor_q[k*AmountW +: WarpW] == '0 || grid_before_q[k*GridW +: GridW] == '0 || capacity_q[CtaW-1:0] == '0
          || descriptor_q[k*AmountW +: WarpW] > capacity_q[CtaW+SharedW+RegW +: WarpW] || descriptor_q[k*AmountW + WarpW +: RegW] > capacity_q[CtaW+SharedW +: RegW]
          || descriptor_q[k*AmountW + WarpW + RegW +: SharedW] > capacity_q[CtaW +: SharedW]) fitted[k] = 1'b0;
    if (started && up_q && rst_ni)
      fit_is_known_a_cycle_ahead: assert ({\dut.i_kernel_slots.gen_slot[1].i_kernel_slot.fits_q , \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.fits_q } == fitted);
  end
`ifndef REGIONS
  assign regions_fitted = '1;
`endif

  // The records kept here are those of the design.
  logic [K-1:0]       hold, evict, finished;
  assign finished   = {\dut.i_kernel_slots.gen_slot[1].i_kernel_slot.finished_q , \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.finished_q };
  assign hold       = {\dut.i_kernel_slots.gen_slot[1].i_kernel_slot.hold_q , \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.hold_q };
  assign evict      = {\dut.i_kernel_slots.gen_slot[1].i_kernel_slot.evict_q , \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.evict_q };
  assign evict_left = {16'(\dut.i_kernel_slots.gen_slot[1].i_kernel_slot.evict_left_q ), 16'(\dut.i_kernel_slots.gen_slot[0].i_kernel_slot.evict_left_q )};
  logic ok_records;
  always_comb begin
    ok_records = 1'b1;
    for (int unsigned k = 0; k < K; k++)
      if (state[k*2 +: 2] != 2'd0 && (grid[k*GridW +: GridW] != grid_before_q[k*GridW +: GridW] || hold[k] != held[k] || (evict[k] && !hold[k])
        || evict[k] != evicting[k] || (evict[k] && evict_left[k*16 +: 16] != left[k*16 +: 16]) || finished[k] != spent[k] || grid[k*GridW +: GridW] == '0)) ok_records = 1'b0;
    if ((hold & {state[3:2] == 2'd0, state[1:0] == 2'd0}) != '0 || (evict & {state[3:2] == 2'd0, state[1:0] == 2'd0}) != '0) ok_records = 1'b0;
    if (started) records_agree: assert (ok_records);
  end

`ifdef REGIONS
  // Regions of both resources, by the plain definition: the CTAs in slots, but the one whose regions are being taken.
  localparam int unsigned LenW = $clog2(U + 1), BaseW = $clog2(U);
  (* hierconn *) logic [K*LenW-1:0]    \dut.gen_regions.i_dispatch_regions.register_length_q , \dut.gen_regions.i_dispatch_regions.shared_length_q ;
  (* hierconn *) logic [LenW-1:0]      \dut.gen_regions.i_dispatch_regions.register_total_q , \dut.gen_regions.i_dispatch_regions.shared_total_q ,
    \dut.gen_regions.i_dispatch_regions.register_total_d , \dut.gen_regions.i_dispatch_regions.shared_total_d ;
  (* hierconn *) logic [4:0]           \dut.gen_regions.i_dispatch_regions.register_shift_q , \dut.gen_regions.i_dispatch_regions.shared_shift_q ,
    \dut.gen_regions.i_dispatch_regions.register_shift_d , \dut.gen_regions.i_dispatch_regions.shared_shift_d ;
  (* hierconn *) logic [M*N-1:0]       \dut.gen_regions.i_dispatch_regions.i_region_allocator.region ;
  (* hierconn *) logic [N-1:0]         \dut.gen_regions.i_dispatch_regions.i_region_allocator.row_held_q , \dut.gen_regions.i_dispatch_regions.i_region_allocator.row_kernel_q ;
  (* hierconn *) logic                 \dut.gen_regions.i_dispatch_regions.i_region_allocator.merge_valid_q ;
  (* hierconn *) logic [M-1:0]         \dut.gen_regions.i_dispatch_regions.i_region_allocator.merge_sm_q ;
  (* hierconn *) logic [M*N*BaseW-1:0] \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.base ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.base ;
  (* hierconn *) logic [N*BaseW-1:0]   \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.row_base_q ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.row_base_q ;
  (* hierconn *) logic [M*LenW-1:0]    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.largest ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.largest ;
  (* hierconn *) logic [LenW-1:0]      \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.rest ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.rest ;
  (* hierconn *) logic [LenW-1:0]      \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.grown ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.grown ;
  (* hierconn *) logic                 \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.eval_empty_q ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.eval_empty_q ;
  (* hierconn *) logic [LenW-1:0]      \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.eval_gap_q ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.eval_gap_q ;
  (* hierconn *) logic                 \dut.charge_regions_q ;
  (* hierconn *) logic [K-1:0]         \dut.charged_regions_q ;
  (* hierconn *) logic                 \dut.with_regions_q ;

  logic [K*RegW-1:0]    demand_registers_q;
  logic [K*SharedW-1:0] demand_shared_q;
  logic [K-1:0]         register_fitted, shared_fitted;
  logic [4:0]           unused_register_shift, unused_shared_shift;
  logic [LenW-1:0]      unused_register_total, unused_shared_total;
  logic [K*LenW-1:0]    unused_register_length, unused_shared_length;
  always_comb
    for (int unsigned k = 0; k < K; k++) begin
      demand_registers_q[k*RegW +: RegW]    = descriptor_q[k*AmountW + WarpW +: RegW];
      demand_shared_q[k*SharedW +: SharedW] = descriptor_q[k*AmountW + WarpW + RegW +: SharedW];
    end
  region_units #(.MAX_KERNELS(K), .UNITS(U), .AmountW(RegW)) i_register_fit (
    .capacity_i(capacity_q[CtaW+SharedW +: RegW]), .demand_i(demand_registers_q), .shift_o(unused_register_shift), .total_o(unused_register_total),
    .length_o(unused_register_length), .fits_o(register_fitted));
  region_units #(.MAX_KERNELS(K), .UNITS(U), .AmountW(SharedW)) i_shared_fit (
    .capacity_i(capacity_q[CtaW +: SharedW]), .demand_i(demand_shared_q), .shift_o(unused_shared_shift), .total_o(unused_shared_total),
    .length_o(unused_shared_length), .fits_o(shared_fitted));
  assign regions_fitted = register_fitted & shared_fitted;

  logic regions_q;   // sluice_csr and partition_sequencer: the mode changes with the quotas
  always_ff @(posedge clk_i) regions_q <= regions_i;
  always_comb
    if (started && !quota_changed_i) assume (regions_i == regions_q);

  logic [M*N-1:0]     holds;
  logic [M*N*BaseW-1:0] register_bases, shared_bases;
  logic [M*U-1:0]     register_bitmap, shared_bitmap;   // not looked at here
  logic [M*K*U-1:0]   register_start, shared_start;
  logic [M*LenW-1:0]  register_largest, shared_largest;
  logic               register_overlap, register_outside, shared_overlap, shared_outside;
  assign holds          = slot_used & \dut.gen_regions.i_dispatch_regions.i_region_allocator.region ;
  assign register_bases = \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.base ;
  assign shared_bases   = \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.base ;
  region_view #(.M(M), .K(K), .N(N), .U(U)) i_register_view (.total_i(\dut.gen_regions.i_dispatch_regions.register_total_q ),
    .length_i(\dut.gen_regions.i_dispatch_regions.register_length_q ), .holds_i(holds), .kernel_i(owner), .base_i(register_bases), .bitmap_o(register_bitmap),
    .overlap_o(register_overlap), .outside_o(register_outside), .largest_o(register_largest), .start_o(register_start));
  region_view #(.M(M), .K(K), .N(N), .U(U)) i_shared_view (.total_i(\dut.gen_regions.i_dispatch_regions.shared_total_q ),
    .length_i(\dut.gen_regions.i_dispatch_regions.shared_length_q ), .holds_i(holds), .kernel_i(owner), .base_i(shared_bases), .bitmap_o(shared_bitmap),
    .overlap_o(shared_overlap), .outside_o(shared_outside), .largest_o(shared_largest), .start_o(shared_start));

  // What is kept about the regions: the row that the search sees, and the largest gaps or what is about to be written there.
  logic              ok_row, ok_largest;
  logic [2*LenW-1:0] known;
  always_comb begin
    ok_row     = 1'b1;
    ok_largest = 1'b1;
    known      = '0;
    for (int unsigned m = 0; m < M; m++) begin
      if (\dut.fresh && \dut.with_regions_q && \dut.port_sm [m]) begin
        if (\dut.gen_regions.i_dispatch_regions.i_region_allocator.row_held_q != holds[m*N +: N]) ok_row = 1'b0;
        for (int unsigned s = 0; s < N; s++)
          if (holds[m*N + s]
            && (\dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.row_base_q [s*BaseW +: BaseW] != register_bases[(m*N + s)*BaseW +: BaseW]
                                || \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.row_base_q [s*BaseW +: BaseW] != shared_bases[(
                                  m*N + s)*BaseW +: BaseW]
                                || \dut.gen_regions.i_dispatch_regions.i_region_allocator.row_kernel_q [s] != owner[m*N + s])) ok_row = 1'b0;
      end
      known = {\dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.largest [m*LenW +: LenW],
        \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.largest [m*LenW +: LenW]};
      if (\dut.i_sm_resource_table.charge_sm_q [m] && \dut.charge_regions_q ) known =
        {\dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.rest ,
          \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.rest };
      if (\dut.gen_regions.i_dispatch_regions.i_region_allocator.merge_valid_q && \dut.gen_regions.i_dispatch_regions.i_region_allocator.merge_sm_q [m])
        known = {\dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.grown ,
          \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.grown };
      if (holds[m*N +: N] != '0 && known != {shared_largest[m*LenW +: LenW], register_largest[m*LenW +: LenW]}) ok_largest = 1'b0;
    end
  end

  logic ok_region_fits_where_a_cta_is_sent, ok_remembered_gap_is_there, ok_read_gap_is_not_optimistic, ok_the_mode_is_the_cta_s,
    ok_a_region_holds_the_demand, ok_units_are_of_the_capacity, ok_port_tells_the_bases;
  logic [BaseW-1:0] register_kept, shared_kept;
  always_comb begin
    ok_region_fits_where_a_cta_is_sent = 1'b1;
    ok_remembered_gap_is_there = 1'b1;
    ok_read_gap_is_not_optimistic = 1'b1;
    ok_the_mode_is_the_cta_s = (!\dut.fresh || \dut.with_regions_q == regions_q) && (!\dut.i_sm_resource_table.charge_q || \dut.charge_stale_q
      || \dut.charge_regions_q == regions_q);
    for (int unsigned m = 0; m < M; m++)
      if (\dut.i_dispatch_picker.answer_q [m] && !\dut.i_dispatch_picker.busy_q [m]
          && holds[m*N +: N] != '0   // where none is held, any fits
          && (\dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.eval_empty_q
          || \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.eval_gap_q > register_largest[m*LenW +: LenW]
           || \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.eval_empty_q
           || \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.eval_gap_q > shared_largest[m*LenW +: LenW]))
        ok_read_gap_is_not_optimistic = 1'b0;
    ok_a_region_holds_the_demand = 1'b1;
    ok_units_are_of_the_capacity = state == '0
      || {\dut.gen_regions.i_dispatch_regions.register_total_q , \dut.gen_regions.i_dispatch_regions.register_shift_q ,
        \dut.gen_regions.i_dispatch_regions.shared_total_q , \dut.gen_regions.i_dispatch_regions.shared_shift_q }
         == {\dut.gen_regions.i_dispatch_regions.register_total_d , \dut.gen_regions.i_dispatch_regions.register_shift_d ,
           \dut.gen_regions.i_dispatch_regions.shared_total_d , \dut.gen_regions.i_dispatch_regions.shared_shift_d };
    for (int unsigned k = 0; k < K; k++) begin
      if (state[k*2 +: 2] != 2'd0
          && ((RegW+5)'(\dut.gen_regions.i_dispatch_regions.register_length_q [k*LenW +: LenW]) << \dut.gen_regions.i_dispatch_regions.register_shift_q < (RegW+5)'(
            demand_registers_i [k*RegW +: RegW])
           || (SharedW+5)'(\dut.gen_regions.i_dispatch_regions.shared_length_q [k*LenW +: LenW]) << \dut.gen_regions.i_dispatch_regions.shared_shift_q < (SharedW+5)'(
             demand_shared_i [k*SharedW +: SharedW])
           || \dut.gen_regions.i_dispatch_regions.register_length_q [k*LenW +: LenW] > \dut.gen_regions.i_dispatch_regions.register_total_q
           || \dut.gen_regions.i_dispatch_regions.shared_length_q [k*LenW +: LenW] > \dut.gen_regions.i_dispatch_regions.shared_total_q )) ok_a_region_holds_the_demand = 1'b0;
      for (int unsigned m = 0; m < M; m++) begin
        if (\dut.fresh && \dut.with_regions_q && \dut.port_sm [m] && \dut.port_kernel [k]
            && (register_start[(m*K + k)*U +: U] == '0 || shared_start[(m*K + k)*U +: U] == '0)) ok_region_fits_where_a_cta_is_sent = 1'b0;
        if (regions_q && state[k*2 +: 2] != 2'd0 && ((\dut.i_dispatch_picker.room_q [k*M + m] && !\dut.i_dispatch_picker.busy_q [m])
             || (\dut.i_sm_resource_table.charged_sm_q [m] && !\dut.charged_stale_q && \dut.charged_regions_q [k]))
            && (register_start[(m*K + k)*U +: U] == '0 || shared_start[(m*K + k)*U +: U] == '0)) ok_remembered_gap_is_there = 1'b0;
      end
    end
    register_kept = '0;
    shared_kept   = '0;
    for (int unsigned i = 0; i < M*N; i++)
      if (place == 3'(i)) begin
        register_kept = register_bases[i*BaseW +: BaseW];
        shared_kept   = shared_bases[i*BaseW +: BaseW];
      end
    ok_port_tells_the_bases = !valid || \dut.fresh || (register_base == RegW'(RegW'(register_kept) << \dut.gen_regions.i_dispatch_regions.register_shift_q )
                                                         && shared_base == SharedW'(SharedW'(shared_kept) << \dut.gen_regions.i_dispatch_regions.shared_shift_q ));
    if (started) begin
      regions_never_overlap:                  assert (!register_overlap && !shared_overlap);
      regions_stay_inside_the_sm:             assert (!register_outside && !shared_outside);
      search_sees_the_regions_of_its_sm:      assert (ok_row);
      largest_gap_is_known:                   assert (ok_largest);
      region_fits_where_a_cta_is_sent:        assert (ok_region_fits_where_a_cta_is_sent);
      remembered_gap_is_there:                assert (ok_remembered_gap_is_there);
      read_gap_is_not_optimistic:             assert (ok_read_gap_is_not_optimistic);
      the_mode_is_the_cta_s:                  assert (ok_the_mode_is_the_cta_s);
      units_are_of_the_capacity:              assert (ok_units_are_of_the_capacity);
      a_region_holds_the_demand:              assert (ok_a_region_holds_the_demand);
      port_tells_the_bases:                   assert (ok_port_tells_the_bases);
    end
  end
`endif
endmodule
