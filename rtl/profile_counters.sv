// profile_counters: what one SM did in a profile window: warp instructions issued, cycles stalled on long memory latency.
// They count while enable_i is high and hold otherwise; both saturate. With EARLY, what they will be in the next cycle is told as well.
module profile_counters #(
  parameter int unsigned NUM_SCHED = 2,
  parameter bit          EARLY     = 1'b0
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  input  logic                               clear_i,
  input  logic                               enable_i,
  input  logic [NUM_SCHED-1:0]               issue_i,    // scheduler s issued a warp instruction
  input  logic                               stall_i,    // nothing issued: long memory latency
  output logic [sluice_pkg::InstW-1:0]       insts_o,
  output logic [sluice_pkg::WindowW-1:0]     stalls_o,
  output logic [sluice_pkg::InstW-1:0]       next_insts_o,   // of the next cycle; 0 without EARLY
  output logic [sluice_pkg::WindowW-1:0]     next_stalls_o
);
  logic [sluice_pkg::InstW-1:0]   insts_d, insts_q;
  logic [sluice_pkg::WindowW-1:0] stalls_d, stalls_q;
  logic [sluice_pkg::InstW:0]     sum;

  always_comb begin
    sum = {1'b0, insts_q};
    for (int unsigned s = 0; s < NUM_SCHED; s++) sum = sum + (sluice_pkg::InstW + 1)'(issue_i[s]);
    insts_d  = insts_q;
    stalls_d = stalls_q;
    if (enable_i) begin
      insts_d  = sum[sluice_pkg::InstW] ? '1 : sum[sluice_pkg::InstW-1:0];
      stalls_d = (stall_i && stalls_q != '1) ? stalls_q + 1'b1 : stalls_q;
    end
    if (clear_i) begin
      insts_d  = '0;
      stalls_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      insts_q  <= '0;
      stalls_q <= '0;
    end else begin
      insts_q  <= insts_d;
      stalls_q <= stalls_d;
    end
  end

  assign insts_o       = insts_q;
  assign stalls_o      = stalls_q;
  assign next_insts_o  = EARLY ? insts_d : '0;
  assign next_stalls_o = EARLY ? stalls_d : '0;
endmodule
