// SPDX-License-Identifier: Apache-2.0
// region_space: the regions of one resource on every SM: the base of each CTA slot, and the largest gap of each SM,
// which means something while a region is held there (docs/reference/blocks/region_allocator.md: cycles). Which slots
// hold one is kept by region_allocator for both resources.
module region_space #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned UNITS       = 64,
  parameter int unsigned LenW        = $clog2(UNITS + 1),    // derived
  parameter int unsigned BaseW       = $clog2(UNITS),        // derived
  parameter int unsigned KernelW     = $clog2(MAX_KERNELS)   // derived
) (
  input  logic                        clk_i,
  input  logic [LenW-1:0]             total_i,          // units of an SM
  input  logic [MAX_KERNELS*LenW-1:0] length_i,         // units of one CTA
  // The SM on which a CTA is taken, a cycle before its allocation.
  input  logic                        admit_valid_i,
  input  logic [NUM_SM-1:0]           admit_sm_i,        // one-hot
  // Allocation.
  input  logic                        alloc_valid_i,
  input  logic                        alloc_region_i,
  input  logic [NUM_SM-1:0]           alloc_sm_i,       // one-hot, as are the next two
  input  logic [MAX_CTAS-1:0]         alloc_slot_i,
  input  logic [MAX_KERNELS-1:0]      alloc_kernel_i,
  input  logic [MAX_CTAS-1:0]         row_held_i,       // of that SM, before it
  input  logic [MAX_CTAS*KernelW-1:0] row_kernel_i,
  output logic [BaseW-1:0]            alloc_base_o,
  // The cycle after it: the gaps that are left.
  input  logic                        check_valid_i,
  input  logic [NUM_SM-1:0]           check_sm_i,       // one-hot
  output logic [MAX_KERNELS-1:0]      check_fits_o,
  // Release, and the cycle after it: the gap that it left.
  input  logic                        free_valid_i,
  input  logic [NUM_SM-1:0]           free_sm_i,        // one-hot, as the next
  input  logic [MAX_CTAS-1:0]         free_slot_i,
  input  logic                        free_meets_i,     // allocation on that SM
  input  logic                        merge_valid_i,
  input  logic [NUM_SM-1:0]           merge_sm_i,       // one-hot
  input  logic [MAX_CTAS-1:0]         merge_held_i,     // of that SM, after it
  input  logic [MAX_CTAS*KernelW-1:0] merge_kernel_i,
  input  logic                        merge_meets_i,    // it is the SM of check_sm_i
  // Any SM but that of check_sm_i: read, and answered from the next cycle on until eval_i.
  input  logic                        eval_i,
  input  logic [NUM_SM-1:0]           eval_sm_i,        // one-hot
  input  logic                        eval_empty_i,     // no region is held there
  input  logic                        eval_meets_i,     // it is the SM of merge_sm_i
  output logic [MAX_KERNELS-1:0]      eval_fits_o
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("region_space: size out of range");
  localparam int unsigned N = MAX_CTAS, RowW = MAX_CTAS * BaseW;

  logic [NUM_SM*RowW-1:0] base;
  logic [NUM_SM*LenW-1:0] largest;

  // The row of the SM of a CTA that is taken is read a cycle ahead.
  logic [RowW-1:0] admit_base, row_base_q, free_base, merge_base_d, merge_base_q;
  always_comb begin
    admit_base = '0;
    free_base = '0;
    for (int unsigned m = 0; m < NUM_SM; m++) begin
      if (admit_sm_i[m]) admit_base |= base[m*RowW +: RowW];
      if (free_sm_i[m]) free_base |= base[m*RowW +: RowW];
    end
  end

  // Allocation.
  logic [N*LenW-1:0]     row_length;
  logic [N-1:0]          row_real;
  logic [LenW-1:0]       want, want_q;
  logic [(N+1)*LenW-1:0] gaps, gaps_q;
  logic [N:0]            chosen, chosen_q;
  always_comb begin
    row_length = '0;
    for (int unsigned s = 0; s < N; s++) begin
      for (int unsigned k = 0; k < MAX_KERNELS; k++)
        if (row_kernel_i[s*KernelW +: KernelW] == KernelW'(k)) row_length[s*LenW +: LenW] |= length_i[k*LenW +: LenW];
      row_real[s] = alloc_region_i && row_held_i[s] && row_length[s*LenW +: LenW] != '0;
    end
    want = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (alloc_region_i && alloc_kernel_i[k]) want |= length_i[k*LenW +: LenW];
  end

  region_search #(.MAX_CTAS(N), .UNITS(UNITS)) i_search (
    .total_i,
    .want_i   (want),
    .real_i   (row_real),
    .base_i   (row_base_q),
    .length_i (row_length),
    .first_o  (alloc_base_o),
    .gaps_o   (gaps),
    .chosen_o (chosen)
  );

  // A net of its own to every four SMs: one to all of them would hold up the search. Masked, not chosen: Yosys would
  // take the choice away.
  logic [(NUM_SM+3)/4-1:0]       write_group;
  logic [(NUM_SM+3)/4*BaseW-1:0] write_base;
  always_comb begin
    write_group = '0;
    for (int unsigned m = 0; m < NUM_SM; m++) write_group[m/4] |= alloc_sm_i[m];
    for (int unsigned g = 0; g < (NUM_SM + 3) / 4; g++)
      write_base[g*BaseW +: BaseW] = alloc_base_o & {BaseW{write_group[g]}};
  end

  // The gaps in the cycle after it, less what was taken of one of them.
  logic [LenW-1:0]       left;
  logic [(N+1)*LenW-1:0] gaps_left;
  always_comb begin
    left = '0;
    for (int unsigned i = 0; i <= N; i++)
      if (chosen_q[i]) left |= gaps_q[i*LenW +: LenW];
    left      = left - want_q;
    gaps_left = gaps_q;
    for (int unsigned i = 0; i <= N; i++)
      if (chosen_q[i]) gaps_left[i*LenW +: LenW] = left;
  end

  // Release: its SM's bases, the one that is being allocated among them, and which are above its own.
  logic [BaseW-1:0] ended;
  logic [N-1:0]     above_d, above_q;
  always_comb begin
    ended        = '0;
    merge_base_d = free_base;
    for (int unsigned s = 0; s < N; s++) begin
      if (free_slot_i[s]) ended |= free_base[s*BaseW +: BaseW];
      if (free_meets_i && alloc_slot_i[s]) merge_base_d[s*BaseW +: BaseW] = alloc_base_o;
    end
    for (int unsigned s = 0; s < N; s++) above_d[s] = merge_base_d[s*BaseW +: BaseW] > ended;
  end

  logic [N-1:0]    merge_real;
  logic [LenW-1:0] rest, merged, known, grown, eval_largest;
  logic [MAX_KERNELS-1:0] merged_fits;
  logic                   eval_empty_q;
  logic [LenW-1:0]        eval_gap_q;
  always_comb
    for (int unsigned s = 0; s < N; s++) begin
      merge_real[s] = 1'b0;
      for (int unsigned k = 0; k < MAX_KERNELS; k++)
        if (merge_held_i[s] && merge_kernel_i[s*KernelW +: KernelW] == KernelW'(k) && length_i[k*LenW +: LenW] != '0)
          merge_real[s] = 1'b1;
    end

  region_merge #(.MAX_KERNELS(MAX_KERNELS), .MAX_CTAS(N), .UNITS(UNITS)) i_merge (
    .total_i,
    .length_i,
    .real_i   (merge_real),
    .above_i  (above_q),
    .base_i   (merge_base_q),
    .kernel_i (merge_kernel_i),
    .gap_o    (merged)
  );
  max_tree #(.COUNT(N + 1), .W(LenW)) i_rest (
    .values_i (gaps_left),
    .max_o    (rest)
  );

  // The largest gap: found again after an allocation, grown by a release.
  always_comb begin
    known       = merge_meets_i ? rest : '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (merge_sm_i[m] && !merge_meets_i) known |= largest[m*LenW +: LenW];
    grown        = (merged > known) ? merged : known;
    eval_largest = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (eval_sm_i[m]) eval_largest |= largest[m*LenW +: LenW];
    // in the larger of two gaps fits what fits in one: the comparison of the two is not waited for
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      merged_fits[k]  = merged >= length_i[k*LenW +: LenW];
      check_fits_o[k] = rest >= length_i[k*LenW +: LenW] || (merge_meets_i && merged_fits[k]);
      eval_fits_o[k]  = eval_empty_q || eval_gap_q >= length_i[k*LenW +: LenW];
    end
  end

  always_ff @(posedge clk_i) begin
    if (admit_valid_i) row_base_q <= admit_base;
    if (eval_i) begin
      eval_empty_q <= eval_empty_i;
      eval_gap_q   <= eval_meets_i ? grown : eval_largest;
    end
    if (alloc_valid_i) begin
      gaps_q   <= gaps;
      chosen_q <= chosen;
      want_q   <= want;
    end
    if (free_valid_i) begin
      merge_base_q <= merge_base_d;
      above_q      <= above_d;
    end
    if (alloc_valid_i)
      for (int unsigned m = 0; m < NUM_SM; m++)
        if (alloc_sm_i[m])
          for (int unsigned s = 0; s < N; s++)
            if (alloc_slot_i[s]) base[(m*N + s)*BaseW +: BaseW] <= write_base[m/4*BaseW +: BaseW];
    if (check_valid_i || merge_valid_i)
      for (int unsigned m = 0; m < NUM_SM; m++)
        if ((check_valid_i && check_sm_i[m]) || (merge_valid_i && merge_sm_i[m]))
          largest[m*LenW +: LenW] <= (merge_valid_i && merge_sm_i[m]) ? grown : rest;
  end
endmodule
