// partition_plan: the kernels that a plan is for, by age, and what each may have (docs/blocks/partition_sequencer.md).
// The r-th of n kernels has a contiguous range of NUM_SM / n SMs, one more for the first NUM_SM % n; its CTAs per SM are the occupancy, then
// what was decided; its levels of earlier windows are as many as windows times SMs. Fields of ranks from num_o on mean nothing.
module partition_plan #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8
) (
  input  logic                                        clk_i,
  input  logic                                        rst_ni,
  input  logic                                        plan_i,           // pulse: a plan for the kernels that are present now
  input  logic [sluice_pkg::KernelW-1:0]              num_present_i,
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]  age_i,            // their slots, oldest first
  input  logic [MAX_KERNELS-1:0]                      occupancy_valid_i,// pulse, by rank
  input  logic [sluice_pkg::CtaW-1:0]                 occupancy_i,
  input  logic                                        decided_valid_i,  // pulse
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     decided_i,
  input  logic                                        first_window_i,   // pulse: levels begin with 1
  input  logic                                        next_window_i,    // pulse: levels go on
  output logic [sluice_pkg::KernelW-1:0]              num_o,
  output logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]  slot_o,           // by rank, as all that follows
  output logic [MAX_KERNELS*sluice_pkg::SmW-1:0]      first_o,          // first SM of its range
  output logic [MAX_KERNELS*sluice_pkg::SmCountW-1:0] count_o,          // SMs of its range
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     ctas_o,
  output logic [MAX_KERNELS*sluice_pkg::LevelW-1:0]   base_o            // levels of earlier windows
);
  localparam int unsigned CtaW     = sluice_pkg::CtaW;
  localparam int unsigned KernelW  = sluice_pkg::KernelW;
  localparam int unsigned KIndexW  = sluice_pkg::KIndexW;
  localparam int unsigned SmW      = sluice_pkg::SmW;
  localparam int unsigned SmCountW = sluice_pkg::SmCountW;
  localparam int unsigned LevelW   = sluice_pkg::LevelW;
  localparam int unsigned IndexW   = $clog2(MAX_KERNELS);
  localparam int unsigned NumW     = $clog2(MAX_KERNELS + 1);
  localparam int unsigned CountW   = $clog2(MAX_CTAS + 1);

  logic [NumW-1:0]               num_q;
  logic [MAX_KERNELS*IndexW-1:0] slot_q;
  logic [MAX_KERNELS*CountW-1:0] ctas_d, ctas_q;
  // While windows follow, the smaller ranges have less than MAX_CTAS levels behind them.
  logic [CountW-1:0]             windows_d, windows_q, base_d, base_q;   // windows before this one; times the smaller range

  logic [SmCountW-1:0] share;
  always_comb begin
    share   = SmCountW'(NUM_SM);
    first_o = '0;
    count_o = '0;
    for (int unsigned n = 1; n <= MAX_KERNELS; n++) begin
      if (num_q == NumW'(n)) begin
        share = SmCountW'(NUM_SM / n);
        for (int unsigned r = 0; r < n; r++) begin
          first_o[r*SmW +: SmW]           = SmW'(r * (NUM_SM / n) + ((r < NUM_SM % n) ? r : NUM_SM % n));
          count_o[r*SmCountW +: SmCountW] = SmCountW'(NUM_SM / n + ((r < NUM_SM % n) ? 1 : 0));
        end
      end
    end
  end

  always_comb begin
    windows_d = windows_q;
    base_d    = base_q;
    if (next_window_i) begin
      windows_d = windows_q + 1'b1;
      base_d    = base_q + CountW'(share);
    end
    if (first_window_i) begin
      windows_d = '0;
      base_d    = '0;
    end
    ctas_d = ctas_q;
    for (int unsigned r = 0; r < MAX_KERNELS; r++) begin
      if (occupancy_valid_i[r]) ctas_d[r*CountW +: CountW] = CountW'(occupancy_i);
      if (decided_valid_i)      ctas_d[r*CountW +: CountW] = CountW'(decided_i[r*CtaW +: CtaW]);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)     num_q <= '0;
    else if (plan_i) num_q <= NumW'(num_present_i);

  // Means nothing without a plan: no reset.
  always_ff @(posedge clk_i) begin
    windows_q <= windows_d;
    base_q    <= base_d;
    ctas_q    <= ctas_d;
    if (plan_i)
      for (int unsigned r = 0; r < MAX_KERNELS; r++) slot_q[r*IndexW +: IndexW] <= IndexW'(age_i[r*KIndexW +: KIndexW]);
  end

  always_comb begin
    for (int unsigned r = 0; r < MAX_KERNELS; r++) begin
      slot_o[r*KIndexW +: KIndexW] = KIndexW'(slot_q[r*IndexW +: IndexW]);
      ctas_o[r*CtaW +: CtaW]       = CtaW'(ctas_q[r*CountW +: CountW]);
      base_o[r*LevelW +: LevelW]   = LevelW'(base_q) + ((count_o[r*SmCountW +: SmCountW] != share) ? LevelW'(windows_q) : '0);
    end
  end
  assign num_o = KernelW'(num_q);

  logic unused_high_bits;
  assign unused_high_bits = ^{num_present_i, age_i, occupancy_i, decided_i};
endmodule
