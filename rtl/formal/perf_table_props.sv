// SPDX-License-Identifier: Apache-2.0
// Properties of perf_table with 2 kernels of at most 4 CTAs. `watch` is either kernel. Assumed of the writer, as the block's page says: counts of a kernel
// come as 1, 2, 3, ..., its final write is its last, there are no others; of the divider, that it answers what it was asked. The count of instructions is any number.
module perf_table_props (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        start_i,
  input logic        insts_valid_i,
  input logic        write_kernel_i,
  input logic [2:0]  write_ctas_i,
  input logic [sluice_pkg::InstW-1:0] insts_i,
  input logic        write_final_i,
  input logic        divide_ready_i,
  input logic        divide_done_i,
  input logic [1:0]  pop_i
);
  localparam int unsigned MantissaW = sluice_pkg::MantissaW;
  localparam int unsigned FractionW = MantissaW - 1;
  localparam int unsigned ScaledW   = sluice_pkg::ScaledW;
  localparam int unsigned InstW     = sluice_pkg::InstW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned WholeW    = InstW + 16;
  (* anyconst *) logic watch;
  logic        divide_valid, write_valid_i;
  logic [ScaledW-1:0] scaled;
  logic [MantissaW-1:0] divisor;
  logic [3:0]  divide_kernel;
  logic [1:0]  known;
  logic [3:0]  has, last;       // two of each kernel
  logic [7:0]  steps;
  logic [4*ScaledW-1:0]   entries;
  logic [2*ExponentW-1:0] best_exponents;
  logic        asked_q, dividing_q;   // kernel of the division under way
  perf_table #(.MAX_KERNELS (2), .MAX_CTAS (4)) dut (
    .clk_i, .rst_ni, .start_i, .insts_valid_i, .insts_i, .write_valid_i, .write_kernel_i ({3'd0, write_kernel_i}),
    .write_ctas_i ({3'd0, write_ctas_i}), .write_final_i, .scaled_o (scaled),
    .divide_valid_o (divide_valid), .divide_kernel_o (divide_kernel), .divisor_o (divisor), .divide_ready_i, .divide_done_i,
    .done_kernel_i ({3'd0, asked_q}), .known_o (known), .pop_i, .has_o (has), .last_o (last), .step_o (steps), .entry_o (entries),
    .best_exponent_o (best_exponents));

  // A count of instructions is written in the next cycle.
  logic [InstW-1:0] insts_q;
  always_ff @(posedge clk_i) begin
    write_valid_i <= rst_ni && !start_i && insts_valid_i;
    insts_q       <= insts_i;
  end

  // What was written since the start.
  logic [2:0]  written_q [2];
  logic        final_q [2];
  logic        begun_q;       // a start since the reset: the lists are empty
  logic [2:0]  taken_q;       // of the watched kernel: steps taken from its list
  logic        dividing_watch_q;   // its division was asked for
  logic [2:0]  age_q;         // cycles since
  logic [ScaledW-1:0] value_q [4];   // of the watched kernel
  logic        started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      written_q[0] <= '0;
      written_q[1] <= '0;
      final_q[0]   <= 1'b0;
      final_q[1]   <= 1'b0;
      dividing_q   <= 1'b0;
      begun_q      <= 1'b0;
    end else if (start_i) begin
      begun_q      <= 1'b1;
      written_q[0] <= '0;
      written_q[1] <= '0;
      final_q[0]   <= 1'b0;
      final_q[1]   <= 1'b0;
      dividing_q   <= 1'b0;
    end else begin
      if (write_valid_i) begin
        written_q[write_kernel_i] <= write_ctas_i;
        final_q[write_kernel_i]   <= write_final_i;
      end
      dividing_q <= divide_ready_i || (dividing_q && !divide_done_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (write_valid_i && write_kernel_i == watch) value_q[write_ctas_i - 3'd1] <= scaled;
    if (divide_ready_i) asked_q <= divide_kernel[0];
    taken_q          <= (start_i || !rst_ni) ? 3'd0 : taken_q + 3'(pop_i[watch] && has[2*32'(watch)]);
    dividing_watch_q <= rst_ni && !start_i && (dividing_watch_q || (divide_ready_i && divide_kernel[0] == watch));
    age_q            <= (dividing_watch_q && age_q != '1) ? age_q + 1'b1 : dividing_watch_q ? age_q : 3'd0;
  end

  always_comb begin
    if (!started) assume (!rst_ni);
    if (write_valid_i) assume (rst_ni && begun_q && !start_i && !final_q[write_kernel_i] && write_ctas_i == written_q[write_kernel_i] + 3'd1 && write_ctas_i <= 3'd4);
    // Taken once the reciprocal is known; of an empty list nothing.
    assume ((pop_i & ~known) == '0 && !(start_i && pop_i != '0));
    assume (divide_ready_i == (divide_valid && !dividing_q && !start_i));
    assume (!divide_done_i || dividing_q);
  end

  // The value of an entry, (4096 + mantissa) * 2**(exponent - 10) instructions, and the instructions: both in units of 2**-9.
  logic [WholeW-1:0] whole, upper;
  assign whole = WholeW'(insts_q) << 9;
  assign upper = WholeW'({1'b1, scaled[FractionW-1:0]}) << (scaled[ScaledW-1:FractionW] - 4'd1);

  // Algorithm 1's M and Q: counts at which the performance exceeds that of all smaller ones, and count 1. The one behind `taken`.
  logic [ScaledW-1:0] best, value, value_behind;
  logic [2:0]  number, count, count_behind, count_before;
  always_comb begin
    best         = '0;
    number       = '0;
    value        = '0;
    value_behind = '0;
    count        = '0;
    count_behind = '0;
    count_before = '0;
    for (int j = 0; j < 4; j++) begin
      if (3'(j) < written_q[watch] && (j == 0 || value_q[j] > best)) begin
        if (number == taken_q) begin
          value = value_q[j];
          count = 3'(j + 1);
        end
        if (number == taken_q + 1'b1) begin
          value_behind = value_q[j];
          count_behind = 3'(j + 1);
        end
        if (number < taken_q) count_before = 3'(j + 1);
        best   = value_q[j];
        number = number + 1'b1;
      end
    end
  end
  logic [1:0] has_watch, last_watch;
  logic [3:0] steps_watch;
  logic [2*ScaledW-1:0] entries_watch;
  assign has_watch     = has[2*32'(watch) +: 2];
  assign last_watch    = last[2*32'(watch) +: 2];
  assign steps_watch   = steps[4*32'(watch) +: 4];
  assign entries_watch = entries[2*32'(watch)*ScaledW +: 2*ScaledW];

`ifdef STEPS
  always_comb begin
    if (started && rst_ni) begin
      if (dividing_watch_q && has_watch[0]) begin
        first_step_is_in_front: assert (taken_q < number && entries_watch[0 +: ScaledW] == value);
        step_is_the_difference: assert (steps_watch[1:0] == 2'(count - count_before) && (!has_watch[1] || steps_watch[3:2] == 2'(count_behind - count)));
        last_step_is_told: assert (last_watch[0] == (taken_q + 1'b1 == number) && last_watch[1] == (taken_q + 2'd2 >= number));
        next_one_is_behind_it: assert (has_watch[1] == (taken_q + 1'b1 < number) && (!has_watch[1] || entries_watch[ScaledW +: ScaledW] == value_behind));
      end
      if (dividing_watch_q && age_q >= 3'd4) none_in_front_is_none_left: assert (has_watch[0] || taken_q == number);
      if (dividing_watch_q) exponent_of_the_best_is_kept: assert (best_exponents[32'(watch)*ExponentW +: ExponentW] == best[ScaledW-1:FractionW]);
      // The entry written: the instructions, cut to the mantissa's bits.
      if (write_valid_i && scaled != '0) entry_is_the_count: assert (upper <= whole && whole - upper < WholeW'(1) << (scaled[ScaledW-1:FractionW] - 4'd1));
      if (write_valid_i) zero_below_eight_instructions: assert ((scaled == '0) == (insts_q < InstW'(8)));
      if (divide_valid && divide_kernel[0] == watch) divisor_is_the_best: assert (divisor == {1'b1, best[FractionW-1:0]});
    end
  end
`else
  always_comb if (started && rst_ni) known_only_when_final: assert ((!known[0] || final_q[0]) && (!known[1] || final_q[1]));

  // Both final: one division is asked for or under way until both are known.
  always_comb if (started && rst_ni && final_q[0] && final_q[1]) waits_only_for_the_divider: assert (known == '1 || divide_valid || dividing_q);
  always_comb if (started && !rst_ni) nothing_after_reset: assert (known == '0 && !divide_valid);
`endif
endmodule
