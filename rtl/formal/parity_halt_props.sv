// SPDX-License-Identifier: Apache-2.0
// Properties of the halt that PARITY brings (docs/reference/blocks/parity.md): parity_report at any inputs, and dispatch_port behind a picker that picks
// only into a free port and never in a halt (what_is_not_ready_is_not_picked).
module parity_report_props #(
  parameter int unsigned TABLES  = 3,
  parameter int unsigned ENTRIES = 3
) (
  input logic clk_i, input logic rst_ni, input logic [TABLES*ENTRIES-1:0] bad_i
);
  logic       error, halted;
  logic [3:0] which;
  logic [7:0] entry, count;
  parity_report #(.TABLES(TABLES), .ENTRIES(ENTRIES)) dut (.clk_i, .rst_ni, .bad_i, .error_o(error), .halted_o(halted), .table_o(which), .entry_o(entry), .count_o(count));

  logic                      started, was_up, before_q, before_before_q, ever_q, told_q, error_q;
  logic [TABLES*ENTRIES-1:0] bad_q;
  logic [3:0]                table_d, table_q;   // of the first error
  logic [7:0]                entry_d, entry_q, count_q;
  initial started = 1'b0;
  always_comb begin   // the lowest of the first cycle that disagreed
    table_d = '0;
    entry_d = '0;
    for (int unsigned i = TABLES * ENTRIES; i > 0; i--)
      if (bad_q[i-1]) table_d = 4'((i - 1) / ENTRIES);
    for (int unsigned e = ENTRIES; e > 0; e--)
      for (int unsigned t = 0; t < TABLES; t++)
        if (bad_q[t*ENTRIES + e - 1]) entry_d = 8'(e - 1);
  end
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    was_up  <= rst_ni;
    bad_q   <= bad_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {before_q, before_before_q, ever_q, told_q, error_q, table_q, entry_q, count_q} <= '0;
    else begin
      before_q        <= bad_i != '0;
      before_before_q <= before_q;
      ever_q          <= ever_q || bad_i != '0;
      told_q          <= ever_q;
      error_q         <= error;
      count_q         <= count;
      if (ever_q && !told_q) {table_q, entry_q} <= {table_d, entry_d};
    end
  always_comb begin
    if (!started) assume (!rst_ni);
    if (started && rst_ni && was_up) begin
      a_flip_halts_in_the_next_cycle:        assert (halted || !before_q);
      nothing_but_a_flip_halts:              assert (halted == ever_q);
      an_error_is_told_as_it_begins:         assert (error == (before_q && !before_before_q));
      the_first_error_is_kept:               assert (!told_q || (which == table_q && entry == entry_q));
      errors_are_counted:                    assert (count == ((error_q && count_q != '1) ? count_q + 1'b1 : count_q));
    end
    if (!rst_ni) a_reset_ends_the_halt:      assert (!halted && !error && count == '0);
  end
endmodule

module parity_port_props #(
  parameter int unsigned M = 2,
  parameter int unsigned K = 2,
  parameter int unsigned N = 4
) (
  input logic clk_i, input logic rst_ni,
  input logic pick_valid_i, input logic [M-1:0] pick_sm_i, input logic [K-1:0] pick_kernel_i, input logic [N-1:0] admit_slot_i, input logic ready_i, input logic halt_i
);
  logic         free, valid, fresh;
  logic [M-1:0] sm;
  logic [K-1:0] kernel;
  dispatch_port #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(N), .PARITY(1)) dut (
    .clk_i, .rst_ni, .pick_valid_i, .pick_sm_i, .pick_kernel_i, .admit_slot_i, .ready_i, .halt_i, .free_o(free), .valid_o(valid), .fresh_o(fresh), .sm_o(sm),
    .kernel_o(kernel));
  (* hierconn *) wire \dut.valid_q , \dut.gen_parity.held_q ;

  logic started, waits_q, halt_q;   // waits: a CTA was offered, and not taken
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {waits_q, halt_q} <= '0;
    else begin
      waits_q <= valid && !ready_i;
      halt_q  <= halt_i;
    end
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (!pick_valid_i || (free && !halt_i));
    if (rst_ni) assume (halt_i || !halt_q);   // a halt stays
    if (rst_ni) begin
      in_a_halt_nothing_new_is_offered:          assert (!halt_i || !valid || waits_q);
      what_is_offered_stays_until_it_is_taken:   assert (!waits_q || valid);
      without_a_halt_what_is_there_is_offered:   assert (halt_i || (valid == \dut.valid_q && !\dut.gen_parity.held_q ));
    end
  end
endmodule
