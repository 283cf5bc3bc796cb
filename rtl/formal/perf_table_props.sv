// SPDX-License-Identifier: Apache-2.0
// Properties of perf_table with 2 kernels of at most 4 CTAs. `watch` is either kernel. Assumed of the writer, as the block's page says: counts of a kernel
// come as 1, 2, 3, ..., its final write is its last, there are no others; of the divider, that it answers what it was asked; of the hull, that
// each entry comes back after the same time, any time, and that values do not rise from one to the next. The count of instructions is any number.
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
  input logic [sluice_pkg::CurveW-1:0] hull_curve_i,
  input logic [1:0]  pop_i
);
  localparam int unsigned MantissaW = sluice_pkg::MantissaW;
  localparam int unsigned FractionW = MantissaW - 1;
  localparam int unsigned ScaledW   = sluice_pkg::ScaledW;
  localparam int unsigned InstW     = sluice_pkg::InstW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned CurveW    = sluice_pkg::CurveW;
  localparam int unsigned WholeW    = InstW + 16;
`ifdef KNOWN
  localparam int unsigned LATENCY   = 6;
`else
  localparam int unsigned LATENCY   = 3;   // at most; with less than the counts, places are read and joined in the same cycles
`endif
  (* anyconst *) logic watch;
  (* anyconst *) logic [2:0] latency;      // of the hull
  logic        divide_valid, write_valid_i;
  logic [ScaledW-1:0] scaled;
  logic [MantissaW-1:0] divisor;
  logic [3:0]  divide_kernel;
  logic        read_valid, read_first;
  logic [1:0]  read_kernel;
  logic [2:0]  read_ctas;
  logic [ScaledW-1:0] read_entry;
  logic [ExponentW-1:0] read_best;
  logic        hull_valid, hull_kernel, hull_first, hull_push;
  logic [2:0]  hull_ctas;
  logic [1:0]  hull_alike;
  logic [1:0]  known;
  logic [3:0]  has, last;       // two of each kernel
  logic [7:0]  steps;
  logic [4*CurveW-1:0] curves;
  logic        asked_q, dividing_q;   // kernel of the division under way
  perf_table #(.MAX_KERNELS (2), .MAX_CTAS (4)) dut (
    .clk_i, .rst_ni, .start_i, .insts_valid_i, .insts_i, .write_valid_i, .write_kernel_i ({3'd0, write_kernel_i}),
    .write_ctas_i ({3'd0, write_ctas_i}), .write_final_i, .scaled_o (scaled),
    .divide_valid_o (divide_valid), .divide_kernel_o (divide_kernel), .divisor_o (divisor), .divide_ready_i, .divide_done_i,
    .done_kernel_i ({3'd0, asked_q}), .read_valid_o (read_valid), .read_kernel_o (read_kernel), .read_first_o (read_first),
    .read_ctas_o (read_ctas), .read_entry_o (read_entry), .read_best_o (read_best),
    .hull_valid_i (hull_valid), .hull_kernel_i (hull_kernel ? 2'b10 : 2'b01), .hull_last_i (hull_ctas == 3'd1), .hull_push_i (hull_push),
    .hull_alike_i (hull_alike), .hull_curve_i, .known_o (known), .pop_i, .has_o (has), .last_o (last), .step_o (steps), .curve_o (curves));

  // A count of instructions is written in the next cycle.
  logic [InstW-1:0] insts_q;
  always_ff @(posedge clk_i) begin
    write_valid_i <= rst_ni && !start_i && insts_valid_i;
    insts_q       <= insts_i;
  end

  // The hull: an entry's way, what comes back, and what came back before it.
  logic [LATENCY:0] way_valid_q;
  logic             way_kernel_q [LATENCY+1], way_first_q [LATENCY+1];
  logic [2:0]       way_ctas_q [LATENCY+1];
  logic [CurveW-1:0] before_q;
  logic [1:0]       alike_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) way_valid_q <= '0;
    else         way_valid_q <= start_i ? '0 : (LATENCY+1)'({way_valid_q[LATENCY-1:1], read_valid, 1'b0});
  always_ff @(posedge clk_i) begin
    for (int s = 1; s <= LATENCY; s++) begin
      way_kernel_q[s] <= (s == 1) ? read_kernel[1] : way_kernel_q[s-1];
      way_first_q[s]  <= (s == 1) ? read_first : way_first_q[s-1];
      way_ctas_q[s]   <= (s == 1) ? read_ctas : way_ctas_q[s-1];
    end
    if (hull_valid) begin
      before_q <= hull_curve_i;
      alike_q  <= hull_alike;
    end
  end
  always_comb begin
    hull_valid  = 1'b0;
    hull_kernel = 1'b0;
    hull_first  = 1'b0;
    hull_ctas   = '0;
    for (int s = 1; s <= LATENCY; s++)
      if (latency == 3'(s)) begin
        hull_valid  = way_valid_q[s];
        hull_kernel = way_kernel_q[s];
        hull_first  = way_first_q[s];
        hull_ctas   = way_ctas_q[s];
      end
    hull_push  = hull_first || hull_curve_i != before_q;
    hull_alike = hull_push ? 2'd1 : alike_q + 1'b1;
  end
  logic under_way;   // an entry is read, or has not come back
  always_comb begin
    under_way = read_valid;
    for (int s = 1; s <= LATENCY; s++) under_way = under_way || (way_valid_q[s] && 3'(s) <= latency);
  end

  // What was written since the start.
  logic [2:0]  written_q [2];
  logic        final_q [2];
  logic [1:0]  divided_q;     // the reciprocal is there
  logic        begun_q;       // a start since the reset: the lists are empty
  logic [2:0]  left_q;        // entries still to be read
  logic        first_q;       // none was
  logic [2:0]  taken_q;       // of the watched kernel: steps taken from its list
  logic [ScaledW-1:0] value_q [4];   // of the watched kernel
  logic [CurveW-1:0]  curve_q [4];   // what came back of it
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
      divided_q    <= '0;
      begun_q      <= 1'b0;
      left_q       <= '0;
    end else if (start_i) begin
      divided_q    <= '0;
      begun_q      <= 1'b1;
      written_q[0] <= '0;
      written_q[1] <= '0;
      final_q[0]   <= 1'b0;
      final_q[1]   <= 1'b0;
      dividing_q   <= 1'b0;
      left_q       <= '0;
    end else begin
      if (write_valid_i) begin
        written_q[write_kernel_i] <= write_ctas_i;
        final_q[write_kernel_i]   <= write_final_i;
      end
      dividing_q <= divide_ready_i || (dividing_q && !divide_done_i);
      if (divide_done_i) divided_q[asked_q] <= 1'b1;
      left_q     <= divide_ready_i ? written_q[divide_kernel[0]] : left_q - 3'(left_q != '0);
    end
  end
  always_ff @(posedge clk_i) begin
    if (write_valid_i && write_kernel_i == watch) value_q[write_ctas_i - 3'd1] <= scaled;
    if (hull_valid && hull_kernel == watch) curve_q[hull_ctas - 3'd1] <= hull_curve_i;
    if (divide_ready_i) asked_q <= divide_kernel[0];
    first_q <= divide_ready_i;
    taken_q <= (start_i || !rst_ni) ? 3'd0 : taken_q + 3'(pop_i[watch] && has[2*32'(watch)]);
  end

  always_comb begin
    if (!started) assume (!rst_ni);
    assume (latency != '0 && latency <= 3'(LATENCY));
    if (write_valid_i) assume (rst_ni && begun_q && !start_i && !final_q[write_kernel_i] && write_ctas_i == written_q[write_kernel_i] + 3'd1 && write_ctas_i <= 3'd4);
    assume ((pop_i & ~known) == '0);   // taken once they are known
    assume (divide_ready_i == (divide_valid && !dividing_q));
    assume (!divide_done_i || dividing_q);
    assume (!hull_valid || hull_first || hull_curve_i <= before_q);
  end

  // The value of an entry, (4096 + mantissa) * 2**(exponent - 10) instructions, and the instructions: both in units of 2**-9.
  logic [WholeW-1:0] whole, upper;
  assign whole = WholeW'(insts_q) << 9;
  assign upper = WholeW'({1'b1, scaled[FractionW-1:0]}) << (scaled[ScaledW-1:FractionW] - 4'd1);

  // The best of all entries, and of those that are still to be read.
  logic [ScaledW-1:0] best, best_left;
  always_comb begin
    best      = '0;
    best_left = '0;
    for (int j = 0; j < 4; j++) begin
      if (3'(j) < written_q[watch] && value_q[j] > best) best = value_q[j];
      if (3'(j) < left_q && value_q[j] > best_left) best_left = value_q[j];
    end
  end

  // Algorithm 1's M and Q: counts at which what came back exceeds that of all smaller ones, and count 1. The one behind `taken`.
  logic [CurveW-1:0] most, value, value_behind;
  logic [2:0]  number, count, count_behind, count_before;
  always_comb begin
    most         = '0;
    number       = '0;
    value        = '0;
    value_behind = '0;
    count        = '0;
    count_behind = '0;
    count_before = '0;
    for (int j = 0; j < 4; j++) begin
      if (3'(j) < written_q[watch] && (j == 0 || curve_q[j] > most)) begin
        if (number == taken_q) begin
          value = curve_q[j];
          count = 3'(j + 1);
        end
        if (number == taken_q + 1'b1) begin
          value_behind = curve_q[j];
          count_behind = 3'(j + 1);
        end
        if (number < taken_q) count_before = 3'(j + 1);
        most   = curve_q[j];
        number = number + 1'b1;
      end
    end
  end
  logic [1:0] has_watch, last_watch;
  logic [3:0] steps_watch;
  logic [2*CurveW-1:0] curves_watch;
  assign has_watch    = has[2*32'(watch) +: 2];
  assign last_watch   = last[2*32'(watch) +: 2];
  assign steps_watch  = steps[4*32'(watch) +: 4];
  assign curves_watch = curves[2*32'(watch)*CurveW +: 2*CurveW];

`ifdef STEPS
  always_comb begin
    if (started && rst_ni) begin
      if (known[watch]) begin
        none_in_front_is_none_left: assert (has_watch[0] == (taken_q < number));
        if (has_watch[0]) begin
          first_step_is_in_front: assert (curves_watch[0 +: CurveW] == value);
          step_is_the_difference: assert (steps_watch[1:0] == 2'(count - count_before) && (!has_watch[1] || steps_watch[3:2] == 2'(count_behind - count)));
          last_step_is_told: assert (last_watch[0] == (taken_q + 1'b1 == number) && last_watch[1] == (taken_q + 2'd2 >= number));
          next_one_is_behind_it: assert (has_watch[1] == (taken_q + 1'b1 < number) && (!has_watch[1] || curves_watch[CurveW +: CurveW] == value_behind));
        end
      end
      if (read_valid && read_kernel[watch]) begin
        reads_the_best_so_far: assert (read_entry == best_left);
        exponent_of_the_best_is_kept: assert (read_best == best[ScaledW-1:FractionW]);
      end
    end
  end
`elsif ENTRIES
  always_comb begin
    if (started && rst_ni) begin
      // The entry written: the instructions, cut to the mantissa's bits.
      if (write_valid_i && scaled != '0) entry_is_the_count: assert (upper <= whole && whole - upper < WholeW'(1) << (scaled[ScaledW-1:FractionW] - 4'd1));
      if (write_valid_i) zero_below_eight_instructions: assert ((scaled == '0) == (insts_q < InstW'(8)));
      if (divide_valid && divide_kernel[0] == watch) divisor_is_the_best: assert (divisor == {1'b1, best[FractionW-1:0]});
    end
  end
`else
  always_comb if (started && rst_ni) known_only_when_divided: assert ((known & ~(divided_q & {final_q[1], final_q[0]})) == '0);

  // Once asked for: all entries, from the highest count down, a cycle each.
  always_comb if (started && rst_ni) reads_each_once: assert (read_valid == (left_q != '0) && (!read_valid || (read_ctas == left_q
    && read_first == first_q && read_kernel == (asked_q ? 2'b10 : 2'b01))));

  // Both final: a division or entries are under way until both are known. So with all known, the multiplier has none left.
  always_comb if (started && rst_ni && final_q[0] && final_q[1]) waits_only_for_divider_and_hull: assert (known == '1 || divide_valid || dividing_q
                                                                                                         || under_way);
  always_comb if (started && rst_ni) known_is_back: assert (!under_way || known != '1);
  always_comb if (started && !rst_ni) nothing_after_reset: assert (known == '0 && !divide_valid && !read_valid);
`endif
endmodule
