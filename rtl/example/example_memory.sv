// SPDX-License-Identifier: Apache-2.0
// example_memory: the memory that all SMs share: takes one line every INTERVAL cycles, round robin over the SMs, and
// answers a load LATENCY cycles later, with the line as it is then. Stores act when they are taken. Loads of one SM are
// answered in their order.
module example_memory #(
  parameter int unsigned NUM_SM   = 4,
  parameter int unsigned WARPS    = 8,
  parameter int unsigned LINES    = 1024,  // a power of two
  parameter int unsigned LATENCY  = 40,    // at least 2
  parameter int unsigned INTERVAL = 8
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic [NUM_SM-1:0]                    request_valid_i,
  output logic [NUM_SM-1:0]                    request_ready_o,   // this SM's request is taken; one-hot, or 0
  input  logic [NUM_SM-1:0]                    request_write_i,
  input  logic [NUM_SM*$clog2(WARPS)-1:0]      request_warp_i,
  input  logic [NUM_SM*$clog2(LINES)-1:0]      request_line_i,
  input  logic [NUM_SM*example_pkg::Lanes-1:0] request_mask_i,    // words that a store writes
  input  logic [NUM_SM*example_pkg::LineW-1:0] request_data_i,
  output logic [NUM_SM-1:0]                    answer_valid_o,    // one-hot, or 0
  output logic [$clog2(WARPS)-1:0]             answer_warp_o,
  output logic [example_pkg::LineW-1:0]        answer_data_o,
  input  logic                                 host_write_i,
  input  logic [$clog2(LINES)+2:0]             host_address_i,    // words
  input  logic [31:0]                          host_data_i,
  output logic [31:0]                          host_data_o
);
  localparam int unsigned Lanes = example_pkg::Lanes;
  localparam int unsigned LineW = example_pkg::LineW;
  localparam int unsigned WarpW = $clog2(WARPS);
  localparam int unsigned LineAW = $clog2(LINES);
  localparam int unsigned TagW  = NUM_SM + WarpW + LineAW;   // of a load on its way: whose (one-hot), warp, line
  localparam int unsigned TimeW = $clog2(INTERVAL + 1);

  logic [LineW-1:0] lines [LINES];

  logic [NUM_SM-1:0] grant;
  logic [TimeW-1:0]  pause_q;   // cycles until the next line
  rr_arbiter #(.N(NUM_SM)) i_rr_arbiter (
    .clk_i,
    .rst_ni,
    .request_i (request_valid_i & {NUM_SM{pause_q == '0}}),
    .grant_o   (grant),
    .used_i    (grant)
  );
  assign request_ready_o = grant;

  logic              write;
  logic [WarpW-1:0]  warp;
  logic [LineAW-1:0] line;
  logic [Lanes-1:0]  mask;
  logic [LineW-1:0]  data;
  always_comb begin
    write = 1'b0;
    warp  = '0;
    line  = '0;
    mask  = '0;
    data  = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (grant[m]) begin
        write |= request_write_i[m];
        warp  |= request_warp_i[m*WarpW +: WarpW];
        line  |= request_line_i[m*LineAW +: LineAW];
        mask  |= request_mask_i[m*Lanes +: Lanes];
        data  |= request_data_i[m*LineW +: LineW];
      end
  end

  logic [LATENCY*TagW-1:0] on_its_way_q;   // the oldest at the top
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      pause_q      <= '0;
      on_its_way_q <= '0;
    end else begin
      pause_q      <= (grant != '0) ? TimeW'(INTERVAL - 1) : pause_q - TimeW'(pause_q != '0);
      on_its_way_q <= {on_its_way_q[(LATENCY-1)*TagW-1:0], grant & {NUM_SM{!write}}, warp, line};
    end

  logic [TagW-1:0] oldest;
  assign oldest         = on_its_way_q[(LATENCY-1)*TagW +: TagW];
  assign answer_valid_o = oldest[LineAW + WarpW +: NUM_SM];
  assign answer_warp_o  = oldest[LineAW +: WarpW];
  assign answer_data_o  = lines[oldest[LineAW-1:0]];

  logic [LineW-1:0] host_line;
  assign host_line   = lines[host_address_i[3 +: LineAW]];
  assign host_data_o = host_line[host_address_i[2:0]*32 +: 32];

  always_ff @(posedge clk_i) begin   // memory: no reset
    if (write)
      for (int unsigned l = 0; l < Lanes; l++)
        if (mask[l]) lines[line][l*32 +: 32] <= data[l*32 +: 32];
    if (host_write_i) lines[host_address_i[3 +: LineAW]][host_address_i[2:0]*32 +: 32] <= host_data_i;
  end
endmodule
