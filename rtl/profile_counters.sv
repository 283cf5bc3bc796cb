// profile_counters: what one SM did in a profile window: warp instructions issued, cycles stalled on long memory latency.
// They count while enable_i is high and hold otherwise; a window of at most 65,535 cycles
// (WindowW bits) and four schedulers can't make them overflow. With EARLY, what they will be in the next cycle is told as well, while they count.
module profile_counters #(
  parameter int unsigned NUM_SCHED = 2,
  parameter bit          EARLY     = 1'b0
) (
  input  logic                               clk_i,
  input  logic                               clear_i,    // before the first window, too: there is no reset
  input  logic                               enable_i,   // in at most 2**WindowW - 1 cycles between clears
  input  logic [NUM_SCHED-1:0]               issue_i,    // scheduler s issued a warp instruction
  input  logic                               stall_i,    // nothing issued: long memory latency
  output logic [sluice_pkg::InstW-1:0]       insts_o,
  output logic [sluice_pkg::WindowW-1:0]     stalls_o,
  output logic [sluice_pkg::InstW-1:0]       next_insts_o,   // of the next cycle, with enable_i; 0 without EARLY
  output logic [sluice_pkg::WindowW-1:0]     next_stalls_o
);
  logic [sluice_pkg::InstW-1:0]   insts_d, insts_q;
  logic [sluice_pkg::WindowW-1:0] stalls_d, stalls_q;

  logic [2:0] issued;   // in this cycle
  always_comb begin
    issued = '0;
    for (int unsigned s = 0; s < NUM_SCHED; s++) issued = issued + 3'(issue_i[s]);
    insts_d  = (insts_q + sluice_pkg::InstW'(issued)) & {sluice_pkg::InstW{!clear_i}};
    stalls_d = (stalls_q + sluice_pkg::WindowW'(stall_i)) & {sluice_pkg::WindowW{!clear_i}};
  end

  // Masked above, not multiplexed: with a constant to choose Yosys finds no enable, and no clock gate.
  always_ff @(posedge clk_i)
    if (enable_i || clear_i) begin
      insts_q  <= insts_d;
      stalls_q <= stalls_d;
    end

  assign insts_o       = insts_q;
  assign stalls_o      = stalls_q;
  assign next_insts_o  = EARLY ? insts_d : '0;
  assign next_stalls_o = EARLY ? stalls_d : '0;
endmodule
