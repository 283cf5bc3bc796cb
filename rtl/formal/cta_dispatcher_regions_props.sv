// SPDX-License-Identifier: Apache-2.0
// Part of cta_dispatcher_props, with REGIONS: contiguous regions.
  // Regions of both resources, by the plain definition: the CTAs in slots, but the one whose regions are being taken.
  localparam int unsigned LenW = $clog2(U + 1), BaseW = $clog2(U);
  (* hierconn *) logic [K*LenW-1:0]
    \dut.gen_regions.i_dispatch_regions.register_length_q , \dut.gen_regions.i_dispatch_regions.shared_length_q ;
  (* hierconn *) logic [LenW-1:0]
    \dut.gen_regions.i_dispatch_regions.register_total_q , \dut.gen_regions.i_dispatch_regions.shared_total_q ,
    \dut.gen_regions.i_dispatch_regions.register_total_d , \dut.gen_regions.i_dispatch_regions.shared_total_d ;
  (* hierconn *) logic [4:0]
    \dut.gen_regions.i_dispatch_regions.register_shift_q , \dut.gen_regions.i_dispatch_regions.shared_shift_q ,
    \dut.gen_regions.i_dispatch_regions.register_shift_d , \dut.gen_regions.i_dispatch_regions.shared_shift_d ;
  (* hierconn *) logic [M*N-1:0]       \dut.gen_regions.i_dispatch_regions.i_region_allocator.region ;
  (* hierconn *) logic [N-1:0]
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.row_held_q ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.row_kernel_q ;
  (* hierconn *) logic                 \dut.gen_regions.i_dispatch_regions.i_region_allocator.merge_valid_q ;
  (* hierconn *) logic [M-1:0]         \dut.gen_regions.i_dispatch_regions.i_region_allocator.merge_sm_q ;
  (* hierconn *) logic [M*N*BaseW-1:0]
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.base ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.base ;
  (* hierconn *) logic [N*BaseW-1:0]
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.row_base_q ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.row_base_q ;
  (* hierconn *) logic [M*LenW-1:0]
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.largest ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.largest ;
  (* hierconn *) logic [LenW-1:0]
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.rest ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.rest ;
  (* hierconn *) logic [LenW-1:0]
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.grown ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.grown ;
  (* hierconn *) logic
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.eval_empty_q ,
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.eval_empty_q ;
  (* hierconn *) logic [LenW-1:0]
    \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.eval_gap_q ,
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
    .capacity_i (capacity_left[WarpW +: RegW]),
    .demand_i   (demand_registers_q),
    .shift_o    (unused_register_shift),
    .total_o    (unused_register_total),
    .length_o   (unused_register_length),
    .fits_o     (register_fitted)
  );
  region_units #(.MAX_KERNELS(K), .UNITS(U), .AmountW(SharedW)) i_shared_fit (
    .capacity_i (capacity_left[WarpW + RegW +: SharedW]),
    .demand_i   (demand_shared_q),
    .shift_o    (unused_shared_shift),
    .total_o    (unused_shared_total),
    .length_o   (unused_shared_length),
    .fits_o     (shared_fitted)
  );
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
  region_view #(.M(M), .K(K), .N(N), .U(U)) i_register_view (
    .total_i   (\dut.gen_regions.i_dispatch_regions.register_total_q ),
    .length_i  (\dut.gen_regions.i_dispatch_regions.register_length_q ),
    .holds_i   (holds),
    .kernel_i  (owner),
    .base_i    (register_bases),
    .bitmap_o  (register_bitmap),
    .overlap_o (register_overlap),
    .outside_o (register_outside),
    .largest_o (register_largest),
    .start_o   (register_start)
  );
  region_view #(.M(M), .K(K), .N(N), .U(U)) i_shared_view (
    .total_i   (\dut.gen_regions.i_dispatch_regions.shared_total_q ),
    .length_i  (\dut.gen_regions.i_dispatch_regions.shared_length_q ),
    .holds_i   (holds),
    .kernel_i  (owner),
    .base_i    (shared_bases),
    .bitmap_o  (shared_bitmap),
    .overlap_o (shared_overlap),
    .outside_o (shared_outside),
    .largest_o (shared_largest),
    .start_o   (shared_start)
  );

  // What is kept about the regions: the row that the search sees, and the largest gaps or what is about to be written
  // there.
  logic [N*BaseW-1:0] row_register_base, row_shared_base;
  assign row_register_base = \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.row_base_q ;
  assign row_shared_base   = \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.row_base_q ;
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
          if (holds[m*N + s] && (row_register_base[s*BaseW +: BaseW] != register_bases[(m*N + s)*BaseW +: BaseW]
              || row_shared_base[s*BaseW +: BaseW] != shared_bases[(m*N + s)*BaseW +: BaseW]
              || \dut.gen_regions.i_dispatch_regions.i_region_allocator.row_kernel_q [s] != owner[m*N + s]))
            ok_row = 1'b0;
      end
      known = {\dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.largest [m*LenW +: LenW],
        \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.largest [m*LenW +: LenW]};
      if (\dut.i_sm_resource_table.charge_sm_q [m] && \dut.charge_regions_q ) known =
        {\dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.rest ,
          \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.rest };
      if (\dut.gen_regions.i_dispatch_regions.i_region_allocator.merge_valid_q
          && \dut.gen_regions.i_dispatch_regions.i_region_allocator.merge_sm_q [m])
        known = {\dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.grown ,
          \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.grown };
      if (holds[m*N +: N] != '0 && known != {shared_largest[m*LenW +: LenW], register_largest[m*LenW +: LenW]})
        ok_largest = 1'b0;
    end
  end

  struct packed {
    logic region_fits_where_a_cta_is_sent, remembered_gap_is_there, read_gap_is_not_optimistic, the_mode_is_the_cta_s,
      a_region_holds_the_demand, units_are_of_the_capacity, port_tells_the_bases;
  } ok_region;
  logic [BaseW-1:0] register_kept, shared_kept;
  logic [LenW-1:0]  register_length, shared_length;
  always_comb begin
    ok_region       = '1;
    register_length = '0;
    shared_length   = '0;
    ok_region.the_mode_is_the_cta_s = (!\dut.fresh || \dut.with_regions_q == regions_q)
        && (!\dut.i_sm_resource_table.charge_q || \dut.charge_stale_q
      || \dut.charge_regions_q == regions_q);
    for (int unsigned m = 0; m < M; m++)
      if (\dut.i_dispatch_picker.answer_q [m] && !\dut.i_dispatch_picker.busy_q [m]
          && holds[m*N +: N] != '0   // where none is held, any fits
          && (\dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.eval_empty_q
            || \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[0].i_space.eval_gap_q
              > register_largest[m*LenW +: LenW]
            || \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.eval_empty_q
            || \dut.gen_regions.i_dispatch_regions.i_region_allocator.gen_resource[1].i_space.eval_gap_q
              > shared_largest[m*LenW +: LenW]))
        ok_region.read_gap_is_not_optimistic = 1'b0;
    ok_region.units_are_of_the_capacity = state == '0
      || {\dut.gen_regions.i_dispatch_regions.register_total_q , \dut.gen_regions.i_dispatch_regions.register_shift_q ,
        \dut.gen_regions.i_dispatch_regions.shared_total_q , \dut.gen_regions.i_dispatch_regions.shared_shift_q }
         == {\dut.gen_regions.i_dispatch_regions.register_total_d ,
         \dut.gen_regions.i_dispatch_regions.register_shift_d ,
           \dut.gen_regions.i_dispatch_regions.shared_total_d , \dut.gen_regions.i_dispatch_regions.shared_shift_d };
    for (int unsigned k = 0; k < K; k++) begin
      register_length = \dut.gen_regions.i_dispatch_regions.register_length_q [k*LenW +: LenW];
      shared_length   = \dut.gen_regions.i_dispatch_regions.shared_length_q [k*LenW +: LenW];
      if (state[k*2 +: 2] != 2'd0
          && ((RegW+5)'(register_length) << \dut.gen_regions.i_dispatch_regions.register_shift_q
              < (RegW+5)'(demand_i[k*AmountW + WarpW +: RegW])
            || (SharedW+5)'(shared_length) << \dut.gen_regions.i_dispatch_regions.shared_shift_q
              < (SharedW+5)'(demand_i[k*AmountW + WarpW + RegW +: SharedW])
            || register_length > \dut.gen_regions.i_dispatch_regions.register_total_q
            || shared_length > \dut.gen_regions.i_dispatch_regions.shared_total_q ))
        ok_region.a_region_holds_the_demand = 1'b0;
      for (int unsigned m = 0; m < M; m++) begin
        if (\dut.fresh && \dut.with_regions_q && \dut.port_sm [m] && \dut.port_kernel [k]
            && (register_start[(m*K + k)*U +: U] == '0
            || shared_start[(m*K + k)*U +: U] == '0)) ok_region.region_fits_where_a_cta_is_sent = 1'b0;
        if (regions_q && state[k*2 +: 2] != 2'd0
            && ((\dut.i_dispatch_picker.room_q [k*M + m] && !\dut.i_dispatch_picker.busy_q [m])
             || (\dut.i_sm_resource_table.charged_sm_q [m] && !\dut.charged_stale_q && \dut.charged_regions_q [k]))
            && (register_start[(m*K + k)*U +: U] == '0
            || shared_start[(m*K + k)*U +: U] == '0)) ok_region.remembered_gap_is_there = 1'b0;
      end
    end
    register_kept = '0;
    shared_kept   = '0;
    for (int unsigned i = 0; i < M*N; i++)
      if (place == 3'(i)) begin
        register_kept = register_bases[i*BaseW +: BaseW];
        shared_kept   = shared_bases[i*BaseW +: BaseW];
      end
    ok_region.port_tells_the_bases = !valid || \dut.fresh
        || (register_base == RegW'(RegW'(register_kept) << \dut.gen_regions.i_dispatch_regions.register_shift_q )
          && shared_base
            == SharedW'(SharedW'(shared_kept) << \dut.gen_regions.i_dispatch_regions.shared_shift_q ));
    if (started) begin
      regions_never_overlap:                  assert (!register_overlap && !shared_overlap);
      regions_stay_inside_the_sm:             assert (!register_outside && !shared_outside);
      search_sees_the_regions_of_its_sm:      assert (ok_row);
      largest_gap_is_known:                   assert (ok_largest);
      region_fits_where_a_cta_is_sent:        assert (ok_region.region_fits_where_a_cta_is_sent);
      remembered_gap_is_there:                assert (ok_region.remembered_gap_is_there);
      read_gap_is_not_optimistic:             assert (ok_region.read_gap_is_not_optimistic);
      the_mode_is_the_cta_s:                  assert (ok_region.the_mode_is_the_cta_s);
      units_are_of_the_capacity:              assert (ok_region.units_are_of_the_capacity);
      a_region_holds_the_demand:              assert (ok_region.a_region_holds_the_demand);
      port_tells_the_bases:                   assert (ok_region.port_tells_the_bases);
    end
  end
