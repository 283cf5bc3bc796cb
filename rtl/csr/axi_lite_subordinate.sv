// SPDX-License-Identifier: Apache-2.0
// axi_lite_subordinate: AXI4-Lite handshakes in front of a register file; one write and one read under way at a time.
// Address and data of a write arrive in any order. In the first cycle in which both are held the register file looks at
// them; in the next, or when the response before was taken, `write_o` pulses for one that is aligned and has every
// strobe. Everything else gets SLVERR and no pulse. Two pulses are at least three cycles apart, so a unit that
// registers what a write starts has done so before the next. A read is answered from the registers of the cycle after
// its address was taken. Every AXI output is registered.
module axi_lite_subordinate #(
  parameter int unsigned AddrW = 12
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [AddrW-1:0] s_axi_awaddr_i,    // bytes
  input  logic             s_axi_awvalid_i,
  output logic             s_axi_awready_o,
  input  logic [31:0]      s_axi_wdata_i,
  input  logic [3:0]       s_axi_wstrb_i,
  input  logic             s_axi_wvalid_i,
  output logic             s_axi_wready_o,
  output logic [1:0]       s_axi_bresp_o,     // 0 OKAY, 2 SLVERR
  output logic             s_axi_bvalid_o,
  input  logic             s_axi_bready_i,
  input  logic [AddrW-1:0] s_axi_araddr_i,
  input  logic             s_axi_arvalid_i,
  output logic             s_axi_arready_o,
  output logic [31:0]      s_axi_rdata_o,     // 0 with SLVERR
  output logic [1:0]       s_axi_rresp_o,
  output logic             s_axi_rvalid_o,
  input  logic             s_axi_rready_i,
  output logic             write_o,
  output logic [AddrW-1:0] write_addr_o,
  output logic [31:0]      write_data_o,
  input  logic             write_exists_i,    // with write_o: write_addr_o of the cycle before can be written
  output logic [AddrW-1:0] read_addr_o,
  input  logic             read_exists_i,     // combinational from read_addr_o
  input  logic [31:0]      read_data_i,
  output logic             idle_o             // nothing held, nothing to answer
);
  if (AddrW < 3) $error("axi_lite_subordinate: AddrW must be 3 or more");
  localparam logic [1:0] Okay   = 2'b00;
  localparam logic [1:0] SlvErr = 2'b10;

  logic             aw_full_d, aw_full_q, w_full_d, w_full_q, full_strobe_d, full_strobe_q;
  logic [AddrW-1:0] awaddr_d, awaddr_q;
  logic [31:0]      wdata_d, wdata_q, rdata_d, rdata_q;
  logic             bvalid_d, bvalid_q, rvalid_d, rvalid_q;
  logic [1:0]       bresp_d, bresp_q, rresp_d, rresp_q;
  logic             judged_q, legal_q;            // the held write was looked at; aligned, every strobe
  logic             reading_d, reading_q;         // a read is answered with the next edge
  logic [AddrW-1:0] araddr_q;
  logic             complete;                     // the held write is answered with the next edge

  assign s_axi_awready_o = !aw_full_q;
  assign s_axi_wready_o  = !w_full_q;
  assign s_axi_arready_o = !rvalid_q && !reading_q;
  assign s_axi_bvalid_o  = bvalid_q;
  assign s_axi_bresp_o   = bresp_q;
  assign s_axi_rvalid_o  = rvalid_q;
  assign s_axi_rdata_o   = rdata_q;
  assign s_axi_rresp_o   = rresp_q;

  assign idle_o       = !aw_full_q && !w_full_q && !judged_q && !bvalid_q && !reading_q && !rvalid_q;
  assign complete     = judged_q && !bvalid_q;
  assign write_o      = complete && legal_q;
  assign write_addr_o = awaddr_q;
  assign write_data_o = wdata_q;
  assign read_addr_o  = araddr_q;

  always_comb begin
    aw_full_d     = aw_full_q && !complete;
    awaddr_d      = awaddr_q;
    w_full_d      = w_full_q && !complete;
    wdata_d       = wdata_q;
    full_strobe_d = full_strobe_q;
    bvalid_d      = complete || (bvalid_q && !s_axi_bready_i);
    bresp_d       = bresp_q;
    reading_d     = s_axi_arvalid_i && s_axi_arready_o;
    rvalid_d      = reading_q || (rvalid_q && !s_axi_rready_i);
    rdata_d       = rdata_q;
    rresp_d       = rresp_q;
    if (s_axi_awvalid_i && s_axi_awready_o) begin
      aw_full_d = 1'b1;
      awaddr_d  = s_axi_awaddr_i;
    end
    if (s_axi_wvalid_i && s_axi_wready_o) begin
      w_full_d      = 1'b1;
      wdata_d       = s_axi_wdata_i;
      full_strobe_d = s_axi_wstrb_i == 4'hF;
    end
    if (complete) bresp_d = (write_o && write_exists_i) ? Okay : SlvErr;
    if (reading_q) begin
      if (read_exists_i && araddr_q[1:0] == 2'b00) begin
        rdata_d = read_data_i;
        rresp_d = Okay;
      end else begin
        rdata_d = '0;
        rresp_d = SlvErr;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_full_q     <= 1'b0;
      // an unknown address would make every register unknown in a simulation of what Yosys writes
      awaddr_q      <= '0;
      w_full_q      <= 1'b0;
      judged_q      <= 1'b0;
      reading_q     <= 1'b0;
      bvalid_q      <= 1'b0;
      bresp_q       <= Okay;
      rvalid_q      <= 1'b0;
      rdata_q       <= '0;
      rresp_q       <= Okay;
    end else begin
      aw_full_q     <= aw_full_d;
      awaddr_q      <= awaddr_d;
      w_full_q      <= w_full_d;
      judged_q      <= aw_full_q && w_full_q && !complete;
      reading_q     <= reading_d;
      bvalid_q      <= bvalid_d;
      bresp_q       <= bresp_d;
      rvalid_q      <= rvalid_d;
      rdata_q       <= rdata_d;
      rresp_q       <= rresp_d;
    end
  end

  // Looked at only with what says that they are there: no reset.
  always_ff @(posedge clk_i) begin
    wdata_q       <= wdata_d;
    full_strobe_q <= full_strobe_d;
    legal_q       <= full_strobe_q && awaddr_q[1:0] == 2'b00;
    if (reading_d) araddr_q <= s_axi_araddr_i;
  end
endmodule
