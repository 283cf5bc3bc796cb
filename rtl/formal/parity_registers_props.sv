// SPDX-License-Identifier: Apache-2.0
// Properties of the registers with PARITY (docs/reference/blocks/parity.md): descriptors, quotas and masks of kernel slots, capacity and configuration,
// enabled SMs, the launch port's slots. With every option, at any inputs. Assumed, as axi_lite_subordinate is proven to do it: a write that acts was there in
// the cycle before (write_is_what_was_seen_before).
module parity_registers_props #(
  parameter int unsigned ANY = 0,
  parameter int unsigned M = 2,
  parameter int unsigned K = 2
) (
  input logic clk_i, input logic rst_ni,
  input logic [11:0] s_axi_awaddr_i, input logic s_axi_awvalid_i, input logic [31:0] s_axi_wdata_i, input logic [3:0] s_axi_wstrb_i,
  input logic s_axi_wvalid_i, input logic s_axi_bready_i, input logic [K-1:0] port_admit_i, input sluice_pkg::amounts_t port_demand_i,
  input logic [31:0] port_ctas_i, input logic [2:0] port_priority_i, input logic [K*2-1:0] slot_state_i, input logic [3:0] sequencer_state_i,
  input logic parity_error_i
);
  logic [K-1:0] bad_slots;
  logic [3:0]   bad_config;
  logic [6:0]   cap_warps;
  logic [16:0]  cap_registers;
  logic [17:0]  cap_shared;
  logic [5:0]   cap_slots;
  logic [2:0]   mode;
  logic [19:0]  warm_up;
  logic [15:0]  window, delay, loss_limit, monitor_window;
  logic [14:0]  epsilon, threshold;
  logic         monitor_enable;
  logic [7:0]   hold, drain_limit;
  logic [12:0]  share;
  logic [M-1:0] sm_enable;
  logic [K-1:0] port_slots, repeats;
  logic [K*7-1:0]  demand_warps;
  logic [K*17-1:0] demand_registers;
  logic [K*18-1:0] demand_shared;
  logic [K*32-1:0] grid;
  logic [K*3-1:0]  priorities;
  logic [K*6-1:0]  quota;
  logic [K*M-1:0]  mask;
  sluice_csr #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(4), .SM_ENABLE(1), .LAUNCH_QUEUE(1), .FLUSH(1), .PRIORITY(1), .PARITY(1)) dut (
    .clk_i, .rst_ni, .s_axi_awaddr_i, .s_axi_awvalid_i, .s_axi_wdata_i, .s_axi_wstrb_i, .s_axi_wvalid_i, .s_axi_bready_i, .s_axi_araddr_i('0),
    .s_axi_arvalid_i(1'b0), .s_axi_rready_i(1'b1), .port_admit_i, .port_demand_i, .port_ctas_i, .port_priority_i, .tags_i('0), .slot_state_i, .resident_i('0),
    .dispatched_i('0), .evict_done_i('0), .kernel_done_i('0), .num_present_i('0), .ctas_i('0), .sm_busy_i('0), .sequencer_state_i, .decision_i(1'b0),
    .spatial_i(1'b0), .no_fit_i(1'b0), .dropped_i(1'b0), .no_profile_i(1'b0), .error_i('0), .error_kernel_i('0), .error_sm_i('0), .parity_error_i,
    .parity_i('0), .mode_o(mode), .capacity_warps_o(cap_warps), .capacity_registers_o(cap_registers), .capacity_shared_o(cap_shared),
    .capacity_slots_o(cap_slots), .demand_warps_o(demand_warps), .demand_registers_o(demand_registers), .demand_shared_o(demand_shared), .grid_o(grid),
    .repeat_o(repeats), .priority_o(priorities), .quota_o(quota), .mask_o(mask), .warm_up_o(warm_up), .window_o(window), .delay_o(delay), .epsilon_o(epsilon),
    .loss_limit_o(loss_limit), .monitor_enable_o(monitor_enable), .monitor_threshold_o(threshold), .monitor_window_o(monitor_window),
    .monitor_hold_o(hold), .request_share_o(share), .drain_limit_o(drain_limit), .sm_enable_o(sm_enable), .port_slots_o(port_slots),
    .bad_slots_o(bad_slots), .bad_config_o(bad_config));
  (* hierconn *) wire [6:0] \dut.gen_slot[0].i_slot.gen_parity.i_parity_guard.parity_q ;
  (* hierconn *) wire       \dut.gen_slot[0].i_slot.waits_q , \dut.gen_sms.i_sms.gen_parity.i_parity_guard.parity_q ;
  (* hierconn *) wire       \dut.gen_port.gen_parity.i_parity_guard.parity_q ;
  (* hierconn *) wire [14:0] \dut.i_config.gen_parity.i_parity_guard.parity_q ;
  (* hierconn *) wire [7:0] \dut.i_status.error_q ;

  (* hierconn *) wire        \dut.write ;
  (* hierconn *) wire [11:0] \dut.waddr ;
  (* hierconn *) wire [31:0] \dut.wdata ;

  logic         started, was_up, error_q;
  logic [11:0]  waddr_q;
  logic [31:0]  wdata_q;
  logic [6:0]   p, slot_odd;
  logic [14:0]  c, config_odd;
  logic [7*32-1:0]  slot_words;
  logic [15*20-1:0] config_words;
  assign p            = \dut.gen_slot[0].i_slot.gen_parity.i_parity_guard.parity_q ;
  assign c            = \dut.i_config.gen_parity.i_parity_guard.parity_q ;
  assign slot_words   = {32'(mask[M-1:0]), 32'(quota[5:0]), 32'({priorities[2:0], repeats[0], \dut.gen_slot[0].i_slot.waits_q }), grid[31:0],
                         32'(demand_shared[17:0]), 32'(demand_registers[16:0]), 32'(demand_warps[6:0])};
  assign config_words = {20'({threshold, monitor_enable}), 20'(drain_limit), 20'(share), 20'(hold), 20'(monitor_window), 20'(loss_limit), 20'(epsilon),
                         20'(delay), 20'(window), 20'(warm_up), 20'(mode), 20'(cap_slots), 20'(cap_shared), 20'(cap_registers), 20'(cap_warps)};
  always_comb begin
    for (int unsigned w = 0; w < 7; w++)  slot_odd[w]   = ^{slot_words[w*32 +: 32], p[w]};
    for (int unsigned w = 0; w < 15; w++) config_odd[w] = ^{config_words[w*20 +: 20], c[w]};
  end
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    was_up  <= rst_ni;
    error_q <= parity_error_i;
    waddr_q <= \dut.waddr ;
    wdata_q <= \dut.wdata ;
  end
  always_comb begin
    if (!started && ANY == 0) assume (!rst_ni);
    if (started && \dut.write ) assume (\dut.waddr == waddr_q && \dut.wdata == wdata_q);
    if (ANY == 0) registers_agree_without_a_flip: assert (bad_slots == '0 && bad_config == '0);
    if (ANY != 0) every_bit_of_a_descriptor_counts: assert (bad_slots[0] == (slot_odd != '0));
    if (ANY != 0) every_bit_of_the_configuration_counts: assert (bad_config
      == {^{port_slots, \dut.gen_port.gen_parity.i_parity_guard.parity_q },
         ^{sm_enable, \dut.gen_sms.i_sms.gen_parity.i_parity_guard.parity_q }, config_odd[14:4] != '0, config_odd[3:0] != '0});
    if (started && rst_ni && was_up && error_q) a_parity_error_is_kept: assert (\dut.i_status.error_q [7]);
  end
endmodule
