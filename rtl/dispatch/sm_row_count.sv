// SPDX-License-Identifier: Apache-2.0
// sm_row_count: the CTAs of an SM, counted from its slots in pairs, pairs of pairs and so on. Combinational.
module sm_row_count #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned CountW      = 4,   // bits of a count of its CTAs
  parameter int unsigned KernelW     = 2    // of a kernel's index
) (
  input  logic [MAX_CTAS*(1+KernelW)-1:0] slots_i,      // kernel of each CTA slot, and in the low MAX_CTAS bits which
                                                        // are used
  input  logic [MAX_KERNELS-1:0]          add_i,        // one CTA of this kernel besides; one-hot, or 0
  output logic [MAX_KERNELS*CountW-1:0]   resident_o,   // CTAs of each kernel
  output logic [CountW-1:0]               count_o       // and of all
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, MAX_CTAS)) $error("sm_row_count: size out of range");
  for (genvar k = 0; k <= MAX_KERNELS; k++) begin : gen_count   // [MAX_KERNELS] of all
    logic [CountW-1:0] sum [MAX_CTAS];
    logic              add;
    always_comb begin
      for (int unsigned s = 0; s < MAX_CTAS; s++)
        sum[s] = CountW'(slots_i[s] && (k == MAX_KERNELS || slots_i[MAX_CTAS + s*KernelW +: KernelW] == KernelW'(k)));
      for (int unsigned d = 1; d < MAX_CTAS; d *= 2)
        for (int unsigned s = 0; s + d < MAX_CTAS; s += 2 * d) sum[s] = sum[s] + sum[s+d];
    end
    if (k == MAX_KERNELS) begin : gen_all
      assign add     = add_i != '0;
      assign count_o = sum[0] + CountW'(add);
    end else begin : gen_kernel
      assign add                           = add_i[k];
      assign resident_o[k*CountW +: CountW] = sum[0] + CountW'(add);
    end
  end
endmodule
