// SPDX-License-Identifier: Apache-2.0
// Properties of cta_dispatcher: M SMs, two kernel slots, N CTA slots of an SM; with REGIONS four region units. Inputs
// are anything at all, a reset and an end of a CTA that never was included; assumed is only what
// docs/reference/blocks/cta_dispatcher.md asks of the neighbours: the capacity is stable from the cycle before a launch
// on while a kernel slot is taken, a descriptor while its own is, quotas are at most N and change with quota_changed_i
// only, as does regions_i. What the hardware should hold is rebuilt from the ports
// (who was started, which index comes next); the names with dots are the registers of the design, for the invariants
// that tie both.
module cta_dispatcher_props #(
  parameter int unsigned M = 2,   // SMs, at most 2
  parameter int unsigned N = 3,   // CTA slots, at most 4
  parameter int unsigned U = 0    // region units; 0: without regions
) (
  input logic                                     clk_i,
  input logic                                     rst_ni,
  input sluice_pkg::amounts_t                     capacity_i,
  input logic [sluice_pkg::CtaW-1:0]              capacity_slots_i,
  input logic [2*sluice_pkg::AmountW-1:0]         demand_i,
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
  localparam int unsigned WarpW = sluice_pkg::WarpW, RegW = sluice_pkg::RegW, SharedW = sluice_pkg::SharedW,
    CtaW = sluice_pkg::CtaW;
  localparam int unsigned GridW = sluice_pkg::GridW, ResidentW = sluice_pkg::ResidentW, KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned SmW = sluice_pkg::SmW, SlotW = sluice_pkg::SlotW;

  logic [M-1:0]           query_sm, port_sm, sm_busy;
  logic [K*2-1:0]         state;
  logic [3:0]             num_present;
  logic                   change, valid;
  sluice_pkg::dispatch_error_t error;
  logic [K*ResidentW-1:0] resident;
  logic [K-1:0]           evict_done, kernel_done, gives_none;
  logic [M-1:0]           settled;
  logic [KIndexW-1:0]     kernel;
  logic [SmW-1:0]         sm;
  logic [SlotW-1:0]       slot;
  logic [GridW-1:0]       cta;
  logic [RegW-1:0]        register_base;
  logic [SharedW-1:0]     shared_base;

  cta_dispatcher #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(N), .REGION_UNITS(U), .SM_ENABLE(1), .SM_READY(1)) dut (
    .clk_i,
    .rst_ni,
    .tag_rst_ni               (rst_ni),
    .capacity_i,
    .capacity_slots_i,
    .demand_i,
    .grid_i,
    .repeat_i,
    .launch_i,
    .stop_i,
    .evict_i,
    .evict_count_i,
    .resume_i,
    .count_i,
    .count_first_i,
    .count_kernel_i,
    .round_robin_i,
    .in_order_i,
    .regions_i,
    .sm_enable_i,
    .sm_ready_i,
    .sm_busy_o                (sm_busy),
    .query_sm_o               (query_sm),
    .query_quota_i            (query_sm[0] ? quota_i[K*CtaW-1:0] : quota_i[2*K*CtaW-1:K*CtaW]),
    .port_sm_o                (port_sm),
    .port_quota_i             (port_sm[0] ? quota_i[K*CtaW-1:0] : quota_i[2*K*CtaW-1:K*CtaW]),
    .quota_changed_i,
    .profiling_i,
    .settled_o                (settled),
    .spent_o                  (gives_none),
    .slot_state_o             (state),
    .num_present_o            (num_present),
    .change_o                 (change),
    .resident_o               (resident),
    .evict_done_o             (evict_done),
    .kernel_done_o            (kernel_done),
    .error_o                  (error),
    .dispatch_valid_o         (valid),
    .dispatch_ready_i,
    .dispatch_sm_o            (sm),
    .dispatch_kernel_o        (kernel),
    .dispatch_slot_o          (slot),
    .dispatch_cta_o           (cta),
    .dispatch_register_base_o (register_base),
    .dispatch_shared_base_o   (shared_base),
    .done_valid_i,
    .done_sm_i,
    .done_slot_i
  );

  // Registers of the design.
  localparam int unsigned CountW = $clog2(N + 1), AmountW = WarpW + RegW + SharedW, LeftW = $clog2(M * N + 1);
  (* hierconn *) logic [M*AmountW-1:0] \dut.i_sm_resource_table.amounts ;
  (* hierconn *) logic [M*2*N-1:0] \dut.i_sm_resource_table.slots ;
  (* hierconn *) logic [K*CountW-1:0] \dut.i_sm_resource_table.a_quota_q , \dut.i_sm_resource_table.b_resident_q ,
    \dut.i_sm_resource_table.b_quota_q ;
  (* hierconn *) logic [M-1:0] \dut.i_sm_resource_table.written_q , \dut.i_sm_resource_table.charge_sm_q ,
    \dut.i_sm_resource_table.charged_sm_q , \dut.i_sm_resource_table.i_end.end_sm_q ,
    \dut.i_sm_resource_table.i_end.release_sm_q , \dut.i_sm_resource_table.i_end.credit_sm_q ,
    \dut.i_dispatch_picker.eval_q , \dut.i_dispatch_picker.answer_q , \dut.i_dispatch_picker.busy_q ,
    \dut.eval_slots_sm , \dut.pick_sm , \dut.port_sm ;
  (* hierconn *) logic [K-1:0] \dut.i_sm_resource_table.charge_kernel_q , \dut.i_sm_resource_table.a_room_q ,
    \dut.i_sm_resource_table.i_end.release_kernel_q , \dut.i_kernel_slots.i_grid_index.last_q ,
    \dut.i_kernel_slots.i_grid_index.second_q , \dut.i_kernel_slots.i_grid_index.next_ones_q ,
    \dut.i_kernel_slots.i_grid_index.port_q , \dut.i_kernel_slots.i_grid_index.count_q , \dut.can_admit ,
    \dut.pick_kernel , \dut.port_kernel ;
  (* hierconn *) logic \dut.i_sm_resource_table.charge_q , \dut.i_sm_resource_table.i_end.end_valid_q ,
    \dut.i_sm_resource_table.i_end.end_wait_q , \dut.i_dispatch_picker.new_q , \dut.i_sm_resource_table.charged_full_q ,
    \dut.pick_valid , \dut.fresh , \dut.charge_stale_q , \dut.charged_stale_q ,
    \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.hold_q , \dut.i_kernel_slots.gen_slot[1].i_kernel_slot.hold_q ,
    \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.finished_q ,
    \dut.i_kernel_slots.gen_slot[1].i_kernel_slot.finished_q , \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.evict_q ,
    \dut.i_kernel_slots.gen_slot[1].i_kernel_slot.evict_q ;
  (* hierconn *) logic [N-1:0] \dut.i_sm_resource_table.i_end.end_slot_q , \dut.i_dispatch_port.slot_q ;
  (* hierconn *) logic [AmountW-1:0] \dut.i_sm_resource_table.a_left_q , \dut.i_sm_resource_table.admit_q ,
    \dut.i_sm_resource_table.charged_q , \dut.i_sm_resource_table.b_left_q , \dut.i_sm_resource_table.i_end.left_q ,
    \dut.i_sm_resource_table.i_end.change_q ;
  (* hierconn *) logic [2*N-1:0] \dut.i_sm_resource_table.a_slots_q ;
  (* hierconn *) logic [CountW-1:0] \dut.i_sm_resource_table.b_count_q ;
  (* hierconn *) logic [K*M-1:0] \dut.i_dispatch_picker.room_q ;
  (* hierconn *) logic [GridW-1:0] \dut.i_kernel_slots.i_grid_index.next_q[0] ,
    \dut.i_kernel_slots.i_grid_index.next_q[1] ;
  (* hierconn *) logic [K*K-1:0] \dut.older ;
  (* hierconn *) logic [LeftW-1:0] \dut.i_kernel_slots.gen_slot[0].i_kernel_slot.evict_left_q ,
    \dut.i_kernel_slots.gen_slot[1].i_kernel_slot.evict_left_q ;

  logic started;   // past the first cycle
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;

  // The neighbours.
  logic [4*CtaW-1:0]                              quota_q;
  logic                                           up_q;
  logic [K*AmountW-1:0]                           descriptor_q;
  logic [K*GridW-1:0]                             grid_before_q;
  logic [AmountW+CtaW-1:0]                        capacity, capacity_q;
  assign capacity = {capacity_i, capacity_slots_i};
  always_ff @(posedge clk_i) begin
    quota_q    <= quota_i;
    up_q       <= rst_ni;
    descriptor_q <= demand_i;
    grid_before_q <= grid_i;
    capacity_q <= capacity;
  end
  // The rows of the table: what is left; that of one that was not written is the capacity. The capacity is that of the
  // cycle before: where a kernel is present it is this one's, too.
  logic [AmountW-1:0] capacity_left;
  assign capacity_left = capacity_q[CtaW +: AmountW];
  logic [M*AmountW-1:0] row;
  logic [M*N-1:0]       slot_used, owner;   // owner: kernel of each slot (there are two)
  always_comb begin
    for (int unsigned m = 0; m < M; m++) begin
      slot_used[m*N +: N]         = \dut.i_sm_resource_table.slots [m*2*N +: N];
      owner[m*N +: N]             = \dut.i_sm_resource_table.slots [m*2*N + N +: N];
      row[m*AmountW +: AmountW]   = \dut.i_sm_resource_table.written_q [m]
          ? \dut.i_sm_resource_table.amounts [m*AmountW +: AmountW] : capacity_left;
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
    // sluice_csr: a descriptor holds while its slot is busy, and was written three cycles before its launch
    for (int unsigned k = 0; k < K; k++)
      if (started && (state[k*2 +: 2] != 2'd0 || launch_i[k]))
        assume (demand_i[k*AmountW +: AmountW] == descriptor_q[k*AmountW +: AmountW]
        && grid_i[k*GridW +: GridW] == grid_before_q[k*GridW +: GridW]);
  end

  // Rebuilt from the ports: CTAs that were started and have not ended, the index that each kernel has to send next.
  logic [M*N-1:0]       runs;
  logic [K*GridW-1:0]   expected;
  logic                 starts, ends;
  logic [2:0]           place, end_place;   // SM * N + slot
  assign starts    = valid && dispatch_ready_i;
  assign place     = 3'(sm[0] ? N : 0) + 3'(slot[1:0]);
  assign end_place = (done_sm_i < SmW'(M) && done_slot_i < SlotW'(N)) ? 3'(done_sm_i[0] ? N : 0) + 3'(done_slot_i[1:0])
      : 3'd0;
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

  // Ends on their way: the slot of one that came in the cycle before is left in this one, the one behind it is counted,
  // the last is credited.
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

  // What a CTA of each kernel takes, and the rows of what the CTAs hold that have a slot, of those whose end is not
  // credited, and of the one that is new at the port (fresh). Wide enough to add up.
  localparam int unsigned SumW = RegW + SharedW + WarpW + 9;   // {shared, registers, warps} with three bits more each
  function automatic logic [SumW-1:0] widened(input logic [AmountW-1:0] a);
    widened = {3'd0, a[WarpW+RegW +: SharedW], 3'd0, a[WarpW +: RegW], 3'd0, a[0 +: WarpW]};
  endfunction
  // of every resource a is at most b
  function automatic logic within(input logic [SumW-1:0] a, input logic [SumW-1:0] b);
    within = a[0 +: WarpW+3] <= b[0 +: WarpW+3] && a[WarpW+3 +: RegW+3] <= b[WarpW+3 +: RegW+3]
        && a[WarpW+RegW+6 +: SharedW+3] <= b[WarpW+RegW+6 +: SharedW+3];
  endfunction
  logic [M*N-1:0]                waiting;     // at the port
  logic [M*SumW-1:0]             holding, owed, fresh;
  logic [K*GridW-1:0]            given, index;   // of each kernel's CTA at the port, or next there; and picked next
  logic [M*K*CtaW-1:0]           count;
  logic [K*ResidentW-1:0]        total;
  logic [M*CtaW-1:0]             ctas;
  logic [SumW-1:0]               capacity_sum;
  assign capacity_sum = widened(capacity_i);
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
      given[k*GridW +: GridW]      = k == 0 ? \dut.i_kernel_slots.i_grid_index.next_q[0]
          : \dut.i_kernel_slots.i_grid_index.next_q[1] ;
      index[k*GridW +: GridW]      = given[k*GridW +: GridW];
      if (valid && kernel == KIndexW'(k))
        index[k*GridW +: GridW] = (given[k*GridW +: GridW] + 1'b1 == grid[k*GridW +: GridW]) ? '0
            : given[k*GridW +: GridW] + 1'b1;
    end
    for (int unsigned m = 0; m < M; m++)
      for (int unsigned k = 0; k < K; k++) begin
        for (int unsigned s = 0; s < N; s++)
          if (slot_used[m*N + s] && owner[m*N + s] == k[0]) begin
            holding[m*SumW +: SumW]            = holding[m*SumW +: SumW] + widened(demand_i[k*AmountW +: AmountW]);
            count[(m*K + k)*CtaW +: CtaW]   = count[(m*K + k)*CtaW +: CtaW] + 1'b1;
            total[k*ResidentW +: ResidentW] = total[k*ResidentW +: ResidentW] + 1'b1;
            ctas[m*CtaW +: CtaW]            = ctas[m*CtaW +: CtaW] + 1'b1;
          end
        if (counted_q && counted_sm_q[m] && counted_kernel_q == k[0])
          owed[m*SumW +: SumW] = owed[m*SumW +: SumW] + widened(demand_i[k*AmountW +: AmountW]);
        if (credited_q && credited_sm_q[m] && credited_kernel_q == k[0])
          owed[m*SumW +: SumW] = owed[m*SumW +: SumW] + widened(demand_i[k*AmountW +: AmountW]);
        if (\dut.fresh && sm == SmW'(m) && kernel == KIndexW'(k))
          fresh[m*SumW +: SumW] = widened(demand_i[k*AmountW +: AmountW]);
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
        charge_demand           = charge_demand | demand_i[k*AmountW +: AmountW];
      end
      if (credited_kernel_q == k[0]) credit_demand = credit_demand | demand_i[k*AmountW +: AmountW];
    end
  end

  `include "cta_dispatcher_tables_props.sv"
  `include "cta_dispatcher_kernels_props.sv"
`ifdef REGIONS
  `include "cta_dispatcher_regions_props.sv"
`endif
endmodule
