// Properties of perf_table with 2 kernels of at most 4 CTAs. `watch` is either kernel. Assumed of the writer, as the block's page says: counts of a kernel
// come as 1, 2, 3, ..., its final write is its last, there are no others; of the divider, that it answers what it was asked. The product is any number.
module perf_table_props (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        start_i,
  input logic        write_valid_i,
  input logic        write_kernel_i,
  input logic [2:0]  write_ctas_i,
  input logic [3:0]  write_exponent_i,
  input logic [20:0] product_i,
  input logic        write_final_i,
  input logic        divide_ready_i,
  input logic        divide_done_i,
  input logic [2:0]  from_i
);
  (* anyconst *) logic watch;
  logic        valid, has_next, divide_valid;
  logic [12:0] scaled;
  logic [10:0] perf;
  logic [9:0]  mantissa, divisor;
  logic [5:0]  next;
  logic [3:0]  divide_kernel;
  logic [1:0]  known;
  logic        asked_q, dividing_q;   // kernel of the division under way
  perf_table #(.MAX_KERNELS (2), .MAX_CTAS (4)) dut (
    .clk_i, .rst_ni, .start_i, .num_kernels_i (4'd2), .write_valid_i, .write_kernel_i ({3'd0, write_kernel_i}),
    .write_ctas_i ({3'd0, write_ctas_i}), .write_final_i, .write_exponent_i, .product_i, .scaled_o (scaled),
    .divide_valid_o (divide_valid), .divide_kernel_o (divide_kernel), .divisor_o (divisor), .divide_ready_i, .divide_done_i,
    .done_kernel_i ({3'd0, asked_q}), .known_o (known), .valid_o (valid), .read_kernel_i ({3'd0, watch}), .read_from_i ({3'd0, from_i}),
    .read_mantissa_o (mantissa), .has_next_o (has_next), .next_ctas_o (next), .next_perf_o (perf));

  // What was written since the start.
  logic [2:0]  written_q [2];
  logic        final_q [2];
  logic        begun_q;       // a start since the reset: marks are clear
  logic [12:0] value_q [4];   // of the watched kernel
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
  end

  always_comb begin
    if (!started) assume (!rst_ni);
    if (write_valid_i) assume (rst_ni && begun_q && !start_i && !final_q[write_kernel_i] && write_ctas_i == written_q[write_kernel_i] + 3'd1 && write_ctas_i <= 3'd4);
    assume (from_i <= 3'd4);
    assume (divide_ready_i == (divide_valid && !dividing_q && !start_i));
    assume (!divide_done_i || dividing_q);
  end

  // The value of an entry in units of the smallest: (512 + mantissa) << (exponent - 1).
  logic [36:0] whole, upper;   // times 2**12
  assign whole = 37'(product_i) << write_exponent_i;
  assign upper = (37'({1'b1, scaled[8:0]}) << (scaled[12:9] - 4'd1)) << 12;

  // Algorithm 1's M: counts at which the performance exceeds that of all smaller ones, and count 1.
  logic [3:0]  step;
  logic [12:0] best;
  logic [2:0]  next_step, last_step;
  always_comb begin
    best      = '0;
    step      = '0;
    last_step = '0;
    for (int j = 0; j < 4; j++) begin
      if (3'(j) < written_q[watch]) begin
        step[j] = j == 0 || value_q[j] > best;
        if (value_q[j] > best) best = value_q[j];
        if (step[j]) last_step = 3'(j + 1);
      end
    end
    next_step = 3'd0;
    for (int j = 3; j >= 0; j--) if (step[j] && 3'(j) >= from_i) next_step = 3'(j + 1);
  end

  // What is read; four CTAs are the last step.
  logic [12:0] entry;
  logic [9:0]  best_mantissa;
  logic [3:0]  below;
  assign entry         = (next_step == 3'd0) ? '0 : value_q[next_step - 3'd1];
  assign best_mantissa = {1'b1, best[8:0]};
  assign below         = best[12:9] - entry[12:9];

`ifdef STEPS
  (* hierconn *) wire [7:0]  \dut.mark_q ;
  (* hierconn *) wire [12:0] \dut.best ;   // of the kernel that is read
  always_comb begin
    if (started && rst_ni) begin
      if (written_q[watch] != '0 && !write_valid_i) begin
        marks_are_the_prefix_maxima: assert ((watch ? \dut.mark_q [7:4] : \dut.mark_q [3:0]) == step);
        best_is_kept: assert (\dut.best == best);
        next_step_is_the_lowest_mark_above: assert (has_next == (next_step != 3'd0) && (!has_next || next == {3'd0, next_step}));
        if (has_next && next_step != 3'd4) mantissa_is_of_the_next_step: assert (mantissa == {entry[12:9] != '0, entry[8:0]});
        if (has_next && next_step == last_step) best_reads_as_one: assert (perf == '1);
        if (has_next && next_step != last_step) others_are_shifted_by_their_exponent: assert (perf == 11'(12'(product_i[20:9]) >> below));
      end
      // The entry written: the product times 2**(exponent - 12), cut to 10 bits.
      if (write_valid_i && scaled != '0) entry_is_the_product: assert (upper <= whole && whole < upper + (upper >> 9));
      if (write_valid_i && scaled == '0) only_small_ones_are_zero: assert (product_i < 21'd8192 || write_exponent_i <= 4'd7);
      if (divide_valid && divide_kernel[0] == watch) divisor_is_the_best: assert (divisor == best_mantissa);
    end
  end
`else
  always_comb if (started && rst_ni) valid_needs_both_kernels_final: assert (!valid || (final_q[0] && final_q[1]));

  // Both final: one division is asked for or under way until the table is valid.
  always_comb if (started && rst_ni && final_q[0] && final_q[1]) waits_only_for_the_divider: assert (valid || divide_valid || dividing_q);
  always_comb if (started && !rst_ni) nothing_after_reset: assert (!valid && !divide_valid);
`endif
endmodule
