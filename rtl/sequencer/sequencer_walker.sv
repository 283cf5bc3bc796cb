// SPDX-License-Identifier: Apache-2.0
// sequencer_walker: walks over the kernels of the plan by age: one occupancy after the other while a plan is made;
// then, while samples are read, over the SMs of each kernel's range and the level that each runs, one a cycle. A sample
// counts if its SM held what the label says: it has settled, and its kernel had CTAs to give in all cycles of the
// window.
module sequencer_walker #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned EVEN_BASE   = 0   // 1: a kernel has one sample, the first clean one of its range
) (
  input  logic                                        clk_i,
  input  logic                                        rst_ni,
  input  sequencer_pkg::state_e                       state_i,
  input  logic                                        restart_i,
  input  logic                                        count_done_i,     // PlanCount: on to the next kernel
  input  logic                                        first_window_i,   // of this profile
  // The plan, by rank.
  input  logic [sluice_pkg::KernelW-1:0]              num_i,
  input  logic [MAX_KERNELS*MAX_KERNELS-1:0]          has_rank_i,       // bit k*K+r: slot k has rank r
  input  logic [MAX_KERNELS*sluice_pkg::SmW-1:0]      first_i,
  input  logic [MAX_KERNELS*sluice_pkg::SmCountW-1:0] count_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     ctas_i,
  input  logic [MAX_KERNELS-1:0]                      larger_i,
  input  logic [MAX_KERNELS-1:0]                      kept_i,           // ranks that are not profiled
  input  logic [sluice_pkg::CtaW-1:0]                 level_small_i,    // first level of this window
  input  logic [sluice_pkg::CtaW-1:0]                 level_large_i,
  input  logic [NUM_SM-1:0]                           settled_i,        // SMs that hold just their quotas
  input  logic [MAX_KERNELS-1:0]                      spent_i,          // kernel slots that dispatch nothing more
  output logic [MAX_KERNELS-1:0]                      working_o,        // the rank under work, one-hot
  output logic [MAX_KERNELS-1:0]                      kernel_o,         // its kernel slot, one-hot, a cycle later
  output sequencer_pkg::walk_t                        walk_o,
  output logic                                        sample_read_o,    // in this cycle the counters
  output logic [sluice_pkg::SmW-1:0]                  sample_sm_o,      // of this SM are read, for the next cycle,
  output logic                                        sample_drop_o,    // which counts as none
  output logic                                        sample_valid_o,
  output sluice_pkg::sample_t                         sample_o,
  output logic                                        dropped_o,        // of this profile: a sample was dropped
  output logic [MAX_KERNELS-1:0]                      sampled_o         // ranks of which a sample counts
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("sequencer_walker: size out of range");
  localparam int unsigned CtaW     = sluice_pkg::CtaW;
  localparam int unsigned KernelW  = sluice_pkg::KernelW;
  localparam int unsigned SmW      = sluice_pkg::SmW;
  localparam int unsigned SmCountW = sluice_pkg::SmCountW;
  localparam int unsigned K        = MAX_KERNELS;
  localparam int unsigned RankW    = $clog2(K);
  localparam int unsigned CountW   = $clog2(MAX_CTAS + 1);
  localparam int unsigned IndexW   = (NUM_SM > 1) ? $clog2(NUM_SM) : 1;
  localparam int unsigned RangeW   = $clog2((NUM_SM + 1) / 2 + 1);   // SMs of one of two kernels or more

  // Load: the next kernel; Walk: its levels, a cycle each, one where it has none left; Rest: through.
  typedef enum logic [1:0] {Load = 2'd0, Walk = 2'd1, Rest = 2'd2} walk_e;

  walk_e               walk_d, walk_q;
  logic [RankW-1:0]    rank_d, rank_q;       // kernel of the plan, by age, under work; 0 behind the last one
  logic [IndexW-1:0]   sm_d, sm_q;           // SM of its range under work,
  logic [RangeW-1:0]   sms_d, sms_q;         // SMs from it to the last of the range,
  logic [CountW-1:0]   level_d, level_q;     // what that SM runs,
  logic [CountW-1:0]   rest_d, rest_q;       // levels from that one on; 0: no other level is left
  logic                again_d, again_q;
  // By kernel slot, it dispatched nothing more in some cycle of the window; by rank, one of its samples counts.
  logic [K-1:0]        spent_d, spent_q, sampled_d, sampled_q;
  logic                dropped_d, dropped_q, sample_valid_q;
  sluice_pkg::sample_t sample_q;

  logic [K-1:0]        kernel_d, kernel_q;
  logic [SmW-1:0]      first;
  logic [SmCountW-1:0] count;
  logic [CtaW-1:0]     ctas, level, left;
  always_comb begin
    for (int unsigned r = 0; r < K; r++) working_o[r] = rank_q == RankW'(r);
    for (int unsigned k = 0; k < K; k++) kernel_d[k] = (has_rank_i[k*K +: K] & working_o) != '0;
    first = '0;
    count = '0;
    ctas  = '0;
    for (int unsigned r = 0; r < K; r++)
      if (working_o[r]) begin
        first |= first_i[r*SmW +: SmW];
        count |= count_i[r*SmCountW +: SmCountW];
        ctas  |= ctas_i[r*CtaW +: CtaW];
      end
    level = (working_o & larger_i) != '0 ? level_large_i : level_small_i;
    // levels that earlier windows left
    left  = (ctas < level || (working_o & kept_i) != '0) ? '0 : ctas - level + 1'b1;
    if (EVEN_BASE != 0) left = CtaW'(1);
  end

  logic last_kernel, last_level, step, hand_on;
  assign last_kernel = KernelW'(rank_q) + 1'b1 == num_i;
  logic drop;
  assign drop        = !settled_i[sm_q] || (kernel_q & spent_q) != '0;
  assign last_level  = sms_q == RangeW'(1) || (EVEN_BASE != 0 ? !drop : rest_q <= CountW'(1));
  // the sample of the next cycle
  assign hand_on     = state_i == sequencer_pkg::Scale && walk_q == Walk
      && (EVEN_BASE != 0 ? last_level : rest_q != '0);
  always_comb begin
    rank_d  = rank_q;
    walk_d  = walk_q;
    again_d = again_q;
    sm_d    = sm_q + 1'b1;
    sms_d   = sms_q - 1'b1;
    level_d = level_q + 1'b1;
    rest_d  = EVEN_BASE != 0 ? CountW'(1) : rest_q - 1'b1;
    step    = 1'b0;
    if (walk_q == Load) begin
      sm_d    = first[IndexW-1:0];
      sms_d   = count[RangeW-1:0];
      level_d = level[CountW-1:0];
      rest_d  = left[CountW-1:0];
    end
    unique case (state_i)
      sequencer_pkg::PlanCount: if (count_done_i) rank_d = rank_q + 1'b1;
      sequencer_pkg::Profile: begin
        rank_d  = '0;
        walk_d  = Load;
        again_d = 1'b0;
      end
      sequencer_pkg::Scale: begin
        step = walk_q != Rest;
        if (walk_q == Load) walk_d = Walk;
        if (walk_q == Walk && last_level) begin
          again_d = again_q || rest_q > CountW'(1);
          rank_d  = rank_q + 1'b1;
          walk_d  = last_kernel ? Rest : Load;
        end
      end
      default: ;
    endcase
    if (restart_i) rank_d = '0;
  end

  always_comb begin
    dropped_d = dropped_q || (hand_on && drop && !restart_i);
    sampled_d = sampled_q | (working_o & {K{hand_on && !drop}});
    spent_d   = spent_q | (spent_i & {K{state_i == sequencer_pkg::Profile}});
    if (state_i == sequencer_pkg::Drain) begin
      spent_d = '0;
      if (first_window_i) begin
        dropped_d = 1'b0;
        sampled_d = '0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      dropped_q      <= 1'b0;
      sample_valid_q <= 1'b0;
    end else begin
      dropped_q      <= dropped_d;
      sample_valid_q <= hand_on && !restart_i;
    end

  always_ff @(posedge clk_i) begin   // set before the states that look at them: no reset
    rank_q    <= rank_d;
    kernel_q  <= kernel_d;
    walk_q    <= walk_d;
    again_q   <= again_d;
    spent_q   <= spent_d;
    sampled_q <= sampled_d;
    if (step) begin
      sm_q    <= sm_d;
      sms_q   <= sms_d;
      level_q <= level_d;
      rest_q  <= rest_d;
    end
    if (hand_on) begin
      sample_q.kernel <= KernelW'(rank_q);
      sample_q.ctas   <= CtaW'(level_q);
      sample_q.last   <= rest_q == CountW'(1);
    end
  end

  assign kernel_o       = kernel_q;
  assign walk_o         = {rank_q == '0, last_kernel, walk_q == Rest, again_q};
  assign sample_read_o  = hand_on;
  assign sample_sm_o    = SmW'(sm_q);
  assign sample_drop_o  = drop;
  assign sample_valid_o = sample_valid_q;
  assign sample_o       = sample_q;
  assign dropped_o      = dropped_q;
  assign sampled_o      = sampled_q;

  logic unused_bits;   // of fields that are as wide as the largest machine
  assign unused_bits = ^{first, count, level, left};
endmodule
