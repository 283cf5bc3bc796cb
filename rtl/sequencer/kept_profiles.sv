// SPDX-License-Identifier: Apache-2.0
// kept_profiles: what outlives a change of the present kernels (docs/reference/blocks/partition_sequencer.md, Churn):
// which kernels have a curve in the performance table, and the counts in force, by kernel slot. A kernel that is in the
// old plan and in the new one is the same kernel, and keeps both.
module kept_profiles #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic                                       restart_i,      // pulse: a new plan,
  input  logic [sluice_pkg::KernelW-1:0]             num_present_i,
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0] age_i,          // for these kernel slots;
  input  logic                                       forget_i,       // no curve is good any more
  input  logic [MAX_KERNELS-1:0]                     planned_i,      // kernel slots of the plan
  input  logic [MAX_KERNELS*MAX_KERNELS-1:0]         has_rank_i,     // bit k*K+r: slot k has rank r
  input  logic                                       decision_i,     // pulse: a decision comes into force
  input  logic [MAX_KERNELS-1:0]                     sampled_i,      // ranks of which a sample counts
  input  logic                                       counts_i,       // pulse: counts come into force,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_i,         // by rank
  output logic [MAX_KERNELS-1:0]                     kept_slots_o,   // kernel slots with a curve
  output logic [MAX_KERNELS-1:0]                     kept_o,         // ranks with one
  output logic                                       all_kept_o,     // every kernel of the plan
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    counts_o        // in force, by kernel slot
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, MAX_CTAS)) $error("kept_profiles: size out of range");
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned KernelW = sluice_pkg::KernelW;
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned IndexW  = $clog2(MAX_KERNELS);
  localparam int unsigned CountW  = $clog2(MAX_CTAS + 1);
  localparam int unsigned K       = MAX_KERNELS;

  logic [K-1:0]        stays;   // in both plans
  logic [K-1:0]        kept_d, kept_q;
  logic [K*CountW-1:0] counts_d, counts_q;
  always_comb begin
    stays    = '0;
    kept_d   = kept_q;
    counts_d = counts_q;
    for (int unsigned k = 0; k < K; k++) begin
      for (int unsigned i = 0; i < K; i++)
        if (KernelW'(i) < num_present_i && age_i[i*KIndexW +: IndexW] == IndexW'(k)) stays[k] = planned_i[k];
      if (counts_i) begin
        counts_d[k*CountW +: CountW] = '0;
        for (int unsigned r = 0; r < K; r++)
          if (has_rank_i[k*K+r]) counts_d[k*CountW +: CountW] |= ctas_i[r*CtaW +: CountW];
      end
      if (decision_i && (has_rank_i[k*K +: K] & sampled_i) != '0) kept_d[k] = 1'b1;
      if (restart_i) begin
        kept_d[k]                    = kept_q[k] && stays[k] && !forget_i;
        counts_d[k*CountW +: CountW] = counts_q[k*CountW +: CountW] & {CountW{stays[k]}};
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      kept_q   <= '0;
      counts_q <= '0;
    end else begin
      kept_q   <= kept_d;
      counts_q <= counts_d;
    end

  always_comb begin
    kept_o = '0;
    for (int unsigned k = 0; k < K; k++) begin
      if (kept_q[k]) kept_o |= has_rank_i[k*K +: K];
      counts_o[k*CtaW +: CtaW] = CtaW'(counts_q[k*CountW +: CountW]);
    end
  end
  assign kept_slots_o = kept_q;
  assign all_kept_o   = (planned_i & ~kept_q) == '0;

  logic unused_high_bits;
  assign unused_high_bits = ^{age_i, ctas_i};
endmodule
