// SPDX-License-Identifier: Apache-2.0
// Properties of partition_core with narrow fields, two kernels and three CTAs. `long_fill` begins with the curves in the table: any performances that do not
// fall and end with 1.0, and compares the result with algorithm 1 and the loss limit, written as one expression.
module partition_core_props (
  input logic                           clk_i,
  input logic                           rst_ni,
  input logic                           start_i,
  input logic                           abort_i,
  input logic                           count_start_i,
  input logic                           sample_valid_i,
  input logic [sluice_pkg::KernelW-1:0] sample_kernel_i,
  input logic [sluice_pkg::CtaW-1:0]    sample_ctas_i,
  input logic [sluice_pkg::InstW-1:0]   sample_insts_i,
  input logic                           sample_final_i
);
  localparam int unsigned K       = 2;
  localparam int unsigned N       = 3;
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned WarpW   = sluice_pkg::WarpW;
  localparam int unsigned RegW    = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned PerfW   = sluice_pkg::PerfW;
  localparam int unsigned WordW   = sluice_pkg::WordW;

  (* anyconst *) logic [WarpW-1:0]             cap_warps, warps0, warps1;
  (* anyconst *) logic [RegW-1:0]              cap_registers, registers0, registers1;
  (* anyconst *) logic [SharedW-1:0]           cap_shared, shared0, shared1;
  (* anyconst *) logic [1:0]                   cap_slots;
  (* anyconst *) logic [PerfW-1:0]             epsilon;
  (* anyconst *) logic [sluice_pkg::LossW-1:0] limit;
  (* anyconst *) logic                         shared_sm;   // an occupancy of half an SM
  logic [sluice_pkg::KernelW-1:0] demand_kernel;
  logic [CtaW-1:0]                counted;
  logic [K*CtaW-1:0]              ctas;
  logic                           count_done, entry, idle, done, no_fit, spatial;
  partition_core #(.MAX_KERNELS (K), .MAX_CTAS (N)) dut (
    .clk_i, .rst_ni, .start_i, .abort_i, .num_kernels_i (sluice_pkg::KernelW'(K)), .capacity_warps_i (cap_warps),
    .capacity_registers_i (cap_registers), .capacity_shared_i (cap_shared), .capacity_slots_i (CtaW'(cap_slots)), .demand_kernel_o (demand_kernel),
    .demand_warps_i (demand_kernel[0] ? warps1 : warps0), .demand_registers_i (demand_kernel[0] ? registers1 : registers0),
    .demand_shared_i (demand_kernel[0] ? shared1 : shared0), .epsilon_i (epsilon), .loss_limit_i (limit), .count_start_i,
    .count_share_i (shared_sm ? 4'd2 : 4'd1), .count_done_o (count_done), .count_o (counted), .sample_valid_i, .sample_kernel_i, .sample_ctas_i,
    .sample_insts_i, .sample_final_i, .scaled_valid_o (entry), .idle_o (idle), .done_o (done), .no_fit_o (no_fit), .spatial_o (spatial), .ctas_o (ctas)
  );

  function automatic fit(input logic [1:0] a, input logic [1:0] b);   // a CTAs of kernel 0 and b of kernel 1
    fit = 6'(warps0) * a + 6'(warps1) * b <= 6'(cap_warps) && 6'(registers0) * a + 6'(registers1) * b <= 6'(cap_registers)
       && 6'(shared0) * a + 6'(shared1) * b <= 6'(cap_shared) && 3'(a) + 3'(b) <= 3'(cap_slots);
  endfunction

  logic started, was_up;
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    was_up  <= rst_ni;
  end

`ifdef PROTOCOL
  logic deciding_q, counting_q;   // asked for and not answered
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      deciding_q <= 1'b0;
      counting_q <= 1'b0;
    end else begin
      deciding_q <= !abort_i && (start_i || (deciding_q && !done));
      counting_q <= !abort_i && (count_start_i || (counting_q && !count_done));
    end
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (!(count_start_i && (start_i || deciding_q)) && !(start_i && counting_q));
    if (started && rst_ni) begin
      done_only_after_a_start:         assert (!done || deciding_q);
      counted_only_when_it_was_asked:  assert (!count_done || counting_q);
      entry_only_of_a_decision:        assert (!entry || deciding_q);
      idle_is_when_nothing_is_owed:    assert (idle == !(deciding_q || counting_q));
    end
    if (started && !rst_ni)            reset_ends_everything: assert (idle && !done && !count_done && !entry);
  end
`elsif FILL
  (* hierconn *) wire [5:0]       \dut.i_decision_steps.state_q ;
  (* hierconn *) wire [K-1:0]     \dut.i_decision_steps.full_q ;
  (* hierconn *) wire [1:0]       \dut.i_decision_steps.resource_q , \dut.i_decision_steps.ctas_q[0] , \dut.i_decision_steps.ctas_q[1] ;
  (* hierconn *) wire             \dut.i_decision_steps.placed_q , \dut.i_decision_steps.multiply_q , \dut.i_decision_steps.lose_q ;
  (* hierconn *) wire             \dut.i_decision_steps.at_anchor_q , \dut.i_decision_steps.no_fit_q , \dut.i_decision_steps.spatial_q ;
  (* hierconn *) wire [WordW-1:0] \dut.i_perf_table.gen_row[0].word_q[0] , \dut.i_perf_table.gen_row[0].word_q[1] , \dut.i_perf_table.gen_row[0].word_q[2] ;
  (* hierconn *) wire [WordW-1:0] \dut.i_perf_table.gen_row[1].word_q[0] , \dut.i_perf_table.gen_row[1].word_q[1] , \dut.i_perf_table.gen_row[1].word_q[2] ;
  localparam logic [WordW-1:0] One = WordW'(sluice_pkg::PerfOne);

  (* anyconst *) logic [WordW-1:0] p00, p01, p10, p11;   // below 1.0 or 1.0, with one and two CTAs; with three it is 1.0
  logic [7:0] age_q;
  initial age_q = '0;
  always_ff @(posedge clk_i) if (!done) age_q <= age_q + 8'd1;
  always_comb begin
    assume (rst_ni && !start_i && !abort_i && !count_start_i);
    assume (p00 <= p01 && p01 <= One && p10 <= p11 && p11 <= One);
    if (!started) assume (\dut.i_decision_steps.state_q == decision_pkg::FitSm && \dut.i_decision_steps.full_q == '0 && !\dut.i_decision_steps.placed_q
      && \dut.i_decision_steps.resource_q == 2'd0 && \dut.i_decision_steps.ctas_q[0] == 2'd1 && \dut.i_decision_steps.ctas_q[1] == 2'd1
      && !\dut.i_decision_steps.multiply_q && !\dut.i_decision_steps.lose_q && !\dut.i_decision_steps.at_anchor_q && !\dut.i_decision_steps.no_fit_q
      && !\dut.i_decision_steps.spatial_q && \dut.i_perf_table.gen_row[0].word_q[0] == p00 && \dut.i_perf_table.gen_row[0].word_q[1] == p01
      && \dut.i_perf_table.gen_row[0].word_q[2] == One && \dut.i_perf_table.gen_row[1].word_q[0] == p10
      && \dut.i_perf_table.gen_row[1].word_q[1] == p11 && \dut.i_perf_table.gen_row[1].word_q[2] == One);
  end

  function automatic [WordW-1:0] perf(input logic kernel, input logic [1:0] n);
    perf = (n == 2'd3) ? One : kernel ? ((n == 2'd2) ? p11 : p10) : ((n == 2'd2) ? p01 : p00);
  endfunction
  function automatic loses(input logic kernel, input logic [1:0] n);
    loses = 7'd2 * (7'(One) - 7'(perf(kernel, n))) > 7'(limit);
  endfunction

  // Algorithm 1: raise the worst-off kernel that is not full, until both are.
  logic [1:0] want0, want1;
  always_comb begin : algorithm
    logic       full0, full1, second, refuse;
    logic [1:0] have, next;
    want0 = 2'd1;
    want1 = 2'd1;
    full0 = 1'b0;
    full1 = 1'b0;
    for (int i = 0; i < N + K; i++) begin
      full0  = full0 || perf(1'b0, want0) == One;
      full1  = full1 || perf(1'b1, want1) == One;
      second = full0 || (!full1 && perf(1'b1, want1) < perf(1'b0, want0));
      have   = second ? want1 : want0;
      next   = (have == 2'd1 && perf(second, 2'd2) != perf(second, 2'd1)) ? 2'd2 : 2'd3;
      refuse = !(second ? fit(want0, next) : fit(next, want1))
            || (epsilon != '0 && 6'(perf(second, next)) - 6'(perf(second, have)) <= 6'(epsilon) * (next - have));
      if (!(full0 && full1)) begin
        if (refuse && second)       full1 = 1'b1;
        if (refuse && !second)      full0 = 1'b1;
        if (!refuse && second)      want1 = next;
        if (!refuse && !second)     want0 = next;
      end
    end
  end

  (* anyconst *) logic [1:0] other0, other1;   // any other partition
  logic [WordW-1:0] least, least_other;
  assign least       = (perf(1'b0, ctas[1:0]) < perf(1'b1, ctas[CtaW +: 2])) ? perf(1'b0, ctas[1:0]) : perf(1'b1, ctas[CtaW +: 2]);
  assign least_other = (perf(1'b0, other0) < perf(1'b1, other1)) ? perf(1'b0, other0) : perf(1'b1, other1);
  always_comb begin
    ends_in_time: assert (age_q <= 8'd170);
    if (done) begin
      refuses_exactly_what_does_not_fit_together: assert (no_fit == !fit(2'd1, 2'd1));
      if (!no_fit) begin
        every_kernel_has_a_cta: assert (ctas[0 +: CtaW] != '0 && ctas[CtaW +: CtaW] != '0);
        result_fits_the_sm:     assert (fit(ctas[1:0], ctas[CtaW +: 2]));
        result_is_algorithm_1:  assert (ctas == {1'b0, want1, 1'b0, want0});
        verdict_is_that_some_kernel_loses_more: assert (spatial == (loses(1'b0, want0) || loses(1'b1, want1)));
        if (epsilon == '0 && other0 != 2'd0 && other1 != 2'd0 && fit(other0, other1)) no_partition_has_a_better_minimum: assert (least_other <= least);
      end
    end
  end
`else
  // One occupancy, from the second cycle on.
  logic [6:0] age_q;
  initial age_q = '0;
  always_ff @(posedge clk_i) if (!count_done) age_q <= age_q + 7'd1;
  function automatic holds(input logic [1:0] n);
    logic [2:0] all;
    all   = shared_sm ? {n, 1'b0} : {1'b0, n};
    holds = 6'(warps0) * all <= 6'(cap_warps) && 6'(registers0) * all <= 6'(cap_registers) && 6'(shared0) * all <= 6'(cap_shared)
         && all <= 3'(cap_slots);
  endfunction
  always_comb begin
    assume (rst_ni == started && !start_i && !abort_i && count_start_i == (age_q == 7'd1) && warps0 == warps1 && registers0 == registers1 && shared0 == shared1);
    count_ends_in_time: assert (age_q <= 7'd70);
    if (count_done) count_is_the_occupancy: assert (holds(counted[1:0]) && !counted[2] && (counted == 3'd3 || !holds(counted[1:0] + 2'd1)));
  end
`endif
endmodule
