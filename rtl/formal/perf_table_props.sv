// Properties of perf_table with 2 kernels of at most 4 CTAs. `watch` is either kernel. Assumed of the writer, as the block's page says: counts of a kernel
// come as 1, 2, 3, ..., its final write is its last, there are no others.
module perf_table_props (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        start_i,
  input logic        write_valid_i,
  input logic        write_kernel_i,
  input logic [2:0]  write_ctas_i,
  input logic [23:0] write_perf_i,
  input logic        write_final_i,
  input logic [2:0]  from_i,
  input logic [2:0]  count_i
);
  (* anyconst *) logic watch;
  logic        valid, has_next;
  logic [14:0] perf;
  logic [5:0]  next;
  perf_table #(.MAX_KERNELS (2), .MAX_CTAS (4)) dut (
    .clk_i, .rst_ni, .start_i, .num_kernels_i (4'd2), .write_valid_i, .write_kernel_i ({3'd0, write_kernel_i}),
    .write_ctas_i ({3'd0, write_ctas_i}), .write_perf_i, .write_final_i, .valid_o (valid), .read_kernel_i ({3'd0, watch}),
    .read_ctas_i ({3'd0, count_i}), .read_perf_o (perf), .from_ctas_i ({3'd0, from_i}), .has_next_o (has_next), .next_ctas_o (next)
  );

  // What was written since the start.
  logic [2:0]  written_q [2];
  logic        final_q [2];
  logic [23:0] value_q [4];   // of the watched kernel
  logic        started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      written_q[0] <= '0;
      written_q[1] <= '0;
      final_q[0]   <= 1'b0;
      final_q[1]   <= 1'b0;
    end else if (start_i) begin
      written_q[0] <= '0;
      written_q[1] <= '0;
      final_q[0]   <= 1'b0;
      final_q[1]   <= 1'b0;
    end else if (write_valid_i) begin
      written_q[write_kernel_i] <= write_ctas_i;
      final_q[write_kernel_i]   <= write_final_i;
    end
  end
  always_ff @(posedge clk_i) if (write_valid_i && write_kernel_i == watch) value_q[write_ctas_i - 3'd1] <= write_perf_i;

  always_comb begin
    if (!started) assume (!rst_ni);
    if (write_valid_i) assume (rst_ni && !start_i && !final_q[write_kernel_i] && write_ctas_i == written_q[write_kernel_i] + 3'd1 && write_ctas_i <= 3'd4);
    assume (from_i <= 3'd4 && count_i >= 3'd1 && count_i <= 3'd4);
  end

  // Algorithm 1's M: counts at which the performance exceeds that of all smaller ones, and count 1.
  logic [3:0]  step;
  logic [23:0] best;
  logic [2:0]  next_step;
  always_comb begin
    best = '0;
    step = '0;
    for (int j = 0; j < 4; j++) begin
      if (3'(j) < written_q[watch]) begin
        step[j] = j == 0 || value_q[j] > best;
        if (value_q[j] > best) best = value_q[j];
      end
    end
    next_step = 3'd0;
    for (int j = 3; j >= 0; j--) if (step[j] && 3'(j) >= from_i) next_step = 3'(j + 1);
  end

`ifdef STEPS
  // The table's own registers, for the induction.
  (* hierconn *) wire [3:0]  \dut.mark_q[0] , \dut.mark_q[1] ;
  (* hierconn *) wire [23:0] \dut.max_q[0] , \dut.max_q[1] ;
  logic [3:0]  mark;
  logic [23:0] max;
  assign mark = watch ? \dut.mark_q[1]  : \dut.mark_q[0] ;
  assign max  = watch ? \dut.max_q[1]  : \dut.max_q[0] ;
  (* hierconn *) wire [23:0] \dut.raw ;

  always_comb begin
    if (started && rst_ni) begin
      assume (written_q[0] <= 3'd4 && written_q[1] <= 3'd4);   // follows from the assumptions on the writer
      marks_are_the_prefix_maxima: assert (mark == step);
      maximum_is_kept: assert (max == best);
      next_step_is_the_lowest_mark_above: assert (has_next == (next_step != 3'd0) && (!has_next || next == {3'd0, next_step}));
      if (\dut.raw == best) best_reads_as_one: assert (perf == 15'd16384);
      if (best == '0) dead_kernel_reads_as_one: assert (perf == 15'd16384);
    end
    if (!rst_ni) nothing_after_reset: assert (!started || (!valid && !has_next));
  end
`else
  always_comb if (started && rst_ni) valid_needs_both_kernels_final: assert (!valid || (final_q[0] && final_q[1]));

  // Both final: valid within two reciprocals of 11 cycles each and a cycle to notice.
  logic [4:0] wait_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) wait_q <= '0;
    else         wait_q <= (final_q[0] && final_q[1] && !valid && !start_i) ? wait_q + 5'd1 : 5'd0;
  always_comb if (started && rst_ni) valid_within_two_reciprocals: assert (wait_q <= 5'd23);
`endif
endmodule
