// SPDX-License-Identifier: Apache-2.0
// axi_lite_guard: stands in front of an AXI4-Lite subordinate that looks at no AxPROT, such as sluice_top, and lets
// pass what has the right one. A write or read passes where AxPROT has PROT_VALUE in the bits of PROT_MASK. All else
// gets SLVERR, a read zero, and the subordinate sees nothing of it. One write and one read under way at a time; each
// waits a cycle to be judged and then passes through unregistered. In front of sluice_top nothing gets slower by more
// than that cycle, as the unit too takes them one at a time.
module axi_lite_guard #(
  parameter int unsigned AddrW      = 12,
  parameter logic [2:0]  PROT_MASK  = 3'b011,  // bits of AxPROT that count: 0 privileged, 1 non-secure, 2 instruction
  parameter logic [2:0]  PROT_VALUE = 3'b001   // what they must be: privileged and secure
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [AddrW-1:0] s_axi_awaddr_i,     // from the bus
  input  logic [2:0]       s_axi_awprot_i,
  input  logic             s_axi_awvalid_i,
  output logic             s_axi_awready_o,
  input  logic [31:0]      s_axi_wdata_i,
  input  logic [3:0]       s_axi_wstrb_i,
  input  logic             s_axi_wvalid_i,
  output logic             s_axi_wready_o,
  output logic [1:0]       s_axi_bresp_o,
  output logic             s_axi_bvalid_o,
  input  logic             s_axi_bready_i,
  input  logic [AddrW-1:0] s_axi_araddr_i,
  input  logic [2:0]       s_axi_arprot_i,
  input  logic             s_axi_arvalid_i,
  output logic             s_axi_arready_o,
  output logic [31:0]      s_axi_rdata_o,
  output logic [1:0]       s_axi_rresp_o,
  output logic             s_axi_rvalid_o,
  input  logic             s_axi_rready_i,
  output logic [AddrW-1:0] m_axi_awaddr_o,     // to the subordinate
  output logic             m_axi_awvalid_o,
  input  logic             m_axi_awready_i,
  output logic [31:0]      m_axi_wdata_o,
  output logic [3:0]       m_axi_wstrb_o,
  output logic             m_axi_wvalid_o,
  input  logic             m_axi_wready_i,
  input  logic [1:0]       m_axi_bresp_i,
  input  logic             m_axi_bvalid_i,
  output logic             m_axi_bready_o,
  output logic [AddrW-1:0] m_axi_araddr_o,
  output logic             m_axi_arvalid_o,
  input  logic             m_axi_arready_i,
  input  logic [31:0]      m_axi_rdata_i,
  input  logic [1:0]       m_axi_rresp_i,
  input  logic             m_axi_rvalid_i,
  output logic             m_axi_rready_o
);
  if ((PROT_VALUE & ~PROT_MASK) != 3'd0) $error("axi_lite_guard: PROT_VALUE has a bit outside PROT_MASK");
  localparam logic [1:0] SlvErr = 2'b10;
  typedef enum logic [1:0] {Idle, Pass, Refuse} state_e;

  state_e write_d, write_q, read_d, read_q;
  logic   aw_done_d, aw_done_q, w_done_d, w_done_q, ar_done_d, ar_done_q;   // taken, and not answered yet
  logic   write_may, read_may;

  assign write_may = ((s_axi_awprot_i ^ PROT_VALUE) & PROT_MASK) == '0;
  assign read_may  = ((s_axi_arprot_i ^ PROT_VALUE) & PROT_MASK) == '0;

  assign m_axi_awaddr_o = s_axi_awaddr_i;
  assign m_axi_wdata_o  = s_axi_wdata_i;
  assign m_axi_wstrb_o  = s_axi_wstrb_i;
  assign m_axi_araddr_o = s_axi_araddr_i;

  // The right is looked at again as an address passes: a manager that changes its mind, against the rules, gets nothing
  // by it.
  assign m_axi_awvalid_o = write_q == Pass && !aw_done_q && s_axi_awvalid_i && write_may;
  assign m_axi_wvalid_o  = write_q == Pass && !w_done_q && s_axi_wvalid_i;
  assign m_axi_bready_o  = write_q == Pass && s_axi_bready_i;
  assign m_axi_arvalid_o = read_q == Pass && !ar_done_q && s_axi_arvalid_i && read_may;
  assign m_axi_rready_o  = read_q == Pass && s_axi_rready_i;

  assign s_axi_awready_o = !aw_done_q && (write_q == Refuse || (write_q == Pass && m_axi_awready_i && write_may));
  assign s_axi_wready_o  = !w_done_q && (write_q == Refuse || (write_q == Pass && m_axi_wready_i));
  assign s_axi_bvalid_o  = write_q == Refuse ? aw_done_q && w_done_q : write_q == Pass && m_axi_bvalid_i;
  assign s_axi_bresp_o   = write_q == Refuse ? SlvErr : m_axi_bresp_i;
  assign s_axi_arready_o = !ar_done_q && (read_q == Refuse || (read_q == Pass && m_axi_arready_i && read_may));
  assign s_axi_rvalid_o  = read_q == Refuse ? ar_done_q : read_q == Pass && m_axi_rvalid_i;
  assign s_axi_rdata_o   = read_q == Refuse ? '0 : m_axi_rdata_i;
  assign s_axi_rresp_o   = read_q == Refuse ? SlvErr : m_axi_rresp_i;

  always_comb begin
    write_d   = write_q;
    aw_done_d = aw_done_q || (s_axi_awvalid_i && s_axi_awready_o);
    w_done_d  = w_done_q || (s_axi_wvalid_i && s_axi_wready_o);
    if (write_q == Idle && s_axi_awvalid_i) write_d = write_may ? Pass : Refuse;
    if (s_axi_bvalid_o && s_axi_bready_i) begin
      write_d   = Idle;
      aw_done_d = 1'b0;
      w_done_d  = 1'b0;
    end
    read_d    = read_q;
    ar_done_d = ar_done_q || (s_axi_arvalid_i && s_axi_arready_o);
    if (read_q == Idle && s_axi_arvalid_i) read_d = read_may ? Pass : Refuse;
    if (s_axi_rvalid_o && s_axi_rready_i) begin
      read_d    = Idle;
      ar_done_d = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q   <= Idle;
      aw_done_q <= 1'b0;
      w_done_q  <= 1'b0;
      read_q    <= Idle;
      ar_done_q <= 1'b0;
    end else begin
      write_q   <= write_d;
      aw_done_q <= aw_done_d;
      w_done_q  <= w_done_d;
      read_q    <= read_d;
      ar_done_q <= ar_done_d;
    end
  end
endmodule
