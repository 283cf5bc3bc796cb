// SPDX-License-Identifier: Apache-2.0
// Properties of axi_lite_guard with axi_lite_subordinate behind it: for any manager, also one that breaks the rules,
// any register file and any mask. Written from the events at the pins.
module axi_lite_guard_props (
  input logic       clk_i,
  input logic       rst_ni,
  input logic [3:0] s_axi_awaddr_i,
  input logic [2:0] s_axi_awprot_i,
  input logic       s_axi_awvalid_i,
  input logic [31:0] s_axi_wdata_i,
  input logic [3:0] s_axi_wstrb_i,
  input logic       s_axi_wvalid_i,
  input logic       s_axi_bready_i,
  input logic [3:0] s_axi_araddr_i,
  input logic [2:0] s_axi_arprot_i,
  input logic       s_axi_arvalid_i,
  input logic       s_axi_rready_i,
  input logic       write_exists_i,
  input logic       read_exists_i,
  input logic [31:0] read_data_i
);
  logic        awready, wready, bvalid, arready, rvalid, m_awvalid, m_awready, m_wvalid, m_wready, m_bvalid, m_bready,
    m_arvalid, m_arready, m_rvalid,
               m_rready, write;
  logic [1:0]  bresp, rresp, m_bresp, m_rresp;
  logic [3:0]  m_awaddr, m_araddr, m_wstrb, write_addr;
  logic [31:0] rdata, m_rdata, m_wdata, write_data;

  axi_lite_guard #(.AddrW(4)) dut (
    .*,
    .s_axi_awready_o (awready),
    .s_axi_wready_o  (wready),
    .s_axi_bresp_o   (bresp),
    .s_axi_bvalid_o  (bvalid),
    .s_axi_arready_o (arready),
    .s_axi_rdata_o   (rdata),
    .s_axi_rresp_o   (rresp),
    .s_axi_rvalid_o  (rvalid),
    .m_axi_awaddr_o  (m_awaddr),
    .m_axi_awvalid_o (m_awvalid),
    .m_axi_awready_i (m_awready),
    .m_axi_wdata_o   (m_wdata),
    .m_axi_wstrb_o   (m_wstrb),
    .m_axi_wvalid_o  (m_wvalid),
    .m_axi_wready_i  (m_wready),
    .m_axi_bresp_i   (m_bresp),
    .m_axi_bvalid_i  (m_bvalid),
    .m_axi_bready_o  (m_bready),
    .m_axi_araddr_o  (m_araddr),
    .m_axi_arvalid_o (m_arvalid),
    .m_axi_arready_i (m_arready),
    .m_axi_rdata_i   (m_rdata),
    .m_axi_rresp_i   (m_rresp),
    .m_axi_rvalid_i  (m_rvalid),
    .m_axi_rready_o  (m_rready)
  );

  axi_lite_subordinate #(.AddrW(4)) i_behind (
    .*,
    .s_axi_awaddr_i  (m_awaddr),
    .s_axi_awvalid_i (m_awvalid),
    .s_axi_awready_o (m_awready),
    .s_axi_wdata_i   (m_wdata),
    .s_axi_wstrb_i   (m_wstrb),
    .s_axi_wvalid_i  (m_wvalid),
    .s_axi_wready_o  (m_wready),
    .s_axi_bresp_o   (m_bresp),
    .s_axi_bvalid_o  (m_bvalid),
    .s_axi_bready_i  (m_bready),
    .s_axi_araddr_i  (m_araddr),
    .s_axi_arvalid_i (m_arvalid),
    .s_axi_arready_o (m_arready),
    .s_axi_rdata_o   (m_rdata),
    .s_axi_rresp_o   (m_rresp),
    .s_axi_rvalid_o  (m_rvalid),
    .s_axi_rready_i  (m_rready),
    .write_o         (write),
    .write_addr_o    (write_addr),
    .write_data_o    (write_data),
    .read_addr_o     (),
    .idle_o          ()
  );

  logic aw, w, b, ar, r;   // handshakes with the bus
  assign aw = s_axi_awvalid_i && awready;
  assign w  = s_axi_wvalid_i && wready;
  assign b  = bvalid && s_axi_bready_i;
  assign ar = s_axi_arvalid_i && arready;
  assign r  = rvalid && s_axi_rready_i;
  logic write_may, read_may;   // privileged and secure
  assign write_may = s_axi_awprot_i[1:0] == 2'b01;
  assign read_may  = s_axi_arprot_i[1:0] == 2'b01;

  // What was taken from the bus and not answered.
  logic        aw_q, aw_may_q, w_q, ar_q, ar_may_q;
  logic [3:0]  addr_q;
  logic [31:0] data_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      aw_q <= 1'b0;
      w_q  <= 1'b0;
      ar_q <= 1'b0;
    end else begin
      aw_q <= (aw_q || aw) && !b;
      w_q  <= (w_q || w) && !b;
      ar_q <= (ar_q || ar) && !r;
    end
  always_ff @(posedge clk_i) begin
    if (aw) begin
      aw_may_q <= write_may;
      addr_q   <= s_axi_awaddr_i;
    end
    if (w) data_q <= s_axi_wdata_i;
    if (ar) ar_may_q <= read_may;
  end

  // How long a manager that keeps its request, and takes what it is answered, has waited.
  logic [3:0] write_waits_q, read_waits_q;
  // The manager kept AxPROT since it began to ask, as it must; and did until its request was taken.
  logic [2:0] awprot_q, arprot_q;
  logic       aw_waits_q, ar_waits_q, aw_kept, ar_kept, aw_kept_q, ar_kept_q, aw_was_kept_q, ar_was_kept_q;
  assign aw_kept = !aw_waits_q || (aw_kept_q && s_axi_awvalid_i && s_axi_awprot_i == awprot_q);
  assign ar_kept = !ar_waits_q || (ar_kept_q && s_axi_arvalid_i && s_axi_arprot_i == arprot_q);
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      aw_waits_q <= 1'b0;
      ar_waits_q <= 1'b0;
    end else begin   // a request that was given up is taken for one that goes on
      aw_waits_q <= (aw_waits_q || s_axi_awvalid_i) && !aw;
      ar_waits_q <= (ar_waits_q || s_axi_arvalid_i) && !ar;
    end
  always_ff @(posedge clk_i) begin
    awprot_q  <= s_axi_awprot_i;
    arprot_q  <= s_axi_arprot_i;
    aw_kept_q <= aw_kept;
    ar_kept_q <= ar_kept;
    if (aw) aw_was_kept_q <= aw_kept;
    if (ar) ar_was_kept_q <= ar_kept;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      write_waits_q <= '0;
      read_waits_q  <= '0;
    end else begin
      write_waits_q <= b || !(aw_q || s_axi_awvalid_i) || !(w_q || s_axi_wvalid_i) || !s_axi_bready_i
          || (!aw_q && !aw_kept) ? '0 : write_waits_q + 4'd1;
      read_waits_q  <= r || !(ar_q || s_axi_arvalid_i) || !s_axi_rready_i || (!ar_q && !ar_kept) ? '0
          : read_waits_q + 4'd1;
    end

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb if (!started) assume (!rst_ni);

  always_ff @(posedge clk_i) begin
    if (started && rst_ni) begin
      if (m_awvalid) only_a_write_with_the_right_passes: assert (write_may && s_axi_awvalid_i);
      if (m_arvalid) only_a_read_with_the_right_passes: assert (read_may && s_axi_arvalid_i);
      if (aw_q && !aw_may_q) of_a_refused_write_nothing_passes: assert (!m_awvalid && !m_wvalid && !write);
      if (write)
        what_acts_was_asked_with_the_right: assert (aw_q && aw_may_q && w_q && write_addr == addr_q
            && write_data == data_q);
      if (bvalid && !aw_may_q) a_refused_write_has_an_error: assert (bresp == 2'b10);
      if (bvalid && aw_may_q && aw_was_kept_q) an_allowed_write_has_its_answer: assert (m_bvalid && bresp == m_bresp);
      if (rvalid && !ar_may_q) a_refused_read_has_an_error_and_no_data: assert (rresp == 2'b10 && rdata == '0);
      if (rvalid && ar_may_q && ar_was_kept_q)
        an_allowed_read_has_its_answer: assert (m_rvalid && rresp == m_rresp && rdata == m_rdata);
      b_answers_an_address_and_data: assert (!bvalid || (aw_q && w_q));
      r_answers_a_request: assert (!rvalid || ar_q);
      if (m_bvalid) no_answer_from_behind_is_lost: assert (bvalid);
      if (m_rvalid) no_data_from_behind_is_lost: assert (rvalid);
      one_at_a_time: assert (!(aw && aw_q) && !(w && w_q) && !(ar && ar_q));
      every_write_is_answered: assert (write_waits_q <= 4'd4);
      every_read_is_answered: assert (read_waits_q <= 4'd3);
    end
    if (started && $past(rst_ni) && rst_ni) begin
      if ($past(bvalid && !s_axi_bready_i)) b_stays_until_taken: assert (bvalid && bresp == $past(bresp));
      if ($past(rvalid && !s_axi_rready_i))
        r_stays_until_taken: assert (rvalid && rresp == $past(rresp) && rdata == $past(rdata));
    end
    if (started && !rst_ni)
      nothing_is_valid_in_reset: assert (!bvalid && !rvalid && !m_awvalid && !m_wvalid && !m_arvalid);
  end
endmodule
