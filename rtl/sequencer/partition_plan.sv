// SPDX-License-Identifier: Apache-2.0
// partition_plan: the present kernels, oldest first, and what each may have
// (docs/reference/blocks/partition_sequencer.md). The r-th of n kernels has a contiguous range of NUM_SM / n SMs, one
// more for the first NUM_SM % n; its CTAs per SM are the occupancy, then what was decided; of its levels those of
// earlier windows are done, as many as windows times SMs. Fields of ranks from num_o on mean nothing.
module partition_plan #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8
) (
  input  logic                                        clk_i,
  input  logic                                        rst_ni,
  input  logic                                        plan_i,           // pulse: a plan for the present kernels
  input  logic [sluice_pkg::KernelW-1:0]              num_present_i,
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]  age_i,            // their slots, oldest first
  input  logic [MAX_KERNELS-1:0]                      occupancy_valid_i,// pulse, by rank
  input  logic [sluice_pkg::CtaW-1:0]                 occupancy_i,
  input  logic                                        decided_valid_i,  // pulse
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     decided_i,
  input  logic                                        first_window_i,   // pulse: levels begin with 1
  input  logic                                        next_window_i,    // pulse: levels go on
  output logic [sluice_pkg::KernelW-1:0]              num_o,
  output logic [MAX_KERNELS:1]                        num_is_o,         // the same, one-hot; all zero: none
  output logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]  slot_o,           // by rank, as all that follows
  output logic [MAX_KERNELS*sluice_pkg::SmW-1:0]      first_o,          // first SM of its range
  output logic [MAX_KERNELS*sluice_pkg::SmCountW-1:0] count_o,          // SMs of its range
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     ctas_o,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     next_ctas_o,      // that of the next cycle
  output logic [MAX_KERNELS-1:0]                      larger_o,         // its range has one SM more
  output logic [MAX_KERNELS*MAX_KERNELS-1:0]          has_rank_o,       // bit k*K+r: slot k has rank r
  output logic [MAX_KERNELS-1:0]                      planned_o, // by kernel slot, as the next: it is planned for
  output logic [MAX_KERNELS*sluice_pkg::SmW-1:0]      slot_first_o,     // zeros where it is not, as the next
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     slot_ctas_o,
  output logic [sluice_pkg::CtaW-1:0]                 level_small_o,    // first level of this window, by the size of
                                                                        // the range; beyond the kernel's CTAs:
  output logic [sluice_pkg::CtaW-1:0]                 level_large_o     // none is left
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("partition_plan: size out of range");
  localparam int unsigned CtaW     = sluice_pkg::CtaW;
  localparam int unsigned KernelW  = sluice_pkg::KernelW;
  localparam int unsigned KIndexW  = sluice_pkg::KIndexW;
  localparam int unsigned SmW      = sluice_pkg::SmW;
  localparam int unsigned SmCountW = sluice_pkg::SmCountW;
  localparam int unsigned IndexW   = $clog2(MAX_KERNELS);
  localparam int unsigned CountW   = $clog2(MAX_CTAS + 1);
  localparam int unsigned LevelW   = $clog2(2 * MAX_CTAS);   // a range of s SMs has levels left for at most MAX_CTAS /
                                                             // s windows; s + 1 are at most 2 s

  logic [MAX_KERNELS:1]          num_q;   // one-hot: everything that answers for an SM looks at it
  logic [MAX_KERNELS*IndexW-1:0] slot_q;
  logic [MAX_KERNELS*CountW-1:0] ctas_d, ctas_q;
  // First level of this window in a range of NUM_SM / n SMs, and in one with one more.
  logic [LevelW-1:0]             small_d, small_q, large_d, large_q;

  logic [SmCountW-1:0] share;
  always_comb begin
    share    = '0;
    larger_o = '0;
    first_o  = '0;
    count_o  = '0;
    for (int unsigned n = 1; n <= MAX_KERNELS; n++) begin
      if (num_q[n]) begin
        share |= SmCountW'(NUM_SM / n);
        for (int unsigned r = 0; r < n; r++) begin
          larger_o[r]                     |= r < NUM_SM % n;
          first_o[r*SmW +: SmW]           |= SmW'(r * (NUM_SM / n) + ((r < NUM_SM % n) ? r : NUM_SM % n));
          count_o[r*SmCountW +: SmCountW] |= SmCountW'(NUM_SM / n + ((r < NUM_SM % n) ? 1 : 0));
        end
      end
    end
  end

  always_comb begin
    small_d = small_q;
    large_d = large_q;
    if (next_window_i) begin
      small_d = small_q + LevelW'(share);
      large_d = large_q + LevelW'(share) + 1'b1;
    end
    if (first_window_i) begin
      small_d = LevelW'(1);
      large_d = LevelW'(1);
    end
    ctas_d = ctas_q;
    for (int unsigned r = 0; r < MAX_KERNELS; r++) begin
      if (decided_valid_i)      ctas_d[r*CountW +: CountW] = CountW'(decided_i[r*CtaW +: CtaW]);
      if (occupancy_valid_i[r]) ctas_d[r*CountW +: CountW] = CountW'(occupancy_i);
    end
  end

  logic [MAX_KERNELS:1] num_d;
  always_comb
    for (int unsigned n = 1; n <= MAX_KERNELS; n++) num_d[n] = num_present_i == KernelW'(n);
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)     num_q <= '0;
    else if (plan_i) num_q <= num_d;

  // Means nothing without a plan: no reset.
  always_ff @(posedge clk_i) begin
    small_q <= small_d;
    large_q <= large_d;
    ctas_q  <= ctas_d;
    if (plan_i)
      for (int unsigned r = 0; r < MAX_KERNELS; r++) slot_q[r*IndexW +: IndexW] <= IndexW'(age_i[r*KIndexW +: KIndexW]);
  end

  always_comb
    for (int unsigned r = 0; r < MAX_KERNELS; r++) begin
      slot_o[r*KIndexW +: KIndexW] = KIndexW'(slot_q[r*IndexW +: IndexW]);
      ctas_o[r*CtaW +: CtaW]       = CtaW'(ctas_q[r*CountW +: CountW]);
      next_ctas_o[r*CtaW +: CtaW]  = CtaW'(ctas_d[r*CountW +: CountW]);
    end
  always_comb begin
    has_rank_o   = '0;
    planned_o    = '0;
    slot_first_o = '0;
    slot_ctas_o  = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      for (int unsigned r = 0; r < MAX_KERNELS; r++)
        if ((num_q >> r) != '0 && slot_q[r*IndexW +: IndexW] == IndexW'(k)) begin
          has_rank_o[k*MAX_KERNELS+r]  = 1'b1;
          planned_o[k]                 = 1'b1;
          slot_first_o[k*SmW +: SmW]  |= first_o[r*SmW +: SmW];
          slot_ctas_o[k*CtaW +: CtaW] |= ctas_o[r*CtaW +: CtaW];
        end
  end
  always_comb begin
    num_o = '0;
    for (int unsigned n = 1; n <= MAX_KERNELS; n++)
      if (num_q[n]) num_o |= KernelW'(n);
  end
  assign num_is_o      = num_q;
  assign level_small_o = CtaW'(small_q);
  assign level_large_o = CtaW'(large_q);

  logic unused_high_bits;
  assign unused_high_bits = ^{age_i, occupancy_i, decided_i, share};
endmodule
