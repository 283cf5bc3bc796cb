// profile_counters: what the owner of one SM issued in a profile window, within the SM's share of the memory system's bandwidth
// (docs/blocks/profile_counters.md; Warped-Slicer's equation 3 with B_scaled = min(B_sampled, B_max / NUM_SM)).
// Instructions of owner_i count until the SM has exchanged share_i lines with the memory system: then they are what it would have
// issued among its like. clear_i begins a window; the count holds after it. A window of at most 2**WindowW - 1 cycles can't make
// it overflow, nor reach the end of a share of 0, which so means no ceiling.
module profile_counters #(
  parameter int unsigned NUM_SCHED = 2
) (
  input  logic                                     clk_i,
  input  logic                                     clear_i,         // before the first window, too: there is no reset
  input  logic                                     enable_i,        // in at most 2**WindowW - 1 cycles between clears
  input  logic [NUM_SCHED-1:0]                     issue_valid_i,   // scheduler s issued a warp instruction
  input  logic [NUM_SCHED*sluice_pkg::KIndexW-1:0] issue_kernel_i,  // of this kernel slot
  input  logic [sluice_pkg::KIndexW-1:0]           owner_i,         // the kernel slot that is sampled on this SM
  input  logic                                     request_i,       // a line, or the request for one, left for the memory system
  input  logic [sluice_pkg::WindowW-1:0]           share_i,         // lines of a window; stable from clear_i on
  output logic [sluice_pkg::InstW-1:0]             insts_o
);
  localparam int unsigned InstW   = sluice_pkg::InstW;
  localparam int unsigned WindowW = sluice_pkg::WindowW;
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;

  logic [InstW-1:0]   insts_d, insts_q;
  logic [WindowW-1:0] left_d, left_q;   // of the share
  logic               open_d, open_q;   // there is some left

  logic [2:0] issued;   // by the owner, in this cycle
  always_comb begin
    issued = '0;
    for (int unsigned s = 0; s < NUM_SCHED; s++)
      issued = issued + 3'(issue_valid_i[s] && issue_kernel_i[s*KIndexW +: KIndexW] == owner_i);
    insts_d = (insts_q + InstW'(issued)) & {InstW{!clear_i}};
    left_d  = clear_i ? share_i : left_q - 1'b1;
    open_d  = clear_i || left_q != WindowW'(1);
  end

  // insts_d is masked, not multiplexed: with a constant to choose Yosys finds no enable, and no clock gate.
  always_ff @(posedge clk_i) begin
    if ((enable_i && open_q) || clear_i)              insts_q <= insts_d;
    if ((enable_i && open_q && request_i) || clear_i) begin
      left_q <= left_d;
      open_q <= open_d;
    end
  end

  assign insts_o = insts_q;
endmodule
