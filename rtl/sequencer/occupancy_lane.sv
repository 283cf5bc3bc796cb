// SPDX-License-Identifier: Apache-2.0
// occupancy_lane: what occupancy_counter adds up with CHURN, while the dispatcher's lane A serves CTAs
// (docs/reference/blocks/partition_sequencer.md). One CTA a cycle is taken from an empty SM, CTA slots left aside.
// fits_o is two cycles late: another CTA fits. It is right until the first that does not.
module occupancy_lane #(
  parameter int unsigned MAX_KERNELS = 4
) (
  input  logic                                       clk_i,
  input  logic                                       count_i,
  input  logic                                       count_first_i,   // none was taken yet
  input  logic [MAX_KERNELS-1:0]                     kernel_i,        // kernel slot, one-hot; stands while it counts
  input  logic [MAX_KERNELS*sluice_pkg::AmountW-1:0] demand_i,        // of one CTA (amounts_t), by kernel slot
  input  sluice_pkg::amounts_t                       capacity_i,
  output logic                                       fits_o
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, 4)) $error("occupancy_lane: size out of range");
  localparam int unsigned AmountW = sluice_pkg::AmountW;

  sluice_pkg::amounts_t take, from, left_d, left_q;
  logic [2:0]           borrow;
  logic                 fits_q;
  always_comb begin
    take = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (kernel_i[k]) take |= demand_i[k*AmountW +: AmountW];
    from = count_first_i ? capacity_i : left_q;
    {borrow[0], left_d.warps}     = {1'b0, from.warps} - {1'b0, take.warps};
    {borrow[1], left_d.registers} = {1'b0, from.registers} - {1'b0, take.registers};
    {borrow[2], left_d.shared}    = {1'b0, from.shared} - {1'b0, take.shared};
  end

  always_ff @(posedge clk_i)   // set before it is looked at: no reset
    if (count_i) begin
      left_q <= left_d;
      fits_q <= borrow == '0;
    end
  assign fits_o = fits_q;
endmodule
