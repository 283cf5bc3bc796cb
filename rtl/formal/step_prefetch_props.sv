// Properties of step_prefetch with 2 kernels of at most 4 CTAs. The table at its read port is any constant one with count 1 as a step; a product is
// the mantissa with bits of the kernel below it, so that it tells of both. Table and product mean nothing in cycles that are not free, until all is loaded.
module step_prefetch_props (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       start_i,
  input logic [1:0] known_i,
  input logic       free_i,
  input logic       take_i,
  input logic       kernel_i,
  input logic       noise_i
);
  localparam int unsigned MantissaW = sluice_pkg::MantissaW;
  localparam int unsigned ExponentW = sluice_pkg::ExponentW;
  localparam int unsigned NormW     = sluice_pkg::NormW;
  localparam int unsigned FactorW   = sluice_pkg::FactorW;
  localparam int unsigned ProductW  = sluice_pkg::ProductW;

  (* anyconst *) logic [7:0]             steps;       // bit 4k + j - 1: j CTAs of kernel k are a step
  (* anyconst *) logic [8*MantissaW-1:0] mantissas;
  (* anyconst *) logic [8*ExponentW-1:0] belows;
  (* anyconst *) logic [2*FactorW-1:0]   rests;       // of a product, by kernel

  // Smallest step of a kernel above `count`, 0: none.
  function automatic [2:0] above(input logic [7:0] marks, input logic kernel, input logic [2:0] count);
    above = 3'd0;
    for (int j = 4; j > 0; j--)
      if (marks[4*32'(kernel) + j - 1] && 3'(j) > count) above = 3'(j);
  endfunction

  logic        valid, has_next, trusted;
  logic [3:0]  read_kernel;
  logic [2:0]  next, read_from;   // CtaW of narrow_pkg
  logic [2:0]  read_ctas;
  logic [2:0]  place;    // of what is read
  logic [NormW-1:0] perf;
  logic [MantissaW-1:0] mantissa;
  logic [ProductW-1:0]  product;
  assign trusted   = free_i || take_i;
  assign read_ctas = above(steps, read_kernel[0], read_from);
  assign place     = {read_kernel[0], 2'(read_ctas - 3'd1)};
  assign product   = {mantissa, rests[32'(read_kernel[0])*FactorW +: FactorW]};
  step_prefetch #(.MAX_KERNELS (2), .MAX_CTAS (4)) dut (
    .clk_i, .rst_ni, .start_i, .num_kernels_i (4'd2), .known_i, .free_i, .valid_o (valid), .take_i, .kernel_i ({3'd0, kernel_i}),
    .has_next_o (has_next), .next_ctas_o (next), .next_perf_o (perf), .read_kernel_o (read_kernel), .read_from_o (read_from),
    .read_has_next_i (trusted ? read_ctas != 3'd0 : noise_i), .read_last_i (above(steps, read_kernel[0], read_ctas) == 3'd0),
    .read_ctas_i (read_ctas), .read_mantissa_i (mantissas[place*MantissaW +: MantissaW] ^ MantissaW'(!trusted && noise_i)),
    .read_below_i (belows[place*ExponentW +: ExponentW]), .mantissa_o (mantissa), .product_i (product ^ ProductW'(!trusted && noise_i)));

  // Where each kernel is: its next step, 0: none left, or gone on behind it.
  logic [2:0] at_q [2];
  logic [1:0] known_q;
  logic [2:0] chances_q;     // cycles since the start in which something could be loaded
  logic       started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    known_q <= known_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      at_q[0]   <= 3'd0;
      at_q[1]   <= 3'd0;
      chances_q <= '0;
    end else if (start_i) begin
      at_q[0]   <= 3'd1;
      at_q[1]   <= 3'd1;
      chances_q <= '0;
    end else begin
      if (take_i) at_q[kernel_i] <= above(steps, kernel_i, at_q[kernel_i]);
      if (free_i && known_i == '1 && chances_q != '1) chances_q <= chances_q + 1'b1;
    end

  logic [2:0] at, seen;
  logic [1:0] gone_q;        // asked again behind its last step
  assign at   = at_q[kernel_i];
  assign seen = {kernel_i, 2'(at - 3'd1)};
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)      gone_q <= '1;
    else if (start_i) gone_q <= '0;
    else if (take_i && at == 3'd0) gone_q[kernel_i] <= 1'b1;

  always_comb begin
    if (!started) assume (!rst_ni);
    assume (steps[0] && steps[4]);
    assume (!take_i || (valid && !start_i));
    if (started && !start_i) assume ((known_q & ~known_i) == '0);   // once known, until the next start
    if (started && rst_ni) begin
      if (valid && !gone_q[kernel_i]) begin
        next_step_is_at_hand: assert (has_next == (at != 3'd0) && (at == 3'd0 || next == at));
        if (at != 3'd0 && above(steps, kernel_i, at) == 3'd0) best_reads_as_one: assert (perf == '1);
        if (at != 3'd0 && above(steps, kernel_i, at) != 3'd0)
          others_are_shifted_by_their_exponent: assert (perf == NormW'({mantissas[seen*MantissaW +: MantissaW], rests[32'(kernel_i)*FactorW +: FactorW]}
                                                                       >> (ProductW - NormW - 1) >> belows[seen*ExponentW +: ExponentW]));
      end
      loads_only_what_is_known: assert (!valid || start_i || gone_q == '1 || known_i == '1);
      two_cycles_a_kernel: assert (valid || chances_q < 3'd4);
    end
    if (started && !rst_ni) nothing_after_reset: assert (!valid);
  end
endmodule
