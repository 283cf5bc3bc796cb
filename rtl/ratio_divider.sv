// ratio_divider: keeps one ratio a kernel: floor(2**RatioW * dividend / divisor), at most all ones (a ratio of 1), or, with reciprocal_i, the
// ShortW upper bits of the same for a dividend of 2**(MantissaW-1) and a divisor of as many bits, whose top bit is set.
// start_i, only while not busy, takes dividend <= divisor; the quotient comes a bit a cycle and replaces the kernel's ratio RatioW + 1 cycles
// later, in the cycle that done_o pulses; ShortW cycles for a reciprocal: its first bit is always 1. In the partition core a kernel's ratio is
// 1 / CTA_avg while its samples come, and the reciprocal of its best performance afterwards.
module ratio_divider #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned DivisorW    = 13,
  parameter int unsigned RatioW      = 15,
  parameter int unsigned MantissaW   = 13,   // at most DivisorW
  parameter int unsigned ShortW      = 14    // at most RatioW
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           flush_i,      // drops a division under way
  input  logic                           offer_i,      // operands stand here,
  input  logic                           start_i,      // and are taken: told later
  input  logic                           reciprocal_i,
  input  logic [sluice_pkg::KernelW-1:0] kernel_i,     // whose ratio this becomes
  input  logic [DivisorW-1:0]            dividend_i,   // not of a reciprocal
  input  logic [DivisorW-1:0]            divisor_i,
  output logic                           busy_o,
  output logic                           done_o,       // pulse: the last cycle of busy_o
  output logic [sluice_pkg::KernelW-1:0] done_kernel_o,
  output logic [MAX_KERNELS*RatioW-1:0]  ratio_o       // a reciprocal in the lower bits
);
  localparam int unsigned CountW  = $clog2(RatioW + 2);
  localparam int unsigned KIndexW = $clog2(MAX_KERNELS);

  logic [RatioW-1:0]   ratio_q [MAX_KERNELS];
  logic [KIndexW-1:0]  kernel_q;
  logic [DivisorW-1:0] divisor_q, remainder_d, remainder_q;
  logic [RatioW-1:0]   quotient_d, quotient_q;
  logic [CountW-1:0]   left_d, left_q;     // cycles still to come
  logic                busy_d, busy_q;     // there are some
  logic [DivisorW:0]   twice;              // remainder with the next (zero) dividend bit
  logic [DivisorW+1:0] difference;

  always_comb begin
    twice       = {remainder_q, 1'b0};
    difference  = {1'b0, twice} - {2'b00, divisor_q};
    remainder_d = difference[DivisorW+1] ? twice[DivisorW-1:0] : difference[DivisorW-1:0];
    quotient_d  = {quotient_q[RatioW-2:0], !difference[DivisorW+1]};
    left_d      = busy_q ? left_q - 1'b1 : '0;
    busy_d      = busy_q && !done_o;
    if (!busy_q) begin
      remainder_d = reciprocal_i ? DivisorW'({1'b1, MantissaW'(0)} - {1'b0, divisor_i[MantissaW-1:0]}) : dividend_i;
      quotient_d  = RatioW'(1);
    end
    if (start_i) begin
      left_d      = reciprocal_i ? CountW'(ShortW) : CountW'(RatioW + 1);
      busy_d      = 1'b1;
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
    if (offer_i && !busy_q) begin
      divisor_q <= divisor_i;
      kernel_q  <= kernel_i[KIndexW-1:0];
    end
    if (offer_i || busy_q) begin
      remainder_q <= remainder_d;
      quotient_q  <= quotient_d;
    end
    if (done_o) ratio_q[kernel_q] <= quotient_q;
  end

  logic unused_index_bits;   // callers keep indices below MAX_KERNELS
  assign unused_index_bits = ^kernel_i;

  assign busy_o        = busy_q;
  assign done_o        = left_q == CountW'(1);
  assign done_kernel_o = sluice_pkg::KernelW'(kernel_q);
  always_comb
    for (int unsigned k = 0; k < MAX_KERNELS; k++) ratio_o[k*RatioW +: RatioW] = ratio_q[k];
endmodule
