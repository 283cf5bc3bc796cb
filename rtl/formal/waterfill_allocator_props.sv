// SPDX-License-Identifier: Apache-2.0
// Properties of waterfill_allocator with 2 kernels. The descriptors, the capacity and the performance table are any constants of a small size;
// the table has what perf_table promises: count 1 is a step, performance does not fall from step to step.
module waterfill_allocator_props (
  input logic clk_i,
  input logic rst_ni,
  input logic start_i,
  input logic abort_i,
  input logic count_start_i,
  input logic count_i
);
  localparam int unsigned K      = 2;
  localparam int unsigned Slots  = 4;
  localparam int unsigned WarpW  = sluice_pkg::WarpW;
  localparam int unsigned RegW   = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned CtaW   = sluice_pkg::CtaW;
  localparam int unsigned PerfW  = sluice_pkg::PerfW;
  localparam int unsigned NormW  = sluice_pkg::NormW;

  (* anyconst *) logic [2:0] cap_warps, cap_registers, cap_shared, cap_slots;
  (* anyconst *) logic [2:0] warps0, warps1, registers0, registers1, shared0, shared1;
  (* anyconst *) logic [2:0] epsilon;
  (* anyconst *) logic [3:0] p01, p02, p03, p04, p11, p12, p13, p14;   // performance of kernel k with j CTAs
  (* anyconst *) logic [3:0] steps0, steps1;                           // bit j-1: j CTAs are a step
  always_comb begin
    assume (cap_slots <= 3'(Slots));
    assume (steps0[0] && steps1[0]);
    assume (p01 <= p02 && p02 <= p03 && p03 <= p04);
    assume (p11 <= p12 && p12 <= p13 && p13 <= p14);
    // Nothing is above 1.0: there is no step behind it.
    assume (!(p01 == 4'd15 && steps0[1]) && !(p02 == 4'd15 && steps0[2]) && !(p03 == 4'd15 && steps0[3]));
    assume (!(p11 == 4'd15 && steps1[1]) && !(p12 == 4'd15 && steps1[2]) && !(p13 == 4'd15 && steps1[3]));
  end

  function automatic [3:0] perf(input logic kernel, input logic [2:0] count);
    case ({kernel, count})
      {1'b0, 3'd1}: perf = p01;
      {1'b0, 3'd2}: perf = p02;
      {1'b0, 3'd3}: perf = p03;
      {1'b0, 3'd4}: perf = p04;
      {1'b1, 3'd1}: perf = p11;
      {1'b1, 3'd2}: perf = p12;
      {1'b1, 3'd3}: perf = p13;
      {1'b1, 3'd4}: perf = p14;
      default:      perf = 4'd0;
    endcase
  endfunction

  // Smallest step above `count`, 0: none.
  function automatic [2:0] next_step(input logic [3:0] steps, input logic [2:0] count);
    next_step = 3'd0;
    if (steps[3] && count < 3'd4) next_step = 3'd4;
    if (steps[2] && count < 3'd3) next_step = 3'd3;
    if (steps[1] && count < 3'd2) next_step = 3'd2;
    if (steps[0] && count < 3'd1) next_step = 3'd1;
  endfunction

  function automatic [sluice_pkg::NormW-1:0] norm(input logic [3:0] p);   // at the port
    norm = (p == 4'd15) ? '1 : sluice_pkg::NormW'(p);
  endfunction

  function automatic [PerfW-1:0] gain(input logic [3:0] before, input logic [3:0] after);   // 15 is 1.0
    gain = ((after == 4'd15) ? sluice_pkg::PerfOne : PerfW'(after)) - PerfW'(before);
  endfunction

  function automatic fit(input logic [2:0] a, input logic [2:0] b);   // a CTAs of kernel 0 and b of kernel 1
    fit = 6'(warps0) * a + 6'(warps1) * b <= 6'(cap_warps) && 6'(registers0) * a + 6'(registers1) * b <= 6'(cap_registers)
       && 6'(shared0) * a + 6'(shared1) * b <= 6'(cap_shared) && 4'(a) + 4'(b) <= 4'(cap_slots);
  endfunction

  // The block, with first steps and the next ones of any table: a performance of 15 is 1.0, all ones at the port.
  logic [K-1:0]                   work, other;
  logic                           take_work, take_other, first_valid, first_kernel;
  logic [sluice_pkg::KernelW-1:0] demand_kernel;
  logic [2:0]                     have_q [K];        // CTAs of a kernel with the step that it may work on
  logic [2:0]                     work_next, other_next, work_have, other_have;
  logic [NormW-1:0]               full_perf;
  logic                           done, no_fit, full;
  logic [K*CtaW-1:0]              ctas;
  assign work_have  = have_q[work[1]];
  assign other_have = have_q[other[1]];
  assign work_next  = next_step(work[1] ? steps1 : steps0, work_have);
  assign other_next = next_step(other[1] ? steps1 : steps0, other_have);
  waterfill_allocator #(.MAX_KERNELS (K), .MAX_CTAS (Slots)) dut (
    .clk_i, .rst_ni, .start_i, .abort_i, .num_kernels_i (4'd2),
    .capacity_warps_i (WarpW'(cap_warps)), .capacity_registers_i (RegW'(cap_registers)), .capacity_shared_i (SharedW'(cap_shared)),
    .capacity_slots_i (CtaW'(cap_slots)), .demand_kernel_o (demand_kernel),
    .demand_warps_i (WarpW'(demand_kernel[0] ? warps1 : warps0)), .demand_registers_i (RegW'(demand_kernel[0] ? registers1 : registers0)),
    .demand_shared_i (SharedW'(demand_kernel[0] ? shared1 : shared0)), .count_start_i, .count_i, .epsilon_i (PerfW'(epsilon)),
    .first_valid_i (first_valid), .first_kernel_i ({3'd0, first_kernel}), .first_perf_i (norm(first_kernel ? p11 : p01)),
    .work_o (work), .other_o (other), .take_work_o (take_work), .take_other_o (take_other),
    .work_has_i (work_next != 3'd0), .work_step_i (2'(work_next - work_have)), .work_perf_i (norm(perf(work[1], work_next))),
    .other_has_i (other_next != 3'd0), .other_step_i (2'(other_next - other_have)), .other_perf_i (norm(perf(other[1], other_next))),
    .full_o (full), .perf_o (full_perf), .done_o (done), .no_fit_o (no_fit), .ctas_o (ctas)
  );

  // Algorithm 1: raise the worst-off kernel that is not full, until both are.
  logic [2:0] want0, want1;
  always_comb begin : algorithm
    logic       full0, full1, second, refuse;
    logic [2:0] next;
    logic [3:0] before, after;
    want0 = 3'd1;
    want1 = 3'd1;
    full0 = 1'b0;
    full1 = 1'b0;
    for (int i = 0; i < Slots + K; i++) begin
      second = full0 || (!full1 && perf(1'b1, want1) < perf(1'b0, want0));
      next   = second ? next_step(steps1, want1) : next_step(steps0, want0);
      before = second ? perf(1'b1, want1) : perf(1'b0, want0);
      after  = perf(second, next);
      refuse = next == 3'd0 || !(second ? fit(want0, next) : fit(next, want1))
            || (epsilon != 3'd0 && gain(before, after) <= PerfW'(epsilon) * (next - (second ? want1 : want0)));
      if (!(full0 && full1)) begin
        if (refuse) begin
          if (second) full1 = 1'b1;
          else        full0 = 1'b1;
        end else begin
          if (second) want1 = next;
          else        want0 = next;
        end
      end
    end
  end

  // A decision under way, its age, and whether its result stands. First steps come when the first CTAs have been placed.
  localparam int unsigned First0 = K + 2, First1 = K + 4;
  assign first_valid  = busy_q && (32'(age_q) == First0 || 32'(age_q) == First1);
  assign first_kernel = 32'(age_q) == First1;
  always_ff @(posedge clk_i) begin
    if (first_valid) have_q[first_kernel] <= 3'd1;
    if (take_work) have_q[work[1]] <= work_next;
    if (take_other) have_q[other[1]] <= other_next;
  end
  logic       busy_q, result_q;
  logic [4:0] age_q;
  logic       started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb begin
    if (!started) assume (!rst_ni);
    if (start_i || busy_q) assume (!count_start_i && !count_i);   // counted between decisions: results stand
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      result_q <= 1'b0;
      age_q    <= '0;
    end else begin
      busy_q   <= !abort_i && (start_i || (busy_q && !done));
      result_q <= !abort_i && !start_i && (result_q || done);
      age_q    <= start_i ? 5'd1 : age_q + 5'(busy_q && !done);
    end
  end

`ifdef RESTART
  (* hierconn *) wire [2:0]        \dut.state_q ;
  (* hierconn *) wire              \dut.work_q ;
  (* hierconn *) wire              \dut.multiply_q ;
  (* hierconn *) wire              \dut.placed_q ;
  (* hierconn *) wire              \dut.valid_q ;
  (* hierconn *) wire [NormW-1:0]  \dut.other_perf_q[1] ;
  (* hierconn *) wire [WarpW-1:0]  \dut.warps_q ;
  (* hierconn *) wire [RegW-1:0]   \dut.registers_q ;
  (* hierconn *) wire [SharedW-1:0] \dut.shared_q ;
  (* hierconn *) wire [2:0]        \dut.slots_q ;
  // All else is written by a place, a first step or a step, before it is read.
  always_ff @(posedge clk_i) begin
    if (started && $past(rst_ni) && rst_ni) begin
      if ($past(start_i && !abort_i)) start_leaves_nothing_of_what_was: assert (
          \dut.state_q == 3'd1 && !\dut.work_q && !\dut.multiply_q && !\dut.placed_q && !\dut.valid_q && \dut.other_perf_q[1] == '0 && !no_fit
          && {\dut.warps_q , \dut.registers_q , \dut.shared_q , \dut.slots_q }
             == {WarpW'(cap_warps), RegW'(cap_registers), SharedW'(cap_shared), cap_slots});
      if ($past(abort_i)) abort_ends_a_decision: assert (!done && \dut.state_q == 3'd0);
    end
    if (started && !rst_ni) reset_ends_a_decision: assert (!done && \dut.state_q == 3'd0);
  end
`else
  (* anyconst *) logic [2:0] other0, other1;   // any other partition
  logic [3:0] least, least_other;
  assign least       = (perf(1'b0, ctas[2:0]) < perf(1'b1, ctas[CtaW +: 3])) ? perf(1'b0, ctas[2:0]) : perf(1'b1, ctas[CtaW +: 3]);
  assign least_other = (perf(1'b0, other0) < perf(1'b1, other1)) ? perf(1'b0, other0) : perf(1'b1, other1);

  always_comb begin
    if (started && rst_ni) begin
      ends_within_slots_and_kernels_and_four: assert (!busy_q || 6'(age_q) <= 6'(First1) + 6'(cap_slots) + 6'(K + 4));
      done_only_after_a_start: assert (!done || busy_q);
      if (take_work || take_other) takes_only_what_there_is: assert (take_work != take_other && (take_work ? work_have != '0 : other_have != '0));
      if (full && busy_q && fit(3'd1, 3'd1)) performance_is_that_of_the_result: assert (full_perf == norm(work[1] ? perf(1'b1, want1) : perf(1'b0, want0)));
      if (done || result_q) begin
        refuses_exactly_what_does_not_fit_together: assert (no_fit == !fit(3'd1, 3'd1));
        if (!no_fit) begin
          every_kernel_has_a_cta: assert (ctas[0 +: CtaW] != '0 && ctas[CtaW +: CtaW] != '0);
          result_fits_the_sm: assert (fit(ctas[2:0], ctas[CtaW +: 3]) && ctas[5:3] == 3'd0 && ctas[11:9] == 3'd0);
          result_is_algorithm_1: assert (ctas == {3'd0, want1, 3'd0, want0});
          if (epsilon == 3'd0 && other0 != 3'd0 && other1 != 3'd0 && other0 <= 3'd4 && other1 <= 3'd4 && fit(other0, other1)
              && steps0[other0-1] && steps1[other1-1])
            no_partition_has_a_better_minimum: assert (least_other <= least);
        end
      end
    end
  end
`endif
endmodule
