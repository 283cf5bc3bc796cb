// SPDX-License-Identifier: Apache-2.0
// Properties of step_prefetch with 2 kernels of at most 8 CTAs. The table's lists are any constant ones; a product is the mantissa with the reciprocal
// below it, so that it tells of both. Assumed: a list is there once its kernel is known; the multiplier is taken for a kernel that is not known yet
// (perf_table_props shows it); steps are taken after the last kernel's first step was told, by one kernel a cycle; one that took a step, or whose
// first one was told, may take another in the next cycle as `work` only.
module step_prefetch_props (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       start_i,
  input logic [1:0] known_i,
  input logic       work_i,        // kernel
  input logic       take_work_i,
  input logic       take_other_i,
  input logic       hold_i,        // the multiplier is taken
  input logic [6:0] noise_i
);
  localparam int unsigned CurveW    = sluice_pkg::CurveW;
  localparam int unsigned NormW     = sluice_pkg::NormW;
  localparam int unsigned FactorW   = sluice_pkg::FactorW;
  localparam int unsigned ProductW  = sluice_pkg::ProductW;

  (* anyconst *) logic [2:0]           more0, more1;   // steps behind the first
  (* anyconst *) logic [16*CurveW-1:0] entries;        // 8 * kernel + step
  (* anyconst *) logic [47:0]          steps;
  (* anyconst *) logic [2*FactorW-1:0] reciprocals;

  // What the lists have in front: two steps of each.
  logic [3:0] front_q [2];
  logic [3:0] has, last;
  logic [1:0] pop;
  always_comb
    for (int i = 0; i < 4; i++) begin
      has[i]  = front_q[i/2] + 4'(i % 2) <= {1'b0, i < 2 ? more0 : more1};
      last[i] = front_q[i/2] + 4'(i % 2) == {1'b0, i < 2 ? more0 : more1};
    end
  logic [11:0]          list_steps;
  logic [4*CurveW-1:0]  list_entries;
  always_comb
    for (int i = 0; i < 4; i++) begin
      list_steps[3*i +: 3]               = steps[32'({i >= 2, front_q[i/2][2:0] + 3'(i % 2)})*3 +: 3];
      list_entries[i*CurveW +: CurveW]   = entries[32'({i >= 2, front_q[i/2][2:0] + 3'(i % 2)})*CurveW +: CurveW];
    end

  logic        issue, first_valid, work_has, other_has, active;
  logic [3:0]  first_kernel;
  logic [2:0]  work_step, other_step;
  logic [NormW-1:0]     first_perf, work_perf, other_perf;
  logic [CurveW-1:0]    mantissa;
  logic [FactorW-1:0]   reciprocal;
  logic [ProductW-1:0]  product_q [4];
  step_prefetch #(.MAX_KERNELS (2), .MAX_CTAS (8)) dut (
    .clk_i, .rst_ni, .start_i, .num_kernels_i (4'd2), .known_i, .hold_i, .has_i (has & {{2{known_i[1]}}, {2{known_i[0]}}}), .last_i (last),
    .step_i (list_steps), .curve_i (list_entries),
    .reciprocal_i (reciprocals), .pop_o (pop), .issue_o (issue), .curve_o (mantissa), .reciprocal_o (reciprocal),
    .product_i (product_q[3]), .first_valid_o (first_valid), .first_kernel_o (first_kernel), .first_perf_o (first_perf),
    .work_i (work_i ? 2'b10 : 2'b01), .other_i (work_i ? 2'b01 : 2'b10), .active_i (active), .take_work_i, .take_other_i,
    .work_has_o (work_has), .work_step_o (work_step), .work_perf_o (work_perf),
    .other_has_o (other_has), .other_step_o (other_step), .other_perf_o (other_perf));

  // The multiplier: without a step, anything.
  always_ff @(posedge clk_i) begin
    product_q[1] <= issue ? {mantissa, reciprocal} : noise_i;
    product_q[2] <= product_q[1];
    product_q[3] <= product_q[2];
  end

  (* hierconn *) wire \dut.load ;
  logic load;
  assign load = \dut.load ;

  // Loads since the start; the step that each kernel takes next; who took one in the cycle before.
  logic [3:0] loads_q;
  logic [1:0] told_q, took_q, known_q;
  logic       begun_q, started;
  logic [3:0] next_q [2];
  initial started = 1'b0;
  assign active = told_q == '1;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    known_q <= known_i;
    took_q  <= {work_i ? take_work_i : take_other_i, work_i ? take_other_i : take_work_i} | (first_valid ? 2'd1 << first_kernel[0] : 2'd0);
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      begun_q <= 1'b0;
      loads_q <= '0;
      told_q  <= '0;
    end else if (start_i) begin
      begun_q    <= 1'b1;
      loads_q    <= '0;
      told_q     <= '0;
      front_q[0] <= '0;
      front_q[1] <= '0;
      next_q[0]  <= 4'd1;
      next_q[1]  <= 4'd1;
    end else begin
      loads_q <= loads_q + 4'(load);
      if (first_valid) told_q[first_kernel[0]] <= 1'b1;
      if (pop[0] && has[0]) front_q[0] <= front_q[0] + 1'b1;
      if (pop[1] && has[2]) front_q[1] <= front_q[1] + 1'b1;
      if (take_work_i && next_q[work_i] != 4'd8) next_q[work_i] <= next_q[work_i] + 1'b1;
      if (take_other_i && next_q[!work_i] != 4'd8) next_q[!work_i] <= next_q[!work_i] + 1'b1;
    end

  function automatic [NormW-1:0] normalised(input logic kernel, input logic [2:0] step);
    normalised = NormW'({entries[32'({kernel, step})*CurveW +: CurveW], reciprocals[32'(kernel)*FactorW +: FactorW]} >> (ProductW - NormW - 1));
    if (step == (kernel ? more1 : more0)) normalised = '1;
  endfunction

  logic [3:0] work_next, other_next;
  logic       work_there, other_there;
  assign work_next   = next_q[work_i];
  assign other_next  = next_q[!work_i];
  assign work_there  = work_next <= {1'b0, work_i ? more1 : more0};
  assign other_there = other_next <= {1'b0, work_i ? more0 : more1};
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (!take_work_i || (active && !start_i && !take_other_i));
    assume (!take_other_i || (active && !start_i && !took_q[!work_i]));
    if (started && !start_i) assume ((known_q & ~known_i) == '0);   // once known, until the next start
    if (start_i) assume (known_i == '0);
    assume (!hold_i || known_i != '1);
    if (started && rst_ni) begin
      if (active) begin
        next_step_is_at_hand: assert (work_has == work_there && (!work_there || work_step == steps[32'({work_i, work_next[2:0]})*3 +: 3]));
        if (work_there) performance_is_normalised: assert (work_perf == normalised(work_i, work_next[2:0]));
        if (!took_q[!work_i]) others_step_is_at_hand: assert (other_has == other_there && (!other_there
          || (other_step == steps[32'({!work_i, other_next[2:0]})*3 +: 3] && other_perf == normalised(!work_i, other_next[2:0]))));
      end
      if (begun_q && first_valid) first_step_is_told_once: assert (first_kernel == {3'd0, told_q[0]} && first_perf == normalised(told_q[0], 3'd0)
                                                                   && told_q != '1);
      if (begun_q && !start_i) loads_when_it_can: assert (load == (loads_q < 4'd8 && !hold_i && known_i[loads_q >= 4'd4]));
    end
    if (started && !rst_ni) nothing_after_reset: assert (!load && !first_valid);
  end
endmodule
