// Properties of profile_counters with two schedulers, at full width, for any inputs: against sums that are four times as long.
module profile_counters_props (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       clear_i,
  input logic       enable_i,
  input logic [1:0] issue_i,
  input logic       stall_i
);
  localparam int unsigned InstW = sluice_pkg::InstW, WindowW = sluice_pkg::WindowW;
  logic [InstW-1:0]   insts;
  logic [WindowW-1:0] stalls;
  profile_counters #(.NUM_SCHED(2)) dut (.clk_i, .rst_ni, .clear_i, .enable_i, .issue_i, .stall_i, .insts_o(insts), .stalls_o(stalls));

  // What happened in enabled cycles since the last clear; the sums stop far beyond the saturation.
  logic [InstW+1:0]   all_insts;
  logic [WindowW+1:0] all_stalls;
  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      all_insts  <= '0;
      all_stalls <= '0;
    end else if (clear_i) begin
      all_insts  <= '0;
      all_stalls <= '0;
    end else if (enable_i) begin
      if (!all_insts[InstW+1])    all_insts  <= all_insts + (InstW+2)'(issue_i[0]) + (InstW+2)'(issue_i[1]);
      if (!all_stalls[WindowW+1]) all_stalls <= all_stalls + (WindowW+2)'(stall_i);
    end

  always_comb begin
    if (!started) assume (!rst_ni);
    if (started) begin
      instructions_are_the_sum_or_saturated: assert (insts == ((all_insts[InstW+1:InstW] != '0) ? {InstW{1'b1}} : all_insts[InstW-1:0]));
      stalls_are_the_sum_or_saturated:       assert (stalls == ((all_stalls[WindowW+1:WindowW] != '0) ? {WindowW{1'b1}} : all_stalls[WindowW-1:0]));
      reset_is_clean:                        assert (rst_ni || (insts == '0 && stalls == '0));
    end
  end
endmodule
