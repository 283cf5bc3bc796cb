// SPDX-License-Identifier: Apache-2.0
// waterfill_allocator: Warped-Slicer's algorithm 1 with a full resource vector.
// Every kernel starts with one CTA; then the worst-off kernel that is not full takes its next step (M[g+1] - M[g] CTAs), or is marked full: no
// further step, the step does not fit, or it gains at most epsilon per CTA. Ties go to the lowest index.
// start_i places the first CTAs, a cycle each. Then the performances with one CTA come, kernel after kernel (first_*_i); the last of them begins the
// water-filling: done_o at most S + K + 4 cycles later, for S CTA slots: a step takes a cycle, one of several CTAs two, a mark one or two.
// While it is idle its subtractors count demands for occupancy_counter: count_*_i.
module waterfill_allocator #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 32
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic                                       start_i,
  input  logic                                       abort_i,          // a new decision begins: back to idle
  input  logic [sluice_pkg::KernelW-1:0]             num_kernels_i,    // 1..MAX_KERNELS; it and all below stable until done_o
  input  logic [sluice_pkg::WarpW-1:0]               capacity_warps_i,
  input  logic [sluice_pkg::RegW-1:0]                capacity_registers_i,
  input  logic [sluice_pkg::SharedW-1:0]             capacity_shared_i,
  input  logic [sluice_pkg::CtaW-1:0]                capacity_slots_i, // at most MAX_CTAS
  output logic [sluice_pkg::KernelW-1:0]             demand_kernel_o,  // whose demand is wanted in this cycle:
  input  logic [sluice_pkg::WarpW-1:0]               demand_warps_i,   // of one CTA; while it counts, of the counted one
  input  logic [sluice_pkg::RegW-1:0]                demand_registers_i,
  input  logic [sluice_pkg::SharedW-1:0]             demand_shared_i,
  input  logic [sluice_pkg::PerfW-1:0]               epsilon_i,        // smallest gain per CTA worth taking; 0 = the paper's rule
  input  logic                                       count_start_i,    // while idle: the capacity is left,
  input  logic                                       count_i,          // while idle: from the second cycle on, one demand of it is taken,
  output logic                                       count_fits_o,     // if it fits; always in the first
  // step_prefetch: first steps, and the next ones of the kernel under work and of the worst-off of the others.
  input  logic                                       first_valid_i,
  input  logic [sluice_pkg::KernelW-1:0]             first_kernel_i,
  input  logic [sluice_pkg::NormW-1:0]               first_perf_i,     // all ones: 1.0
  output logic [MAX_KERNELS-1:0]                     work_o,           // one-hot
  output logic [MAX_KERNELS-1:0]                     other_o,          // one-hot
  output logic                                       take_work_o,      // the next step is taken, its step comes up
  output logic                                       take_other_o,
  input  logic                                       work_has_i,       // it has a next step
  input  logic [$clog2(MAX_CTAS)-1:0]                work_step_i,      // CTAs
  input  logic [sluice_pkg::NormW-1:0]               work_perf_i,      // then
  input  logic                                       other_has_i,
  input  logic [$clog2(MAX_CTAS)-1:0]                other_step_i,
  input  logic [sluice_pkg::NormW-1:0]               other_perf_i,
  output logic                                       full_o,           // pulse: a kernel, work_o, is full,
  output logic [sluice_pkg::NormW-1:0]               perf_o,           // this is its performance
  output logic                                       done_o,           // pulse, two cycles after the last full_o; the outputs below hold until the next start
  output logic                                       no_fit_o,         // one CTA of each kernel does not fit together
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_o
);
  localparam int unsigned K       = MAX_KERNELS;
  localparam int unsigned CountW  = $clog2(MAX_CTAS + 1);
  localparam int unsigned StepW   = $clog2(MAX_CTAS);
  localparam int unsigned KIndexW = $clog2(K);
  localparam int unsigned NormW   = sluice_pkg::NormW;
  localparam int unsigned WarpW   = sluice_pkg::WarpW;
  localparam int unsigned RegW    = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned KernelW = sluice_pkg::KernelW;
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned GainW   = NormW + StepW + 2;

  typedef enum logic [2:0] {Idle, Place, Fill, Judge, Done} state_e;
  state_e state_d, state_q;

  // Left, and what is asked of it: one CTA's demand, or that of a step.
  logic [WarpW-1:0]         warps_q;
  logic [RegW-1:0]          registers_q;
  logic [SharedW-1:0]       shared_q;
  logic [CountW-1:0]        slots_q;
  logic [WarpW-1:0]         one_warps_q;       // of the kernel under work
  logic [RegW-1:0]          one_registers_q;
  logic [SharedW-1:0]       one_shared_q;
  logic [WarpW+StepW-1:0]   asked_warps_q;
  logic [RegW+StepW-1:0]    asked_registers_q;
  logic [SharedW+StepW-1:0] asked_shared_q;
  logic [StepW-1:0]         asked_slots_q;
  logic                     no_fit_q;

  // a > b, in as many levels as the logarithm of the width: the differences of the same numbers would be a longer path.
  function automatic logic above(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] more, same;   // of so many bits together: more; more, or the same
    more = a & ~b;
    same = a | ~b;
    for (int unsigned l = 16; l > 0; l = l / 2)
      for (int unsigned i = 0; i < l; i++) begin
        more[i] = more[2*i+1] || (same[2*i+1] && more[2*i]);
        same[i] = same[2*i+1] && same[2*i];
      end
    above = more[0];
  endfunction

  // Demand of a step: radix-4 digits of the step, -2..2, so half as many rows as it has bits. A digit: is it negative, 2, 1. The last one is not negative.
  localparam int unsigned AskedW = SharedW + StepW;
  localparam int unsigned Digits = StepW / 2 + 1;
  function automatic logic [3*Digits-1:0] recoded(input logic [StepW-1:0] step);
    logic [StepW+2:0] bits;
    bits = {2'b00, step, 1'b0};
    for (int unsigned d = 0; d < Digits; d++)
      recoded[3*d +: 3] = {bits[2*d+2], bits[2*d] == bits[2*d+1] && bits[2*d+2] != bits[2*d+1], bits[2*d] != bits[2*d+1]};
  endfunction
  function automatic logic [AskedW-1:0] times(input logic [AskedW-1:0] one, input logic [3*Digits-1:0] digits);
    logic [AskedW-1:0] row;
    times = '0;
    for (int unsigned d = 0; d < Digits; d++) begin
      row = (one & {AskedW{digits[3*d]}}) | ((one << 1) & {AskedW{digits[3*d+1]}});   // one load of a digit a bit
      row = (row ^ {AskedW{digits[3*d+2]}}) << (2 * d);
      if (d > 0) row[2*d-2] = digits[3*d-1];   // the row before is negative: the 1 of its complement
      times = times + row;
    end
  endfunction

  logic fits;
  assign fits = !above(32'(asked_warps_q), 32'(warps_q)) && !above(32'(asked_registers_q), 32'(registers_q)) && !above(32'(asked_shared_q), 32'(shared_q))
             && !above(32'(asked_slots_q), 32'(slots_q));

  // The kernel under work: what it has, and its next step.
  logic               work_q, work_d;          // there is one
  logic               multiply_q, multiply_d;  // the demand of its step is not known yet
  logic               first_q;                 // its next step is its first CTA, which has been placed
  logic               has_q;
  logic [KIndexW-1:0] kernel_q;
  logic [StepW-1:0]   step_q;
  logic [3*Digits-1:0] digits_q;               // of step_q
  logic [NormW-1:0]   perf_q, next_perf_q;
  logic [CountW-1:0]  ctas_q [K];

  // Too little: of one CTA, performance no more than before and epsilon; of several, which are multiplied first, a gain no more than as many epsilon.
  // 1.0 is all ones.
  logic             several_q;
  logic [GainW-1:0] limit_q;
  logic [NormW:0]   gain_q;
  logic             too_little;
  assign too_little = epsilon_i != '0 && !first_q && ((&next_perf_q && !several_q) ? limit_q[GainW-1:NormW] != '0 : !above(32'(gain_q), 32'(limit_q)));

  // The others that are not full, the worst-off first: 1 is `other`. Behind them there are none, all ones; while first steps are still to
  // come there are none before them, all zeros, one less than kernels: each that comes pushes one out.
  logic [K-1:1]       valid_q;
  logic [KIndexW-1:0] other_kernel_q [K];
  logic [NormW-1:0]   other_perf_q [K];
  logic [K:1]         below;                   // the kernel under work is, after its step, worse off than this one
  always_comb begin
    below = '1;
    for (int unsigned i = 1; i < K; i++)
      below[i] = valid_q[i] ? above(32'({other_perf_q[i], other_kernel_q[i]}), 32'({next_perf_q, kernel_q})) : other_perf_q[i][0];
  end

  logic try_step, take, stay, turn;   // a step is decided; it is taken; its kernel stays the worst-off; the next kernel comes
  logic others, coming;               // there are others that are not full; first steps are still to come
  assign others   = valid_q[1];
  assign coming   = !valid_q[1] && !other_perf_q[1][0];
  assign try_step = state_q == Fill && work_q && !multiply_q && !(no_fit_q && !coming);
  assign take     = has_q && fits && !too_little;
  assign stay     = try_step && take && below[1];
  assign turn     = try_step && !(take && below[1]);
  assign take_work_o  = stay;
  assign take_other_o = turn && others;
  assign full_o       = try_step && !take;
  assign perf_o       = perf_q;

  // Placing: a demand comes in one cycle and is taken in the next.
  logic [KIndexW-1:0] place_q;
  logic               placed_q;     // one is asked for
  logic               last_place;
  assign last_place = KernelW'(place_q) + 1'b1 == num_kernels_i;
  logic counting_q;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Place:   if (placed_q && (last_place || !fits)) state_d = Fill;
      Fill:    if ((turn && !others && !coming) || (work_q && no_fit_q && !coming)) state_d = Judge;
      Judge:   state_d = Done;
      default: state_d = Idle;
    endcase
    work_d     = first_valid_i || (work_q && (!turn || others));
    multiply_d = 1'b0;
    if (stay) multiply_d = work_has_i && work_step_i > StepW'(1);
    if (turn) multiply_d = other_has_i && other_step_i > StepW'(1) && others;
    if (start_i) state_d = Place;
    if (abort_i) state_d = Idle;
    if (start_i || abort_i) begin
      work_d     = 1'b0;
      multiply_d = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state_q    <= Idle;
      work_q     <= 1'b0;
      multiply_q <= 1'b0;
      counting_q <= 1'b0;
    end else begin
      state_q    <= state_d;
      work_q     <= work_d;
      multiply_q <= multiply_d;
      counting_q <= count_i && !count_start_i;
    end

  // What is asked next: of the next kernel, the same one, or the same times its step. Masks, and no multiplexers of a register's own value, where
  // `stay` comes late: Yosys would make it the enable, which is wanted earlier than data.
  logic                load, next;   // another first step; a step is decided
  logic [WarpW-1:0]    one_warps_d;
  logic [RegW-1:0]     one_registers_d;
  logic [SharedW-1:0]  one_shared_d;
  assign load            = first_valid_i;
  assign next            = try_step || state_q == Place || (count_i && !counting_q);
  assign one_warps_d     = (one_warps_q & {WarpW{stay}}) | (demand_warps_i & {WarpW{!stay}});
  assign one_registers_d = (one_registers_q & {RegW{stay}}) | (demand_registers_i & {RegW{!stay}});
  assign one_shared_d    = (one_shared_q & {SharedW{stay}}) | (demand_shared_i & {SharedW{!stay}});
  always_ff @(posedge clk_i) begin
    if (load || next) begin
      one_warps_q     <= one_warps_d;
      one_registers_q <= one_registers_d;
      one_shared_q    <= one_shared_d;
    end
    if (load || next || multiply_q) begin
      asked_warps_q     <= multiply_q ? (WarpW + StepW)'(times(AskedW'(one_warps_q), digits_q)) : {StepW'(0), one_warps_d & {WarpW{!load}}};
      asked_registers_q <= multiply_q ? (RegW + StepW)'(times(AskedW'(one_registers_q), digits_q)) : {StepW'(0), one_registers_d & {RegW{!load}}};
      asked_shared_q    <= multiply_q ? times(AskedW'(one_shared_q), digits_q) : {StepW'(0), one_shared_d & {SharedW{!load}}};
      asked_slots_q     <= multiply_q ? step_q : StepW'(!load);
      several_q         <= multiply_q;
      gain_q            <= multiply_q ? {1'b0, next_perf_q} + (NormW + 1)'(&next_perf_q) - {1'b0, perf_q}
                         : stay ? {1'b0, work_perf_i} : {1'b0, other_perf_i};
      limit_q           <= multiply_q ? GainW'(times(AskedW'(epsilon_i), digits_q))
                         : stay ? GainW'(next_perf_q) + GainW'(epsilon_i) : GainW'(other_perf_q[1]) + GainW'(epsilon_i);
    end
  end

  logic take_left;
  assign take_left = (try_step && take) || (state_q == Place && placed_q && fits) || (count_i && counting_q && fits);
  always_ff @(posedge clk_i) begin
    if (start_i || count_start_i) begin
      warps_q     <= capacity_warps_i;
      registers_q <= capacity_registers_i;
      shared_q    <= capacity_shared_i;
      slots_q     <= capacity_slots_i[CountW-1:0];
    end else if (take_left) begin
      warps_q     <= warps_q - asked_warps_q[WarpW-1:0];
      registers_q <= registers_q - asked_registers_q[RegW-1:0];
      shared_q    <= shared_q - asked_shared_q[SharedW-1:0];
      slots_q     <= slots_q - CountW'(asked_slots_q);
    end
    if (start_i) no_fit_q <= 1'b0;
    else if (state_q == Place && placed_q && !fits) no_fit_q <= 1'b1;
    if (start_i || state_q == Place) begin
      placed_q <= !start_i;
      place_q  <= (start_i || !placed_q) ? '0 : place_q + 1'b1;
    end
  end

  // A start or a first step loads them: no reset.
  always_ff @(posedge clk_i) begin
    if (load || try_step) begin
      first_q     <= load;
      has_q       <= load || (stay ? work_has_i : other_has_i);
      step_q      <= load ? StepW'(1) : stay ? work_step_i : other_step_i;
      digits_q    <= stay ? recoded(work_step_i) : recoded(other_step_i);
      next_perf_q <= load ? first_perf_i : stay ? work_perf_i : other_perf_i;
      kernel_q    <= (first_kernel_i[KIndexW-1:0] & {KIndexW{load}}) | (kernel_q & {KIndexW{!load && stay}})
                   | (other_kernel_q[1] & {KIndexW{!load && !stay}});
    end
    if (try_step) perf_q <= stay ? next_perf_q : other_perf_q[1];
    for (int unsigned k = 0; k < K; k++)
      if (try_step && take && kernel_q == KIndexW'(k)) ctas_q[k] <= first_q ? CountW'(1) : ctas_q[k] + CountW'(step_q);
    for (int unsigned i = 1; i < K; i++) begin
      if (start_i) begin
        valid_q[i]      <= 1'b0;
        other_perf_q[i] <= {NormW{KernelW'(i) >= num_kernels_i}};
      end else if (turn && (!take || !below[i])) begin
        // Either the next one moves down, or the kernel under work comes in; behind the last there are none.
        if (i < K - 1 && (!take || !below[i+1])) begin
          valid_q[i]        <= valid_q[(i < K - 1) ? i + 1 : i];
          other_kernel_q[i] <= other_kernel_q[(i < K - 1) ? i + 1 : i];
          other_perf_q[i]   <= other_perf_q[(i < K - 1) ? i + 1 : i];
        end else begin
          valid_q[i]        <= take;
          other_kernel_q[i] <= kernel_q;
          other_perf_q[i]   <= next_perf_q | {NormW{!take}};
        end
      end
    end
  end

  always_comb
    for (int unsigned k = 0; k < K; k++) begin
      ctas_o[k*CtaW +: CtaW] = CtaW'(ctas_q[k]);
      work_o[k]              = kernel_q == KIndexW'(k);
      other_o[k]             = other_kernel_q[1] == KIndexW'(k);
    end
  assign demand_kernel_o = (state_q == Place) ? KernelW'(place_q) + KernelW'(placed_q) : work_q ? KernelW'(other_kernel_q[1]) : first_kernel_i;
  assign done_o          = state_q == Done;
  assign no_fit_o        = no_fit_q;
  assign count_fits_o    = fits || !counting_q;

  logic unused_bits;   // callers keep indices below MAX_KERNELS
  assign unused_bits = ^{first_kernel_i, capacity_slots_i};
endmodule
