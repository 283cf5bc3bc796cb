// waterfill_allocator: Warped-Slicer's algorithm 1 with a full resource vector.
// Every kernel starts with one CTA; each cycle the worst-off kernel that is not full takes its next step (M[g+1] - M[g] CTAs), or is
// marked full: no further step, the step does not fit, or it gains at most epsilon per CTA. Ties go to the lowest index.
// start_i to done_o: K cycles to place the first CTAs, then one cycle a step: at most S + K + 4 for S CTA slots. While a cycle decides on one
// kernel's step, the worst-off of the others is found: only the step's own performance is left to compare before the next cycle.
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
  input  logic [sluice_pkg::WarpW-1:0]               demand_warps_i,   // of one CTA of kernel_o, in the same cycle; of the counted one
  input  logic [sluice_pkg::RegW-1:0]                demand_registers_i,
  input  logic [sluice_pkg::SharedW-1:0]             demand_shared_i,
  input  logic [sluice_pkg::PerfW-1:0]               epsilon_i,        // smallest gain per CTA worth taking; 0 = the paper's rule
  input  logic                                       count_start_i,    // while idle: the capacity is left,
  input  logic                                       count_i,          // while idle: one demand of it is taken in this cycle,
  output logic                                       count_fits_o,     // if it fits
  output logic [sluice_pkg::KernelW-1:0]             kernel_o,         // under work: step_prefetch answers with its next step
  output logic [sluice_pkg::CtaW-1:0]                from_o,           // the CTAs it has
  input  logic                                       has_next_i,
  input  logic [sluice_pkg::CtaW-1:0]                next_ctas_i,
  input  logic [sluice_pkg::NormW-1:0]               next_perf_i,      // all ones: 1.0
  output logic                                       full_o,           // pulse: kernel_o is full,
  output logic [sluice_pkg::NormW-1:0]               perf_o,           // this is its performance
  output logic                                       done_o,           // pulse; the outputs below hold until the next start
  output logic                                       no_fit_o,         // one CTA of each kernel does not fit together
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_o
);
  localparam int unsigned K       = MAX_KERNELS;
  localparam int unsigned CountW  = $clog2(MAX_CTAS + 1);
  localparam int unsigned StepW   = $clog2(MAX_CTAS);      // a step: next - now, and now >= 1 unless next is 1
  localparam int unsigned KIndexW = $clog2(K);
  localparam int unsigned NormW   = sluice_pkg::NormW;
  localparam int unsigned WarpW   = sluice_pkg::WarpW;
  localparam int unsigned RegW    = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned KernelW = sluice_pkg::KernelW;
  localparam int unsigned CtaW    = sluice_pkg::CtaW;

  typedef enum logic [1:0] {Idle, Place, Step, Done} state_e;

  state_e              state_d, state_q;
  logic [KIndexW-1:0]  kernel_d, kernel_q;   // under work: to be placed, or the worst-off that is not full
  logic [K-1:0]        full_d, full_q;       // or absent
  logic [CountW-1:0]   ctas_q [K];
  logic [NormW-1:0]    perf_q [K];
  logic [WarpW-1:0]    warps_d, warps_q;     // left
  logic [RegW-1:0]     registers_d, registers_q;
  logic [SharedW-1:0]  shared_d, shared_q;
  logic [CountW-1:0]   slots_d, slots_q;
  logic                no_fit_d, no_fit_q;

  // What it has.
  logic [CountW-1:0] now;
  logic [NormW-1:0]  now_perf;
  assign now      = (state_q == Place) ? '0 : ctas_q[kernel_q];
  assign now_perf = perf_q[kernel_q];

  // What is left after its next step; negative: it does not fit.
  logic [StepW-1:0]              step;
  logic signed [WarpW+StepW:0]   after_warps;
  logic signed [RegW+StepW:0]    after_registers;
  logic signed [SharedW+StepW:0] after_shared;
  logic [CountW:0]               after_slots;
  logic                          fits;
  always_comb begin
    step            = count_i ? StepW'(1) : StepW'(next_ctas_i[CountW-1:0] - now);
    after_warps     = $signed((WarpW + StepW + 1)'(warps_q)) - $signed((WarpW + StepW + 1)'(demand_warps_i) * (WarpW + StepW + 1)'(step));
    after_registers = $signed((RegW + StepW + 1)'(registers_q)) - $signed((RegW + StepW + 1)'(demand_registers_i) * (RegW + StepW + 1)'(step));
    after_shared    = $signed((SharedW + StepW + 1)'(shared_q)) - $signed((SharedW + StepW + 1)'(demand_shared_i) * (SharedW + StepW + 1)'(step));
    after_slots     = {1'b0, slots_q} - (CountW + 1)'(step);
    fits            = !after_warps[WarpW+StepW] && !after_registers[RegW+StepW] && !after_shared[SharedW+StepW] && !after_slots[CountW];
  end

  // epsilon * step - gain; not negative: too little. 1.0 is all ones.
  logic [NormW:0]                next_perf;
  logic signed [NormW+StepW+1:0] slack;
  logic                          too_little;
  always_comb begin
    next_perf  = (&next_perf_i) ? {1'b1, NormW'(0)} : {1'b0, next_perf_i};
    slack      = $signed((NormW + StepW + 2)'(epsilon_i) * (NormW + StepW + 2)'(step)) + $signed((NormW + StepW + 2)'(now_perf))
               - $signed((NormW + StepW + 2)'(next_perf));
    too_little = epsilon_i != '0 && !slack[NormW+StepW+1];
  end

  // The worst-off of the others.
  logic               other;
  logic [KIndexW-1:0] other_kernel;
  logic [NormW-1:0]   other_perf;
  always_comb begin
    other        = 1'b0;
    other_kernel = '0;
    other_perf   = '1;
    for (int unsigned k = 0; k < K; k++) begin
      if (!full_q[k] && kernel_q != KIndexW'(k) && (!other || perf_q[k] < other_perf)) begin
        other        = 1'b1;
        other_kernel = KIndexW'(k);
        other_perf   = perf_q[k];
      end
    end
  end

  logic take, last, stay;   // the kernel gets its step; it is the last to be placed; it is the worst-off after its step
  always_comb begin
    take     = state_q == Place ? fits : state_q == Step && has_next_i && fits && !too_little;
    last     = KernelW'(kernel_q) + 1'b1 == num_kernels_i;
    stay     = take && (!other || {next_perf_i, kernel_q} < {other_perf, other_kernel});
    state_d  = state_q;
    kernel_d = stay ? kernel_q : other_kernel;
    full_d   = full_q;
    no_fit_d = no_fit_q;
    full_o   = state_q == Step && !take;
    unique case (state_q)
      Place: begin
        if (!last) kernel_d = kernel_q + 1'b1;
        if (!fits) begin
          no_fit_d = 1'b1;
          state_d  = Done;
        end else if (last) begin
          state_d = Step;
        end
      end
      Step: begin
        if (!take) full_d[kernel_q] = 1'b1;
        if (!stay && !other) state_d = Done;
      end
      default: state_d = Idle;
    endcase

    warps_d     = after_warps[WarpW-1:0];
    registers_d = after_registers[RegW-1:0];
    shared_d    = after_shared[SharedW-1:0];
    slots_d     = after_slots[CountW-1:0];
    if (start_i || count_start_i) begin
      warps_d     = capacity_warps_i;
      registers_d = capacity_registers_i;
      shared_d    = capacity_shared_i;
      slots_d     = capacity_slots_i[CountW-1:0];
    end
    if (start_i) begin
      state_d  = Place;
      kernel_d = '0;
      no_fit_d = 1'b0;
      for (int unsigned k = 0; k < K; k++) full_d[k] = KernelW'(k) >= num_kernels_i;
    end
    if (abort_i) state_d = Idle;
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) state_q <= Idle;
    else         state_q <= state_d;

  // A start loads them: no reset.
  always_ff @(posedge clk_i) begin
    if (start_i || state_q != Idle) begin
      kernel_q <= kernel_d;
      full_q   <= full_d;
      no_fit_q <= no_fit_d;
    end
    if (start_i || count_start_i || take || count_i) begin
      warps_q     <= warps_d;
      registers_q <= registers_d;
      shared_q    <= shared_d;
      slots_q     <= slots_d;
    end
    if (take) begin
      ctas_q[kernel_q] <= next_ctas_i[CountW-1:0];
      perf_q[kernel_q] <= next_perf_i;
    end
  end

  logic unused_bits;   // steps are shorter than an SM has slots, performance is at most 1
  assign unused_bits = ^{next_ctas_i, capacity_slots_i, after_warps, after_registers, after_shared, slack};

  always_comb
    for (int unsigned k = 0; k < K; k++) ctas_o[k*CtaW +: CtaW] = CtaW'(ctas_q[k]);
  assign kernel_o     = KernelW'(kernel_q);
  assign from_o       = CtaW'(now);
  assign perf_o       = now_perf;
  assign done_o       = state_q == Done;
  assign no_fit_o     = no_fit_q;
  assign count_fits_o = fits;
endmodule
