// Properties of cta_dispatcher: M SMs, two kernel slots, N CTA slots of an SM; with REGIONS four region units. Inputs are anything at all, a reset
// and an end of a CTA that never was included; assumed is only what docs/blocks/cta_dispatcher.md asks of the neighbours: the capacity is stable
// while a kernel slot is taken, a descriptor while its own is, quotas are at most N and change with quota_changed_i only, as does regions_i. What the hardware should hold is rebuilt from the ports
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
  input logic                                     round_robin_i,
  input logic                                     in_order_i,
  input logic                                     regions_i,
  input logic [4*sluice_pkg::CtaW-1:0]            quota_i,          // of kernel k on SM m: field 2*m+k
  input logic                                     quota_changed_i,
  input logic                                     dispatch_ready_i,
  input logic                                     done_valid_i,
  input logic [sluice_pkg::SmW-1:0]               done_sm_i,
  input logic [sluice_pkg::SlotW-1:0]             done_slot_i
);
  localparam int unsigned K = 2;
  localparam int unsigned WarpW = sluice_pkg::WarpW, RegW = sluice_pkg::RegW, SharedW = sluice_pkg::SharedW, CtaW = sluice_pkg::CtaW;
  localparam int unsigned GridW = sluice_pkg::GridW, ResidentW = sluice_pkg::ResidentW, KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned SmW = sluice_pkg::SmW, SlotW = sluice_pkg::SlotW;

  logic [SmW-1:0]         query_sm;
  logic [K*2-1:0]         state;
  logic [3:0]             num_present;
  logic [K*KIndexW-1:0]   age;
  logic                   change, bad_done, cannot_fit, slot_busy, bad_kernel, valid;
  logic [K*ResidentW-1:0] resident;
  logic [K*GridW-1:0]     dispatched;
  logic [K-1:0]           evict_done, kernel_done;
  logic [KIndexW-1:0]     error_kernel, kernel;
  logic [SmW-1:0]         error_sm, sm;
  logic [SlotW-1:0]       slot;
  logic [GridW-1:0]       cta;
  logic [RegW-1:0]        register_base;
  logic [SharedW-1:0]     shared_base;

  cta_dispatcher #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(N), .REGION_UNITS(U)) dut (
    .clk_i, .rst_ni, .capacity_warps_i, .capacity_registers_i, .capacity_shared_i, .capacity_slots_i, .demand_warps_i, .demand_registers_i,
    .demand_shared_i, .grid_i, .repeat_i, .launch_i, .stop_i, .evict_i, .evict_count_i, .resume_i, .round_robin_i, .in_order_i, .regions_i,
    .query_sm_o(query_sm), .query_quota_i((M == 1 || query_sm == 0) ? quota_i[K*CtaW-1:0] : quota_i[2*K*CtaW-1:K*CtaW]), .quota_changed_i,
    .slot_state_o(state), .num_present_o(num_present), .age_o(age), .change_o(change), .resident_o(resident), .dispatched_o(dispatched),
    .evict_done_o(evict_done), .kernel_done_o(kernel_done), .bad_done_o(bad_done), .cannot_fit_o(cannot_fit), .slot_busy_o(slot_busy),
    .bad_kernel_o(bad_kernel), .error_kernel_o(error_kernel), .error_sm_o(error_sm), .dispatch_valid_o(valid), .dispatch_ready_i,
    .dispatch_sm_o(sm), .dispatch_kernel_o(kernel), .dispatch_slot_o(slot), .dispatch_cta_o(cta), .dispatch_register_base_o(register_base),
    .dispatch_shared_base_o(shared_base), .done_valid_i, .done_sm_i, .done_slot_i);

  // Registers of the design.
  localparam int unsigned CountW = $clog2(N + 1), AmountW = WarpW + RegW + SharedW, LeftW = $clog2(M * N + 1);
  (* hierconn *) logic [M*AmountW-1:0]   \dut.i_sm_resource_table.amounts ;
  (* hierconn *) logic [M*2*N-1:0]       \dut.i_sm_resource_table.slots ;
  (* hierconn *) logic [M*K*CountW-1:0]  \dut.i_sm_resource_table.quotas ;
  (* hierconn *) logic [K*WarpW-1:0]     \dut.limit_warps ;
  (* hierconn *) logic [K*RegW-1:0]      \dut.limit_registers ;
  (* hierconn *) logic [K*SharedW-1:0]   \dut.limit_shared ;
  (* hierconn *) logic [K*M-1:0]         \dut.i_dispatch_picker.room_q ;
  (* hierconn *) logic [K*GridW-1:0]     \dut.i_kernel_slots.next ;
  (* hierconn *) logic                   \dut.pick_valid , \dut.fresh_q ;
  (* hierconn *) logic [M-1:0]           \dut.pick_sm , \dut.sm_q ;
  (* hierconn *) logic [K-1:0]           \dut.can_take , \dut.pick_kernel , \dut.kernel_q ;
  (* hierconn *) logic [N-1:0]           \dut.slot_q ;
  (* hierconn *) logic [K*K-1:0]         \dut.older ;
  (* hierconn *) logic                   \dut.i_kernel_slots.gen_slot[0].hold_q , \dut.i_kernel_slots.gen_slot[1].hold_q ;
  (* hierconn *) logic                   \dut.i_kernel_slots.gen_slot[0].finished_q , \dut.i_kernel_slots.gen_slot[1].finished_q ;
  (* hierconn *) logic                   \dut.i_kernel_slots.gen_slot[0].evict_q , \dut.i_kernel_slots.gen_slot[1].evict_q ;
  (* hierconn *) logic [LeftW-1:0]       \dut.i_kernel_slots.gen_slot[0].evict_left_q , \dut.i_kernel_slots.gen_slot[1].evict_left_q ;

  // The rows of the table; the amounts of an empty row mean nothing.
  logic [M*WarpW-1:0]   warps;
  logic [M*RegW-1:0]    registers;
  logic [M*SharedW-1:0] shared;
  logic [M*K*CtaW-1:0]  quota;
  logic [M*N-1:0]       slot_used, owner;   // owner: kernel of each slot (there are two)
  always_comb begin
    warps     = '0;
    registers = '0;
    shared    = '0;
    for (int unsigned m = 0; m < M; m++) begin
      slot_used[m*N +: N] = \dut.i_sm_resource_table.slots [m*2*N +: N];
      owner[m*N +: N]     = \dut.i_sm_resource_table.slots [m*2*N + N +: N];
      if (slot_used[m*N +: N] != '0) begin
        warps[m*WarpW +: WarpW]        = \dut.i_sm_resource_table.amounts [m*AmountW +: WarpW];
        registers[m*RegW +: RegW]      = \dut.i_sm_resource_table.amounts [m*AmountW + WarpW +: RegW];
        shared[m*SharedW +: SharedW]   = \dut.i_sm_resource_table.amounts [m*AmountW + WarpW + RegW +: SharedW];
      end
      for (int unsigned k = 0; k < K; k++) quota[(m*K + k)*CtaW +: CtaW] = CtaW'(\dut.i_sm_resource_table.quotas [(m*K + k)*CountW +: CountW]);
    end
  end

  logic started;   // past the first cycle
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;

  // The neighbours.
  logic [4*CtaW-1:0]                              quota_q;
  logic [K*AmountW-1:0]                           descriptor_q;
  logic [K*GridW-1:0]                             grid_before_q;
  logic [WarpW+RegW+SharedW+CtaW-1:0]             capacity, capacity_q;
  assign capacity = {capacity_warps_i, capacity_registers_i, capacity_shared_i, capacity_slots_i};
  always_ff @(posedge clk_i) begin
    quota_q    <= quota_i;
    for (int unsigned k = 0; k < K; k++)
      descriptor_q[k*AmountW +: AmountW] <= {demand_shared_i[k*SharedW +: SharedW], demand_registers_i[k*RegW +: RegW], demand_warps_i[k*WarpW +: WarpW]};
    grid_before_q <= grid_i;
    capacity_q <= capacity;
  end
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (capacity_slots_i <= CtaW'(N));
    if (started && state != '0) assume (capacity == capacity_q);
    if (started && !quota_changed_i) assume (quota_i == quota_q);
    for (int unsigned i = 0; i < M*K; i++) assume (quota_i[i*CtaW +: CtaW] <= CtaW'(N));
    for (int unsigned k = 0; k < K; k++)   // sluice_csr: a descriptor holds while its slot is busy
      if (started && state[k*2 +: 2] != 2'd0) assume (demand_warps_i[k*WarpW +: WarpW] == descriptor_q[k*AmountW +: WarpW]
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

  // What the CTAs hold, by the table of slots.
  logic [M*N-1:0]                waiting;     // at the port
  logic [M*(WarpW+2)-1:0]        sum_warps;
  logic [M*(RegW+2)-1:0]         sum_registers;
  logic [M*(SharedW+2)-1:0]      sum_shared;
  logic [M*K*CtaW-1:0]           count;
  logic [K*ResidentW-1:0]        total;
  logic [M*CtaW-1:0]             ctas;
  always_comb begin
    sum_warps     = '0;
    sum_registers = '0;
    sum_shared    = '0;
    count         = '0;
    total         = '0;
    ctas          = '0;
    waiting       = '0;
    if (valid) waiting[place] = 1'b1;
    for (int unsigned m = 0; m < M; m++)
      for (int unsigned s = 0; s < N; s++)
        for (int unsigned k = 0; k < K; k++)
          if (slot_used [m*N + s] && owner[m*N + s] == k[0]) begin
            sum_warps[m*(WarpW+2) +: WarpW+2]       = sum_warps[m*(WarpW+2) +: WarpW+2] + demand_warps_i [k*WarpW +: WarpW];
            sum_registers[m*(RegW+2) +: RegW+2]     = sum_registers[m*(RegW+2) +: RegW+2] + demand_registers_i [k*RegW +: RegW];
            sum_shared[m*(SharedW+2) +: SharedW+2]  = sum_shared[m*(SharedW+2) +: SharedW+2] + demand_shared_i [k*SharedW +: SharedW];
            count[(m*K + k)*CtaW +: CtaW]           = count[(m*K + k)*CtaW +: CtaW] + 1'b1;
            total[k*ResidentW +: ResidentW]         = total[k*ResidentW +: ResidentW] + 1'b1;
            ctas[m*CtaW +: CtaW]                    = ctas[m*CtaW +: CtaW] + 1'b1;
          end
  end

  logic ok_used_is_the_sum_over_ctas, ok_no_resource_over_allocated, ok_slot_is_one_of_the_sm,
    ok_remembered_room_is_there, ok_quotas_of_an_sm_with_room_are_in_force, ok_quota_never_exceeded, ok_resident_counts_all_sms,
    ok_a_free_slot_has_no_cta, ok_slot_state_exists, ok_a_launched_cta_fits_an_empty_sm, ok_no_cta_lost_or_sent_twice, ok_index_is_next,
    ok_index_stays_in_the_grid, ok_in_order_the_older_go_first;
  always_comb begin
    ok_used_is_the_sum_over_ctas = 1'b1;
    ok_no_resource_over_allocated = 1'b1;
    ok_slot_is_one_of_the_sm = 1'b1;
    ok_remembered_room_is_there = 1'b1;
    ok_quotas_of_an_sm_with_room_are_in_force = 1'b1;
    ok_quota_never_exceeded = 1'b1;
    ok_resident_counts_all_sms = 1'b1;
    ok_a_free_slot_has_no_cta = 1'b1;
    ok_slot_state_exists = 1'b1;
    ok_a_launched_cta_fits_an_empty_sm = 1'b1;
    ok_no_cta_lost_or_sent_twice = 1'b1;
    ok_index_is_next = 1'b1;
    ok_index_stays_in_the_grid = 1'b1;
    ok_in_order_the_older_go_first = !(in_order_i && \dut.pick_valid  && ((\dut.pick_kernel [0] && \dut.can_take [1] && \dut.older [2])
                                                                    || (\dut.pick_kernel [1] && \dut.can_take [0] && \dut.older [1])));
    // The table is the sum of its CTAs, and the slots are the CTAs that were started or wait at the port: nothing is lost, and what ends returns.
    for (int unsigned m = 0; m < M; m++) begin
      if (!((WarpW+2)'(warps [m*WarpW +: WarpW]) == sum_warps[m*(WarpW+2) +: WarpW+2]
          && (RegW+2)'(registers [m*RegW +: RegW]) == sum_registers[m*(RegW+2) +: RegW+2]
          && (SharedW+2)'(shared [m*SharedW +: SharedW]) == sum_shared[m*(SharedW+2) +: SharedW+2])) ok_used_is_the_sum_over_ctas = 1'b0;
      if (!(state == '0 || (sum_warps[m*(WarpW+2) +: WarpW+2] <= (WarpW+2)'(capacity_warps_i)
          && sum_registers[m*(RegW+2) +: RegW+2] <= (RegW+2)'(capacity_registers_i)
          && sum_shared[m*(SharedW+2) +: SharedW+2] <= (SharedW+2)'(capacity_shared_i)
          && ctas[m*CtaW +: CtaW] <= capacity_slots_i))) ok_no_resource_over_allocated = 1'b0;
      for (int unsigned s = 0; s < N; s++)
        if (!(!slot_used [m*N + s] || CtaW'(s) < capacity_slots_i || state == '0)) ok_slot_is_one_of_the_sm = 1'b0;
      for (int unsigned k = 0; k < K; k++) begin
        if (\dut.i_dispatch_picker.room_q [k*M + m] && quota [m*K*CtaW +: K*CtaW] != quota_q[m*K*CtaW +: K*CtaW])
          ok_quotas_of_an_sm_with_room_are_in_force = 1'b0;
        // What the picker remembers is true: one more fits, under the quota in force.
        if (!(!\dut.i_dispatch_picker.room_q [k*M + m] || state[k*2 +: 2] == 2'd0
            || (sum_warps[m*(WarpW+2) +: WarpW+2] <= (WarpW+2)'(\dut.limit_warps [k*WarpW +: WarpW])
             && sum_registers[m*(RegW+2) +: RegW+2] <= (RegW+2)'(\dut.limit_registers [k*RegW +: RegW])
             && sum_shared[m*(SharedW+2) +: SharedW+2] <= (SharedW+2)'(\dut.limit_shared [k*SharedW +: SharedW])
             && ctas[m*CtaW +: CtaW] < capacity_slots_i
             && count[(m*K + k)*CtaW +: CtaW] < quota [(m*K + k)*CtaW +: CtaW]))) ok_remembered_room_is_there = 1'b0;
        if (!(!(\dut.pick_valid && \dut.pick_sm [m] && \dut.pick_kernel [k])
            || count[(m*K + k)*CtaW +: CtaW] < quota_i[(m*K + k)*CtaW +: CtaW])) ok_quota_never_exceeded = 1'b0;
      end
    end
    for (int unsigned k = 0; k < K; k++) begin
      if (!(resident[k*ResidentW +: ResidentW] == total[k*ResidentW +: ResidentW])) ok_resident_counts_all_sms = 1'b0;
      if (!(state[k*2 +: 2] != 2'd0 || total[k*ResidentW +: ResidentW] == '0)) ok_a_free_slot_has_no_cta = 1'b0;
      if (!(state[k*2 +: 2] != 2'd3)) ok_slot_state_exists = 1'b0;
      if (!(state[k*2 +: 2] == 2'd0
          || (demand_warps_i [k*WarpW +: WarpW] <= capacity_warps_i && \dut.limit_warps [k*WarpW +: WarpW] == capacity_warps_i - demand_warps_i [k*WarpW +: WarpW]
           && demand_registers_i [k*RegW +: RegW] <= capacity_registers_i && \dut.limit_registers [k*RegW +: RegW] == capacity_registers_i - demand_registers_i [k*RegW +: RegW]
           && demand_shared_i [k*SharedW +: SharedW] <= capacity_shared_i && \dut.limit_shared [k*SharedW +: SharedW] == capacity_shared_i - demand_shared_i [k*SharedW +: SharedW]))) ok_a_launched_cta_fits_an_empty_sm = 1'b0;
      // Indices leave in order: with the one at the port they are exactly those admitted.
      if (!(state[k*2 +: 2] == 2'd0
          || \dut.i_kernel_slots.next [k*GridW +: GridW] == ((valid && kernel == KIndexW'(k)) ? ((cta + 1'b1 == grid[k*GridW +: GridW]) ? '0 : cta + 1'b1) : expected[k*GridW +: GridW]))) ok_no_cta_lost_or_sent_twice = 1'b0;
      if (!(!(valid && kernel == KIndexW'(k)) || (cta == expected[k*GridW +: GridW] && cta < grid[k*GridW +: GridW]))) ok_index_is_next = 1'b0;
      if (!(state[k*2 +: 2] == 2'd0 || expected[k*GridW +: GridW] < grid[k*GridW +: GridW])) ok_index_stays_in_the_grid = 1'b0;
    end
    if (started) begin
      slots_are_the_ctas_that_run_or_wait: assert (slot_used == (runs | waiting));
      a_cta_waits_where_none_runs: assert ((runs & waiting) == '0);
      port_names_what_exists: assert (!valid || (sm < SmW'(M) && slot < SlotW'(N) && kernel < KIndexW'(K) && state[kernel[0]*2 +: 2] != 2'd0
        && owner[place] == kernel[0] && \dut.sm_q == M'(1) << sm[0] && \dut.slot_q == N'(1) << slot[1:0] && \dut.kernel_q == K'(1) << kernel[0]));
      what_is_fresh_is_valid: assert (!\dut.fresh_q || valid);
      when_nothing_runs_all_is_free: assert ((runs | waiting) != '0 || (warps == '0 && registers == '0
        && shared == '0 && resident == '0));
      reset_is_clean: assert (rst_ni || (state == '0 && resident == '0 && !valid && !change && !bad_done && !cannot_fit && !slot_busy && !bad_kernel
        && evict_done == '0 && kernel_done == '0 && num_present == '0 && slot_used == '0 && \dut.i_dispatch_picker.room_q == '0));
      used_is_the_sum_over_ctas: assert (ok_used_is_the_sum_over_ctas);
      no_resource_over_allocated: assert (ok_no_resource_over_allocated);
      slot_is_one_of_the_sm: assert (ok_slot_is_one_of_the_sm);
      remembered_room_is_there: assert (ok_remembered_room_is_there);
      quotas_of_an_sm_with_room_are_in_force: assert (ok_quotas_of_an_sm_with_room_are_in_force);
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
  logic [K-1:0]           held, over, over_q;      // held: an eviction and no resume since
  logic [K*16-1:0]        left;                    // CTAs that an eviction still waits for
  logic [K-1:0]           evicting;
  logic [K-1:0]           spent, spent_q;                   // its last CTA was admitted, and it does not repeat
  logic [K-1:0]           evicting_q, ended, ended_q;
  logic [K*16-1:0]        evict_left;
  logic [K*16-1:0]        rank, rank_q;            // ends that an eviction waits for, at most
  assign port = {sm, kernel, slot, cta, register_base, shared_base};
  always_ff @(posedge clk_i) begin
    was_up        <= rst_ni;
    waited        <= valid && !dispatch_ready_i;
    port_q        <= port;
    past_bad_done <= done_valid_i && !ends;
    state_q       <= state;
    resident_q    <= resident;
    rank_q        <= rank;
    evicting_q    <= evicting & ~resume_i & ~evict_i;
    ended_q       <= ended;
    spent_q       <= spent;
    over_q        <= over & ~resume_i & ~evict_i;
  end
  for (genvar k = 0; k < K; k++) begin : gen_evict
    logic taken;
    assign taken   = evict_i[k] && state[k*2 +: 2] != 2'd0;
    assign ended[k] = ends && owner[end_place] == k[0];
    assign rank[k*16 +: 16] = (evict_left[k*16 +: 16] < 16'(resident[k*ResidentW +: ResidentW])) ? evict_left[k*16 +: 16]
                                                                                            : 16'(resident[k*ResidentW +: ResidentW]);
    assign over[k] = evicting[k] && state[k*2 +: 2] != 2'd0 && (left[k*16 +: 16] == '0 || resident[k*ResidentW +: ResidentW] == '0);
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) begin
        held[k]          <= 1'b0;
        evicting[k]      <= 1'b0;
        spent[k]         <= 1'b0;
        left[k*16 +: 16] <= '0;
      end else begin
        if (state[k*2 +: 2] == 2'd0) spent[k] <= 1'b0;
        else if (\dut.pick_valid  && \dut.pick_kernel [k] && !repeat_i[k] && \dut.i_kernel_slots.next [k*GridW +: GridW] + 1'b1 == grid[k*GridW +: GridW])
          spent[k] <= 1'b1;
        if (resume_i[k] || state[k*2 +: 2] == 2'd0) held[k] <= 1'b0;
        if (resume_i[k] || state[k*2 +: 2] == 2'd0 || over[k]) evicting[k] <= 1'b0;
        if (ends && owner[end_place] == k[0] && left[k*16 +: 16] != '0) left[k*16 +: 16] <= left[k*16 +: 16] - 1'b1;
        if (taken) begin
          held[k]          <= 1'b1;
          evicting[k]      <= 1'b1;
          left[k*16 +: 16] <= (evict_count_i > 16'(M * N)) ? 16'(M * N) : evict_count_i;   // as good as all
        end
      end
  end
  logic ok_evicted_kernel_is_not_refilled, ok_eviction_is_reported_when_enough_ended, ok_only_running_kernels_dispatch,
    ok_slot_is_freed_only_when_empty, ok_a_grid_is_sent_once, ok_a_kernel_ends_by_itself_only_after_its_grid, ok_a_drained_kernel_leaves,
    ok_each_end_brings_an_eviction_nearer, ok_no_cta_is_killed;
  always_comb begin
    ok_a_grid_is_sent_once = 1'b1;
    ok_a_kernel_ends_by_itself_only_after_its_grid = 1'b1;
    ok_a_drained_kernel_leaves = 1'b1;
    ok_each_end_brings_an_eviction_nearer = 1'b1;
    ok_no_cta_is_killed = 1'b1;
    ok_evicted_kernel_is_not_refilled = 1'b1;
    ok_eviction_is_reported_when_enough_ended = 1'b1;
    ok_only_running_kernels_dispatch = 1'b1;
    ok_slot_is_freed_only_when_empty = 1'b1;
    for (int unsigned k = 0; k < K; k++) begin
      if (spent[k] && state[k*2 +: 2] != 2'd0 && \dut.pick_valid  && \dut.pick_kernel [k]) ok_a_grid_is_sent_once = 1'b0;
      if (state_q[k*2 +: 2] == 2'd1 && state[k*2 +: 2] == 2'd0 && !spent_q[k]) ok_a_kernel_ends_by_itself_only_after_its_grid = 1'b0;
      if ((state_q[k*2 +: 2] == 2'd2 || (state_q[k*2 +: 2] == 2'd1 && spent_q[k])) && resident_q[k*ResidentW +: ResidentW] == '0
          && state[k*2 +: 2] != 2'd0) ok_a_drained_kernel_leaves = 1'b0;
      if (evicting_q[k] && state_q[k*2 +: 2] != 2'd0 && rank[k*16 +: 16] + 16'(ended_q[k] && rank_q[k*16 +: 16] != '0) > rank_q[k*16 +: 16])
        ok_each_end_brings_an_eviction_nearer = 1'b0;
      if (resident[k*ResidentW +: ResidentW] + ResidentW'(ended_q[k]) < resident_q[k*ResidentW +: ResidentW]) ok_no_cta_is_killed = 1'b0;
      if (!(!(held[k] && state[k*2 +: 2] != 2'd0 && \dut.pick_valid && \dut.pick_kernel [k]))) ok_evicted_kernel_is_not_refilled = 1'b0;
      if (!(!over_q[k] || evict_done[k])) ok_eviction_is_reported_when_enough_ended = 1'b0;
      if (!(!(\dut.pick_valid && \dut.pick_kernel [k]) || state[k*2 +: 2] == 2'd1)) ok_only_running_kernels_dispatch = 1'b0;
      if (!(!(state_q[k*2 +: 2] != 2'd0 && state[k*2 +: 2] == 2'd0) || (kernel_done[k] && resident_q[k*ResidentW +: ResidentW] == '0))) ok_slot_is_freed_only_when_empty = 1'b0;
    end
    if (started && was_up && rst_ni) begin
      port_is_stable_while_it_waits: assert (!waited || (valid && port == port_q));
      an_end_that_was_never_started_is_an_error: assert (bad_done == past_bad_done);
      evicted_kernel_is_not_refilled: assert (ok_evicted_kernel_is_not_refilled);
      eviction_is_reported_when_enough_ended: assert (ok_eviction_is_reported_when_enough_ended);
      only_running_kernels_dispatch: assert (ok_only_running_kernels_dispatch);
      slot_is_freed_only_when_empty: assert (ok_slot_is_freed_only_when_empty);
      a_grid_is_sent_once: assert (ok_a_grid_is_sent_once);
      a_kernel_ends_by_itself_only_after_its_grid: assert (ok_a_kernel_ends_by_itself_only_after_its_grid);
      a_drained_kernel_leaves: assert (ok_a_drained_kernel_leaves);
      each_end_brings_an_eviction_nearer: assert (ok_each_end_brings_an_eviction_nearer);
      no_cta_is_killed: assert (ok_no_cta_is_killed);
    end
  end

  // The records kept here are those of the design.
  logic [K-1:0]       hold, evict, finished;
  assign finished   = {\dut.i_kernel_slots.gen_slot[1].finished_q , \dut.i_kernel_slots.gen_slot[0].finished_q };
  assign hold       = {\dut.i_kernel_slots.gen_slot[1].hold_q , \dut.i_kernel_slots.gen_slot[0].hold_q };
  assign evict      = {\dut.i_kernel_slots.gen_slot[1].evict_q , \dut.i_kernel_slots.gen_slot[0].evict_q };
  assign evict_left = {16'(\dut.i_kernel_slots.gen_slot[1].evict_left_q ), 16'(\dut.i_kernel_slots.gen_slot[0].evict_left_q )};
  logic ok_records;
  always_comb begin
    ok_records = evict_left == left;
    for (int unsigned k = 0; k < K; k++)
      if (state[k*2 +: 2] != 2'd0 && (grid[k*GridW +: GridW] != grid_before_q[k*GridW +: GridW] || hold[k] != held[k] || (evict[k] && !hold[k]) || evict[k] != evicting[k] || finished[k] != spent[k] || grid[k*GridW +: GridW] == '0)) ok_records = 1'b0;
    if ((hold & {state[3:2] == 2'd0, state[1:0] == 2'd0}) != '0 || (evict & {state[3:2] == 2'd0, state[1:0] == 2'd0}) != '0) ok_records = 1'b0;
    if (started) records_agree: assert (ok_records);
  end

`ifdef REGIONS
  // Regions of both resources, by the plain definition: the CTAs in slots, but the one whose regions are being taken.
  localparam int unsigned LenW = $clog2(U + 1), BaseW = $clog2(U);
  (* hierconn *) logic [K*LenW-1:0]    \dut.gen_regions.register_length_q , \dut.gen_regions.shared_length_q ;
  (* hierconn *) logic [LenW-1:0]      \dut.gen_regions.register_total_q , \dut.gen_regions.shared_total_q , \dut.gen_regions.register_total_d , \dut.gen_regions.shared_total_d ;
  (* hierconn *) logic [4:0]           \dut.gen_regions.register_shift_q , \dut.gen_regions.shared_shift_q , \dut.gen_regions.register_shift_d , \dut.gen_regions.shared_shift_d ;
  (* hierconn *) logic [M*N-1:0]       \dut.gen_regions.i_region_allocator.region ;
  (* hierconn *) logic [N-1:0]         \dut.gen_regions.i_region_allocator.row_held_q , \dut.gen_regions.i_region_allocator.row_kernel_q ;
  (* hierconn *) logic                 \dut.gen_regions.i_region_allocator.merge_valid_q ;
  (* hierconn *) logic [M-1:0]         \dut.gen_regions.i_region_allocator.merge_sm_q ;
  (* hierconn *) logic [M*N*BaseW-1:0] \dut.gen_regions.i_region_allocator.gen_resource[0].i_space.base , \dut.gen_regions.i_region_allocator.gen_resource[1].i_space.base ;
  (* hierconn *) logic [N*BaseW-1:0]   \dut.gen_regions.i_region_allocator.gen_resource[0].i_space.row_base_q , \dut.gen_regions.i_region_allocator.gen_resource[1].i_space.row_base_q ;
  (* hierconn *) logic [M*LenW-1:0]    \dut.gen_regions.i_region_allocator.gen_resource[0].i_space.largest , \dut.gen_regions.i_region_allocator.gen_resource[1].i_space.largest ;
  (* hierconn *) logic [LenW-1:0]      \dut.gen_regions.i_region_allocator.gen_resource[0].i_space.rest , \dut.gen_regions.i_region_allocator.gen_resource[1].i_space.rest ;
  (* hierconn *) logic [LenW-1:0]      \dut.gen_regions.i_region_allocator.gen_resource[0].i_space.grown , \dut.gen_regions.i_region_allocator.gen_resource[1].i_space.grown ;
  (* hierconn *) logic                 \dut.checked_q ;
  (* hierconn *) logic [M-1:0]         \dut.check_sm_q ;
  (* hierconn *) logic [K*M-1:0]       \dut.i_dispatch_picker.region_q ;
  (* hierconn *) logic                 \dut.with_regions_q ;

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
  assign holds          = slot_used & ~(\dut.fresh_q ? waiting : '0) & \dut.gen_regions.i_region_allocator.region ;
  assign register_bases = \dut.gen_regions.i_region_allocator.gen_resource[0].i_space.base ;
  assign shared_bases   = \dut.gen_regions.i_region_allocator.gen_resource[1].i_space.base ;
  region_view #(.M(M), .K(K), .N(N), .U(U)) i_register_view (.total_i(\dut.gen_regions.register_total_q ),
    .length_i(\dut.gen_regions.register_length_q ), .holds_i(holds), .kernel_i(owner), .base_i(register_bases), .bitmap_o(register_bitmap),
    .overlap_o(register_overlap), .outside_o(register_outside), .largest_o(register_largest), .start_o(register_start));
  region_view #(.M(M), .K(K), .N(N), .U(U)) i_shared_view (.total_i(\dut.gen_regions.shared_total_q ),
    .length_i(\dut.gen_regions.shared_length_q ), .holds_i(holds), .kernel_i(owner), .base_i(shared_bases), .bitmap_o(shared_bitmap),
    .overlap_o(shared_overlap), .outside_o(shared_outside), .largest_o(shared_largest), .start_o(shared_start));

  // What is kept about the regions: the row that the search sees, and the largest gaps or what is about to be written there.
  logic              ok_row, ok_largest;
  logic [2*LenW-1:0] known;
  always_comb begin
    ok_row     = 1'b1;
    ok_largest = 1'b1;
    known      = '0;
    for (int unsigned m = 0; m < M; m++) begin
      if (\dut.fresh_q && \dut.with_regions_q && \dut.sm_q [m]) begin
        if (\dut.gen_regions.i_region_allocator.row_held_q != holds[m*N +: N]) ok_row = 1'b0;
        for (int unsigned s = 0; s < N; s++)
          if (holds[m*N + s] && (\dut.gen_regions.i_region_allocator.gen_resource[0].i_space.row_base_q [s*BaseW +: BaseW] != register_bases[(m*N + s)*BaseW +: BaseW]
                                || \dut.gen_regions.i_region_allocator.gen_resource[1].i_space.row_base_q [s*BaseW +: BaseW] != shared_bases[(m*N + s)*BaseW +: BaseW]
                                || \dut.gen_regions.i_region_allocator.row_kernel_q [s] != owner[m*N + s])) ok_row = 1'b0;
      end
      known = {\dut.gen_regions.i_region_allocator.gen_resource[1].i_space.largest [m*LenW +: LenW], \dut.gen_regions.i_region_allocator.gen_resource[0].i_space.largest [m*LenW +: LenW]};
      if (\dut.checked_q && \dut.check_sm_q [m]) known = {\dut.gen_regions.i_region_allocator.gen_resource[1].i_space.rest , \dut.gen_regions.i_region_allocator.gen_resource[0].i_space.rest };
      if (\dut.gen_regions.i_region_allocator.merge_valid_q && \dut.gen_regions.i_region_allocator.merge_sm_q [m])
        known = {\dut.gen_regions.i_region_allocator.gen_resource[1].i_space.grown , \dut.gen_regions.i_region_allocator.gen_resource[0].i_space.grown };
      if (holds[m*N +: N] != '0 && known != {shared_largest[m*LenW +: LenW], register_largest[m*LenW +: LenW]}) ok_largest = 1'b0;
    end
  end

  logic ok_region_fits_where_a_cta_is_sent, ok_remembered_gap_is_there, ok_a_region_holds_the_demand, ok_units_are_of_the_capacity, ok_port_tells_the_bases;
  logic [BaseW-1:0] register_kept, shared_kept;
  always_comb begin
    ok_region_fits_where_a_cta_is_sent = 1'b1;
    ok_remembered_gap_is_there = 1'b1;
    ok_a_region_holds_the_demand = 1'b1;
    ok_units_are_of_the_capacity = state == '0
      || {\dut.gen_regions.register_total_q , \dut.gen_regions.register_shift_q , \dut.gen_regions.shared_total_q , \dut.gen_regions.shared_shift_q }
         == {\dut.gen_regions.register_total_d , \dut.gen_regions.register_shift_d , \dut.gen_regions.shared_total_d , \dut.gen_regions.shared_shift_d };
    for (int unsigned k = 0; k < K; k++) begin
      if (state[k*2 +: 2] != 2'd0
          && ((RegW+5)'(\dut.gen_regions.register_length_q [k*LenW +: LenW]) << \dut.gen_regions.register_shift_q < (RegW+5)'(demand_registers_i [k*RegW +: RegW])
           || (SharedW+5)'(\dut.gen_regions.shared_length_q [k*LenW +: LenW]) << \dut.gen_regions.shared_shift_q < (SharedW+5)'(demand_shared_i [k*SharedW +: SharedW])
           || \dut.gen_regions.register_length_q [k*LenW +: LenW] > \dut.gen_regions.register_total_q
           || \dut.gen_regions.shared_length_q [k*LenW +: LenW] > \dut.gen_regions.shared_total_q )) ok_a_region_holds_the_demand = 1'b0;
      for (int unsigned m = 0; m < M; m++) begin
        if (\dut.fresh_q && \dut.with_regions_q && \dut.sm_q [m] && \dut.kernel_q [k]
            && (register_start[(m*K + k)*U +: U] == '0 || shared_start[(m*K + k)*U +: U] == '0)) ok_region_fits_where_a_cta_is_sent = 1'b0;
        if (regions_q && \dut.i_dispatch_picker.room_q [k*M + m] && \dut.i_dispatch_picker.region_q [k*M + m] && state[k*2 +: 2] != 2'd0
            && (register_start[(m*K + k)*U +: U] == '0 || shared_start[(m*K + k)*U +: U] == '0 || (\dut.fresh_q && \dut.with_regions_q && \dut.sm_q [m])))
          ok_remembered_gap_is_there = 1'b0;
      end
    end
    register_kept = '0;
    shared_kept   = '0;
    for (int unsigned i = 0; i < M*N; i++)
      if (place == 3'(i)) begin
        register_kept = register_bases[i*BaseW +: BaseW];
        shared_kept   = shared_bases[i*BaseW +: BaseW];
      end
    ok_port_tells_the_bases = !valid || \dut.fresh_q || (register_base == RegW'(RegW'(register_kept) << \dut.gen_regions.register_shift_q )
                                                         && shared_base == SharedW'(SharedW'(shared_kept) << \dut.gen_regions.shared_shift_q ));
    if (started) begin
      regions_never_overlap:                  assert (!register_overlap && !shared_overlap);
      regions_stay_inside_the_sm:             assert (!register_outside && !shared_outside);
      search_sees_the_regions_of_its_sm:      assert (ok_row);
      largest_gap_is_known:                   assert (ok_largest);
      region_fits_where_a_cta_is_sent:        assert (ok_region_fits_where_a_cta_is_sent);
      remembered_gap_is_there:                assert (ok_remembered_gap_is_there);
      units_are_of_the_capacity:              assert (ok_units_are_of_the_capacity);
      a_region_holds_the_demand:              assert (ok_a_region_holds_the_demand);
      port_tells_the_bases:                   assert (ok_port_tells_the_bases);
    end
  end
`endif
endmodule
