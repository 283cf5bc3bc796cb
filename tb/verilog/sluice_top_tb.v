// SPDX-License-Identifier: Apache-2.0
// parameters: -GNUM_SM=2 -GMAX_KERNELS=2 -GMAX_CTAS=4 -GNUM_SCHED=1 -GREGION_UNITS=16
// Self-checking bench in plain Verilog-2005 of what rtl/to_verilog.sh makes of sluice_top, at its smallest: quotas and masks in STATIC, every
// slot and CTA index, the first dispatch, a whole decision in DYNAMIC, an illegal end of a CTA, eviction, draining. Ends with PASS and the
// number of checks, or with the first mismatch.
`timescale 1ns / 1ps
module sluice_top_tb;
  reg         clk, rst_n;
  reg  [11:0] awaddr, araddr;
  reg         awvalid, wvalid, bready, arvalid, rready;
  reg  [31:0] wdata, got;
  wire        awready, wready, bvalid, arready, rvalid, irq;
  wire [1:0]  bresp, rresp;
  wire [31:0] rdata;
  reg  [1:0]  issue, request;
  reg  [5:0]  issue_kernel;
  wire        dispatch_valid;
  wire [7:0]  dispatch_sm;
  wire [2:0]  dispatch_kernel;
  wire [4:0]  dispatch_slot;
  wire [31:0] dispatch_cta;
  wire [16:0] register_base;
  wire [17:0] shared_base;
  reg         done_valid;
  reg  [7:0]  done_sm;
  reg  [4:0]  done_slot;

  sluice_top dut (
    .clk_i(clk), .rst_ni(rst_n), .tag_rst_ni(rst_n),
    .s_axi_awaddr_i(awaddr), .s_axi_awvalid_i(awvalid), .s_axi_awready_o(awready),
    .s_axi_wdata_i(wdata), .s_axi_wstrb_i(4'hF), .s_axi_wvalid_i(wvalid), .s_axi_wready_o(wready),
    .s_axi_bresp_o(bresp), .s_axi_bvalid_o(bvalid), .s_axi_bready_i(bready),
    .s_axi_araddr_i(araddr), .s_axi_arvalid_i(arvalid), .s_axi_arready_o(arready),
    .s_axi_rdata_o(rdata), .s_axi_rresp_o(rresp), .s_axi_rvalid_o(rvalid), .s_axi_rready_i(rready),
    .irq_o(irq), .issue_valid_i(issue), .issue_kernel_i(issue_kernel), .request_i(request),
    .sm_ready_i(2'b0), .dispatch_valid_o(dispatch_valid), .dispatch_ready_i(1'b1), .dispatch_sm_o(dispatch_sm),
    .dispatch_kernel_o(dispatch_kernel), .dispatch_slot_o(dispatch_slot), .dispatch_cta_o(dispatch_cta),
    .dispatch_register_base_o(register_base), .dispatch_shared_base_o(shared_base),
    .done_valid_i(done_valid), .done_sm_i(done_sm), .done_slot_i(done_slot)
  );

  always #5 clk = !clk;

  // The SMs: slot s of SM m is entry 4 * m + s.
  reg         held [0:7];
  reg         owner [0:7];
  integer     left [0:7];              // cycles until its CTA ends
  integer     next_cta [0:1], resident [0:3], quota [0:1];   // resident: 2 * SM + kernel
  integer     life, checks, waited, i, j, n, total;
  reg         check_quota, hold_ends, bad_end;
  reg  [15:0] random;

  task fail;
    input [31:0] where, value, want;
    begin
      $display("FAIL at %0t: %h: %h instead of %h", $time, where, value, want);
      $finish;
    end
  endtask

  always @(negedge clk) if (rst_n) begin
    random = {random[14:0], random[15] ^ random[13] ^ random[12] ^ random[10]};
    // An end is reported for one CTA a cycle; what starts in this cycle was stable before the edge that it is taken at.
    done_valid = 0;
    for (j = 0; j < 8; j = j + 1) begin
      if (held[j] && left[j] > 0) left[j] = left[j] - 1;
      if (held[j] && left[j] == 0 && !done_valid && !hold_ends) begin
        done_valid = 1; done_sm = j / 4; done_slot = j % 4;
        held[j] = 0;
        resident[2 * (j / 4) + owner[j]] = resident[2 * (j / 4) + owner[j]] - 1;
      end
    end
    if (bad_end) begin done_valid = 1; done_sm = 1; done_slot = 17; bad_end = 0; end
    if (dispatch_valid) begin
      j = 4 * dispatch_sm + dispatch_slot;
      if (dispatch_sm > 1 || dispatch_slot > 3) fail(1, dispatch_sm, dispatch_slot);
      if (held[j] || (done_valid && done_sm == dispatch_sm && done_slot == dispatch_slot)) fail(2, j, 0);   // slot given twice
      if (dispatch_cta !== next_cta[dispatch_kernel]) fail(3, dispatch_cta, next_cta[dispatch_kernel]);
      next_cta[dispatch_kernel] = next_cta[dispatch_kernel] + 1;
      held[j] = 1;
      owner[j] = dispatch_kernel;
      left[j] = life + (random & 15);
      n = 2 * dispatch_sm + dispatch_kernel;
      resident[n] = resident[n] + 1;
      if (check_quota && resident[n] > quota[dispatch_kernel]) fail(4, resident[n], quota[dispatch_kernel]);
      checks = checks + 1;
    end
    // Kernel 0 issues n / 4 of the time with n CTAs, kernel 1 half of the time with any.
    for (n = 0; n < 2; n = n + 1) begin
      if (resident[2 * n] > 0 && (random[1:0] < resident[2 * n])) begin issue[n] = 1; issue_kernel[3 * n +: 3] = 0; end
      else begin issue[n] = resident[2 * n] == 0 && resident[2 * n + 1] > 0 && random[4]; issue_kernel[3 * n +: 3] = 1; end
    end
  end

  task write;
    input [11:0] address;
    input [31:0] data;
    begin
      @(negedge clk);
      awaddr = address; awvalid = 1; wdata = data; wvalid = 1; bready = 1;
      @(negedge clk);
      awvalid = 0; wvalid = 0;
      while (!bvalid) @(negedge clk);
      if (bresp !== 0) fail(address, bresp, 0);
      checks = checks + 1;
    end
  endtask

  task read;
    input [11:0] address;
    begin
      @(negedge clk);
      bready = 0; araddr = address; arvalid = 1; rready = 1;
      @(negedge clk);
      arvalid = 0;
      while (!rvalid) @(negedge clk);
      if (rresp !== 0) fail(address, rresp, 0);
      got = rdata;
      @(negedge clk);
      rready = 0;
    end
  endtask

  task expect_read;
    input [11:0] address;
    input [31:0] want;
    begin
      read(address);
      if (got !== want) fail(address, got, want);
      checks = checks + 1;
    end
  endtask

  // All of kernel slot k, then LAUNCH with REPEAT.
  task launch;
    input integer k, warps, registers, grid;
    begin
      write(12'h400 + 128 * k, warps);
      write(12'h404 + 128 * k, registers);
      write(12'h408 + 128 * k, 0);
      write(12'h40C + 128 * k, grid);
      next_cta[k] = 0;
      write(12'h410 + 128 * k, 32'h11);
    end
  endtask

  initial begin
    clk = 0; rst_n = 1; awvalid = 0; wvalid = 0; bready = 0; arvalid = 0; rready = 0; awaddr = 0; araddr = 0; wdata = 0;
    issue = 0; request = 0; issue_kernel = 0; done_valid = 0; done_sm = 0; done_slot = 0; checks = 0; random = 16'hACE1; life = 20;
    check_quota = 0; hold_ends = 0; bad_end = 0;
    for (i = 0; i < 8; i = i + 1) begin held[i] = 0; owner[i] = 0; left[i] = 0; end
    for (i = 0; i < 4; i = i + 1) resident[i] = 0;
    for (i = 0; i < 2; i = i + 1) begin next_cta[i] = 0; quota[i] = 4; end
    #1 rst_n = 0;
    #20 rst_n = 1;
    expect_read(12'h000, 32'h534C4303);
    write(12'h030, 8); write(12'h034, 8192); write(12'h038, 8192); write(12'h03C, 4);
    write(12'h044, 1024); write(12'h040, 100);                    // WINDOW, WARM_UP

    // STATIC: two of kernel 0 on both SMs, one of kernel 1 on SM 1.
    write(12'h420, 2); write(12'h440, 3); write(12'h4A0, 1); write(12'h4C0, 2);
    write(12'h008, 4);
    quota[0] = 2; quota[1] = 1; check_quota = 1;
    launch(0, 1, 256, 100000);
    waited = 0;
    while (!dispatch_valid) begin @(negedge clk); waited = waited + 1; end
    if (waited > 3) fail(12'h410, waited, 3);
    launch(1, 2, 512, 100000);
    repeat (400) begin
      @(posedge clk);
      if (resident[1] != 0) fail(12'h4C0, resident[1], 0);        // kernel 1 is not allowed on SM 0
    end
    if (resident[0] + resident[2] < 3) fail(12'h420, resident[0] + resident[2], 4);

    // EVICT two of kernel 0, RESUME.
    check_quota = 0;
    write(12'h410, 32'h0002_0004);
    repeat (100) @(negedge clk);
    read(12'h02C);
    if (got !== 1) fail(12'h02C, got, 1);
    i = next_cta[0];
    repeat (100) @(negedge clk);
    if (next_cta[0] !== i) fail(12'h410, next_cta[0], i);         // nothing refilled
    write(12'h410, 32'h8);
    repeat (50) @(negedge clk);
    if (next_cta[0] == i) fail(12'h410, next_cta[0], i + 1);

    // An end of a CTA that was never there.
    expect_read(12'h018, 0);
    bad_end = 1;
    repeat (4) @(negedge clk);
    expect_read(12'h018, 1);
    write(12'h018, 32'h7F);
    expect_read(12'h018, 0);

    // DYNAMIC: kernel 0 gains by every CTA, kernel 1 by its first alone: 3 and 1. Four windows, since each kernel has one SM.
    write(12'h024, 8);
    write(12'h008, 5);
    waited = 0;
    while (!irq && waited < 20000) begin @(negedge clk); waited = waited + 1; end
    if (!irq) fail(12'h020, 0, 8);
    expect_read(12'h014, 1);
    expect_read(12'h424, 3);
    expect_read(12'h4A4, 1);
    repeat (300) @(negedge clk);
    quota[0] = 3; quota[1] = 1; check_quota = 1;
    repeat (1000) @(negedge clk);
    total = 0; waited = 0;                                        // a CTA that ends is replaced some cycles later
    repeat (64) begin
      @(posedge clk);
      if (resident[1] == 1) total = 1;
      if (resident[3] == 1) waited = 1;
    end
    if (!total || !waited) fail(12'h4A4, resident[1], 1);
    check_quota = 0;

    // Both stop: everything comes back.
    write(12'h410, 2); write(12'h490, 2);
    repeat (200) @(negedge clk);
    expect_read(12'h414, 0);
    expect_read(12'h494, 0);
    total = 0;
    for (i = 0; i < 8; i = i + 1) total = total + held[i];
    if (total != 0) fail(12'h414, total, 0);
    expect_read(12'h018, 0);
    $display("PASS: %0d checks", checks);
    $finish;
  end
endmodule
