// partition_core: profile samples in, CTAs per kernel out (Warped-Slicer): ipc_scaler -> perf_table -> waterfill_allocator -> loss_guard.
// start_i begins a decision and drops one under way. While the profile window runs, each kernel's cta_sum is prepared; after it the
// samples follow, each kernel's in counts 1..n, at least one a kernel. A kernel whose levels take several windows is prepared anew
// for each. The configuration inputs are stable from start_i to done_o. done_o pulses once; results hold until the next start.
module partition_core #(
  parameter int unsigned NUM_SM      = 256, // SMs sampled for one kernel, at most
  parameter int unsigned MAX_KERNELS = 4,   // 2..8
  parameter int unsigned MAX_CTAS    = 32   // 4..32
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic                                       start_i,
  input  logic                                       abort_i,               // drops the decision under way: no done_o
  input  logic [sluice_pkg::KernelW-1:0]             num_kernels_i,         // 1..MAX_KERNELS
  input  logic [sluice_pkg::WarpW-1:0]               capacity_warps_i,      // of one SM
  input  logic [sluice_pkg::RegW-1:0]                capacity_registers_i,
  input  logic [sluice_pkg::SharedW-1:0]             capacity_shared_i,     // bytes
  input  logic [sluice_pkg::CtaW-1:0]                capacity_slots_i,
  input  logic [MAX_KERNELS*sluice_pkg::WarpW-1:0]   demand_warps_i,        // of one CTA, kernel 0 in the low bits
  input  logic [MAX_KERNELS*sluice_pkg::RegW-1:0]    demand_registers_i,
  input  logic [MAX_KERNELS*sluice_pkg::SharedW-1:0] demand_shared_i,
  input  logic [sluice_pkg::WindowW-1:0]             window_i,              // cycles, >= 1,024
  input  logic [sluice_pkg::PerfW-1:0]               epsilon_i,             // saturation threshold; 0 = the paper's rule
  input  logic [sluice_pkg::LossW-1:0]               loss_limit_i,          // of 1/K: what a kernel may lose, units of 2**-PerfFracW
  input  logic                                       prepare_valid_i,
  output logic                                       prepare_ready_o,
  input  logic [sluice_pkg::KernelW-1:0]             prepare_kernel_i,
  input  logic [sluice_pkg::CtaSumW-1:0]             prepare_sum_i,         // CTAs over the SMs that run this kernel in this window
  input  logic                                       sample_valid_i,
  output logic                                       sample_ready_o,
  input  logic [sluice_pkg::KernelW-1:0]             sample_kernel_i,
  input  logic [sluice_pkg::CtaW-1:0]                sample_ctas_i,         // 1..MAX_CTAS
  input  logic [sluice_pkg::InstW-1:0]               sample_insts_i,
  input  logic [sluice_pkg::WindowW-1:0]             sample_stall_i,
  input  logic [sluice_pkg::SmCountW-1:0]            num_samples_i,         // SMs that run this kernel in this window
  input  logic                                       sample_final_i,        // last sample of this kernel
  output logic                                       scaled_valid_o,        // an entry of the performance table, for tracing
  output logic [sluice_pkg::KernelW-1:0]             scaled_kernel_o,
  output logic [sluice_pkg::CtaW-1:0]                scaled_ctas_o,
  output logic [sluice_pkg::ScaledW-1:0]             scaled_o,              // units of 1/2**ScaledFracW instructions a window
  output logic                                       idle_o,                // nothing changes without an input
  output logic                                       done_o,
  output logic                                       no_fit_o,              // one CTA of each does not fit: no intra-SM partition
  output logic                                       spatial_o,             // loss guard: fall back to spatial
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]    ctas_o
);
  localparam int unsigned PerfW   = sluice_pkg::PerfW;
  localparam int unsigned KernelW = sluice_pkg::KernelW;

  logic                           scaled_valid, scaled_final, scaler_idle, table_idle;
  logic [KernelW-1:0]             scaled_kernel;
  logic [sluice_pkg::CtaW-1:0]    scaled_ctas;
  logic [sluice_pkg::ScaledW-1:0] scaled;

  ipc_scaler #(
    .NUM_SM      (NUM_SM),
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_ipc_scaler (
    .clk_i,
    .rst_ni,
    .start_i,
    .abort_i,
    .window_i,
    .prepare_valid_i,
    .prepare_ready_o,
    .prepare_kernel_i,
    .prepare_sum_i,
    .sample_valid_i,
    .sample_ready_o,
    .sample_kernel_i,
    .sample_ctas_i,
    .sample_insts_i,
    .sample_stall_i,
    .num_samples_i,
    .sample_final_i,
    .scaled_valid_o  (scaled_valid),
    .scaled_kernel_o (scaled_kernel),
    .scaled_ctas_o   (scaled_ctas),
    .scaled_o        (scaled),
    .scaled_final_o   (scaled_final),
    .idle_o           (scaler_idle)
  );

  logic                        table_valid, has_next;
  logic [KernelW-1:0]          table_kernel;
  logic [sluice_pkg::CtaW-1:0] table_from, table_ctas, next_ctas;
  logic [PerfW-1:0]            table_perf;

  perf_table #(
    .MAX_KERNELS (MAX_KERNELS),
    .MAX_CTAS    (MAX_CTAS)
  ) i_perf_table (
    .clk_i,
    .rst_ni,
    .start_i        (start_i || abort_i),
    .num_kernels_i,
    .write_valid_i  (scaled_valid),
    .write_kernel_i (scaled_kernel),
    .write_ctas_i   (scaled_ctas),
    .write_perf_i   (scaled),
    .write_final_i  (scaled_final),
    .idle_o         (table_idle),
    .valid_o        (table_valid),
    .read_kernel_i  (table_kernel),
    .read_ctas_i    (table_ctas),
    .read_perf_o    (table_perf),
    .from_ctas_i    (table_from),
    .has_next_o     (has_next),
    .next_ctas_o    (next_ctas)
  );

  typedef enum logic [1:0] {Profile, Allocate, Guard, Idle} state_e;
  state_e                       state_d, state_q;
  logic [KernelW-1:0]           kernel_d, kernel_q;   // that the loss guard looks at
  logic                         allocate_start, allocate_done, no_fit, spatial, done_d, done_q, spatial_d, spatial_q;
  logic [MAX_KERNELS*PerfW-1:0] perf;
  logic [PerfW-1:0]             guard_perf;

  waterfill_allocator #(
    .MAX_KERNELS (MAX_KERNELS)
  ) i_waterfill_allocator (
    .clk_i,
    .rst_ni,
    .start_i          (allocate_start),
    .abort_i          (start_i || abort_i),
    .num_kernels_i,
    .capacity_warps_i,
    .capacity_registers_i,
    .capacity_shared_i,
    .capacity_slots_i,
    .demand_warps_i,
    .demand_registers_i,
    .demand_shared_i,
    .epsilon_i,
    .table_kernel_o   (table_kernel),
    .table_from_o     (table_from),
    .table_ctas_o     (table_ctas),
    .table_has_next_i (has_next),
    .table_next_i     (next_ctas),
    .table_perf_i     (table_perf),
    .done_o           (allocate_done),
    .no_fit_o         (no_fit),
    .ctas_o,
    .perf_o           (perf)
  );

  loss_guard #(
    .MAX_KERNELS (MAX_KERNELS)
  ) i_loss_guard (
    .clk_i,
    .rst_ni,
    .start_i       (kernel_q == '0),
    .valid_i       (state_q == Guard),
    .perf_i        (guard_perf),
    .num_kernels_i,
    .loss_limit_i,
    .spatial_o     (spatial)
  );

  always_comb begin
    guard_perf = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++)
      if (kernel_q == KernelW'(k)) guard_perf = perf[k*PerfW +: PerfW];
  end

  always_comb begin
    state_d        = state_q;
    kernel_d       = kernel_q;
    spatial_d      = spatial_q;
    done_d         = 1'b0;
    allocate_start = 1'b0;
    unique case (state_q)
      Profile: if (table_valid) begin
        allocate_start = 1'b1;
        state_d        = Allocate;
      end
      Allocate: if (allocate_done) begin
        kernel_d  = '0;
        done_d    = no_fit;
        state_d   = no_fit ? Idle : Guard;
      end
      Guard: begin
        kernel_d = kernel_q + 1'b1;
        if (kernel_q + 1'b1 == num_kernels_i) begin
          spatial_d = spatial;
          done_d    = 1'b1;
          state_d   = Idle;
        end
      end
      default: state_d = Idle;
    endcase
    if (start_i) begin
      state_d   = Profile;
      kernel_d  = '0;
      spatial_d = 1'b0;
      done_d    = 1'b0;
    end
    if (abort_i) begin
      state_d = Idle;
      done_d  = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      kernel_q  <= '0;
      spatial_q <= 1'b0;
      done_q    <= 1'b0;
    end else begin
      state_q   <= state_d;
      kernel_q  <= kernel_d;
      spatial_q <= spatial_d;
      done_q    <= done_d;
    end
  end

  assign scaled_valid_o  = scaled_valid;
  assign scaled_kernel_o = scaled_kernel;
  assign scaled_ctas_o   = scaled_ctas;
  assign scaled_o        = scaled;

  assign idle_o    = scaler_idle && table_idle && !done_q && (state_q == Idle || (state_q == Profile && !table_valid));
  assign done_o    = done_q;
  assign no_fit_o  = no_fit;
  assign spatial_o = spatial_q;
endmodule
