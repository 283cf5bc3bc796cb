// Properties of ipc_scaler at full width: phi, the ratio and the result are at most as far from equations 3 and 4, in exact arithmetic, as
// docs/blocks/ipc_scaler.md derives. Operands are any of a few values spread over their whole range: three windows, stall in 1/32 of the
// window, up to 8 CTAs, up to 4 SMs and any sum of their CTAs, instructions in 1/15 of the largest count; with WHOLE few enough of them to
// look at the result itself.
module ipc_scaler_props (
  input logic clk_i,
  input logic rst_ni
);
  localparam int unsigned W = 80;   // bits of the exact arithmetic

  (* anyconst *) logic [1:0] window_pick;
  (* anyconst *) logic [5:0] stall_pick;
  (* anyconst *) logic [3:0] insts_pick, ctas_pick;
  (* anyconst *) logic [2:0] samples;
  (* anyconst *) logic [5:0] sum;
  logic [15:0] window, stall;
  logic [17:0] insts;
  always_comb begin
    case (window_pick)
      2'd0:    window = 16'd1024;
      2'd1:    window = 16'd5120;
      default: window = 16'd65535;
    endcase
    stall = 16'((22'(window) * stall_pick) >> 5);
    insts = 18'(22'(insts_pick) * 18'd17476);   // 15 * 17,476 = 2**18 - 4
    assume (stall_pick <= 6'd32 && ctas_pick >= 4'd1 && ctas_pick <= 4'd8 && samples >= 3'd1 && samples <= 3'd4);
    // Every SM runs at least one CTA, this one ctas_pick, and at most eight.
    assume (7'(sum) >= 7'(ctas_pick) + 7'(samples) - 7'd1 && 7'(sum) <= 7'(ctas_pick) + 7'd8 * (7'(samples) - 7'd1));
  end

`ifdef WHOLE
  always_comb assume (stall_pick[3:0] == '0 && ctas_pick <= 4'd4 && samples <= 3'd2 && (insts_pick == 4'd1 || insts_pick == 4'd15));
`endif

  // One decision: a start, then the kernel's sum, then one sample; nothing else happens.
  logic [1:0] phase_q;   // 0 start, 1 prepare, 2 sample, 3 result
  logic       prepare_ready, sample_ready, valid, idle, final_sample;
  logic [3:0] kernel;
  logic [5:0] ctas;
  logic [23:0] scaled;
  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb assume (rst_ni == started);
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) phase_q <= 2'd0;
    else if (phase_q == 2'd0 || (phase_q == 2'd1 && prepare_ready) || (phase_q == 2'd2 && sample_ready)) phase_q <= phase_q + 2'd1;

  ipc_scaler #(.MAX_KERNELS(2)) dut (
    .clk_i, .rst_ni, .start_i(started && phase_q == 2'd0), .abort_i(1'b0), .window_i(window),
    .prepare_valid_i(phase_q == 2'd1), .prepare_ready_o(prepare_ready), .prepare_kernel_i(4'd1), .prepare_sum_i(14'(sum)),
    .sample_valid_i(phase_q == 2'd2), .sample_ready_o(sample_ready), .sample_kernel_i(4'd1), .sample_ctas_i(6'(ctas_pick)),
    .sample_insts_i(insts), .sample_stall_i(stall), .num_samples_i(9'(samples)), .sample_final_i(1'b1),
    .scaled_valid_o(valid), .scaled_kernel_o(kernel), .scaled_ctas_o(ctas), .scaled_o(scaled), .scaled_final_o(final_sample), .idle_o(idle));

  // insts * (window * sum + stall * (ctas * samples - sum)) / (window * sum), times 16, without a division.
  logic signed [W-1:0] scale, exact, result, error, allowed;
  always_comb begin
    scale   = W'(window) * W'(sum);
    exact   = W'(insts) * (scale + $signed(W'(stall)) * ($signed(W'(ctas_pick) * W'(samples)) - $signed(W'(sum)))) * W'(16);
    result  = $signed(W'(scaled)) * scale;
    error   = exact - result;
    // 2**26 times the bound: insts * (7 * 2**14 * max(1, ratio - 1) + c * n * 2**6 + 2**15) and one unit of the result; the ratio is below 3
    // and c * n at most 32 here.
    allowed = W'(insts) * W'(16) * W'(14 * 16384 + 2048 + 32768) + W'(1 << 26);
  end

  logic [5:0] age;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)   age <= '0;
    else if (!(&age)) age <= age + 1'b1;

`ifndef WHOLE
  // Stage 1, in the cycle after the sample was taken: both are below the exact value, by less than the truncated parts.
  (* hierconn *) wire [12:0] \dut.phi_q ;
  (* hierconn *) wire [15:0] \dut.ratio_q ;
  logic signed [W-1:0] phi_below, ratio_below;   // times window * 2**12, and times sum * 2**12
  assign phi_below   = $signed(W'(stall) << 12) - $signed(W'(\dut.phi_q ) * W'(window));
  assign ratio_below = $signed((W'(ctas_pick) * W'(samples)) << 12) - $signed(W'(\dut.ratio_q ) * W'(sum));
`endif
  always_comb
    if (started) begin
`ifdef WHOLE
      if (valid) error_is_within_the_derived_bound: assert ((error << 26) <= allowed * scale && (error << 26) >= -(allowed * scale));
`else
      if (age == 6'd31) phi_is_within_the_derived_bound:   assert (phi_below >= 0 && phi_below < $signed(W'(window) * W'(7)));
      if (age == 6'd31) ratio_is_within_the_derived_bound: assert (ratio_below >= 0
                                                        && (ratio_below << 8) <= $signed(W'(sum) * (W'(256) + W'(ctas_pick) * W'(samples))));
`endif
      if (valid) result_is_of_the_sample:           assert (kernel == 4'd1 && ctas == 6'(ctas_pick) && final_sample && phase_q == 2'd3);
      result_comes_three_cycles_after_the_sample:   assert (valid == (age == 6'd33));
    end
endmodule
