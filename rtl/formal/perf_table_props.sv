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
  input logic [sluice_pkg::ProductW-1:0] product_i,
  input logic        write_final_i,
  input logic        divide_ready_i,
  input logic        divide_done_i,
  input logic [2:0]  from_i
);
  localparam int unsigned MantissaW = sluice_pkg::MantissaW;
  localparam int unsigned FractionW = MantissaW - 1;
  localparam int unsigned ScaledW   = sluice_pkg::ScaledW;
  localparam int unsigned ProductW  = sluice_pkg::ProductW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned WholeW    = ProductW + 16;
  (* anyconst *) logic watch;
  logic        has_next, last, divide_valid;
  logic [ScaledW-1:0] scaled;
  logic [ExponentW-1:0] read_below;
  logic [MantissaW-1:0] mantissa, divisor;
  logic [5:0]  next;
  logic [3:0]  divide_kernel;
  logic [1:0]  known;
  logic        asked_q, dividing_q;   // kernel of the division under way
  perf_table #(.MAX_KERNELS (2), .MAX_CTAS (4)) dut (
    .clk_i, .rst_ni, .start_i, .write_valid_i, .write_kernel_i ({3'd0, write_kernel_i}),
    .write_ctas_i ({3'd0, write_ctas_i}), .write_final_i, .write_exponent_i, .product_i, .scaled_o (scaled),
    .divide_valid_o (divide_valid), .divide_kernel_o (divide_kernel), .divisor_o (divisor), .divide_ready_i, .divide_done_i,
    .done_kernel_i ({3'd0, asked_q}), .known_o (known), .read_kernel_i ({3'd0, watch}), .read_from_i ({3'd0, from_i}),
    .read_mantissa_o (mantissa), .has_next_o (has_next), .last_o (last), .next_ctas_o (next), .read_below_o (read_below));

  // What was written since the start.
  logic [2:0]  written_q [2];
  logic        final_q [2];
  logic        begun_q;       // a start since the reset: marks are clear
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
  end

  always_comb begin
    if (!started) assume (!rst_ni);
    if (write_valid_i) assume (rst_ni && begun_q && !start_i && !final_q[write_kernel_i] && write_ctas_i == written_q[write_kernel_i] + 3'd1 && write_ctas_i <= 3'd4);
    assume (from_i <= 3'd4);
    assume (divide_ready_i == (divide_valid && !dividing_q && !start_i));
    assume (!divide_done_i || dividing_q);
  end

  // The value of an entry in units of the smallest, {1, mantissa} << (exponent - 1), times what the product has below it.
  logic [WholeW-1:0] whole, upper;
  assign whole = WholeW'(product_i) << write_exponent_i;
  assign upper = (WholeW'({1'b1, scaled[FractionW-1:0]}) << (scaled[ScaledW-1:FractionW] - 4'd1)) << (ProductW - MantissaW + 1);

  // Algorithm 1's M: counts at which the performance exceeds that of all smaller ones, and count 1.
  logic [3:0]  step;
  logic [ScaledW-1:0] best;
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
  logic [ScaledW-1:0] entry;
  logic [MantissaW-1:0] best_mantissa;
  logic [3:0]  below;
  assign entry         = (next_step == 3'd0) ? '0 : value_q[next_step - 3'd1];
  assign best_mantissa = {1'b1, best[FractionW-1:0]};
  assign below         = best[ScaledW-1:FractionW] - entry[ScaledW-1:FractionW];

`ifdef STEPS
  (* hierconn *) wire [7:0]  \dut.mark_q ;
  (* hierconn *) wire [ScaledW-1:0] \dut.best ;   // of the kernel that is read
  always_comb begin
    if (started && rst_ni) begin
      if (written_q[watch] != '0 && !write_valid_i) begin
        marks_are_the_prefix_maxima: assert ((watch ? \dut.mark_q [7:4] : \dut.mark_q [3:0]) == step);
        best_is_kept: assert (\dut.best == best);
        next_step_is_the_lowest_mark_above: assert (has_next == (next_step != 3'd0) && (!has_next || next == {3'd0, next_step}));
        if (has_next && next_step != 3'd4) mantissa_is_of_the_next_step: assert (mantissa == {entry[ScaledW-1:FractionW] != '0, entry[FractionW-1:0]});
        if (has_next) last_step_is_told: assert (last == (next_step == last_step));
        if (has_next && next_step != 3'd4) exponents_are_subtracted: assert (read_below == below);
      end
      // The entry written: the product shifted by the exponent, cut to the mantissa's bits.
      if (write_valid_i && scaled != '0) entry_is_the_product: assert (upper <= whole && whole < upper + (upper >> FractionW));
      if (write_valid_i && scaled == '0) only_small_ones_are_zero: assert (product_i < ProductW'(1) << (ProductW - 8) || write_exponent_i <= 4'd7);
      if (divide_valid && divide_kernel[0] == watch) divisor_is_the_best: assert (divisor == best_mantissa);
    end
  end
`else
  always_comb if (started && rst_ni) known_only_when_final: assert ((!known[0] || final_q[0]) && (!known[1] || final_q[1]));

  // Both final: one division is asked for or under way until both are known.
  always_comb if (started && rst_ni && final_q[0] && final_q[1]) waits_only_for_the_divider: assert (known == '1 || divide_valid || dividing_q);
  always_comb if (started && !rst_ni) nothing_after_reset: assert (known == '0 && !divide_valid);
`endif
endmodule
