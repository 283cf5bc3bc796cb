// SPDX-License-Identifier: Apache-2.0
// A whole decision of partition_sequencer as its neighbours see it, from a launch of K kernels on M SMs to the quotas
// in force: written from the page and the ports alone. The kernels come in any order, with any occupancies; SMs settle
// or not, kernels are spent or not, the core decides anything. The counter answers a cycle after it is asked, the core
// as soon as it is waited for; warm-up, drain and delay are as short as they can be.
module whole_decision_props #(
  parameter int unsigned M = 3,
  parameter int unsigned K = 3,
  parameter int unsigned N = 4
) (
  input logic                         clk_i,
  input logic                         rst_ni,
  input logic [sluice_pkg::SmW-1:0]   query_sm_i
);
  localparam int unsigned CtaW = sluice_pkg::CtaW, KIndexW = sluice_pkg::KIndexW, KernelW = sluice_pkg::KernelW,
    SmW = sluice_pkg::SmW;
  localparam int unsigned Longest = 8 + 3 * K + (3 + 2 * K + 4) * N;   // the plan, and a window a level
  localparam logic [3:0] Allocate = 4'd4;

  (* anyconst *) logic [K*KIndexW-1:0] age;        // slots, oldest first
  (* anyconst *) logic [K*CtaW-1:0]    occupancy, core_ctas;   // by slot; by rank
  (* anyconst *) logic [M-1:0]         settled;
  (* anyconst *) logic [K-1:0]         spent;
  (* anyconst *) logic                 no_fit, spatial;
  (* anyconst *) logic [KernelW-1:0]   rank;       // of any kernel,
  (* anyconst *) logic [CtaW-1:0]      level;      // any number of CTAs

  logic [K*CtaW-1:0] quota, port_quota;
  logic              count_start, changed, sample_valid, sample_read, sample_drop, profiling, decision, counted_q,
    waited_q;
  logic [SmW-1:0]    sample_sm;
  logic [K-1:0]      count_kernel;
  logic [3:0]        state;
  logic [6:0]        age_q;
  logic [CtaW-1:0]   answer;
  sluice_pkg::sample_t sample;
  always_comb begin
    answer = '0;
    for (int unsigned k = 0; k < K; k++)
      if (count_kernel[k]) answer |= occupancy[k*CtaW +: CtaW];
  end
  partition_sequencer #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(N)) dut (
    .clk_i,
    .rst_ni,
    .mode_i               (sluice_pkg::ModeDynamic),
    .mode_write_i         (1'b0),
    .sm_enable_i          ('1),
    .enable_write_i       (1'b0),
    .core_demand_kernel_i ('0),
    .demand_i             ('0),
    .count_start_o        (count_start),
    .count_kernel_o       (count_kernel),
    .count_done_i         (counted_q),
    .occupancy_i          (answer),
    .quota_i              ('0),
    .mask_i               ('0),
    .static_write_i       (1'b0),
    .warm_up_i            ('0),
    .window_i             (sluice_pkg::WindowW'(1)),
    .drain_limit_i        ('0),
    .delay_i              ('0),
    .reprofile_i          (1'b0),
    .num_present_i        (KernelW'(K)),
    .age_i                (age),
    .change_i             (age_q == 7'd1),
    .query_sm_i           (M'(1) << query_sm_i),
    .query_quota_o        (quota),
    .port_sm_i            (M'(1)),
    .port_quota_o         (port_quota),
    .quota_changed_o      (changed),
    .spent_i              (spent),
    .settled_i            (settled),
    .profiling_o          (profiling),
    .sample_read_o        (sample_read),
    .sample_sm_o          (sample_sm),
    .sample_drop_o        (sample_drop),
    .sample_valid_o       (sample_valid),
    .sample_o             (sample),
    .core_done_i          (waited_q),
    .core_no_fit_i        (no_fit),
    .core_spatial_i       (spatial),
    .core_ctas_i          (core_ctas),
    .state_o              (state),
    .decision_o           (decision)
  );

  // Whose an SM is: ranges one behind the other, the first of them an SM longer where they are not equal.
  function automatic [KernelW-1:0] range_of(input logic [SmW-1:0] sm);
    range_of = '0;
    for (int unsigned m = 0; m < M; m++)
      if (sm == SmW'(m))
        for (int unsigned r = 0; r < K; r++)
          if (m >= r * (M / K) + ((r < M % K) ? r : M % K)) range_of = KernelW'(r);
  endfunction
  function automatic [KIndexW-1:0] slot_of(input logic [KernelW-1:0] r);
    slot_of = '0;
    for (int unsigned i = 0; i < K; i++)
      if (r == KernelW'(i)) slot_of = age[i*KIndexW +: KIndexW];
  endfunction
  function automatic [CtaW-1:0] of_slot(input logic [K*CtaW-1:0] all, input logic [KIndexW-1:0] slot);
    of_slot = '0;
    for (int unsigned k = 0; k < K; k++)
      if (slot == KIndexW'(k)) of_slot = all[k*CtaW +: CtaW];
  endfunction

  // What was handed to the core, and which kernels had a sample that counts.
  logic [1:0]      handed;
  logic            decided, read_q;
  logic [K-1:0]    clean;          // by rank
  logic [CtaW-1:0] given_q;        // the quota of the SM's kernel, on the SM that was read
  logic [KernelW-1:0] owner_q;     // its rank
  logic            started, alone, fits, ok_counts, ok_ranges;
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    read_q  <= sample_read;
    owner_q <= range_of(sample_sm);
    given_q <= of_slot(quota, slot_of(range_of(sample_sm)));
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      age_q     <= '0;
      counted_q <= 1'b0;
      waited_q  <= 1'b0;
      handed    <= '0;
      decided   <= 1'b0;
      clean     <= '0;
    end else begin
      if (age_q != '1) age_q <= age_q + 1'b1;
      counted_q <= count_start;
      waited_q  <= state == Allocate && !waited_q;
      if (decision) decided <= 1'b1;
      if (sample_valid && sample.kernel == rank && sample.ctas == level && handed != '1) handed <= handed + 1'b1;
      if (sample_read && !sample_drop) clean <= clean | K'(1) << range_of(sample_sm);
    end

  always_comb begin
    alone     = 1'b1;   // at most one kernel has a quota there
    fits      = 1'b1;
    ok_counts = 1'b1;
    ok_ranges = 1'b1;
    for (int unsigned k = 0; k < K; k++) begin
      if (quota[k*CtaW +: CtaW] > occupancy[k*CtaW +: CtaW]) fits = 1'b0;
      for (int unsigned j = 0; j < K; j++)
        if (j != k && quota[k*CtaW +: CtaW] != '0 && quota[j*CtaW +: CtaW] != '0) alone = 1'b0;
      for (int unsigned r = 0; r < K; r++)
        if (age[r*KIndexW +: KIndexW] == KIndexW'(k)) begin
          if (quota[k*CtaW +: CtaW] != core_ctas[r*CtaW +: CtaW]) ok_counts = 1'b0;
          if (quota[k*CtaW +: CtaW] != ((range_of(query_sm_i) == KernelW'(r)) ? CtaW'(N) : '0)) ok_ranges = 1'b0;
        end
    end
  end

  always_comb begin
    assume (rst_ni == started);
    assume (32'(rank) < K && 32'(query_sm_i) < M && level <= CtaW'(N));
    if (sample_read) assume (query_sm_i == sample_sm);
    for (int unsigned k = 0; k < K; k++) begin
      assume (occupancy[k*CtaW +: CtaW] != '0 && occupancy[k*CtaW +: CtaW] <= CtaW'(N)
          && core_ctas[k*CtaW +: CtaW] <= CtaW'(N));
      assume (32'(age[k*KIndexW +: KIndexW]) < K);
      for (int unsigned j = 0; j < k; j++) assume (age[j*KIndexW +: KIndexW] != age[k*KIndexW +: KIndexW]);
    end
    if (started && rst_ni) begin
      a_decision_comes:                assert (age_q < 7'(Longest) || decided);
      there_is_one_decision:           assert (!decided || !decision);
      if (decision)
        each_level_is_sampled_once: assert (handed
            == 2'((level != '0 && level <= of_slot(occupancy, slot_of(rank))) ? 1 : 0));
      if (sample_valid)
        a_label_is_the_quota_of_the_sm_that_was_read: assert (read_q && sample.kernel == owner_q
            && sample.ctas == given_q);
      if (profiling) in_a_window_an_sm_is_one_kernels: assert (alone);
      if (profiling) in_a_window_no_more_is_asked_for_than_fits: assert (fits);
      if (decided && !no_fit && !spatial && clean == '1) counts_in_force_are_the_decided_ones: assert (ok_counts);
      if (decided && (no_fit || spatial || clean != '1)) without_counts_there_are_ranges: assert (ok_ranges);
    end
  end
  logic unused;
  assign unused = ^{changed, port_quota};
endmodule
