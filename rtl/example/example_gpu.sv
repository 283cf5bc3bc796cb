// SPDX-License-Identifier: Apache-2.0
// example_gpu: a small GPU with sluice_top at its dispatch boundary (docs/reference/blocks/example_gpu.md): SMs of
// 8-lane warps, a program memory that all of them read, and one shared memory. It is what an integrator reads to see
// how the ports of the unit are meant.
module example_gpu #(
  parameter int unsigned NUM_SM          = 4,
  parameter int unsigned MAX_KERNELS     = 2,
  parameter int unsigned WARPS           = 8,     // of an SM; also its CTA slots
  parameter int unsigned LINES           = 1024,   // of the shared memory
  parameter int unsigned MEMORY_LATENCY  = 40,
  parameter int unsigned MEMORY_INTERVAL = 8
) (
  input  logic                                      clk_i,
  input  logic                                      rst_ni,
  input  logic [11:0]                               s_axi_awaddr_i,
  input  logic                                      s_axi_awvalid_i,
  output logic                                      s_axi_awready_o,
  input  logic [31:0]                               s_axi_wdata_i,
  input  logic [3:0]                                s_axi_wstrb_i,
  input  logic                                      s_axi_wvalid_i,
  output logic                                      s_axi_wready_o,
  output logic [1:0]                                s_axi_bresp_o,
  output logic                                      s_axi_bvalid_o,
  input  logic                                      s_axi_bready_i,
  input  logic [11:0]                               s_axi_araddr_i,
  input  logic                                      s_axi_arvalid_i,
  output logic                                      s_axi_arready_o,
  output logic [31:0]                               s_axi_rdata_o,
  output logic [1:0]                                s_axi_rresp_o,
  output logic                                      s_axi_rvalid_o,
  input  logic                                      s_axi_rready_i,
  output logic                                      irq_o,
  output logic                                      idle_o,
  input  logic                                      launch_valid_i,   // a front end launches a program with an entry_i
  output logic                                      launch_ready_o,
  input  logic [example_pkg::WarpW-1:0]             launch_warps_i,   // of one CTA
  input  logic [sluice_pkg::SharedW-1:0]            launch_shared_i,
  input  logic [sluice_pkg::GridW-1:0]              launch_ctas_i,
  output logic                                      launched_valid_o, // the launch got this kernel slot
  output logic [sluice_pkg::KIndexW-1:0]            launched_kernel_o,
  output logic [MAX_KERNELS-1:0]                    kernel_done_o,
  input  logic [MAX_KERNELS*example_pkg::PcW-1:0]   entry_i,          // first instruction of each kernel slot's program
  input  logic [MAX_KERNELS*example_pkg::WarpW-1:0] cta_warps_i,      // warps of one CTA of each kernel slot
  input  logic                                      host_write_i,
  input  logic                                      host_program_i,   // into the program, else into the shared memory
  input  logic [15:0]                               host_address_i,   // words
  input  logic [31:0]                               host_data_i,
  output logic [31:0]                               host_data_o,      // of the shared memory
  output logic                                      illegal_o         // sticky: no such instruction or address
);
  localparam int unsigned Lanes   = example_pkg::Lanes;
  localparam int unsigned LineW   = example_pkg::LineW;
  localparam int unsigned PcW     = example_pkg::PcW;
  localparam int unsigned CountW  = example_pkg::WarpW;
  localparam int unsigned SmW     = sluice_pkg::SmW;
  localparam int unsigned SlotW   = sluice_pkg::SlotW;
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned TagW    = sluice_pkg::TagW;
  localparam int unsigned IndexW  = $clog2(WARPS);
  localparam int unsigned LineAW  = $clog2(LINES);

  logic                         dispatch_valid, done_valid;
  logic [SmW-1:0]               dispatch_sm, done_sm;
  logic [KIndexW-1:0]           dispatch_kernel;
  logic [SlotW-1:0]             dispatch_slot, done_slot;
  logic [sluice_pkg::GridW-1:0] dispatch_cta;
  logic [NUM_SM-1:0]            issue_valid, request_taken;
  logic [NUM_SM*KIndexW-1:0]    issue_kernel;

  logic [NUM_SM-1:0]            start_ready;
  logic                             flush_valid;
  logic [KIndexW-1:0]               flush_kernel, done_kernel;
  logic [TagW-1:0]                  dispatch_tag, flush_tag, done_tag;
  // For grids of several dimensions, contiguous regions, and traces.
  logic                             refused, flushed;
  logic [sluice_pkg::GridW-1:0]     place_x;
  logic [sluice_pkg::BlockW-1:0]    place_y, place_z;
  logic [sluice_pkg::ContextW-1:0]  kernel_context;
  logic [sluice_pkg::PriorityW-1:0] kernel_priority;
  logic [sluice_pkg::RegW-1:0]    register_base;
  logic [sluice_pkg::SharedW-1:0] shared_base;
  logic                           region_valid;
  logic                           profile_window, profile_valid;
  logic [sluice_pkg::KernelW-1:0] profile_kernel;
  logic [sluice_pkg::CtaW-1:0]    profile_ctas;
  logic [sluice_pkg::ScaledW-1:0] profile_scaled;
  logic                           unused_here;
  assign unused_here = ^{refused, flushed, place_x, place_y, place_z, kernel_context, kernel_priority,
                         register_base, shared_base, region_valid, profile_window, profile_valid, profile_kernel,
                         profile_ctas, profile_scaled};

  sluice_top #(
    .NUM_SM       (NUM_SM),
    .MAX_KERNELS  (MAX_KERNELS),
    .MAX_CTAS     (WARPS),
    .NUM_SCHED    (1),
    .REGION_UNITS (0),
    .SM_ENABLE    (1),
    .SM_READY     (1),
    .LAUNCH_QUEUE (2),
    .FLUSH        (1)
  ) i_sluice_top (
    .clk_i,
    .rst_ni,
    .tag_rst_ni               (rst_ni),   // the SMs are reset with the unit
    .s_axi_awaddr_i,
    .s_axi_awvalid_i,
    .s_axi_awready_o,
    .s_axi_wdata_i,
    .s_axi_wstrb_i,
    .s_axi_wvalid_i,
    .s_axi_wready_o,
    .s_axi_bresp_o,
    .s_axi_bvalid_o,
    .s_axi_bready_i,
    .s_axi_araddr_i,
    .s_axi_arvalid_i,
    .s_axi_arready_o,
    .s_axi_rdata_o,
    .s_axi_rresp_o,
    .s_axi_rvalid_o,
    .s_axi_rready_i,
    .irq_o,
    .launch_valid_i,
    .launch_ready_o,
    .launch_warps_i           (sluice_pkg::WarpW'(launch_warps_i)),
    .launch_registers_i       (sluice_pkg::RegW'(launch_warps_i) << 8),   // 32 of each lane
    .launch_shared_i,
    .launch_ctas_i,
    .launch_size_x_i          ('1),   // a grid of one dimension
    .launch_size_y_i          (sluice_pkg::BlockW'(1)),
    .launch_start_x_i         ('0),
    .launch_start_y_i         ('0),
    .launch_start_z_i         ('0),
    .launch_context_i         ('0),
    .launch_priority_i        ('0),
    .launched_valid_o,
    .launched_kernel_o,
    .launched_refused_o       (refused),
    .launched_flushed_o       (flushed),
    .kernel_done_o,
    .issue_valid_i            (issue_valid),
    .issue_kernel_i           (issue_kernel),
    .request_i                (request_taken),
    .sm_ready_i               (start_ready),
    .dispatch_valid_o         (dispatch_valid),
    .dispatch_ready_i         (1'b1),
    .dispatch_sm_o            (dispatch_sm),
    .dispatch_kernel_o        (dispatch_kernel),
    .dispatch_slot_o          (dispatch_slot),
    .dispatch_cta_o           (dispatch_cta),
    .dispatch_x_o             (place_x),
    .dispatch_y_o             (place_y),
    .dispatch_z_o             (place_z),
    .dispatch_context_o       (kernel_context),
    .dispatch_priority_o      (kernel_priority),
    .dispatch_register_base_o (register_base),
    .dispatch_shared_base_o   (shared_base),
    .dispatch_region_valid_o  (region_valid),
    .done_valid_i             (done_valid),
    .done_sm_i                (done_sm),
    .done_slot_i              (done_slot),
    .done_kernel_i            (done_kernel),
    .done_tag_i               (done_tag),
    .dispatch_tag_o           (dispatch_tag),
    .flush_valid_o            (flush_valid),
    .flush_kernel_o           (flush_kernel),
    .flush_tag_o              (flush_tag),
    .profile_window_o         (profile_window),
    .profile_valid_o          (profile_valid),
    .profile_kernel_o         (profile_kernel),
    .profile_ctas_o           (profile_ctas),
    .profile_scaled_o         (profile_scaled),
    .idle_o
  );

  // A CTA goes to the SM that the unit names, with what the SM has to know about its kernel. That SM has said that it
  // is ready: it takes the CTA at once.
  logic [CountW-1:0] start_warps;
  logic [PcW-1:0]    start_entry;
  always_comb begin
    start_warps = '0;
    start_entry = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (dispatch_kernel == KIndexW'(k)) begin
        start_warps = cta_warps_i[k*CountW +: CountW];
        start_entry = entry_i[k*PcW +: PcW];
      end
  end

  // The done port takes one CTA a cycle; the other SMs wait.
  logic [NUM_SM-1:0]       done_valids, done_grant;
  logic [NUM_SM*SlotW-1:0] done_slots;
  logic [NUM_SM*KIndexW-1:0] done_kernels;
  logic [NUM_SM*TagW-1:0]  done_tags;
  rr_arbiter #(.N(NUM_SM)) i_done_arbiter (
    .clk_i,
    .rst_ni,
    .request_i (done_valids),
    .grant_o   (done_grant),
    .used_i    (done_grant)
  );
  assign done_valid = done_grant != '0;
  always_comb begin
    done_sm     = '0;
    done_slot   = '0;
    done_kernel = '0;
    done_tag    = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (done_grant[m]) begin
        done_sm     = SmW'(m);
        done_slot   = done_slots[m*SlotW +: SlotW];
        done_kernel = done_kernels[m*KIndexW +: KIndexW];
        done_tag    = done_tags[m*TagW +: TagW];
      end
  end

  logic [31:0]               program_q [1<<PcW];
  logic [NUM_SM-1:0]         request_valid, request_write, answer_valid, illegal;
  logic [NUM_SM*IndexW-1:0]  request_warp;
  logic [NUM_SM*LineAW-1:0]  request_line;
  logic [NUM_SM*Lanes-1:0]   request_mask;
  logic [NUM_SM*LineW-1:0]   request_data;
  logic [IndexW-1:0]         answer_warp;
  logic [LineW-1:0]          answer_data;
  for (genvar m = 0; m < NUM_SM; m++) begin : gen_sm
    logic [PcW-1:0] fetch_pc;
    example_sm #(
      .WARPS (WARPS),
      .LINES (LINES)
    ) i_example_sm (
      .clk_i,
      .rst_ni,
      .start_valid_i   (dispatch_valid && dispatch_sm == SmW'(m)),
      .start_ready_o   (start_ready[m]),
      .start_slot_i    (dispatch_slot),
      .start_kernel_i  (dispatch_kernel),
      .start_tag_i     (dispatch_tag),
      .start_cta_i     (dispatch_cta),
      .start_warps_i   (start_warps),
      .start_entry_i   (start_entry),
      .flush_valid_i   (flush_valid),
      .flush_kernel_i  (flush_kernel),
      .flush_tag_i     (flush_tag),
      .done_valid_o    (done_valids[m]),
      .done_ready_i    (done_grant[m]),
      .done_slot_o     (done_slots[m*SlotW +: SlotW]),
      .done_kernel_o   (done_kernels[m*KIndexW +: KIndexW]),
      .done_tag_o      (done_tags[m*TagW +: TagW]),
      .issue_valid_o   (issue_valid[m]),
      .issue_kernel_o  (issue_kernel[m*KIndexW +: KIndexW]),
      .fetch_pc_o      (fetch_pc),
      .fetch_inst_i    (program_q[fetch_pc]),
      .request_valid_o (request_valid[m]),
      .request_ready_i (request_taken[m]),
      .request_write_o (request_write[m]),
      .request_warp_o  (request_warp[m*IndexW +: IndexW]),
      .request_line_o  (request_line[m*LineAW +: LineAW]),
      .request_mask_o  (request_mask[m*Lanes +: Lanes]),
      .request_data_o  (request_data[m*LineW +: LineW]),
      .answer_valid_i  (answer_valid[m]),
      .answer_warp_i   (answer_warp),
      .answer_data_i   (answer_data),
      .illegal_o       (illegal[m])
    );
  end

  example_memory #(
    .NUM_SM   (NUM_SM),
    .WARPS    (WARPS),
    .LINES    (LINES),
    .LATENCY  (MEMORY_LATENCY),
    .INTERVAL (MEMORY_INTERVAL)
  ) i_example_memory (
    .clk_i,
    .rst_ni,
    .request_valid_i (request_valid),
    .request_ready_o (request_taken),
    .request_write_i (request_write),
    .request_warp_i  (request_warp),
    .request_line_i  (request_line),
    .request_mask_i  (request_mask),
    .request_data_i  (request_data),
    .answer_valid_o  (answer_valid),
    .answer_warp_o   (answer_warp),
    .answer_data_o   (answer_data),
    .host_write_i    (host_write_i && !host_program_i),
    .host_address_i  (host_address_i[LineAW+2:0]),
    .host_data_i,
    .host_data_o
  );

  always_ff @(posedge clk_i)   // memory: no reset
    if (host_write_i && host_program_i) program_q[host_address_i[PcW-1:0]] <= host_data_i;

  logic illegal_q, unused_address_bits;
  assign unused_address_bits = ^host_address_i;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) illegal_q <= 1'b0;
    else         illegal_q <= illegal_q || illegal != '0;
  assign illegal_o = illegal_q;
endmodule
