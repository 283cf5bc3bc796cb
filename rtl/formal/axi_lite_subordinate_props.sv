// SPDX-License-Identifier: Apache-2.0
// Properties of axi_lite_subordinate: for any manager, also one that breaks the rules, and any register file.
module axi_lite_subordinate_props (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [11:0] s_axi_awaddr_i,
  input logic        s_axi_awvalid_i,
  input logic [31:0] s_axi_wdata_i,
  input logic [3:0]  s_axi_wstrb_i,
  input logic        s_axi_wvalid_i,
  input logic        s_axi_bready_i,
  input logic [11:0] s_axi_araddr_i,
  input logic        s_axi_arvalid_i,
  input logic        s_axi_rready_i,
  input logic        write_exists_i,
  input logic        read_exists_i,
  input logic [31:0] read_data_i
);
  logic        awready, wready, bvalid, arready, rvalid, write;
  logic [1:0]  bresp, rresp;
  logic [11:0] write_addr, read_addr;
  logic [31:0] rdata, write_data;

  axi_lite_subordinate dut (
    .clk_i,
    .rst_ni,
    .s_axi_awaddr_i,
    .s_axi_awvalid_i,
    .s_axi_awready_o (awready),
    .s_axi_wdata_i,
    .s_axi_wstrb_i,
    .s_axi_wvalid_i,
    .s_axi_wready_o  (wready),
    .s_axi_bresp_o   (bresp),
    .s_axi_bvalid_o  (bvalid),
    .s_axi_bready_i,
    .s_axi_araddr_i,
    .s_axi_arvalid_i,
    .s_axi_arready_o (arready),
    .s_axi_rdata_o   (rdata),
    .s_axi_rresp_o   (rresp),
    .s_axi_rvalid_o  (rvalid),
    .s_axi_rready_i,
    .write_o         (write),
    .write_addr_o    (write_addr),
    .write_data_o    (write_data),
    .write_exists_i,
    .read_addr_o     (read_addr),
    .read_exists_i,
    .read_data_i
  );

  logic aw, w, b, ar, r;   // handshakes
  assign aw = s_axi_awvalid_i && awready;
  assign w  = s_axi_wvalid_i && wready;
  assign b  = bvalid && s_axi_bready_i;
  assign ar = s_axi_arvalid_i && arready;
  assign r  = rvalid && s_axi_rready_i;

  // Requests taken whose response was not, and the request that waits for its response.
  logic [2:0]  addresses_q, data_q, reads_q;
  logic [11:0] addr_q;
  logic [31:0] wdata_q;
  logic [3:0]  strb_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      addresses_q <= '0;
      data_q      <= '0;
      reads_q     <= '0;
    end else begin
      addresses_q <= addresses_q + 3'(aw) - 3'(b);
      data_q      <= data_q + 3'(w) - 3'(b);
      reads_q     <= reads_q + 3'(ar) - 3'(r);
    end
  end
  always_ff @(posedge clk_i) begin
    if (aw) addr_q <= s_axi_awaddr_i;
    if (w) begin
      wdata_q <= s_axi_wdata_i;
      strb_q  <= s_axi_wstrb_i;
    end
  end

  logic        held, held_q, complete, reading_q, legal_read;
  logic [11:0] araddr_q;
  // a write has all it needs
  assign held       = addresses_q != '0 && data_q != '0 && (!bvalid || addresses_q == 3'd2)
      && (!bvalid || data_q == 3'd2);
  assign complete   = held && held_q && !bvalid;
  assign legal_read = read_exists_i && araddr_q[1:0] == 2'b00;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      held_q    <= 1'b0;
      reading_q <= 1'b0;
    end else begin
      held_q    <= held && !complete;
      reading_q <= ar;
    end
  always_ff @(posedge clk_i) if (ar) araddr_q <= s_axi_araddr_i;

  logic [1:0] acted_q;   // a write acted in the last two cycles
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) acted_q <= '0;
    else         acted_q <= {acted_q[0], write};

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb if (!started) assume (!rst_ni);

  always_ff @(posedge clk_i) begin
    if (started && $past(rst_ni) && rst_ni) begin
      if ($past(bvalid && !s_axi_bready_i)) b_stays_until_taken: assert (bvalid && bresp == $past(bresp));
      if ($past(rvalid && !s_axi_rready_i))
        r_stays_until_taken: assert (rvalid && rresp == $past(rresp) && rdata == $past(rdata));
      if ($past(complete)) write_is_answered_two_cycles_after_it_is_held: assert (bvalid);
      if ($past(complete))
        okay_only_for_a_write_that_acted: assert (bresp == ($past(write && write_exists_i) ? 2'b00 : 2'b10));
      if ($past(reading_q))
        read_is_answered_two_cycles_after_its_address: assert (rvalid && rresp == ($past(legal_read) ? 2'b00 : 2'b10));
      if ($past(reading_q))
        read_shows_the_register_or_zero: assert (rdata == ($past(legal_read) ? $past(read_data_i) : 32'd0));
      if (acted_q != '0) writes_act_three_cycles_apart: assert (!write);
    end
    if (started && rst_ni) begin
      b_answers_an_address_and_data: assert (!bvalid || (addresses_q != '0 && data_q != '0));
      r_answers_a_request: assert (!rvalid || reads_q != '0);
      no_request_is_lost: assert (addresses_q <= 3'd2 && data_q <= 3'd2 && reads_q <= 3'd1);
      ready_when_nothing_is_under_way: assert ((addresses_q != '0 || awready) && (data_q != '0 || wready)
          && (reads_q != '0 || arready));
      if (held) register_file_sees_what_was_taken: assert (write_addr == addr_q && write_data == wdata_q);
      if (write) write_is_what_was_seen_before: assert (complete && held_q);
      write_needs_every_strobe_and_alignment: assert (write == (complete && strb_q == 4'hF && addr_q[1:0] == 2'b00));
      if (reading_q) read_address_is_passed: assert (read_addr == araddr_q);
    end
    if (started && !rst_ni) nothing_is_valid_in_reset: assert (!bvalid && !rvalid && !write);
  end
endmodule
