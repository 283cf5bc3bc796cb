// SPDX-License-Identifier: Apache-2.0
// dispatch_regions: contiguous regions of registers and shared memory for cta_dispatcher: found in a CTA's first cycle
// at the port, and kept while it waits there. Amounts in units of the capacity as of the last launch: it is stable
// while a slot is taken. docs/reference/blocks/region_allocator.md
module dispatch_regions #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned UNITS       = 64   // 16..128
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  sluice_pkg::amounts_t                       capacity_i,        // of an SM
  input  logic [MAX_KERNELS*sluice_pkg::AmountW-1:0] demand_i,          // of one CTA
  output logic [MAX_KERNELS-1:0]                     fits_o,            // an empty SM holds its regions
  input  logic [MAX_KERNELS-1:0]                     launched_i,
  input  logic                                       pick_valid_i,      // a CTA is about to come to the port,
  input  logic [NUM_SM-1:0]                          pick_sm_i,         // of this SM, one-hot,
  input  logic [MAX_CTAS*(1+$clog2(MAX_KERNELS))-1:0] pick_slots_i,     // which holds these
  input  logic                                       fresh_i,           // it is there,
  input  logic                                       region_i,          // and takes regions
  input  logic [NUM_SM-1:0]                          sm_i,
  input  logic [MAX_CTAS-1:0]                        slot_i,
  input  logic [MAX_KERNELS-1:0]                     kernel_i,
  output logic [sluice_pkg::RegW-1:0]                register_base_o,
  output logic [sluice_pkg::SharedW-1:0]             shared_base_o,
  input  logic                                       check_i,           // what fits beside the CTA that was charged
  input  logic [NUM_SM-1:0]                          check_sm_i,
  output logic [MAX_KERNELS-1:0]                     check_fits_o,
  input  logic                                       free_valid_i,      // a CTA slot is left
  input  logic [NUM_SM-1:0]                          free_sm_i,
  input  logic [MAX_CTAS-1:0]                        free_slot_i,
  input  logic [MAX_CTAS*(1+$clog2(MAX_KERNELS))-1:0] free_slots_i,
  input  logic                                       eval_i,            // lane B of the table
  input  logic [NUM_SM-1:0]                          eval_sm_i,
  input  logic [MAX_CTAS-1:0]                        eval_used_i,
  output logic [MAX_KERNELS-1:0]                     eval_fits_o
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("dispatch_regions: size out of range");
  localparam int unsigned K       = MAX_KERNELS;
  localparam int unsigned AmountW = sluice_pkg::AmountW;
  localparam int unsigned RegW    = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned LenW    = $clog2(UNITS + 1);
  localparam int unsigned BaseW   = $clog2(UNITS);

  logic [K*RegW-1:0]    demand_registers;
  logic [K*SharedW-1:0] demand_shared;
  sluice_pkg::amounts_t demand;
  always_comb begin
    demand = '0;
    for (int unsigned k = 0; k < K; k++) begin
      demand                              = demand_i[k*AmountW +: AmountW];
      demand_registers[k*RegW +: RegW]    = demand.registers;
      demand_shared[k*SharedW +: SharedW] = demand.shared;
    end
  end

  logic [4:0]        register_shift_d, register_shift_q, shared_shift_d, shared_shift_q;
  logic [LenW-1:0]   register_total_d, register_total_q, shared_total_d, shared_total_q;
  logic [K*LenW-1:0] register_length_d, register_length_q, shared_length_d, shared_length_q;
  logic [K-1:0]      register_fits, shared_fits;
  logic [BaseW-1:0]  register_found, register_base, register_base_q, shared_found, shared_base, shared_base_q;

  region_units #(.MAX_KERNELS(K), .UNITS(UNITS), .AmountW(RegW)) i_register_units (
    .capacity_i (capacity_i.registers),
    .demand_i   (demand_registers),
    .shift_o    (register_shift_d),
    .total_o    (register_total_d),
    .length_o   (register_length_d),
    .fits_o     (register_fits)
  );
  region_units #(.MAX_KERNELS(K), .UNITS(UNITS), .AmountW(SharedW)) i_shared_units (
    .capacity_i (capacity_i.shared),
    .demand_i   (demand_shared),
    .shift_o    (shared_shift_d),
    .total_o    (shared_total_d),
    .length_o   (shared_length_d),
    .fits_o     (shared_fits)
  );
  assign fits_o = register_fits & shared_fits;

  always_ff @(posedge clk_i) begin   // looked at only after a launch: no reset
    if (launched_i != '0) begin
      register_shift_q <= register_shift_d;
      register_total_q <= register_total_d;
      shared_shift_q   <= shared_shift_d;
      shared_total_q   <= shared_total_d;
    end
    for (int unsigned k = 0; k < K; k++)
      if (launched_i[k]) begin
        register_length_q[k*LenW +: LenW] <= register_length_d[k*LenW +: LenW];
        shared_length_q[k*LenW +: LenW]   <= shared_length_d[k*LenW +: LenW];
      end
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      register_base_q <= '0;
      shared_base_q   <= '0;
    end else if (fresh_i) begin
      register_base_q <= register_found;
      shared_base_q   <= shared_found;
    end

  region_allocator #(.NUM_SM(NUM_SM), .MAX_KERNELS(K), .MAX_CTAS(MAX_CTAS), .UNITS(UNITS)) i_region_allocator (
    .clk_i,
    .rst_ni,
    .total_i        ({shared_total_q, register_total_q}),
    .length_i       ({shared_length_q, register_length_q}),
    .admit_valid_i  (pick_valid_i),
    .admit_sm_i     (pick_sm_i),
    .admit_slots_i  (pick_slots_i),
    .alloc_valid_i  (fresh_i),
    .alloc_region_i (region_i),
    .alloc_sm_i     (sm_i),
    .alloc_slot_i   (slot_i),
    .alloc_kernel_i (kernel_i),
    .alloc_base_o   ({shared_found, register_found}),
    .check_valid_i  (check_i),
    .check_sm_i,
    .check_fits_o,
    .free_valid_i,
    .free_sm_i,
    .free_slot_i,
    .free_slots_i,
    .eval_i,
    .eval_sm_i,
    .eval_used_i,
    .eval_fits_o
  );

  assign register_base   = fresh_i ? register_found : register_base_q;
  assign shared_base     = fresh_i ? shared_found : shared_base_q;
  assign register_base_o = RegW'(register_base) << register_shift_q;
  assign shared_base_o   = SharedW'(shared_base) << shared_shift_q;

  logic unused_warps;
  assign unused_warps = ^{capacity_i.warps, demand};
endmodule
