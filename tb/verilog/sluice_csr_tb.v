// SPDX-License-Identifier: Apache-2.0
// Self-checking bench in plain Verilog-2005 of what rtl/to_verilog.sh makes of sluice_csr (16 SMs, 4 kernel slots, 8 CTAs): registers,
// refusals, commands, errors and interrupt over AXI4-Lite. Ends with PASS and the number of checks, or with the first mismatch.
`timescale 1ns / 1ps
module sluice_csr_tb;
  reg         clk, rst_n;
  reg  [11:0] awaddr, araddr;
  reg         awvalid, wvalid, bready, arvalid, rready;
  reg  [31:0] wdata;
  reg  [3:0]  wstrb;
  wire        awready, wready, bvalid, arready, rvalid, irq;
  wire [1:0]  bresp, rresp;
  wire [31:0] rdata;
  wire [3:0]  launch, stop, evict, resume;
  wire [15:0] evict_count;
  reg  [7:0]  slot_state;
  reg  [3:0]  kernel_done, error;
  integer     checks, launches, k;

  sluice_csr dut (
    .clk_i(clk), .rst_ni(rst_n),
    // axi_request_t, axi_response_t, decision_status_t and dispatch_error_t of sluice_pkg
    .axi_i({awaddr, awvalid, wdata, wstrb, wvalid, bready, araddr, arvalid, rready}),
    .axi_o({awready, wready, bresp, bvalid, arready, rdata, rresp, rvalid}),
    .irq_o(irq), .launch_o(launch), .stop_o(stop), .evict_o(evict), .resume_o(resume), .evict_count_o(evict_count),
    .slot_state_i(slot_state), .resident_i(64'd0), .dispatched_i({32'd4, 32'd3, 32'd2, 32'd1}), .evict_done_i(4'd0),
    .kernel_done_i(kernel_done), .num_present_i(4'd0), .ctas_i(24'd0), .status_i(10'd0),
    .error_i({1'b0, error, 3'd2, 8'd9, 5'd3})
  );

  always #5 clk = !clk;
  always @(posedge clk) if (launch != 0) launches = launches + 1;

  task fail;
    input [31:0] where, got, want;
    begin
      $display("FAIL: %h: %h instead of %h", where, got, want);
      $finish;
    end
  endtask

  // Drives on the falling edge; waits for the response.
  task write;
    input [11:0] address;
    input [31:0] data;
    input [3:0]  strobe;
    input [1:0]  response;
    begin
      @(negedge clk);
      awaddr = address; awvalid = 1; wdata = data; wstrb = strobe; wvalid = 1; bready = 1;
      @(negedge clk);
      awvalid = 0; wvalid = 0;
      while (!bvalid) @(negedge clk);
      if (bresp !== response) fail({20'd0, address}, {30'd0, bresp}, {30'd0, response});
      @(negedge clk);
      bready = 0;
      checks = checks + 1;
    end
  endtask

  task read;
    input [11:0] address;
    input [31:0] data;
    input [1:0]  response;
    begin
      @(negedge clk);
      araddr = address; arvalid = 1; rready = 1;
      @(negedge clk);
      arvalid = 0;
      while (!rvalid) @(negedge clk);
      if (rresp !== response) fail({20'd0, address}, {30'd0, rresp}, {30'd0, response});
      if (rdata !== data) fail({20'd0, address}, rdata, data);
      @(negedge clk);
      rready = 0;
      checks = checks + 1;
    end
  endtask

  initial begin
    clk = 0; rst_n = 1; awvalid = 0; wvalid = 0; bready = 0; arvalid = 0; rready = 0; awaddr = 0; araddr = 0; wdata = 0; wstrb = 15;
    slot_state = 0; kernel_done = 0; error = 0; checks = 0; launches = 0;
    #1 rst_n = 0;
    #20 rst_n = 1;
    read(12'h000, 32'h534C4303, 0);
    read(12'h004, (16 | 4 << 9 | 8 << 13 | 2 << 19 | 64 << 22), 0);
    read(12'h044, 5120, 0);
    write(12'h044, 2048, 15, 0);     read(12'h044, 2048, 0);
    write(12'h044, 1023, 15, 0);     read(12'h044, 2048, 0);      // below its range
    read(12'h018, 32'h10, 0);        read(12'h01C, 32'h40, 0);    // BAD_CONFIG
    write(12'h018, 32'h7F, 15, 0);   read(12'h018, 0, 0);
    write(12'h044, 4096, 3, 2);      read(12'h044, 2048, 0);      // partial strobe
    write(12'h000, 1, 15, 2);                                     // read-only
    read(12'hFFC, 0, 2);
    write(12'h600, 1, 15, 2);                                     // a fifth kernel slot
    for (k = 0; k < 4; k = k + 1) begin
      write(12'h400 + 128 * k, 8 + k, 15, 0);
      write(12'h40C + 128 * k, 1000 * k + 1, 15, 0);
      write(12'h440 + 128 * k, 32'hFFFF0000 | (1 << k), 15, 0);
      read(12'h400 + 128 * k, 8 + k, 0);
      read(12'h440 + 128 * k, 1 << k, 0);                         // 16 SMs
      read(12'h444 + 128 * k, 0, 0);
      read(12'h41C + 128 * k, k + 1, 0);
    end
    write(12'h510, 32'h11, 15, 0);                                // LAUNCH and REPEAT of slot 2
    read(12'h510, 32'h10, 0);
    if (launches !== 1) fail(32'h510, launches, 1);
    slot_state = 8'h10;
    write(12'h500, 3, 15, 0);        read(12'h500, 10, 0);        // SLOT_BUSY
    read(12'h018, 32'h04, 0);        read(12'h01C, 32'h22, 0);
    write(12'h018, 32'h7F, 15, 0);
    write(12'h510, 32'h3, 15, 0);    read(12'h018, 32'h10, 0);    // two commands
    if (launches !== 1) fail(32'h510, launches, 1);
    write(12'h018, 32'h7F, 15, 0);   write(12'h020, 32'hF, 15, 0);
    write(12'h024, 32'h2, 15, 0);
    if (irq !== 0) fail(32'h020, {31'd0, irq}, 0);
    @(negedge clk) kernel_done = 4; @(negedge clk) kernel_done = 0;
    if (irq !== 1) fail(32'h020, {31'd0, irq}, 1);
    read(12'h028, 4, 0);             write(12'h020, 2, 15, 0);
    if (irq !== 0) fail(32'h020, {31'd0, irq}, 0);
    @(negedge clk) error = 1; @(negedge clk) error = 0;
    read(12'h018, 1, 0);             read(12'h01C, 32'h30902, 0);   // BAD_DONE: kernel 2, SM 9, slot 3
    $display("PASS: %0d checks", checks);
    $finish;
  end
endmodule
