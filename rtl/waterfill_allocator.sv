// waterfill_allocator: Warped-Slicer's algorithm 1 with a full resource vector.
// Every kernel starts with one CTA; each cycle the worst-off kernel that is not full takes its next step (M[g+1] - M[g] CTAs), or is
// marked full: no further step, the step does not fit, or it gains at most epsilon per CTA. Ties go to the lowest index.
// start_i to done_o: K cycles to place the first CTAs, then one cycle a step: at most S + K + 4 for S CTA slots.
module waterfill_allocator #(
  parameter int unsigned MAX_KERNELS = 4
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic                                       start_i,
  input  logic                                       abort_i,          // a new decision begins: back to idle
  input  logic [sluice_pkg::KernelW-1:0]             num_kernels_i,    // 1..MAX_KERNELS; it and all below stable until done_o
  input  logic [sluice_pkg::WarpW-1:0]               capacity_warps_i,
  input  logic [sluice_pkg::RegW-1:0]                capacity_registers_i,
  input  logic [sluice_pkg::SharedW-1:0]             capacity_shared_i,
  input  logic [sluice_pkg::CtaW-1:0]                capacity_slots_i,
  input  logic [MAX_KERNELS*sluice_pkg::WarpW-1:0]   demand_warps_i,   // of one CTA, kernel 0 in the low bits
  input  logic [MAX_KERNELS*sluice_pkg::RegW-1:0]    demand_registers_i,
  input  logic [MAX_KERNELS*sluice_pkg::SharedW-1:0] demand_shared_i,
  input  logic [sluice_pkg::PerfW-1:0]               epsilon_i,        // smallest gain per CTA worth taking; 0 = the paper's rule
  output logic [sluice_pkg::KernelW-1:0]             table_kernel_o,   // perf_table's read ports
  output logic [sluice_pkg::CtaW-1:0]                table_from_o,
  output logic [sluice_pkg::CtaW-1:0]                table_ctas_o,
  input  logic                                       table_has_next_i,
  input  logic [sluice_pkg::CtaW-1:0]                table_next_i,
  input  logic [sluice_pkg::PerfW-1:0]               table_perf_i,
  output logic                                       done_o,           // pulse; the outputs below hold until the next start
  output logic                                       no_fit_o,         // one CTA of each kernel does not fit together
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_o,
  output logic [MAX_KERNELS*sluice_pkg::PerfW-1:0]   perf_o            // normalised performance at ctas_o
);
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned PerfW   = sluice_pkg::PerfW;
  localparam int unsigned WarpW   = sluice_pkg::WarpW;
  localparam int unsigned RegW    = sluice_pkg::RegW;
  localparam int unsigned SharedW = sluice_pkg::SharedW;
  localparam int unsigned KernelW = sluice_pkg::KernelW;

  typedef enum logic [1:0] {Idle, Place, Step, Done} state_e;

  state_e                       state_d, state_q;
  logic [KernelW-1:0]           place_d, place_q;   // kernel whose first CTA is placed
  logic [MAX_KERNELS-1:0]       full_d, full_q;
  logic [MAX_KERNELS*CtaW-1:0]  ctas_d, ctas_q;
  logic [MAX_KERNELS*PerfW-1:0] perf_d, perf_q;
  logic [WarpW-1:0]             warps_d, warps_q;   // left
  logic [RegW-1:0]              registers_d, registers_q;
  logic [SharedW-1:0]           shared_d, shared_q;
  logic [CtaW-1:0]              slots_d, slots_q;
  logic                         no_fit_d, no_fit_q;

  // The kernel this cycle works on: the one to be placed, or the worst-off that is not full.
  logic [KernelW-1:0] chosen;
  logic               any;
  logic [PerfW-1:0]   lowest;
  always_comb begin
    any    = 1'b0;
    chosen = place_q;
    lowest = '1;
    if (state_q == Step) begin
      chosen = '0;
      for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
        if (KernelW'(k) < num_kernels_i && !full_q[k] && (!any || perf_q[k*PerfW +: PerfW] < lowest)) begin
          any    = 1'b1;
          chosen = KernelW'(k);
          lowest = perf_q[k*PerfW +: PerfW];
        end
      end
    end
  end

  // Its resources and its next step.
  logic [CtaW-1:0]           now, step;
  logic [PerfW-1:0]          now_perf, gain;
  logic [WarpW-1:0]          one_warps;
  logic [RegW-1:0]           one_registers;
  logic [SharedW-1:0]        one_shared;
  logic [WarpW+CtaW-1:0]     need_warps;
  logic [RegW+CtaW-1:0]      need_registers;
  logic [SharedW+CtaW-1:0]   need_shared;
  logic [PerfW+CtaW-1:0]     worth;
  logic                      fits, too_little;
  always_comb begin
    one_warps     = '0;
    one_registers = '0;
    one_shared    = '0;
    now           = '0;
    now_perf      = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      if (chosen == KernelW'(k)) begin
        one_warps     = demand_warps_i[k*WarpW +: WarpW];
        one_registers = demand_registers_i[k*RegW +: RegW];
        one_shared    = demand_shared_i[k*SharedW +: SharedW];
        now           = ctas_q[k*CtaW +: CtaW];
        now_perf      = perf_q[k*PerfW +: PerfW];
      end
    end
  end

  always_comb begin
    step           = (state_q == Step) ? table_next_i - now : CtaW'(1);
    need_warps     = one_warps * step;
    need_registers = one_registers * step;
    need_shared    = one_shared * step;
    fits           = need_warps <= (WarpW + CtaW)'(warps_q) && need_registers <= (RegW + CtaW)'(registers_q)
                  && need_shared <= (SharedW + CtaW)'(shared_q) && step <= slots_q;
    gain           = table_perf_i - now_perf;
    worth          = epsilon_i * step;
    too_little     = epsilon_i != '0 && (PerfW + CtaW)'(gain) <= worth;
  end

  assign table_kernel_o = chosen;
  assign table_from_o   = now;
  assign table_ctas_o   = (state_q == Step) ? table_next_i : CtaW'(1);

  logic take;   // the chosen kernel gets `step` CTAs
  always_comb begin
    state_d  = state_q;
    place_d  = place_q;
    full_d   = full_q;
    no_fit_d = no_fit_q;
    take     = 1'b0;
    unique case (state_q)
      Place: begin
        take    = fits;
        place_d = place_q + 1'b1;
        if (!fits) begin
          no_fit_d = 1'b1;
          state_d  = Done;
        end else if (place_q + 1'b1 == num_kernels_i) begin
          state_d = Step;
        end
      end
      Step: begin
        if (!any) begin
          state_d = Done;
        end else if (!table_has_next_i || !fits || too_little) begin
          for (int unsigned k = 0; k < MAX_KERNELS; k++)
            if (chosen == KernelW'(k)) full_d[k] = 1'b1;
        end else begin
          take = 1'b1;
        end
      end
      Done:    state_d = Idle;
      default: state_d = Idle;
    endcase

    ctas_d      = ctas_q;
    perf_d      = perf_q;
    warps_d     = warps_q;
    registers_d = registers_q;
    shared_d    = shared_q;
    slots_d     = slots_q;
    if (take) begin
      warps_d     = warps_q - WarpW'(need_warps);
      registers_d = registers_q - RegW'(need_registers);
      shared_d    = shared_q - SharedW'(need_shared);
      slots_d     = slots_q - step;
      for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
        if (chosen == KernelW'(k)) begin
          ctas_d[k*CtaW +: CtaW]    = now + step;
          perf_d[k*PerfW +: PerfW] = table_perf_i;
        end
      end
    end

    if (start_i) begin
      state_d     = Place;
      place_d     = '0;
      full_d      = '0;
      no_fit_d    = 1'b0;
      ctas_d      = '0;
      perf_d      = '0;
      warps_d     = capacity_warps_i;
      registers_d = capacity_registers_i;
      shared_d    = capacity_shared_i;
      slots_d     = capacity_slots_i;
    end
    if (abort_i) state_d = Idle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      place_q     <= '0;
      full_q      <= '0;
      ctas_q      <= '0;
      perf_q      <= '0;
      warps_q     <= '0;
      registers_q <= '0;
      shared_q    <= '0;
      slots_q     <= '0;
      no_fit_q    <= 1'b0;
    end else begin
      state_q     <= state_d;
      place_q     <= place_d;
      full_q      <= full_d;
      ctas_q      <= ctas_d;
      perf_q      <= perf_d;
      warps_q     <= warps_d;
      registers_q <= registers_d;
      shared_q    <= shared_d;
      slots_q     <= slots_d;
      no_fit_q    <= no_fit_d;
    end
  end

  assign done_o   = state_q == Done;
  assign no_fit_o = no_fit_q;
  assign ctas_o   = ctas_q;
  assign perf_o   = perf_q;
endmodule
