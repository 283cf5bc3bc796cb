// quota_query: how many CTAs of each kernel slot an SM may have, by the plan and its layout. Combinational.
// The SM belongs to the kernel in whose range it is; only that one has a quota there in the layouts Ranges and Levels.
module quota_query #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8
) (
  input  logic [sluice_pkg::LayoutW-1:0]              layout_i,
  // The plan, by rank.
  input  logic [sluice_pkg::KernelW-1:0]              num_i,
  input  logic [MAX_KERNELS*sluice_pkg::KIndexW-1:0]  slot_i,
  input  logic [MAX_KERNELS*sluice_pkg::SmW-1:0]      first_i,
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     ctas_i,
  input  logic [MAX_KERNELS*sluice_pkg::LevelW-1:0]   base_i,
  // The host's, by kernel slot.
  input  logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     static_quota_i,
  input  logic [MAX_KERNELS*NUM_SM-1:0]               static_mask_i,
  input  logic [sluice_pkg::SmW-1:0]                  sm_i,
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     quota_o,      // by kernel slot; MAX_CTAS: no limit
  output logic [MAX_KERNELS-1:0]                      planned_o,    // by kernel slot: the plan is for it
  output logic [MAX_KERNELS*sluice_pkg::CtaW-1:0]     ctas_o,       // by kernel slot, of the planned
  output logic [MAX_KERNELS*sluice_pkg::SmW-1:0]      first_o
);
  localparam int unsigned CtaW    = sluice_pkg::CtaW;
  localparam int unsigned KernelW = sluice_pkg::KernelW;
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;
  localparam int unsigned SmW     = sluice_pkg::SmW;
  localparam int unsigned LevelW  = sluice_pkg::LevelW;
  localparam int unsigned IndexW  = (NUM_SM > 1) ? $clog2(NUM_SM) : 1;

  logic [IndexW-1:0] sm;
  assign sm = sm_i[IndexW-1:0];

  // By rank: has it an SM up to this one; the last that has owns this one.
  logic [MAX_KERNELS:0] begun;
  logic [IndexW-1:0]    owner_first, offset;
  logic [CtaW-1:0]      owner_ctas, owner_quota;
  logic [LevelW-1:0]    owner_base, level;
  always_comb begin
    begun       = '0;
    owner_first = '0;
    owner_ctas  = '0;
    owner_base  = '0;
    for (int unsigned r = 0; r < MAX_KERNELS; r++)
      begun[r] = KernelW'(r) < num_i && sm >= first_i[r*SmW +: IndexW];
    for (int unsigned r = 0; r < MAX_KERNELS; r++) begin
      if (begun[r] && !begun[r+1]) begin
        owner_first |= first_i[r*SmW +: IndexW];
        owner_ctas  |= ctas_i[r*CtaW +: CtaW];
        owner_base  |= base_i[r*LevelW +: LevelW];
      end
    end
    offset      = sm - owner_first;
    level       = owner_base + LevelW'(offset) + 1'b1;
    owner_quota = CtaW'(MAX_CTAS);
    if (layout_i == sluice_pkg::LayoutLevels) owner_quota = (level > LevelW'(owner_ctas)) ? owner_ctas : CtaW'(level);
  end

  logic [MAX_KERNELS-1:0] owns;
  always_comb begin
    owns      = '0;
    planned_o = '0;
    ctas_o    = '0;
    first_o   = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      for (int unsigned r = 0; r < MAX_KERNELS; r++) begin
        if (KernelW'(r) < num_i && slot_i[r*KIndexW +: KIndexW] == KIndexW'(k)) begin
          planned_o[k]             = 1'b1;
          owns[k]                 |= begun[r] && !begun[r+1];
          ctas_o[k*CtaW +: CtaW]  |= ctas_i[r*CtaW +: CtaW];
          first_o[k*SmW +: SmW]   |= first_i[r*SmW +: SmW];
        end
      end
    end
  end

  always_comb begin
    quota_o = '0;
    for (int unsigned k = 0; k < MAX_KERNELS; k++) begin
      unique case (layout_i)
        sluice_pkg::LayoutFree:   quota_o[k*CtaW +: CtaW] = CtaW'(MAX_CTAS);
        sluice_pkg::LayoutAlone:  if (planned_o[k]) quota_o[k*CtaW +: CtaW] = CtaW'(MAX_CTAS);
        sluice_pkg::LayoutRanges,
        sluice_pkg::LayoutLevels: if (owns[k]) quota_o[k*CtaW +: CtaW] = owner_quota;
        sluice_pkg::LayoutCounts: quota_o[k*CtaW +: CtaW] = ctas_o[k*CtaW +: CtaW];
        sluice_pkg::LayoutStatic: if (static_mask_i[k*NUM_SM + 32'(sm)]) quota_o[k*CtaW +: CtaW] = static_quota_i[k*CtaW +: CtaW];
        default:                  quota_o[k*CtaW +: CtaW] = '0;
      endcase
    end
  end

  logic unused_high_bits;
  assign unused_high_bits = ^sm_i;
endmodule
