// region_allocator: contiguous regions of one resource on every SM, first fit, in units (docs/blocks/region_allocator.md).
// One allocation and one release a cycle, on the same SM too: the search sees the bitmap before the release. Two lanes tell for a
// whole SM which kernels' regions would fit. An allocation that would not fit takes nothing: callers ask a lane before.
module region_allocator #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned UNITS       = 64,
  parameter int unsigned LenW        = $clog2(UNITS + 1),   // derived
  parameter int unsigned BaseW       = $clog2(UNITS)        // derived
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic [LenW-1:0]             total_i,          // units of an SM, 0..UNITS; stable while anything is held
  input  logic [MAX_KERNELS*LenW-1:0] length_i,         // units of one CTA; stable while a CTA of the kernel is resident
  input  logic                        alloc_valid_i,
  input  logic                        alloc_region_i,   // 0: the slot's CTA holds no region
  input  logic [NUM_SM-1:0]           alloc_sm_i,       // one-hot, as are the next two
  input  logic [MAX_CTAS-1:0]         alloc_slot_i,
  input  logic [MAX_KERNELS-1:0]      alloc_kernel_i,
  output logic [BaseW-1:0]            alloc_base_o,     // in the same cycle
  input  logic                        free_valid_i,
  input  logic [NUM_SM-1:0]           free_sm_i,        // one-hot, as are the next two
  input  logic [MAX_CTAS-1:0]         free_slot_i,
  input  logic [MAX_KERNELS-1:0]      free_kernel_i,
  input  logic [2*NUM_SM-1:0]         check_sm_i,       // one-hot, lane 0 in the low bits
  output logic [2*MAX_KERNELS-1:0]    check_fits_o
);
  logic [NUM_SM*UNITS-1:0]          used;   // bitmaps
  logic [NUM_SM*MAX_CTAS*BaseW-1:0] base;   // of each CTA slot
  logic [NUM_SM*MAX_CTAS-1:0]       held;   // the slot's CTA has a region

  logic [UNITS-1:0] exists;                 // units below total_i
  always_comb
    for (int unsigned u = 0; u < UNITS; u++) exists[u] = LenW'(u) < total_i;

  // Allocation: lowest position that starts enough free units.
  logic [UNITS-1:0] alloc_used, alloc_start, alloc_first, alloc_mask, start_up;
  logic [LenW-1:0]  alloc_length;
  always_comb begin
    alloc_used   = '0;
    alloc_length = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (alloc_sm_i[m]) alloc_used |= used[m*UNITS +: UNITS];
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (alloc_kernel_i[k]) alloc_length |= length_i[k*LenW +: LenW];
  end

  gap_search #(.UNITS(UNITS)) i_alloc_search (.free_i(~alloc_used & exists), .length_i(alloc_length), .start_o(alloc_start));

  always_comb begin
    start_up = alloc_start;
    for (int unsigned s = 1; s < UNITS; s *= 2) start_up = start_up | (start_up << s);
    alloc_first  = start_up & ~(start_up << 1);
    alloc_base_o = '0;
    for (int unsigned u = 0; u < UNITS; u++)
      if (alloc_first[u] && alloc_region_i) alloc_base_o |= BaseW'(u);
  end

  region_mask #(.UNITS(UNITS)) i_alloc_mask (.first_i(alloc_first), .length_i(alloc_length), .mask_o(alloc_mask));

  // Release: the region that the slot's base and the kernel's length describe.
  logic [MAX_CTAS*BaseW-1:0] free_bases;
  logic [MAX_CTAS-1:0]       free_helds;
  logic [BaseW-1:0]          free_base;
  logic                      free_held;
  logic [UNITS-1:0]          free_first, free_mask;
  logic [LenW-1:0]           free_length;
  always_comb begin
    free_bases  = '0;
    free_helds  = '0;
    free_base   = '0;
    free_length = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (free_sm_i[m]) begin
        free_bases |= base[m*MAX_CTAS*BaseW +: MAX_CTAS*BaseW];
        free_helds |= held[m*MAX_CTAS +: MAX_CTAS];
      end
    for (int unsigned s = 0; s < MAX_CTAS; s++)
      if (free_slot_i[s]) free_base |= free_bases[s*BaseW +: BaseW];
    free_held  = (free_helds & free_slot_i) != '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (free_kernel_i[k]) free_length |= length_i[k*LenW +: LenW];
    for (int unsigned u = 0; u < UNITS; u++) free_first[u] = BaseW'(u) == free_base;
  end

  region_mask #(.UNITS(UNITS)) i_free_mask (.first_i(free_first), .length_i(free_length), .mask_o(free_mask));

  logic [NUM_SM-1:0] write_alloc, write_free, write_held;
  assign write_held  = alloc_valid_i ? alloc_sm_i : '0;
  assign write_alloc = (alloc_valid_i && alloc_region_i) ? alloc_sm_i : '0;
  assign write_free  = (free_valid_i && free_held) ? free_sm_i : '0;

  for (genvar m = 0; m < NUM_SM; m++) begin : gen_sm
    logic [UNITS-1:0]          used_d, used_q;
    logic [MAX_CTAS*BaseW-1:0] base_d, base_q;
    logic [MAX_CTAS-1:0]       held_d, held_q;

    always_comb begin
      used_d = (used_q | (alloc_mask & {UNITS{write_alloc[m]}})) & ~(free_mask & {UNITS{write_free[m]}});
      base_d = base_q;
      held_d = held_q;
      for (int unsigned s = 0; s < MAX_CTAS; s++)
        if (write_held[m] && alloc_slot_i[s]) begin
          base_d[s*BaseW +: BaseW] = alloc_base_o;
          held_d[s]                = alloc_region_i;
        end
    end

    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) begin
        used_q <= '0;
        base_q <= '0;
        held_q <= '0;
      end else begin
        used_q <= used_d;
        base_q <= base_d;
        held_q <= held_d;
      end

    assign used[m*UNITS +: UNITS]                   = used_q;
    assign base[m*MAX_CTAS*BaseW +: MAX_CTAS*BaseW] = base_q;
    assign held[m*MAX_CTAS +: MAX_CTAS]             = held_q;
  end

  for (genvar l = 0; l < 2; l++) begin : gen_lane
    logic [UNITS-1:0] lane_used;
    always_comb begin
      lane_used = '0;
      for (int unsigned m = 0; m < NUM_SM; m++)
        if (check_sm_i[l*NUM_SM + m]) lane_used |= used[m*UNITS +: UNITS];
    end
    for (genvar k = 0; k < MAX_KERNELS; k++) begin : gen_kernel
      logic [UNITS-1:0] start;
      gap_search #(.UNITS(UNITS)) i_search (.free_i(~lane_used & exists), .length_i(length_i[k*LenW +: LenW]), .start_o(start));
      assign check_fits_o[l*MAX_KERNELS + k] = start != '0;
    end
  end
endmodule
