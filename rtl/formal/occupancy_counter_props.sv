// SPDX-License-Identifier: Apache-2.0
// Properties of occupancy_counter and the dispatcher's lane that it uses, with narrow fields and at most four slots.
// Assumed: the kernel is RUNNING, so one CTA fits; share and kernel stand from the cycle after the start until done_o;
// the lane charges nothing
// while CTAs are counted.
module occupancy_counter_props (
  input logic                             clk_i,
  input logic                             rst_ni,
  input logic                             start_i,
  input logic                             abort_i,
  input logic                             admit_i,
  input logic [sluice_pkg::KernelW-1:0]   share_i,
  input logic [1:0]                       kernel_i       // one-hot
);
  localparam int unsigned N = 4;
  localparam int unsigned WarpW = sluice_pkg::WarpW, RegW = sluice_pkg::RegW, SharedW = sluice_pkg::SharedW,
    CtaW = sluice_pkg::CtaW;

  (* anyconst *) logic [WarpW-1:0]   cap_warps, warps0, warps1;
  (* anyconst *) logic [RegW-1:0]    cap_registers, registers0, registers1;
  (* anyconst *) logic [SharedW-1:0] cap_shared, shared0, shared1;
  (* anyconst *) logic [2:0]         cap_slots;

  logic            count, first, fits, done;
  logic [CtaW-1:0] occupancy;
  occupancy_counter #(.MAX_KERNELS(2), .MAX_CTAS(N)) dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .abort_i,
    .share_i,
    .capacity_slots_i (CtaW'(cap_slots)),
    .count_o          (count),
    .count_first_o    (first),
    .fits_i           (fits),
    .done_o           (done),
    .occupancy_o      (occupancy)
  );
  localparam int unsigned AmountW = WarpW + RegW + SharedW;
  logic [AmountW-1:0] capacity;
  assign capacity = {cap_shared, cap_registers, cap_warps};
  sm_resource_table #(.NUM_SM(1), .MAX_KERNELS(2), .MAX_CTAS(N)) table_i (
    .clk_i,
    .rst_ni,
    .capacity_i       (capacity),
    .capacity_slots_i (CtaW'(cap_slots)),
    .none_i           (1'b0),
    .demand_i         ({shared1, registers1, warps1, shared0, registers0, warps0}),
    .admit_i,
    .admit_sm_i       (1'b1),
    .admit_kernel_i   (2'b01),
    .admit_quota_i    ('0),
    .count_i          (count),
    .count_first_i    (first),
    .count_kernel_i   (kernel_i),
    .count_fits_o     (fits),
    .look_sm_i        ('0),
    .eval_i           (1'b0),
    .eval_sm_i        ('0),
    .eval_slots_sm_i  ('0),
    .eval_quota_i     ('0),
    .done_valid_i     (1'b0),
    .done_sm_i        ('0),
    .done_slot_i      ('0),
    .wait_slot_i      ('0)
  );
  (* hierconn *) wire [2:0]         \dut.state_q , \dut.slots_q ;
  (* hierconn *) wire               \dut.part_q ;
  (* hierconn *) wire [AmountW-1:0] \table_i.a_left_q , \table_i.admit_q , \table_i.charged_q ;
  (* hierconn *) wire               \table_i.count_q ;
  localparam logic [2:0] Rest = 3'b000, Done = 3'b001, First = 3'b100, Second = 3'b101, Count = 3'b110;

  logic [WarpW-1:0]   warps;
  logic [RegW-1:0]    registers;
  logic [SharedW-1:0] shared;
  assign {shared, registers, warps} = kernel_i[1] ? {shared1, registers1, warps1} : {shared0, registers0, warps0};

  function automatic fit(input logic [5:0] t);   // t CTAs, slots left aside
    fit = (WarpW+6)'(warps) * t <= (WarpW+6)'(cap_warps) && (RegW+6)'(registers) * t <= (RegW+6)'(cap_registers)
       && (SharedW+6)'(shared) * t <= (SharedW+6)'(cap_shared);
  endfunction
  function automatic [AmountW-1:0] sum(input logic [5:0] t);
    sum = {SharedW'(shared * t), RegW'(registers * t), WarpW'(warps * t)};
  endfunction

  function automatic [AmountW-1:0] left(input logic [5:0] t);   // of an SM with so many
    left = {SharedW'(cap_shared - SharedW'(shared * t)), RegW'(cap_registers - RegW'(registers * t)),
        WarpW'(cap_warps - WarpW'(warps * t))};
  endfunction

  logic started, pending;   // pending: a start that was not answered or dropped yet
  logic [3:0] age;          // cycles since the start
  logic [sluice_pkg::KernelW+1:0] asked, asked_q;
  assign asked = {share_i, kernel_i};
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    asked_q <= asked;
    age     <= start_i ? 4'd1 : age + 1'b1;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) pending <= 1'b0;
    else         pending <= !abort_i && (start_i || (pending && !done));

  logic [5:0] n, of_share;   // CTAs that were added up; of the CTAs of a share
  assign n        = 6'(\dut.slots_q );
  assign of_share = 6'(occupancy) * 6'(share_i);
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (share_i >= 1 && share_i <= 2 && (kernel_i == 2'b01 || kernel_i == 2'b10) && cap_slots >= 3'd1
        && cap_slots <= 3'(N));
    assume (warps0 <= cap_warps && warps1 <= cap_warps && registers0 <= cap_registers && registers1 <= cap_registers
         && shared0 <= cap_shared && shared1 <= cap_shared);
    assume (!(admit_i && count));
    if (started && pending && age != 4'd1) assume (asked == asked_q);
    if (started && rst_ni) begin
      state_exists: assert ((\dut.state_q == Rest || \dut.state_q == Done || \dut.state_q == First
          || \dut.state_q == Second || \dut.state_q == Count)
        && pending == (\dut.state_q != Rest));
      if (\dut.state_q == Second)
        first_one_is_added: assert (\table_i.count_q && n == '0 && !\dut.part_q && occupancy == '0
        && \table_i.a_left_q == capacity && \table_i.admit_q == sum(6'd1));
      if (\dut.state_q == Count)
        as_many_are_added_as_counted: assert (\table_i.count_q && n != '0 && n <= 6'(cap_slots) && fit(n)
        && \table_i.charged_q == left(n) && \table_i.a_left_q == left(n) && \table_i.admit_q == sum(6'd1)
        && fits == fit(n + 6'd1));
      if (\dut.state_q == Second || \dut.state_q == Count || \dut.state_q == Done) every_shareth_counts: assert (
        n == of_share + 6'(\dut.part_q ) && 4'(\dut.part_q ) < 4'(share_i) && n <= 6'(cap_slots));
      if (done)
        result_is_the_most_that_fits: assert (n != '0 && fit(n) && n <= 6'(cap_slots)
            && (n == 6'(cap_slots) || !fit(n + 6'd1))
        && fit(of_share) && of_share <= 6'(cap_slots)
        && (of_share + 6'(share_i) > 6'(cap_slots) || !fit(of_share + 6'(share_i))));
      if (pending)
        ends_after_so_many_and_three_cycles: assert ((\dut.state_q != First || age == 4'd1)
            && (\dut.state_q != Second || age == 4'd2)
        && (\dut.state_q != Count || 6'(age) == n + 6'd2) && (!done || 6'(age) == n + 6'd3));
      done_is_asked_for: assert (!done || pending);
    end
    if (started && !rst_ni) reset_is_clean: assert (!done && !count);
  end
endmodule
