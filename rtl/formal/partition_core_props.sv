// SPDX-License-Identifier: Apache-2.0
// Properties of partition_core with narrow fields, K kernels and three CTAs: what an answer follows, and what each
// phase of a decision leaves behind, written as one expression.
module partition_core_props #(
  parameter int unsigned K = 2   // 2 or 3
) (
  input logic                           clk_i,
  input logic                           rst_ni,
  input logic                           start_i,
  input logic                           abort_i,
  input logic [K-1:0]                   kept_i,
  input logic                           sample_valid_i,
  input sluice_pkg::sample_t            sample_i,
  input logic [sluice_pkg::InstW-1:0]   sample_insts_i
);
  localparam int unsigned N       = 3;
  localparam int unsigned IndexW  = $clog2(K);
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned PerfW   = sluice_pkg::PerfW;
  localparam int unsigned WordW   = sluice_pkg::WordW;

  (* anyconst *) sluice_pkg::amounts_t         cap, demand0, demand1, demand2;
  (* anyconst *) logic [1:0]                   cap_slots;
  (* anyconst *) logic [PerfW-1:0]             epsilon;
  (* anyconst *) logic [sluice_pkg::LossW-1:0] limit;
  logic [sluice_pkg::KernelW-1:0] demand_kernel;
  logic [K*CtaW-1:0]              ctas;
  logic                           entry, idle, done, spatial;
  partition_core #(.MAX_KERNELS (K), .MAX_CTAS (N)) dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .abort_i,
    .num_kernels_i    (sluice_pkg::KernelW'(K)),
    .kept_i,
    .rows_i           ('0),
    .capacity_i       (cap),
    .capacity_slots_i (CtaW'(cap_slots)),
    .demand_kernel_o  (demand_kernel),
    .demand_i         (demand_kernel[1] ? demand2 : demand_kernel[0] ? demand1 : demand0),
    .epsilon_i        (epsilon),
    .loss_limit_i     (limit),
    .sample_valid_i,
    .sample_i,
    .sample_insts_i,
    .scaled_valid_o   (entry),
    .idle_o           (idle),
    .done_o           (done),
    .spatial_o        (spatial),
    .ctas_o           (ctas)
  );

  // a CTAs of kernel 0, b of kernel 1, c of kernel 2
  function automatic fit(input logic [1:0] a, input logic [1:0] b, input logic [1:0] c);
    fit = 6'(demand0.warps) * a + 6'(demand1.warps) * b + 6'(demand2.warps) * c <= 6'(cap.warps)
       && 7'(demand0.registers) * a + 7'(demand1.registers) * b + 7'(demand2.registers) * c <= 7'(cap.registers)
       && 6'(demand0.shared) * a + 6'(demand1.shared) * b + 6'(demand2.shared) * c <= 6'(cap.shared)
       && 4'(a) + 4'(b) + 4'(c) <= 4'(cap_slots);
  endfunction

  logic started, was_up;
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    was_up  <= rst_ni;
  end

`ifdef PROTOCOL
  logic deciding_q;   // asked for and not answered
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) deciding_q <= 1'b0;
    else         deciding_q <= !abort_i && (start_i || (deciding_q && !done));
  // Kernels whose samples are to come; a sample more is nobody's.
  (* hierconn *) wire [5:0] \dut.i_decision_steps.state_q ;
  (* hierconn *) wire [4:0] \dut.i_decision_steps.left_q ;
  logic [4:0] owed_q;
  logic       extra_q, collects;
  assign collects = \dut.i_decision_steps.state_q == decision_pkg::Collect;
  always_ff @(posedge clk_i)
    if (start_i) begin
      owed_q  <= 5'(K) - 5'(kept_i[0]) - 5'(kept_i[1]) - 5'(K == 3 && kept_i[K-1]);
      extra_q <= 1'b0;
    end else if (collects && sample_valid_i) begin
      owed_q  <= owed_q - 5'(sample_i.last);
      extra_q <= extra_q || owed_q == '0;
    end
  always_comb begin
    if (!started) assume (!rst_ni);
    if (started && rst_ni) begin
      done_only_after_a_start:         assert (!done || deciding_q);
      entry_only_of_a_decision:        assert (!entry || deciding_q);
      idle_is_when_nothing_is_owed:    assert (idle == !deciding_q);
      waits_for_samples_of_those_without_a_curve:
        assert (!collects || extra_q || \dut.i_decision_steps.left_q == owed_q);
    end
    if (started && !rst_ni)            reset_ends_everything: assert (idle && !done && !entry);
  end
`else
  // One phase, from its first state: the registers that it reads are any that may be there.
  (* anyconst *) logic [K-1:0]     kept;
  (* hierconn *) wire [5:0]       \dut.i_decision_steps.state_q ;
  (* hierconn *) wire [K-1:0]     \dut.i_decision_steps.full_q ;
  (* hierconn *) wire [1:0]
    \dut.i_decision_steps.resource_q , \dut.i_decision_steps.level_q , \dut.i_decision_steps.ctas_q[0] ,
                                  \dut.i_decision_steps.ctas_q[1] ;
  (* hierconn *) wire [IndexW-1:0] \dut.i_decision_steps.kernel_q , \dut.i_decision_steps.worst_q ;
  (* hierconn *) wire             \dut.i_decision_steps.placed_q ,
                                  \dut.i_decision_steps.multiply_q , \dut.i_decision_steps.lose_q ,
                                  \dut.i_decision_steps.at_anchor_q , \dut.i_decision_steps.divide_q ,
                                  \dut.i_decision_steps.subtract_q ;
  (* hierconn *) wire [sluice_pkg::OperandW-1:0] \dut.i_serial_unit.b_q ;
  (* hierconn *) wire             \dut.i_serial_unit.below_q ;
  (* hierconn *) wire [WordW-1:0]
    \dut.i_perf_table.gen_row[0].word_q[0] , \dut.i_perf_table.gen_row[0].word_q[1] ,
    \dut.i_perf_table.gen_row[0].word_q[2] ,
                                  \dut.i_perf_table.gen_row[1].word_q[0] , \dut.i_perf_table.gen_row[1].word_q[1] ,
                                  \dut.i_perf_table.gen_row[1].word_q[2] ;
  localparam logic [WordW-1:0] One = WordW'(sluice_pkg::PerfOne);
  logic [5:0]       state;
  logic [1:0]       level, ctas0, ctas1, ctas2;
  logic [WordW-1:0] word0 [4], word1 [4], word2 [4];   // of a kernel, by CTAs
  logic [IndexW-1:0] worst;
  assign state = \dut.i_decision_steps.state_q ;
  assign level = \dut.i_decision_steps.level_q ;
  assign ctas0 = \dut.i_decision_steps.ctas_q[0] ;
  assign ctas1 = \dut.i_decision_steps.ctas_q[1] ;
  assign word0[0] = '0;
  assign word0[1] = \dut.i_perf_table.gen_row[0].word_q[0] ;
  assign word0[2] = \dut.i_perf_table.gen_row[0].word_q[1] ;
  assign word0[3] = \dut.i_perf_table.gen_row[0].word_q[2] ;
  assign word1[0] = '0;
  assign word1[1] = \dut.i_perf_table.gen_row[1].word_q[0] ;
  assign word1[2] = \dut.i_perf_table.gen_row[1].word_q[1] ;
  assign word1[3] = \dut.i_perf_table.gen_row[1].word_q[2] ;
  assign worst    = \dut.i_decision_steps.worst_q ;
  (* hierconn *) wire [1:0]       \dut.i_decision_steps.ctas_q[2] ;   // of three
  (* hierconn *) wire [WordW-1:0]
    \dut.i_perf_table.gen_row[2].word_q[0] , \dut.i_perf_table.gen_row[2].word_q[1] ,
    \dut.i_perf_table.gen_row[2].word_q[2] ;
  if (K == 3) begin : gen_third
    assign ctas2    = \dut.i_decision_steps.ctas_q[2] ;
    assign word2[1] = \dut.i_perf_table.gen_row[2].word_q[0] ;
    assign word2[2] = \dut.i_perf_table.gen_row[2].word_q[1] ;
    assign word2[3] = \dut.i_perf_table.gen_row[2].word_q[2] ;
  end else begin : gen_two   // the third has no CTA, and is at its best
    assign ctas2    = '0;
    assign word2[1] = One;
    assign word2[2] = One;
    assign word2[3] = One;
  end
  assign word2[0] = (K == 3) ? '0 : One;
  function automatic [WordW-1:0] perf(input logic [1:0] kernel, input logic [1:0] n);
    perf = (kernel == 2'd2) ? word2[n] : (kernel == 2'd1) ? word1[n] : word0[n];
  endfunction

  logic [5:0] age_q;
  logic       over_q, over;   // the phase has ended before, ends in this cycle
  initial age_q  = '0;
  initial over_q = 1'b0;
  always_ff @(posedge clk_i) begin
    age_q  <= age_q + 6'd1;
    over_q <= over_q || over;
  end
  always_comb begin
    assume (rst_ni && !start_i && !abort_i && kept_i == kept);
    if (!started)
      assume (!\dut.i_decision_steps.multiply_q && !\dut.i_decision_steps.at_anchor_q && !\dut.i_decision_steps.lose_q
      && !\dut.i_decision_steps.divide_q && !\dut.i_decision_steps.subtract_q
      && ctas0 != 2'd0 && ctas1 != 2'd0 && (K == 2 || ctas2 != 2'd0) && 32'(\dut.i_decision_steps.kernel_q ) < K
      && 32'(worst) < K);
`ifndef CURVE   // performances do not fall, and end with 1.0
    if (!started)
      assume (word0[1] <= word0[2] && word0[2] <= One && word0[3] == One && word1[1] <= word1[2] && word1[2] <= One
      && word1[3] == One
      && word2[1] <= word2[2] && word2[2] <= One && word2[3] == One);
`endif
  end

`ifdef CURVE
  // Entries of three levels of kernel 0, a zero without a fraction.
  localparam int unsigned FractionW = sluice_pkg::MantissaW - 1;
  (* anyconst *) logic [WordW-1:0] entry1, entry2, entry3;
  function automatic [WordW-1:0] more(input logic [WordW-1:0] a, input logic [WordW-1:0] b);
    more = (a > b) ? a : b;
  endfunction
  function automatic [6:0] value(input logic [WordW-1:0] e);   // of exponent and mantissa
    value = (e[WordW-1:FractionW] == '0) ? 7'd0 : 7'({1'b1, e[FractionW-1:0]}) << e[WordW-1:FractionW];
  endfunction
  logic [9:0] best, own1, own2, own3, hull1, hull2, line1, line2;
  assign best  = 10'(value(more(more(entry1, entry2), entry3)));
  assign own1  = (best == '0) ? 10'd7 : {value(entry1), 2'd0} / best;
  assign own2  = (best == '0) ? 10'd7 : {value(more(entry1, entry2)), 2'd0} / best;
  assign own3  = (best == '0) ? 10'd7 : 10'd4;
  assign line2 = own3 * 10'd2 / 10'd3;
  assign hull2 = (own2 > line2) ? own2 : line2;
  assign line1 = (own2 > line2) ? hull2 / 10'd2 : own3 / 10'd3;
  assign hull1 = (own1 > line1) ? own1 : line1;
  assign over  = state == decision_pkg::NextKernel;
  always_comb begin
    assume ((entry1[WordW-1:FractionW] != '0 || entry1 == '0) && (entry2[WordW-1:FractionW] != '0 || entry2 == '0)
         && (entry3[WordW-1:FractionW] != '0 || entry3 == '0));
    if (!started)
      assume (\dut.i_decision_steps.kernel_q == '0 && ctas0 == 2'd3 && word0[1] == entry1 && word0[2] == entry2
          && word0[3] == entry3);
    curve_ends_in_time: assert (over_q || age_q <= 6'd55);
    if (over && !over_q && !kept_i[0])
      curve_is_the_star_hull_of_the_quotients: assert (10'(word0[1]) == hull1 && 10'(word0[2]) == hull2
          && 10'(word0[3]) == own3);
    if (over && !over_q && kept_i[0])
      a_kept_curve_stays_as_it_is: assert (word0[1] == entry1 && word0[2] == entry2 && word0[3] == entry3);
  end
`elsif FIT
  // Of the CTAs that there are, and the worst-off kernel's step once the first ones are placed.
  logic [1:0] want0, want1, want2;
  assign want0 = (\dut.i_decision_steps.placed_q && 2'(worst) == 2'd0) ? level : ctas0;
  assign want1 = (\dut.i_decision_steps.placed_q && 2'(worst) == 2'd1) ? level : ctas1;
  assign want2 = (\dut.i_decision_steps.placed_q && 2'(worst) == 2'd2) ? level : ctas2;
  assign over  = state == decision_pkg::FitEnd;
  always_comb begin
    if (!started) assume (\dut.i_decision_steps.resource_q == decision_pkg::Slots && level != 2'd0);
    fit_ends_in_time: assert (over_q || age_q <= 6'(K == 2 ? 37 : 53));
    if (over && !over_q)
      refuses_exactly_what_does_not_fit_together: assert (\dut.i_serial_unit.below_q == !fit(want0, want1, want2));
  end
`elsif SCAN
  logic [2:0]       can;
  logic [WordW-1:0] least;   // of those that can
  assign can   = {K == 3 && !\dut.i_decision_steps.full_q [K-1] && perf(2'd2, ctas2) < One,
      !\dut.i_decision_steps.full_q [1] && perf(2'd1, ctas1) < One,
                  !\dut.i_decision_steps.full_q [0] && perf(2'd0, ctas0) < One};
  assign over  = state == decision_pkg::ScanEnd;
  always_comb begin
    least = One;
    if (can[0] && perf(2'd0, ctas0) < least) least = perf(2'd0, ctas0);
    if (can[1] && perf(2'd1, ctas1) < least) least = perf(2'd1, ctas1);
    if (can[2] && perf(2'd2, ctas2) < least) least = perf(2'd2, ctas2);
    if (!started) assume (\dut.i_decision_steps.kernel_q == '0 && \dut.i_serial_unit.b_q == sluice_pkg::OperandW'(One));
    scan_ends_in_time: assert (over_q || age_q <= 6'(K == 2 ? 9 : 13));
    if (over && !over_q)
      none_is_found_exactly_when_all_are_full: assert (\dut.i_serial_unit.b_q [sluice_pkg::PerfFracW] == (can == '0));
    if (over && !over_q && can != '0) worst_off_is_found_the_lowest_first:
      assert (2'(worst) == ((can[0] && perf(2'd0, ctas0) == least) ? 2'd0 : (can[1] && perf(2'd1, ctas1) == least)
          ? 2'd1 : 2'd2)
           && \dut.i_serial_unit.b_q == sluice_pkg::OperandW'(least));
  end
`elsif STEP
  logic [1:0]       kernel, have, next;
  logic [WordW-1:0] gain;
  assign kernel = 2'(\dut.i_decision_steps.kernel_q );
  assign have   = (kernel == 2'd2) ? ctas2 : (kernel == 2'd1) ? ctas1 : ctas0;
  assign next   = (have == 2'd1 && perf(kernel, 2'd2) != perf(kernel, 2'd1)) ? 2'd2 : 2'd3;
  assign gain   = perf(kernel, next) - perf(kernel, have);
  assign over   = state == decision_pkg::FitSm || state == decision_pkg::FitEnd;
  always_comb begin
    if (!started)
      assume (perf(kernel, have) < One && \dut.i_serial_unit.b_q == sluice_pkg::OperandW'(perf(kernel, have)));
    step_ends_in_time: assert (over_q || age_q <= 6'd12);
    if (over && !over_q) begin
      step_is_the_least_that_gains:          assert (level == next);
      step_is_refused_if_it_gains_too_little: assert ((state == decision_pkg::FitEnd)
        == (epsilon != '0 && 6'(gain) <= 6'(epsilon) * 6'(next - have)));
    end
  end
`else
  function automatic loses(input logic [1:0] kernel, input logic [1:0] n);
    loses = 7'(K) * (7'(One) - 7'(perf(kernel, n))) > 7'(limit);   // the limit is of 1 / K
  endfunction
  assign over = done;
  always_comb begin
    if (!started) assume (\dut.i_decision_steps.kernel_q == '0 && !spatial);
    judging_ends_in_time: assert (over_q || age_q <= 6'(K * (K + 3)));
    if (over && !over_q)
      verdict_is_that_some_kernel_loses_more: assert (spatial
          == (loses(2'd0, ctas0) || loses(2'd1, ctas1) || (K == 3 && loses(2'd2, ctas2))));
  end
`endif
`endif
endmodule
