// SPDX-License-Identifier: Apache-2.0
// Properties of balance_search with narrow fields, two kernels of three CTAs and two entries beside the base: a try,
// from its first state, for any candidate, demands and capacity.
module balance_search_props (
  input logic clk_i,
  input logic rst_ni,
  input logic start_i,
  input logic abort_i
);
  localparam int unsigned CtaW = sluice_pkg::CtaW;

  (* anyconst *) sluice_pkg::amounts_t cap, demand0, demand1;
  (* anyconst *) logic [1:0]           cap_slots;
  logic demand_kernel;
  balance_search #(.MAX_KERNELS(2), .MAX_CTAS(3), .ROOM(2)) dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .abort_i,
    .num_kernels_i    (sluice_pkg::KernelW'(2)),
    .capacity_i       (cap),
    .capacity_slots_i (CtaW'(cap_slots)),
    .demand_i         (demand_kernel ? demand1 : demand0),
    .demand_kernel_o  (demand_kernel)
  );
  balance_pkg::progress_t now;
  (* hierconn *) wire [$bits(now)-1:0]     \dut.now ;
  (* hierconn *) wire [5:0] \dut.work ;
  (* hierconn *) wire       \dut.below ;
  balance_pkg::control_t control;
  (* hierconn *) wire [$bits(control)-1:0] \dut.control_q ;
  assign control = \dut.control_q ;
  logic [2:0] work0, work1;
  assign now            = \dut.now ;
  assign {work1, work0} = \dut.work ;

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;

  function automatic fit(input logic [2:0] a, input logic [2:0] b);   // a CTAs of kernel 0, b of kernel 1
    fit = 6'(demand0.warps) * a + 6'(demand1.warps) * b <= 6'(cap.warps)
       && 6'(demand0.registers) * a + 6'(demand1.registers) * b <= 6'(cap.registers)
       && 6'(demand0.shared) * a + 6'(demand1.shared) * b <= 6'(cap.shared)
       && 4'(a) + 4'(b) <= 4'(cap_slots);
  endfunction
  logic over_q;
  initial over_q = 1'b0;
  always_ff @(posedge clk_i) over_q <= over_q || now.state == balance_pkg::ListFit;
  always_comb begin
    assume (rst_ni && !start_i && !abort_i);
    if (!started) assume (control == '0 && work0 <= 3'd3 && work1 <= 3'd3 && now.grown <= 3'd1);
    if (!over_q && now.state == balance_pkg::ListFit)
      a_try_tells_what_fits: assert (\dut.below == !fit(work0, work1));
    if (!over_q) a_try_goes_on: assert (now.state >= balance_pkg::ListMore && now.state <= balance_pkg::ListFit);
  end
endmodule
