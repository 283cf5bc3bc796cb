// SPDX-License-Identifier: Apache-2.0
// step_prefetch: the steps that waterfill_allocator may take next, normalised ahead of it (docs/reference/blocks/step_prefetch.md).
// Of each kernel DEPTH steps wait in a queue: CTAs more, and performance relative to the kernel's best. The product that this needs takes three
// cycles from the table's list (perf_table) to the queue; a step that a kernel takes sends another one on its way, so one can be taken each cycle.
// Before a decision the queues are loaded, kernel after kernel, each once its reciprocal is known; the
// first step of a kernel, one CTA, does not wait in a queue but is told with first_*_o.
module step_prefetch #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             start_i,         // new decision: nothing is loaded
  input  logic [sluice_pkg::KernelW-1:0]   num_kernels_i,   // 1..MAX_KERNELS
  input  logic [MAX_KERNELS-1:0]           known_i,         // kernels that have the reciprocal of their best, and their list
  input  logic                             hold_i,          // nothing is loaded: the multiplier is taken
  // The table's lists, two steps of each.
  input  logic [2*MAX_KERNELS-1:0]         has_i,
  input  logic [2*MAX_KERNELS-1:0]         last_i,
  input  logic [2*MAX_KERNELS*$clog2(MAX_CTAS)-1:0]    step_i,
  input  logic [2*MAX_KERNELS*sluice_pkg::CurveW-1:0]  curve_i,         // relative to the kernel's best
  input  logic [MAX_KERNELS*sluice_pkg::FactorW-1:0]   reciprocal_i,
  output logic [MAX_KERNELS-1:0]           pop_o,
  // The multiplier: operands now, the product three cycles later.
  output logic                             issue_o,         // there may be some: told earlier than whether there are
  output logic [sluice_pkg::CurveW-1:0]    curve_o,
  output logic [sluice_pkg::FactorW-1:0]   reciprocal_o,
  input  logic [sluice_pkg::ProductW-1:0]  product_i,
  // The allocator.
  output logic                             first_valid_o,   // a kernel's first step,
  output logic [sluice_pkg::KernelW-1:0]   first_kernel_o,  // of this one: its kernel is told from the cycle before
  output logic [sluice_pkg::NormW-1:0]     first_perf_o,    // performance with one CTA; all ones is 1.0
  input  logic [MAX_KERNELS-1:0]           work_i,          // one-hot: the kernel that may take one step after the other
  input  logic [MAX_KERNELS-1:0]           other_i,         // one-hot: the kernel that may take its next step, if it took none in the cycle before
  input  logic                             active_i,        // it works:
  input  logic                             take_work_i,     // the next step of work_i is taken,
  input  logic                             take_other_i,    // of other_i; not both
  output logic                             work_has_o,      // there is one
  output logic [$clog2(MAX_CTAS)-1:0]      work_step_o,     // CTAs more
  output logic [sluice_pkg::NormW-1:0]     work_perf_o,
  output logic                             other_has_o,
  output logic [$clog2(MAX_CTAS)-1:0]      other_step_o,
  output logic [sluice_pkg::NormW-1:0]     other_perf_o
);
  localparam int unsigned K         = MAX_KERNELS;
  localparam int unsigned DEPTH     = 3;   // as many as cycles from the list to the queue
  localparam int unsigned KIndexW   = $clog2(K);
  localparam int unsigned KernelW   = sluice_pkg::KernelW;
  localparam int unsigned StepW     = $clog2(MAX_CTAS);
  localparam int unsigned CurveW    = sluice_pkg::CurveW;
  localparam int unsigned NormW     = sluice_pkg::NormW;
  localparam int unsigned FactorW   = sluice_pkg::FactorW;
  localparam int unsigned ProductW  = sluice_pkg::ProductW;
  localparam int unsigned PlaceW    = DEPTH + 1;            // one-hot: first step, or place in the queue

  // Loading: kernel after kernel, in the first cycle its first step, then those of the queue.
  logic [KernelW-1:0] load_d, load_q;
  logic [PlaceW-1:0]  place_d, place_q;
  logic               loading_d, loading_q, load;
  logic [K-1:0]       load_kernel;
  always_comb begin
    for (int unsigned k = 0; k < K; k++) load_kernel[k] = load_q[KIndexW-1:0] == KIndexW'(k);
    load      = loading_q && !hold_i && (load_kernel & known_i) != '0;
    load_d    = load_q;
    place_d   = place_q;
    loading_d = loading_q;
    if (load) begin
      place_d = {place_q[PlaceW-2:0], place_q[PlaceW-1]};
      if (place_q[PlaceW-1]) begin
        load_d    = load_q + 1'b1;
        loading_d = load_d != num_kernels_i;
      end
    end
    if (start_i) begin
      load_d    = '0;
      place_d   = PlaceW'(1);
      loading_d = 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) loading_q <= 1'b0;
    else         loading_q <= loading_d;

  // Who takes a step is known late in a cycle. So lists and queues move in the next one; until then the kernel's steps are those behind the first.
  logic [K-1:0] near, taken, taken_q;
  assign near  = loading_q ? load_kernel : work_i;
  assign taken = (work_i & {K{take_work_i}}) | (other_i & {K{take_other_i}});
  assign pop_o = (load_kernel & {K{load}}) | taken_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) taken_q <= '0;
    else         taken_q <= start_i ? '0 : taken;

  localparam int unsigned HeadW = 2 + StepW + CurveW + FactorW;
  logic [HeadW-1:0]     near_head, other_head;
  logic                 has, last;
  logic [StepW-1:0]     step;
  always_comb begin
    near_head  = '0;
    other_head = '0;
    for (int unsigned k = 0; k < K; k++) begin
      for (int unsigned i = 0; i < 2; i++)
        if (near[k] && taken_q[k] == (i == 1)) near_head = near_head | {has_i[2*k+i], last_i[2*k+i], step_i[(2*k+i)*StepW +: StepW], curve_i[(2*k+i)*CurveW +: CurveW],
                                                                        reciprocal_i[k*FactorW +: FactorW]};
      if (other_i[k]) other_head = other_head | {has_i[2*k], last_i[2*k], step_i[2*k*StepW +: StepW], curve_i[2*k*CurveW +: CurveW],
                                                 reciprocal_i[k*FactorW +: FactorW]};
    end
    {has, last, step, curve_o, reciprocal_o} = take_other_i ? other_head : near_head;
  end
  assign issue_o = load || active_i;

  // On their way: operands, rows, product. A step of their kernel that is taken meanwhile moves the queue, and their place in it.
  logic [3:1]           way_valid_q;
  logic [K-1:0]         way_kernel_q [4];
  logic [PlaceW-1:0]    way_place_q [4];
  logic [StepW-1:0]     way_step_q [4];
  logic                 way_last_q [4];
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) way_valid_q <= '0;
    else         way_valid_q <= start_i ? '0 : {way_valid_q[2:1], (load || take_work_i || take_other_i) && has};

  // The place that a step goes to: a queue that moves meanwhile has its first step gone. In the first cycle it is the step that sent it: its place is of
  // after that. The last stage looks itself where its step arrives.
  logic [PlaceW-1:0] place;
  assign place = ((way_kernel_q[2] & taken_q) != '0) ? way_place_q[2] >> 1 : way_place_q[2];

  // Loaded before they are used: no reset.
  always_ff @(posedge clk_i) begin
    if (start_i || load) begin
      load_q  <= load_d;
      place_q <= place_d;
    end
    if (issue_o) begin
      way_kernel_q[1] <= loading_q ? load_kernel : taken;
      way_place_q[1]  <= loading_q ? place_q : {1'b1, (PlaceW - 1)'(0)};
      way_step_q[1]   <= step;
      way_last_q[1]   <= last;
    end
    for (int unsigned s = 1; s < 3; s++)
      if (way_valid_q[s]) begin
        way_kernel_q[s+1] <= way_kernel_q[s];
        way_place_q[s+1]  <= (s == 1) ? way_place_q[1] : place;
        way_step_q[s+1]   <= way_step_q[s];
        way_last_q[s+1]   <= way_last_q[s];
      end
  end

  // The product: relative to the best.
  logic [NormW-1:0] perf;
  assign perf = way_last_q[3] ? '1 : product_i[ProductW-2 -: NormW];

  // The queues: a step arrives at its place, or, if the queue moves, at the one in front of it.
  logic [K-1:0]     has_q [DEPTH];
  logic [StepW-1:0] step_q [DEPTH][K];
  logic [NormW-1:0] perf_q [DEPTH][K];
  logic [K-1:0]     arrives [DEPTH+1];
  always_comb begin
    for (int unsigned d = 0; d < DEPTH; d++) arrives[d] = way_kernel_q[3] & {K{way_valid_q[3] && way_place_q[3][d+1]}};
    arrives[DEPTH] = '0;
  end
  for (genvar k = 0; k < K; k++) begin : gen_queue
    for (genvar d = 0; d < DEPTH; d++) begin : gen_place
      logic             has_behind;
      logic [StepW-1:0] step_behind;
      logic [NormW-1:0] perf_behind;
      assign has_behind  = arrives[d+1][k] || (d < DEPTH - 1 && has_q[(d+1) % DEPTH][k]);
      assign step_behind = (d == DEPTH - 1 || arrives[d+1][k]) ? way_step_q[3] : step_q[(d+1) % DEPTH][k];
      assign perf_behind = (d == DEPTH - 1 || arrives[d+1][k]) ? perf : perf_q[(d+1) % DEPTH][k];
      always_ff @(posedge clk_i) begin
        if (start_i || arrives[d][k] || taken_q[k]) has_q[d][k] <= !start_i && (taken_q[k] ? has_behind : 1'b1);
        if (arrives[d][k] || (d < DEPTH - 1 && taken_q[k])) begin
          step_q[d][k] <= taken_q[k] ? step_behind : way_step_q[3];
          perf_q[d][k] <= taken_q[k] ? perf_behind : perf;
        end
      end
    end
  end

  // In front; a step that arrives at the first place of the kernel that works is taken from its way.
  logic [K-1:0] first, second;   // the kernel that works: its queue has moved, or not yet
  logic         passes;
  assign first  = work_i & ~taken_q;
  assign second = work_i & taken_q;
  assign passes = way_valid_q[3] && (((way_kernel_q[3] & first) != '0 && way_place_q[3][1]) || ((way_kernel_q[3] & second) != '0 && way_place_q[3][2]));
  always_comb begin
    work_has_o   = passes;
    work_step_o  = way_step_q[3] & {StepW{passes}};
    work_perf_o  = perf & {NormW{passes}};
    other_has_o  = 1'b0;
    other_step_o = '0;
    other_perf_o = '0;
    for (int unsigned k = 0; k < K; k++) begin
      for (int unsigned d = 0; d < 2; d++) begin
        if ((d == 0 ? first[k] : second[k]) && !passes) begin
          work_has_o  = work_has_o | has_q[d][k];
          work_step_o = work_step_o | step_q[d][k];
          work_perf_o = work_perf_o | perf_q[d][k];
        end
      end
      if (other_i[k]) begin
        other_has_o  = other_has_o | has_q[0][k];
        other_step_o = other_step_o | step_q[0][k];
        other_perf_o = other_perf_o | perf_q[0][k];
      end
    end
  end

  always_comb begin
    first_kernel_o = '0;
    for (int unsigned k = 0; k < K; k++) if (way_kernel_q[3][k]) first_kernel_o = first_kernel_o | KernelW'(k);
  end
  assign first_valid_o = way_valid_q[3] && way_place_q[3][0];
  assign first_perf_o  = perf;

  logic unused_bits;   // callers keep indices below MAX_KERNELS; a performance is below 1
  assign unused_bits = ^product_i;
endmodule
