// SPDX-License-Identifier: Apache-2.0
// cta_ends: how CTAs end: the SM reports it, or, with FLUSH, the CTA is given up (flush_unit). Without FLUSH reports go
// through as they are.
module cta_ends #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned FLUSH       = 0    // as cta_dispatcher's
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  input  logic                                         tag_rst_ni,
  input  logic [MAX_KERNELS-1:0]                       flush_i,
  input  logic [MAX_KERNELS*2-1:0]                     slot_state_i,
  input  logic [MAX_KERNELS-1:0]                       port_kernel_i,   // whose CTA is at the port: one-hot, or 0
  input  logic [NUM_SM*MAX_CTAS*(1+$clog2(MAX_KERNELS))-1:0] slots_i,   // as sm_resource_table has them
  input  logic                                         done_valid_i,
  input  logic [sluice_pkg::SmW-1:0]                   done_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]                 done_slot_i,
  input  logic [sluice_pkg::KIndexW-1:0]               done_kernel_i,
  input  logic [sluice_pkg::TagW-1:0]                  done_tag_i,
  output logic                                         end_valid_o,     // the CTA in this slot ends
  output logic [sluice_pkg::SmW-1:0]                   end_sm_o,
  output logic [sluice_pkg::SlotW-1:0]                 end_slot_o,
  output logic                                         giving_up_o,     // as cta_dispatcher's
  output logic [sluice_pkg::SmW-1:0]                   giving_sm_o,
  output logic [sluice_pkg::SlotW-1:0]                 giving_slot_o,
  output logic                                         take_back_o,     // the CTA at the port is taken back
  output logic [sluice_pkg::TagW-1:0]                  dispatch_tag_o,
  output logic                                         flush_valid_o,
  output logic [sluice_pkg::KIndexW-1:0]               flush_kernel_o,
  output logic [sluice_pkg::TagW-1:0]                  flush_tag_o,
  output logic                                         busy_o           // a flush is under way
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("cta_ends: size out of range");
  localparam int unsigned K    = MAX_KERNELS;
  localparam int unsigned TagW = sluice_pkg::TagW;

  if (FLUSH != 0) begin : gen_flush
    logic [K*TagW-1:0] tags;
    logic [K-1:0]      slot_free;
    always_comb begin
      dispatch_tag_o = '0;
      for (int unsigned k = 0; k < K; k++) begin
        slot_free[k] = slot_state_i[k*2 +: 2] == sluice_pkg::SlotFree;
        if (port_kernel_i[k]) dispatch_tag_o |= tags[k*TagW +: TagW];
      end
    end
    flush_unit #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .PORT_WAIT(FLUSH)) i_flush_unit (
      .clk_i,
      .rst_ni,
      .tag_rst_ni,
      .flush_i,
      .slot_free_i   (slot_free),
      .port_kernel_i,
      .slots_i,
      .done_valid_i,
      .done_sm_i,
      .done_slot_i,
      .done_kernel_i,
      .done_tag_i,
      .end_valid_o,
      .end_sm_o,
      .end_slot_o,
      .giving_up_o,
      .giving_sm_o,
      .giving_slot_o,
      .take_back_o,
      .tags_o        (tags),
      .flush_valid_o,
      .flush_kernel_o,
      .flush_tag_o,
      .busy_o
    );
  end else begin : gen_no_flush
    assign {end_valid_o, end_sm_o, end_slot_o} = {done_valid_i, done_sm_i, done_slot_i};
    assign {busy_o, take_back_o, dispatch_tag_o, flush_valid_o, flush_kernel_o, flush_tag_o, giving_up_o, giving_sm_o,
        giving_slot_o} = '0;
    logic unused_flush;
    assign unused_flush = ^{clk_i, rst_ni, tag_rst_ni, flush_i, slot_state_i, port_kernel_i, slots_i, done_kernel_i,
        done_tag_i};
  end
endmodule
