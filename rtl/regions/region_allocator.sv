// SPDX-License-Identifier: Apache-2.0
// region_allocator: contiguous regions of registers and of shared memory on every SM, first fit, in units
// (docs/reference/blocks/region_allocator.md). Nothing but the base of each CTA slot, whether it has regions, and the
// largest gap of each SM is kept; whose slot it is, and whether it is used, come from sm_resource_table.
// An SM that holds a CTA without regions has room for none: where that CTA lies is not known here.
// One allocation and one release a cycle, on the same SM too: the search sees the state before the
// release. An allocation that would not fit does harm: callers ask before.
module region_allocator #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned UNITS       = 64,
  parameter int unsigned LenW        = $clog2(UNITS + 1),                       // derived
  parameter int unsigned BaseW       = $clog2(UNITS),                           // derived
  parameter int unsigned SlotsW      = MAX_CTAS * (1 + $clog2(MAX_KERNELS))     // derived
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // Of each resource, registers in the low bits: units of an SM, 0..UNITS, stable while anything is held; units of one
  // CTA of each kernel, stable while one is resident.
  input  logic [2*LenW-1:0]             total_i,
  input  logic [2*MAX_KERNELS*LenW-1:0] length_i,
  // A CTA is taken: not with regions in the cycle after another was taken with regions on that SM.
  input  logic                          admit_valid_i,
  input  logic [NUM_SM-1:0]             admit_sm_i,        // one-hot
  input  logic [SlotsW-1:0]             admit_slots_i,     // of that SM, before it: kernel of each CTA slot, and in the
                                                           // low bits which are used
  // Its regions, in the next cycle.
  input  logic                          alloc_valid_i,
  input  logic                          alloc_region_i,   // 0: it holds no region
  input  logic [NUM_SM-1:0]             alloc_sm_i,       // one-hot, as are the next two
  input  logic [MAX_CTAS-1:0]           alloc_slot_i,
  input  logic [MAX_KERNELS-1:0]        alloc_kernel_i,
  output logic [2*BaseW-1:0]            alloc_base_o,     // in the same cycle
  // What fits on that SM after it, in the cycle after that.
  input  logic                          check_valid_i,    // it has regions
  input  logic [NUM_SM-1:0]             check_sm_i,       // one-hot
  output logic [MAX_KERNELS-1:0]        check_fits_o,
  // Release.
  input  logic                          free_valid_i,
  input  logic [NUM_SM-1:0]             free_sm_i,        // one-hot or 0, as the next
  input  logic [MAX_CTAS-1:0]           free_slot_i,
  input  logic [SlotsW-1:0]             free_slots_i,     // of that SM, before it
  // What fits on another SM: read, and answered from the next cycle on until eval_i.
  input  logic                          eval_i,
  input  logic [NUM_SM-1:0]             eval_sm_i,        // one-hot; not the one of check_sm_i
  input  logic [MAX_CTAS-1:0]           eval_used_i,      // its CTA slots
  output logic [MAX_KERNELS-1:0]        eval_fits_o       // of kernels whose length is at most the total
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("region_allocator: size out of range");
  localparam int unsigned N = MAX_CTAS, KernelW = $clog2(MAX_KERNELS);

  logic [NUM_SM*N-1:0]  region;   // of a used slot that is not being allocated: it has regions
  logic [N-1:0]         admit_region, free_region, eval_region, admit_held, free_held, eval_held, row_held_q,
    merge_held_q;
  logic [N*KernelW-1:0] row_kernel_q, free_kernel, merge_kernel_q;
  logic                 merge_valid_q, admit_meets, free_meets, eval_meets, eval_unknown, eval_unknown_q;
  logic [NUM_SM-1:0]    merge_sm_q;
  logic [N-1:0]         allocated;

  always_comb begin
    admit_region = '0;
    free_region = '0;
    eval_region = '0;
    for (int unsigned m = 0; m < NUM_SM; m++) begin
      if (admit_sm_i[m]) admit_region |= region[m*N +: N];
      if (free_sm_i[m]) free_region |= region[m*N +: N];
      if (eval_sm_i[m]) eval_region |= region[m*N +: N];
    end
    allocated  = alloc_valid_i ? alloc_slot_i : '0;
    admit_meets = (admit_sm_i & alloc_sm_i) != '0;
    free_meets = alloc_valid_i && (free_sm_i & alloc_sm_i) != '0;
    eval_meets = (eval_sm_i & alloc_sm_i) != '0;
    admit_held  = admit_slots_i[N-1:0] & admit_region & ~(admit_meets ? allocated : '0)
        & ~(free_valid_i && (admit_sm_i & free_sm_i) != '0 ? free_slot_i : '0);
    // A CTA that is allocated there in this cycle is not among the slots yet.
    free_held   = free_slots_i[N-1:0] & free_region;
    free_kernel = free_slots_i[N +: N*KernelW];
    if (free_meets) begin
      if (alloc_region_i) free_held = free_held | alloc_slot_i;
      for (int unsigned s = 0; s < N; s++)
        if (alloc_slot_i[s]) begin
          free_kernel[s*KernelW +: KernelW] = '0;
          for (int unsigned k = 0; k < MAX_KERNELS; k++)
            if (alloc_kernel_i[k]) free_kernel[s*KernelW +: KernelW] |= KernelW'(k);
        end
    end
    eval_held    = eval_used_i & eval_region & ~(eval_meets ? allocated : '0);
    eval_unknown = (eval_used_i & ~eval_region & ~(eval_meets ? allocated : '0)) != '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) merge_valid_q <= 1'b0;
    else         merge_valid_q <= free_valid_i && (free_held & free_slot_i) != '0;

  always_ff @(posedge clk_i) begin
    if (admit_valid_i) begin
      row_held_q   <= admit_held;
      row_kernel_q <= admit_slots_i[N +: N*KernelW];
    end
    if (eval_i) eval_unknown_q <= eval_unknown;
    if (free_valid_i) begin
      merge_sm_q     <= free_sm_i;
      merge_held_q   <= free_held & ~free_slot_i;
      merge_kernel_q <= free_kernel;
    end
    if (alloc_valid_i)
      for (int unsigned m = 0; m < NUM_SM; m++)
        if (alloc_sm_i[m])
          for (int unsigned s = 0; s < N; s++)
            if (alloc_slot_i[s]) region[m*N + s] <= alloc_region_i;
  end

  logic [2*MAX_KERNELS-1:0] check_fits, eval_fits;
  for (genvar r = 0; r < 2; r++) begin : gen_resource
    region_space #(.NUM_SM(NUM_SM), .MAX_KERNELS(MAX_KERNELS), .MAX_CTAS(N), .UNITS(UNITS)) i_space (
      .clk_i,
      .total_i        (total_i[r*LenW +: LenW]),
      .length_i       (length_i[r*MAX_KERNELS*LenW +: MAX_KERNELS*LenW]),
      .admit_valid_i,
      .admit_sm_i,
      .alloc_valid_i,
      .alloc_region_i,
      .alloc_sm_i,
      .alloc_slot_i,
      .alloc_kernel_i,
      .row_held_i     (row_held_q),
      .row_kernel_i   (row_kernel_q),
      .alloc_base_o   (alloc_base_o[r*BaseW +: BaseW]),
      .check_valid_i,
      .check_sm_i,
      .check_fits_o   (check_fits[r*MAX_KERNELS +: MAX_KERNELS]),
      .free_valid_i,
      .free_sm_i,
      .free_slot_i,
      .free_meets_i   (free_meets),
      .merge_valid_i  (merge_valid_q),
      .merge_sm_i     (merge_sm_q),
      .merge_held_i   (merge_held_q),
      .merge_kernel_i (merge_kernel_q),
      .merge_meets_i  (merge_valid_q && check_valid_i && (merge_sm_q & check_sm_i) != '0),
      .eval_i,
      .eval_sm_i,
      .eval_empty_i   (eval_held == '0),
      .eval_meets_i   (merge_valid_q && (merge_sm_q & eval_sm_i) != '0),
      .eval_fits_o    (eval_fits[r*MAX_KERNELS +: MAX_KERNELS])
    );
  end
  assign check_fits_o = check_fits[MAX_KERNELS-1:0] & check_fits[2*MAX_KERNELS-1:MAX_KERNELS];
  assign eval_fits_o  = eval_fits[MAX_KERNELS-1:0] & eval_fits[2*MAX_KERNELS-1:MAX_KERNELS]
      & {MAX_KERNELS{!eval_unknown_q}};
endmodule
