// Properties of region_allocator: two SMs, two kernels, N CTA slots, U units. Assumed is what its callers promise: a slot is taken when it
// is empty and its regions fit, given back when it is taken and by its kernel, and sizes do not change under a CTA. The regions are recorded
// from the ports; that they tile the bitmap is proven with them.
module region_allocator_props #(
  parameter int unsigned N    = 2,
  parameter int unsigned U    = 4,
  parameter int unsigned LenW = $clog2(U + 1)
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic [LenW-1:0]   total_i,
  input logic [2*LenW-1:0] length_i,
  input logic              alloc_valid_i,
  input logic              alloc_region_i,
  input logic              alloc_sm_i,
  input logic [1:0]        alloc_slot_i,
  input logic              alloc_kernel_i,
  input logic              free_valid_i,
  input logic              free_sm_i,
  input logic [1:0]        free_slot_i,
  input logic [1:0]        check_sm_i      // of the two lanes
);
  localparam int unsigned M = 2, K = 2, BaseW = $clog2(U);

  logic [BaseW-1:0] base;
  logic [2*K-1:0]   fits;
  logic [M*N-1:0]   taken, regioned, kernel;
  logic [M*N*BaseW-1:0] bases;
  logic [2:0]       alloc_place, free_place;
  assign alloc_place = 3'(alloc_sm_i ? N : 0) + 3'(alloc_slot_i);
  assign free_place  = 3'(free_sm_i ? N : 0) + 3'(free_slot_i);

  region_allocator #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(N), .UNITS(U)) dut (
    .clk_i, .rst_ni, .total_i, .length_i, .alloc_valid_i, .alloc_region_i, .alloc_sm_i(M'(1) << alloc_sm_i), .alloc_slot_i(N'(1) << alloc_slot_i),
    .alloc_kernel_i(K'(1) << alloc_kernel_i), .alloc_base_o(base), .free_valid_i, .free_sm_i(M'(1) << free_sm_i), .free_slot_i(N'(1) << free_slot_i),
    .free_kernel_i(K'(1) << kernel[free_place]), .check_sm_i({M'(1) << check_sm_i[1], M'(1) << check_sm_i[0]}), .check_fits_o(fits));
  (* hierconn *) logic [M*U-1:0]       \dut.used ;
  (* hierconn *) logic [M*N-1:0]       \dut.held ;
  (* hierconn *) logic [M*N*BaseW-1:0] \dut.base ;

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;

  for (genvar i = 0; i < M*N; i++) begin : gen_place
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) begin
        taken[i]                  <= 1'b0;
        regioned[i]               <= 1'b0;
        kernel[i]                 <= 1'b0;
        bases[i*BaseW +: BaseW]   <= '0;
      end else if (alloc_valid_i && alloc_place == 3'(i)) begin
        taken[i]                  <= 1'b1;
        regioned[i]               <= alloc_region_i;
        kernel[i]                 <= alloc_kernel_i;
        bases[i*BaseW +: BaseW]   <= base;
      end else if (free_valid_i && free_place == 3'(i)) begin
        taken[i]                  <= 1'b0;
      end
  end

  // The regions as recorded.
  logic [M*U-1:0]   bitmap;
  logic             overlap, outside;
  logic [M*K*U-1:0] start;
  region_view #(.M(M), .K(K), .N(N), .U(U)) i_view (.total_i, .length_i, .holds_i(taken & regioned), .kernel_i(kernel), .base_i(bases),
    .bitmap_o(bitmap), .overlap_o(overlap), .outside_o(outside), .start_o(start));

  logic [U-1:0] alloc_start;
  assign alloc_start = start[(32'(alloc_sm_i)*K + 32'(alloc_kernel_i))*U +: U];

  logic [LenW-1:0]   total_q;
  logic [2*LenW-1:0] length_q;
  logic [1:0]        resident;   // some CTA of the kernel holds a slot
  always_ff @(posedge clk_i) begin
    total_q  <= total_i;
    length_q <= length_i;
  end
  assign resident = {(taken & kernel) != '0, (taken & ~kernel) != '0};
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (total_i <= LenW'(U));
    assume (alloc_slot_i < 2'(N) && free_slot_i < 2'(N));
    if (alloc_valid_i) assume (!taken[alloc_place] && (!alloc_region_i || alloc_start != '0));
    if (free_valid_i) assume (taken[free_place]);
    if (started && taken != '0) assume (total_i == total_q);
    if (started && resident[0]) assume (length_i[0 +: LenW] == length_q[0 +: LenW]);
    if (started && resident[1]) assume (length_i[LenW +: LenW] == length_q[LenW +: LenW]);
  end

  logic ok_lowest, ok_record;
  always_comb begin
    ok_lowest = 1'b1;
    ok_record = 1'b1;
    for (int unsigned u = 0; u < U; u++) begin
      if (alloc_start[u] && u < 32'(base)) ok_lowest = 1'b0;
      if (u == 32'(base) && !alloc_start[u]) ok_lowest = 1'b0;
    end
    for (int unsigned i = 0; i < M*N; i++)
      if (taken[i] && (\dut.held [i] != regioned[i] || \dut.base [i*BaseW +: BaseW] != bases[i*BaseW +: BaseW])) ok_record = 1'b0;
    if (started) begin
      regions_never_overlap:            assert (!overlap);
      regions_stay_inside_the_sm:       assert (!outside);
      bitmap_is_the_union_of_regions:   assert (\dut.used == bitmap);
      base_is_kept_for_the_release:     assert (ok_record);
      all_returns_when_none_is_taken:   assert (taken != '0 || \dut.used == '0);
      first_fit_takes_the_lowest_gap:   assert (!(alloc_valid_i && alloc_region_i) || ok_lowest);
      lanes_tell_exactly_what_fits:     assert (fits == {start[(32'(check_sm_i[1])*K + 1)*U +: U] != '0, start[(32'(check_sm_i[1])*K)*U +: U] != '0,
                                                         start[(32'(check_sm_i[0])*K + 1)*U +: U] != '0, start[(32'(check_sm_i[0])*K)*U +: U] != '0});
    end
  end
endmodule
