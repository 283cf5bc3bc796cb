// SPDX-License-Identifier: Apache-2.0
// Properties of region_allocator: two SMs, two kernels, N CTA slots, U units. Assumed is what its callers promise: a
// CTA takes an empty slot, with regions only where they fit and not in the cycle after another took regions of that SM;
// it is given back when it holds its slot and has its regions, and is among the slots of a release from then on; sizes
// do not change under a CTA. The regions are recorded from the ports; what is kept about gaps is compared with them.
module region_allocator_props #(
  parameter int unsigned N    = 2,
  parameter int unsigned U    = 4,
  parameter int unsigned LenW = $clog2(U + 1)
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic [2*LenW-1:0] total_i,        // of each resource
  input logic [4*LenW-1:0] length_i,       // of each kernel, of each resource
  input logic              admit_valid_i,
  input logic              admit_region_i,
  input logic              admit_sm_i,
  input logic [1:0]        admit_slot_i,
  input logic              admit_kernel_i,
  input logic              free_valid_i,
  input logic              free_sm_i,
  input logic [1:0]        free_slot_i,
  input logic              eval_sm_i
);
  localparam int unsigned M = 2, K = 2, BaseW = $clog2(U);

  // Who holds which slot, and what was allocated.
  logic [M*N-1:0]         used, regioned, kernel;
  logic [2*M*N*BaseW-1:0] bases;          // registers in the low half
  logic                   alloc_valid_q, alloc_region_q, alloc_sm_q, alloc_kernel_q, check_valid_q, check_sm_q;
  logic [1:0]             alloc_slot_q;
  logic [2:0]             admit_place, alloc_place, free_place;
  assign admit_place  = 3'(admit_sm_i ? N : 0) + 3'(admit_slot_i);
  assign alloc_place = 3'(alloc_sm_q ? N : 0) + 3'(alloc_slot_q);
  assign free_place  = 3'(free_sm_i ? N : 0) + 3'(free_slot_i);

  // The table has a CTA among its slots from the cycle after its regions were taken.
  logic [M*N-1:0] settled;
  assign settled = used & ~(alloc_valid_q ? (M*N)'(1) << alloc_place : '0);

  logic [2*BaseW-1:0] base;
  logic [K-1:0]       check_fits, eval_fits;
  region_allocator #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(N), .UNITS(U)) dut (
    .*,
    .admit_sm_i     (M'(1) << admit_sm_i),
    .admit_slots_i  (admit_sm_i ? {kernel[N +: N], used[N +: N]} : {kernel[0 +: N], used[0 +: N]}),
    .alloc_valid_i  (alloc_valid_q),
    .alloc_region_i (alloc_region_q),
    .alloc_sm_i     (M'(1) << alloc_sm_q),
    .alloc_slot_i   (N'(1) << alloc_slot_q),
    .alloc_kernel_i (K'(1) << alloc_kernel_q),
    .alloc_base_o   (base),
    .check_valid_i  (check_valid_q),
    .check_sm_i     (M'(1) << check_sm_q),
    .check_fits_o   (check_fits),
    .free_sm_i      (M'(1) << free_sm_i),
    .free_slot_i    (N'(1) << free_slot_i),
    .free_slots_i   (free_sm_i ? {kernel[N +: N], settled[N +: N]} : {kernel[0 +: N], settled[0 +: N]}),
    .eval_i         (1'b1),
    .eval_sm_i      (M'(1) << eval_sm_i),
    .eval_used_i    (eval_sm_i ? used[N +: N] : used[0 +: N]),
    .eval_fits_o    (eval_fits)
  );
  (* hierconn *) logic [M*N-1:0]       \dut.region ;
  (* hierconn *) logic [N-1:0]         \dut.row_held_q , \dut.row_kernel_q ;
  (* hierconn *) logic                 \dut.merge_valid_q ;
  (* hierconn *) logic [M-1:0]         \dut.merge_sm_q ;
  (* hierconn *) logic [M*N*BaseW-1:0] \dut.gen_resource[0].i_space.base , \dut.gen_resource[1].i_space.base ;
  (* hierconn *) logic [N*BaseW-1:0]
    \dut.gen_resource[0].i_space.row_base_q , \dut.gen_resource[1].i_space.row_base_q ;
  (* hierconn *) logic [M*LenW-1:0]    \dut.gen_resource[0].i_space.largest , \dut.gen_resource[1].i_space.largest ;
  (* hierconn *) logic [LenW-1:0]      \dut.gen_resource[0].i_space.rest , \dut.gen_resource[1].i_space.rest ;
  (* hierconn *) logic [LenW-1:0]      \dut.gen_resource[0].i_space.grown , \dut.gen_resource[1].i_space.grown ;

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      used           <= '0;
      regioned       <= '0;
      kernel         <= '0;
      bases          <= '0;
      alloc_valid_q  <= 1'b0;
      alloc_region_q <= 1'b0;
      alloc_sm_q     <= 1'b0;
      alloc_slot_q   <= '0;
      alloc_kernel_q <= 1'b0;
      check_valid_q  <= 1'b0;
      check_sm_q     <= 1'b0;
    end else begin
      alloc_valid_q <= admit_valid_i;
      check_valid_q <= alloc_valid_q && alloc_region_q;
      check_sm_q    <= alloc_sm_q;
      if (admit_valid_i) begin
        alloc_region_q <= admit_region_i;
        alloc_sm_q     <= admit_sm_i;
        alloc_slot_q   <= admit_slot_i;
        alloc_kernel_q <= admit_kernel_i;
      end
      for (int unsigned i = 0; i < M*N; i++) begin
        if (free_valid_i && free_place == 3'(i)) used[i] <= 1'b0;
        if (admit_valid_i && admit_place == 3'(i)) begin
          used[i]   <= 1'b1;
          kernel[i] <= admit_kernel_i;
        end
        if (alloc_valid_q && alloc_place == 3'(i)) begin
          regioned[i] <= alloc_region_q;
          for (int unsigned r = 0; r < 2; r++) bases[(r*M*N + i)*BaseW +: BaseW] <= base[r*BaseW +: BaseW];
        end
      end
    end

  // The regions as recorded: of the slots that are not being allocated.
  logic [M*N-1:0]     held;
  logic [1:0]         overlap, outside;
  logic [2*M*U-1:0]   bitmap;
  logic [2*M*LenW-1:0] largest;
  logic [2*M*K*U-1:0] start;
  always_comb
    for (int unsigned i = 0; i < M*N; i++) held[i] = used[i] && regioned[i] && !(alloc_valid_q && alloc_place == 3'(i));
  for (genvar r = 0; r < 2; r++) begin : gen_view
    region_view #(.M(M), .K(K), .N(N), .U(U)) i_view (
      .total_i   (total_i[r*LenW +: LenW]),
      .length_i  (length_i[r*K*LenW +: K*LenW]),
      .holds_i   (held),
      .kernel_i  (kernel),
      .base_i    (bases[r*M*N*BaseW +: M*N*BaseW]),
      .bitmap_o  (bitmap[r*M*U +: M*U]),
      .overlap_o (overlap[r]),
      .outside_o (outside[r]),
      .largest_o (largest[r*M*LenW +: M*LenW]),
      .start_o   (start[r*M*K*U +: M*K*U])
    );
  end

  logic [2*U-1:0]    alloc_start;
  logic [M*K-1:0]    fits;          // bit m*K+k
  always_comb begin
    for (int unsigned r = 0; r < 2; r++)
      alloc_start[r*U +: U] = start[((r*M + 32'(alloc_sm_q))*K + 32'(alloc_kernel_q))*U +: U];
    for (int unsigned i = 0; i < M*K; i++) fits[i] = start[i*U +: U] != '0 && start[(M*K + i)*U +: U] != '0;
  end

  logic [2*LenW-1:0] total_q;
  logic [4*LenW-1:0] length_q;
  logic [1:0]        resident;   // some CTA of the kernel holds a slot
  always_ff @(posedge clk_i) begin
    total_q  <= total_i;
    length_q <= length_i;
  end
  assign resident = {(used & kernel) != '0, (used & ~kernel) != '0};
  always_comb begin
    if (!started) assume (!rst_ni);
    for (int unsigned r = 0; r < 2; r++) assume (total_i[r*LenW +: LenW] <= LenW'(U));
    assume (admit_slot_i < 2'(N) && free_slot_i < 2'(N));
    if (admit_valid_i) assume (!used[admit_place]);
    if (admit_valid_i && admit_region_i) assume (!(alloc_valid_q && alloc_region_q && alloc_sm_q == admit_sm_i));
    if (alloc_valid_q && alloc_region_q) assume (alloc_start[0 +: U] != '0 && alloc_start[U +: U] != '0);
    if (free_valid_i) assume (used[free_place] && !(alloc_valid_q && alloc_place == free_place));
    if (started && used != '0) assume (total_i == total_q);
    for (int unsigned r = 0; r < 2; r++)
      for (int unsigned k = 0; k < K; k++)
        if (started && resident[k]) assume (length_i[(r*K + k)*LenW +: LenW] == length_q[(r*K + k)*LenW +: LenW]);
  end

  logic [K-1:0] fit_empty;   // a launched kernel's do; of others eval_fits_o tells nothing
  // What was read in the cycle before: largest gaps of an SM, and whether it held a region. Not told of one that is
  // checked.
  logic              read_q, read_empty_q, read_unknown_q;   // unknown: a CTA without regions
  logic [2*LenW-1:0] read_gaps_q;
  logic [K-1:0]      fit_read;
  always_ff @(posedge clk_i) begin
    read_q       <= started && !(check_valid_q && check_sm_q == eval_sm_i);
    read_empty_q <= eval_sm_i ? held[N +: N] == '0 : held[0 +: N] == '0;
    read_unknown_q <= ((eval_sm_i ? used[N +: N] & ~regioned[N +: N] : used[0 +: N] & ~regioned[0 +: N])
                       & ~(alloc_valid_q && alloc_sm_q == eval_sm_i ? N'(1) << alloc_slot_q : '0)) != '0;
    read_gaps_q  <= eval_sm_i ? {largest[(M + 1)*LenW +: LenW], largest[LenW +: LenW]}
        : {largest[M*LenW +: LenW], largest[0 +: LenW]};
  end
  logic ok_lowest, ok_record, ok_row, ok_largest;
  logic [2*LenW-1:0] known;   // largest gaps of an SM, or what is about to be written
  always_comb begin
    ok_lowest  = 1'b1;
    ok_record  = 1'b1;
    ok_row     = 1'b1;
    ok_largest = 1'b1;
    known      = '0;
    for (int unsigned k = 0; k < K; k++)
      begin
        fit_empty[k] = length_i[k*LenW +: LenW] <= total_i[0 +: LenW]
            && length_i[(K + k)*LenW +: LenW] <= total_i[LenW +: LenW];
        fit_read[k]  = !read_unknown_q && (read_empty_q
            || (length_i[k*LenW +: LenW] <= read_gaps_q[0 +: LenW]
            && length_i[(K + k)*LenW +: LenW] <= read_gaps_q[LenW +: LenW]));
      end
    for (int unsigned r = 0; r < 2; r++)
      for (int unsigned u = 0; u < U; u++) begin
        if (alloc_start[r*U + u] && u < 32'(base[r*BaseW +: BaseW])) ok_lowest = 1'b0;
        if (u == 32'(base[r*BaseW +: BaseW]) && !alloc_start[r*U + u]) ok_lowest = 1'b0;
      end
    for (int unsigned i = 0; i < M*N; i++) begin
      if (used[i] && !(alloc_valid_q && alloc_place == 3'(i)) && \dut.region [i] != regioned[i]) ok_record = 1'b0;
      if (held[i] && ({\dut.gen_resource[1].i_space.base [i*BaseW +: BaseW],
          \dut.gen_resource[0].i_space.base [i*BaseW +: BaseW]}
                      != {bases[(M*N + i)*BaseW +: BaseW], bases[i*BaseW +: BaseW]})) ok_record = 1'b0;
    end
    for (int unsigned m = 0; m < M; m++) begin
      if (alloc_valid_q && alloc_region_q && 32'(alloc_sm_q) == m) begin
        if (\dut.row_held_q != held[m*N +: N]) ok_row = 1'b0;
        for (int unsigned s = 0; s < N; s++)
          if (held[m*N + s] && ({\dut.gen_resource[1].i_space.row_base_q [s*BaseW +: BaseW],
              \dut.gen_resource[0].i_space.row_base_q [s*BaseW +: BaseW]}
                                != {bases[(M*N + m*N + s)*BaseW +: BaseW], bases[(m*N + s)*BaseW +: BaseW]}
                                || \dut.row_kernel_q [s] != kernel[m*N + s])) ok_row = 1'b0;
      end
      known = {\dut.gen_resource[1].i_space.largest [m*LenW +: LenW],
          \dut.gen_resource[0].i_space.largest [m*LenW +: LenW]};
      if (check_valid_q && 32'(check_sm_q) == m)
        known = {\dut.gen_resource[1].i_space.rest , \dut.gen_resource[0].i_space.rest };
      if (\dut.merge_valid_q && \dut.merge_sm_q [m])
        known = {\dut.gen_resource[1].i_space.grown , \dut.gen_resource[0].i_space.grown };
      if (held[m*N +: N] != '0 && known != {largest[(M + m)*LenW +: LenW], largest[m*LenW +: LenW]}) ok_largest = 1'b0;
    end
    if (started) begin
      regions_never_overlap:            assert (overlap == '0);
      regions_stay_inside_the_sm:       assert (outside == '0);
      bases_are_kept:                   assert (ok_record);
      search_sees_the_regions_of_its_sm: assert (ok_row);
      largest_gap_is_known:             assert (ok_largest);
      first_fit_takes_the_lowest_gap:   assert (!(alloc_valid_q && alloc_region_q) || ok_lowest);
      no_region_is_at_zero:             assert (!alloc_valid_q || alloc_region_q || base == '0);
      check_tells_exactly_what_fits:    assert (!check_valid_q
          || check_fits == (check_sm_q ? fits[K +: K] : fits[0 +: K]));
      no_region_beside_a_cta_without:   assert (!read_q || !read_unknown_q || eval_fits == '0);
      eval_tells_exactly_what_fits:     assert (!read_q || (eval_fits & fit_empty) == (fit_read & fit_empty));
    end
  end
endmodule
