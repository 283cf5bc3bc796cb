// SPDX-License-Identifier: Apache-2.0
// Properties of PARITY (docs/reference/blocks/parity.md): a module for each block with guards, at any inputs. Three claims make the promise. A guard
// tells any one bit of a word or parity that turned over, in that cycle (parity_guard_props). What a block's guards tell is the parity of the registers
// themselves, of each bit of them, in any state at all (ANY = 1: every_bit_...). And they agree for as long as none turns over (..._agree_without_a_flip).

// Two guards in any one state but for one bit, of a word (flip_i) or of a parity (flip_parity_i): the word that it is of disagrees, if it means something.
module parity_guard_props #(
  parameter int unsigned WORDS = 3,
  parameter int unsigned W     = 8
) (
  input logic clk_i, input logic rst_ni,
  input logic [WORDS-1:0] write_i, input logic [WORDS-1:0] parity_i, input logic [WORDS*W-1:0] word_i, input logic [WORDS-1:0] live_i,
  input logic [WORDS*W-1:0] flip_i, input logic [WORDS-1:0] flip_parity_i
);
  logic [WORDS-1:0] bad, upset_bad;
  parity_guard #(.WORDS(WORDS), .W(W)) dut (.clk_i, .rst_ni, .write_i, .parity_i, .word_i, .live_i, .bad_o(bad));
  parity_guard #(.WORDS(WORDS), .W(W)) upset (.clk_i, .rst_ni, .write_i, .parity_i, .word_i(word_i ^ flip_i), .live_i, .bad_o(upset_bad));
  (* hierconn *) wire [WORDS-1:0] \dut.parity_q , \upset.parity_q ;

  logic [WORDS*W+WORDS-1:0] flip;
  logic [WORDS-1:0]         of, kept_q;
  logic                     started;
  assign flip = {flip_i, flip_parity_i};
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    for (int unsigned w = 0; w < WORDS; w++) kept_q[w] <= write_i[w] ? parity_i[w] : \dut.parity_q [w];
  end
  always_comb begin
    assume (rst_ni && (flip & (flip - 1'b1)) == '0 && flip != '0);
    if (!started) assume (\upset.parity_q == (\dut.parity_q ^ flip_parity_i) && bad == '0);
    for (int unsigned w = 0; w < WORDS; w++) of[w] = live_i[w] && (flip_parity_i[w] || flip_i[w*W +: W] != '0);
    if (!started) a_flip_is_seen_in_its_cycle: assert (upset_bad == of);
    if (started)  a_parity_is_of_what_was_written_last: assert (\dut.parity_q == kept_q);
  end
endmodule

// CTA slots and amounts of every SM.
module parity_rows_props #(
  parameter int unsigned ANY = 0,
  parameter int unsigned M = 2,
  parameter int unsigned K = 2,
  parameter int unsigned N = 3
) (
  input logic clk_i, input logic rst_ni,
  input sluice_pkg::amounts_t capacity_i, input logic [sluice_pkg::CtaW-1:0] capacity_slots_i, input logic none_i,
  input logic [K*sluice_pkg::AmountW-1:0] demand_i,
  input logic admit_i, input logic [M-1:0] admit_sm_i, input logic [K-1:0] admit_kernel_i,
  input logic count_i, input logic count_first_i, input logic [K-1:0] count_kernel_i,
  input logic done_valid_i, input logic [sluice_pkg::SmW-1:0] done_sm_i, input logic [sluice_pkg::SlotW-1:0] done_slot_i, input logic [N-1:0] wait_slot_i
);
  localparam int unsigned A = sluice_pkg::AmountW, S = 2 * N;
  logic [M-1:0] bad_slots, bad_amounts, charged_sm;
  sm_resource_table #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(N), .PARITY(1)) dut (
    .clk_i, .rst_ni, .capacity_i, .capacity_slots_i, .none_i, .demand_i, .admit_i, .admit_sm_i, .admit_kernel_i, .admit_quota_i('0), .count_i, .count_first_i,
    .count_kernel_i, .look_sm_i('0), .eval_i(1'b0), .eval_sm_i('0), .eval_slots_sm_i('0), .eval_quota_i('0), .done_valid_i, .done_sm_i, .done_slot_i,
    .wait_slot_i, .charged_sm_o(charged_sm), .bad_slots_o(bad_slots), .bad_amounts_o(bad_amounts));
  (* hierconn *) wire [M*A-1:0] \dut.amounts ;
  (* hierconn *) wire [M*S-1:0] \dut.slots ;
  (* hierconn *) wire [M-1:0]   \dut.written_q ;
  (* hierconn *) wire [2:0]     \dut.gen_row[0].i_row.gen_parity.i_parity_guard.parity_q , \dut.gen_row[1].i_row.gen_parity.i_parity_guard.parity_q ;

  logic           started;
  logic [M*3-1:0] parity;
  logic [N-1:0]   used, kernels;   // kernels of used slots
  logic [M-1:0]   slots, amounts;
  logic           was_up, none_q;
  always_ff @(posedge clk_i) {was_up, none_q} <= {rst_ni, none_i};
  assign parity = {\dut.gen_row[1].i_row.gen_parity.i_parity_guard.parity_q , \dut.gen_row[0].i_row.gen_parity.i_parity_guard.parity_q };
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb begin
    used    = '0;
    kernels = '0;
    if (!started && ANY == 0) assume (!rst_ni);
    assume ((admit_sm_i & (admit_sm_i - 1'b1)) == '0);   // one-hot, or 0
    if (ANY == 0) rows_agree_without_a_flip: assert ({bad_slots, bad_amounts} == '0);
    for (int unsigned m = 0; m < M; m++) begin
      used       = \dut.slots [m*S +: N];
      kernels    = \dut.slots [m*S + N +: N] & used;
      slots[m]   = ^{A'({\dut.written_q [m], used}), parity[3*m]} || ^{A'(kernels), parity[3*m+1]};
      amounts[m] = \dut.written_q [m] && ^{\dut.amounts [m*A +: A], parity[3*m+2]};
    end
    if (ANY != 0) every_bit_of_the_slots_counts: assert (bad_slots == slots);
    if (ANY != 0) every_bit_of_the_amounts_counts: assert (bad_amounts == amounts);
    if (ANY != 0 && started && rst_ni && was_up) a_charged_row_is_written: assert ((charged_sm & ~\dut.written_q ) == '0 || none_q);
  end
endmodule

// Kernel slots: life, order, place in the grid. A slot is FREE until its launch is taken.
module parity_kernels_props #(
  parameter int unsigned ANY = 0,
  parameter int unsigned K = 2
) (
  input logic clk_i, input logic rst_ni,
  input sluice_pkg::amounts_t capacity_i, input logic [sluice_pkg::CtaW-1:0] capacity_slots_i, input logic [K*sluice_pkg::AmountW-1:0] demand_i,
  input logic [K*sluice_pkg::GridW-1:0] grid_i, input logic [K-1:0] repeat_i, input logic in_order_i, input logic [K-1:0] launch_i,
  input logic [K-1:0] stop_i, input logic [K-1:0] evict_i, input logic [15:0] evict_count_i, input logic [K-1:0] resume_i, input logic [K-1:0] admit_i,
  input logic [K-1:0] port_i, input logic fresh_i, input logic free_i, input logic [K-1:0] release_i
);
  localparam int unsigned G = sluice_pkg::GridW;
  logic [K:0]     bad_slots;
  logic [K-1:0]   bad_grids;
  logic [K*2-1:0] state;
  kernel_slots #(.NUM_SM(2), .MAX_KERNELS(K), .MAX_CTAS(4), .PARITY(1)) dut (
    .clk_i, .rst_ni, .capacity_i, .capacity_slots_i, .demand_i, .region_fits_i('1), .grid_i, .repeat_i, .in_order_i, .launch_i, .stop_i, .evict_i,
    .evict_count_i, .resume_i, .admit_i, .port_i, .fresh_i, .free_i, .release_i, .state_o(state), .bad_slots_o(bad_slots), .bad_grids_o(bad_grids));
  (* hierconn *) wire [K*K-1:0] \dut.older_q ;
  (* hierconn *) wire           \dut.gen_parity.i_parity_guard.parity_q ;
  (* hierconn *) wire [3:0]     \dut.gen_slot[0].i_kernel_slot.resident_q , \dut.gen_slot[0].i_kernel_slot.evict_left_q ;
  (* hierconn *) wire [1:0]     \dut.gen_slot[0].i_kernel_slot.state_q ;
  (* hierconn *) wire           \dut.gen_slot[0].i_kernel_slot.finished_q , \dut.gen_slot[0].i_kernel_slot.hold_q , \dut.gen_slot[0].i_kernel_slot.evict_q ;
  (* hierconn *) wire [2:0]     \dut.gen_slot[0].i_kernel_slot.gen_parity.i_parity_guard.parity_q ;
  (* hierconn *) wire [G-1:0]   \dut.i_grid_index.next_q[0] , \dut.i_grid_index.dispatched_q[0] ;
  (* hierconn *) wire [K-1:0]   \dut.i_grid_index.last_q , \dut.i_grid_index.second_q , \dut.i_grid_index.next_ones_q , \dut.i_grid_index.dispatched_ones_q ;
  (* hierconn *) wire [1:0]     \dut.i_grid_index.gen_kernel[0].gen_parity.i_parity_guard.parity_q ;

  logic       started, life, resident, left, dispatched, next;
  logic [2:0] p;
  logic [1:0] g;
  assign p          = \dut.gen_slot[0].i_kernel_slot.gen_parity.i_parity_guard.parity_q ;
  assign g          = \dut.i_grid_index.gen_kernel[0].gen_parity.i_parity_guard.parity_q ;
  assign life       = ^{5'({\dut.gen_slot[0].i_kernel_slot.state_q , \dut.gen_slot[0].i_kernel_slot.finished_q , \dut.gen_slot[0].i_kernel_slot.hold_q ,
                            \dut.gen_slot[0].i_kernel_slot.evict_q }), p[0]};
  assign resident   = ^{5'(\dut.gen_slot[0].i_kernel_slot.resident_q ), p[1]};
  assign left       = \dut.gen_slot[0].i_kernel_slot.evict_q && ^{5'(\dut.gen_slot[0].i_kernel_slot.evict_left_q ), p[2]};
  assign next       = state[1:0] != sluice_pkg::SlotFree && ^{\dut.i_grid_index.next_q[0] , \dut.i_grid_index.last_q [0], \dut.i_grid_index.second_q [0],
                      \dut.i_grid_index.next_ones_q [0], g[0]};
  assign dispatched = ^{2'b00, \dut.i_grid_index.dispatched_q[0] , \dut.i_grid_index.dispatched_ones_q [0], g[1]};
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb begin
    if (!started && ANY == 0) assume (!rst_ni);
    if (ANY == 0) kernels_agree_without_a_flip: assert (bad_slots == '0);
    if (ANY == 0) grids_agree_without_a_flip: assert (bad_grids == '0);
    if (ANY != 0) every_bit_of_a_life_counts: assert (bad_slots[0] == (life || resident || left));
    if (ANY != 0) every_bit_of_a_grid_counts: assert (bad_grids[0] == (next || dispatched));
    if (ANY != 0) every_bit_of_the_order_counts: assert (bad_slots[K] == ^{\dut.older_q , \dut.gen_parity.i_parity_guard.parity_q });
  end
endmodule

// What the picker remembers, and that it picks only what can be taken.
module parity_room_props #(
  parameter int unsigned ANY = 0,
  parameter int unsigned M = 3,
  parameter int unsigned K = 2
) (
  input logic clk_i, input logic rst_ni,
  input logic [K-1:0] can_admit_i, input logic [M-1:0] available_i, input logic [K-1:0] claim_i, input logic [M-1:0] reserved_i, input logic sweep_i,
  input logic [K*K-1:0] ahead_i, input logic round_robin_i, input logic in_order_i, input logic ready_i, input logic quota_changed_i,
  input logic profiling_i, input logic [K-1:0] launched_i, input logic [M-1:0] release_sm_i, input logic [M-1:0] picked_sm_i,
  input logic [M-1:0] charged_sm_i, input logic charged_stale_i, input logic [K-1:0] charged_room_i, input logic charged_full_i,
  input logic [K-1:0] eval_room_i, input logic eval_full_i
);
  logic [K+2:0] bad;
  logic [M-1:0] pick_sm;
  logic [K-1:0] pick_kernel;
  logic         pick_valid;
  dispatch_picker #(.NUM_SM(M), .MAX_KERNELS(K), .PARITY(1)) dut (
    .clk_i, .rst_ni, .can_admit_i, .available_i, .claim_i, .reserved_i, .sweep_i, .ahead_i, .round_robin_i, .in_order_i, .ready_i, .quota_changed_i,
    .profiling_i, .launched_i, .release_sm_i, .picked_sm_i, .charged_sm_i, .charged_stale_i, .charged_room_i, .charged_full_i, .eval_room_i, .eval_full_i,
    .pick_valid_o(pick_valid), .pick_sm_o(pick_sm), .pick_kernel_o(pick_kernel), .bad_o(bad));
  (* hierconn *) wire [K*M-1:0] \dut.room_q ;
  (* hierconn *) wire [M-1:0]   \dut.busy_q , \dut.dirty_q , \dut.settled_q ;
  (* hierconn *) wire [K+2:0]   \dut.gen_parity.i_parity_guard.parity_q ;

  logic               started;
  logic [(K+3)*M-1:0] words;
  logic [K+2:0]       odd;
  assign words = {\dut.settled_q , \dut.dirty_q , \dut.busy_q , \dut.room_q };
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb begin
    if (!started && ANY == 0) assume (!rst_ni);
    if (ANY == 0) room_agrees_without_a_flip: assert (bad == '0);
    for (int unsigned w = 0; w < K + 3; w++) odd[w] = ^{words[w*M +: M], \dut.gen_parity.i_parity_guard.parity_q [w]};
    if (ANY != 0) every_bit_of_the_room_counts: assert (bad == odd);
    what_is_not_ready_is_not_picked: assert (ready_i || (!pick_valid && pick_sm == '0 && pick_kernel == '0));
  end
endmodule
