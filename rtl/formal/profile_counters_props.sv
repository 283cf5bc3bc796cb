// Properties of profile_counters with two schedulers, at full width, for windows of any length that is allowed: against sums that are longer by two bits.
module profile_counters_props (
  input logic       clk_i,
  input logic       clear_i,
  input logic       enable_i,
  input logic [1:0] issue_i,
  input logic       stall_i
);
  localparam int unsigned InstW = sluice_pkg::InstW, WindowW = sluice_pkg::WindowW;
  logic [InstW-1:0]   insts;
  logic [WindowW-1:0] stalls;
  profile_counters #(.NUM_SCHED(2)) dut (.clk_i, .clear_i, .enable_i, .issue_i, .stall_i, .insts_o(insts), .stalls_o(stalls));

  // What happened in enabled cycles since the last clear, and how many they were.
  logic [InstW+1:0]   all_insts;
  logic [WindowW+1:0] all_stalls;
  logic [WindowW-1:0] cycles;
  logic started;   // cleared once
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= started || clear_i;
  always_ff @(posedge clk_i)
    if (clear_i) begin
      all_insts  <= '0;
      all_stalls <= '0;
      cycles     <= '0;
    end else if (enable_i) begin
      all_insts  <= all_insts + (InstW+2)'(issue_i[0]) + (InstW+2)'(issue_i[1]);
      all_stalls <= all_stalls + (WindowW+2)'(stall_i);
      cycles     <= cycles + 1'b1;
    end

  always_comb begin
    assume (!enable_i || clear_i || cycles != '1);
    if (started) begin
      instructions_are_the_sum: assert ((InstW+2)'(insts) == all_insts && all_insts <= (InstW+2)'(cycles) * 2);
      stalls_are_the_sum:       assert ((WindowW+2)'(stalls) == all_stalls && all_stalls <= (WindowW+2)'(cycles));
      cleared_they_are_zero:    assert (cycles != '0 || (insts == '0 && stalls == '0));
    end
  end
endmodule
