// SPDX-License-Identifier: Apache-2.0
// reciprocal_divider: keeps one reciprocal a kernel: the RecipW upper bits of 2**(MantissaW-1) / divisor, of a divisor of MantissaW bits whose top bit is
// set; all ones for 1. start_i, only while not busy, takes the divisor; the quotient comes a bit a cycle and replaces the kernel's reciprocal RecipW
// cycles later, in the cycle that done_o pulses.
module reciprocal_divider #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MantissaW   = 13,
  parameter int unsigned RecipW      = 14
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           flush_i,      // drops a division under way
  input  logic                           start_i,
  input  logic [sluice_pkg::KernelW-1:0] kernel_i,     // whose reciprocal this becomes
  input  logic [MantissaW-1:0]           divisor_i,
  output logic                           busy_o,
  output logic                           done_o,       // pulse: the last cycle of busy_o
  output logic [sluice_pkg::KernelW-1:0] done_kernel_o,
  output logic [MAX_KERNELS*RecipW-1:0]  reciprocal_o
);
  localparam int unsigned CountW  = $clog2(RecipW + 1);
  localparam int unsigned KIndexW = $clog2(MAX_KERNELS);

  logic [RecipW-1:0]    reciprocal_q [MAX_KERNELS];
  logic [KIndexW-1:0]   kernel_q;
  logic [MantissaW-1:0] divisor_q, remainder_d, remainder_q;
  logic [RecipW-1:0]    quotient_d, quotient_q;
  logic [CountW-1:0]    left_d, left_q;     // cycles still to come
  logic                 busy_d, busy_q;     // there are some
  logic [MantissaW:0]   twice;              // remainder with the next (zero) dividend bit
  logic [MantissaW+1:0] difference;

  // The first bit of the quotient is always 1: the remainder begins behind it.
  always_comb begin
    twice       = {remainder_q, 1'b0};
    difference  = {1'b0, twice} - {2'b00, divisor_q};
    remainder_d = difference[MantissaW+1] ? twice[MantissaW-1:0] : difference[MantissaW-1:0];
    quotient_d  = {quotient_q[RecipW-2:0], !difference[MantissaW+1]};
    left_d      = busy_q ? left_q - 1'b1 : '0;
    busy_d      = busy_q && !done_o;
    if (!busy_q) begin
      remainder_d = MantissaW'({1'b1, MantissaW'(0)} - {1'b0, divisor_i});
      quotient_d  = RecipW'(1);
    end
    if (start_i) begin
      left_d = CountW'(RecipW);
      busy_d = 1'b1;
    end
    if (flush_i) begin
      left_d = '0;
      busy_d = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      left_q <= '0;
      busy_q <= 1'b0;
    end else begin
      left_q <= left_d;
      busy_q <= busy_d;
    end

  // Loaded before they are used: no reset.
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      divisor_q <= divisor_i;
      kernel_q  <= kernel_i[KIndexW-1:0];
    end
    if (start_i || busy_q) begin
      remainder_q <= remainder_d;
      quotient_q  <= quotient_d;
    end
    if (done_o) reciprocal_q[kernel_q] <= quotient_q;
  end

  logic unused_index_bits;   // callers keep indices below MAX_KERNELS
  assign unused_index_bits = ^kernel_i;

  assign busy_o        = busy_q;
  assign done_o        = left_q == CountW'(1);
  assign done_kernel_o = sluice_pkg::KernelW'(kernel_q);
  always_comb
    for (int unsigned k = 0; k < MAX_KERNELS; k++) reciprocal_o[k*RecipW +: RecipW] = reciprocal_q[k];
endmodule
