// SPDX-License-Identifier: Apache-2.0
// unit: small_ -GNUM_SM=2 -GMAX_KERNELS=2 -GMAX_CTAS=4 -GNUM_SCHED=1 -GREGION_UNITS=16
// unit: wide_ -GNUM_SM=5 -GMAX_KERNELS=3 -GMAX_CTAS=6 -GNUM_SCHED=2 -GREGION_UNITS=0 -GSM_ENABLE=1 -GSM_READY=1
// Two units with different parameters in one design, in plain Verilog-2005. Each has modules of its own prefix, tells its own parameters, and fills
// all of its SMs and CTA slots with a kernel. Ends with PASS, or with the first mismatch.
`timescale 1ns / 1ps
module two_units_tb;
  reg         clk, rst_n, valid, read, ready;
  reg  [11:0] address;
  reg  [31:0] data;
  wire [31:0] rdata_s, rdata_w;
  wire [1:0]  bvalid, rvalid, dispatch;
  wire [7:0]  sm_s, sm_w;
  wire [4:0]  slot_s, slot_w;
  reg  [7:0]  taken_s;             // bit 4 * SM + slot
  reg  [29:0] taken_w;             // bit 6 * SM + slot

  small_sluice_top i_small (
    .clk_i(clk), .rst_ni(rst_n),
    .s_axi_awaddr_i(address), .s_axi_awvalid_i(valid), .s_axi_wdata_i(data), .s_axi_wstrb_i(4'hF), .s_axi_wvalid_i(valid),
    .s_axi_bvalid_o(bvalid[0]), .s_axi_bready_i(1'b1), .s_axi_araddr_i(address), .s_axi_arvalid_i(read), .s_axi_rdata_o(rdata_s),
    .s_axi_rvalid_o(rvalid[0]), .s_axi_rready_i(1'b1), .issue_valid_i(2'b0), .issue_kernel_i(6'b0), .request_i(2'b0), .dispatch_valid_o(dispatch[0]),
    .sm_ready_i(2'b0), .dispatch_ready_i(ready),
    .dispatch_sm_o(sm_s), .dispatch_slot_o(slot_s), .done_valid_i(1'b0), .done_sm_i(8'd0), .done_slot_i(5'd0));
  wide_sluice_top i_wide (
    .clk_i(clk), .rst_ni(rst_n),
    .s_axi_awaddr_i(address), .s_axi_awvalid_i(valid), .s_axi_wdata_i(data), .s_axi_wstrb_i(4'hF), .s_axi_wvalid_i(valid),
    .s_axi_bvalid_o(bvalid[1]), .s_axi_bready_i(1'b1), .s_axi_araddr_i(address), .s_axi_arvalid_i(read), .s_axi_rdata_o(rdata_w),
    .s_axi_rvalid_o(rvalid[1]), .s_axi_rready_i(1'b1), .issue_valid_i(10'b0), .issue_kernel_i(30'b0),
    .request_i(5'b0), .dispatch_valid_o(dispatch[1]),
    .sm_ready_i({5{ready}}), .dispatch_ready_i(ready),
    .dispatch_sm_o(sm_w), .dispatch_slot_o(slot_w), .done_valid_i(1'b0), .done_sm_i(8'd0), .done_slot_i(5'd0));

  always #5 clk = !clk;

  task fail;
    input [31:0] where, value;
    begin
      $display("FAIL at %0t: %0d: %h", $time, where, value);
      $finish;
    end
  endtask

  always @(negedge clk) if (rst_n) begin
    if (dispatch[0]) begin
      if (sm_s > 1 || slot_s > 3 || taken_s[4 * sm_s + slot_s]) fail(1, {sm_s, slot_s});
      taken_s[4 * sm_s + slot_s] = 1;
    end
    if (dispatch[1]) begin
      if (sm_w > 4 || slot_w > 5 || taken_w[6 * sm_w + slot_w]) fail(2, {sm_w, slot_w});
      taken_w[6 * sm_w + slot_w] = 1;
    end
  end

  task write;   // to both
    input [11:0] where;
    input [31:0] what;
    begin
      @(negedge clk) address = where; data = what; valid = 1;
      @(negedge clk) valid = 0;
      while (bvalid !== 2'b11) @(negedge clk);
      @(negedge clk);
    end
  endtask

  initial begin
    clk = 0; rst_n = 1; valid = 0; read = 0; ready = 1; taken_s = 0; taken_w = 0;
    #1 rst_n = 0;
    #20 rst_n = 1;
    repeat (8) @(negedge clk);
    address = 12'h004; read = 1;   // PARAMS
    @(negedge clk) read = 0;
    while (rvalid !== 2'b11) @(negedge clk);
    if (rdata_s !== (2 | 2 << 9 | 4 << 13 | 1 << 19 | 16 << 22)) fail(3, rdata_s);
    if (rdata_w !== (5 | 3 << 9 | 6 << 13 | 2 << 19)) fail(4, rdata_w);
    write(12'h400, 1);             // SLOT0: warps, registers, shared memory, grid, LAUNCH
    write(12'h404, 256);
    write(12'h408, 64);
    write(12'h40C, 1000);
    write(12'h410, 1);
    repeat (300) @(negedge clk);
    if (taken_s !== 8'hFF) fail(5, taken_s);
    if (taken_w !== 30'h3FFFFFFF) fail(6, taken_w);
    $display("PASS: 8 and 30 CTA slots filled");
    $finish;
  end
endmodule
