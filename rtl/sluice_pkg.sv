// SPDX-License-Identifier: Apache-2.0
// sluice_pkg: widths and constants that every block of the partition hardware shares.
// Sized for the largest machine described (an SM of 64 warps, 65,536 registers, 228 KB of shared memory, 32 CTA slots).
package sluice_pkg;
  // A design that elaborates one block uses only some of these.
  // verilator lint_off UNUSEDPARAM
  localparam int unsigned KernelW   = 4;   // kernel index or count, 0..8
  localparam int unsigned CtaW      = 6;   // CTAs on one SM, 0..32
  localparam int unsigned SmCountW  = 9;   // SMs sampled for one kernel, 0..256
  localparam int unsigned WindowW   = 16;  // profile window in cycles, 1,024..65,535
  localparam int unsigned ShareW    = 13;  // lines that an SM may exchange in a window
  localparam int unsigned InstW     = 18;  // warp instructions of one SM in a window
  localparam int unsigned PerfFracW = 14;  // normalised performance: 1.0 = 2**PerfFracW = the kernel's own best
  localparam int unsigned PerfW     = PerfFracW + 1;
  localparam int unsigned MantissaW = 13;  // of an entry of the performance table, leading one included
  localparam int unsigned ExponentW = 4;
  localparam int unsigned ScaledW   = ExponentW + MantissaW - 1;  // {exponent, mantissa};
                                                                  // docs/reference/blocks/partition_core.md
  localparam int unsigned WordW     = 16;  // of the performance table: an entry, then a performance
  localparam int unsigned OperandW  = 18;  // of the serial unit: amounts of an SM, the loss limit, twice a mantissa,
                                           // more than a performance
  localparam int unsigned LossW     = 16;  // loss limit, in units of 2**-PerfFracW
  localparam int unsigned WarpW     = 7;   // warps of an SM
  localparam int unsigned RegW      = 17;  // registers of an SM
  localparam int unsigned SharedW   = 18;  // bytes of shared memory of an SM
  localparam int unsigned AmountW   = WarpW + RegW + SharedW;  // amounts_t
  localparam int unsigned KIndexW   = 3;   // kernel slot, 0..7
  localparam int unsigned SmW       = 8;   // SM, 0..255
  localparam int unsigned SlotW     = 5;   // CTA slot of an SM, 0..31

  localparam int unsigned GridW     = 32;  // CTAs of a grid
  localparam int unsigned ResidentW = 16;  // CTAs on all SMs
  localparam int unsigned TimerW    = 20;  // cycles of the warm-up, of the drain
  localparam int unsigned DrainShift = 12;  // the drain limit is in units of 2**DrainShift cycles
  localparam int unsigned BlockW    = 16;  // CTAs of a grid along y or z
  localparam int unsigned ContextW  = 8;   // whose a kernel is
  localparam int unsigned PriorityW = 3;   // of a kernel; with PRIORITY the highest goes first
  localparam int unsigned TagW      = 4;   // of a kernel's CTAs; goes on with each flush
  localparam int unsigned LaunchW   = AmountW + 3 * GridW + 3 * BlockW + ContextW + PriorityW;   // launch_t

  // Modes of the CTA dispatcher (CSR MODE).
  localparam int unsigned ModeW = 3;
  localparam logic [ModeW-1:0] ModeLeftOver = 3'd0;
  localparam logic [ModeW-1:0] ModeFcfs     = 3'd1;
  localparam logic [ModeW-1:0] ModeEven     = 3'd2;
  localparam logic [ModeW-1:0] ModeSpatial  = 3'd3;
  localparam logic [ModeW-1:0] ModeStatic   = 3'd4;
  localparam logic [ModeW-1:0] ModeDynamic  = 3'd5;

  // How partition_sequencer answers quotas. Free: no quotas. Hold: nothing may start (a plan is being made). Alone: no
  // quota, for the planned kernel. Ranges: no quota on a kernel's own SMs. Counts: as many CTAs on every SM. Levels:
  // profile. Static: the host's.
  localparam int unsigned LayoutW = 3;
  localparam logic [LayoutW-1:0] LayoutFree   = 3'd0;
  localparam logic [LayoutW-1:0] LayoutHold   = 3'd1;
  localparam logic [LayoutW-1:0] LayoutAlone  = 3'd2;
  localparam logic [LayoutW-1:0] LayoutRanges = 3'd3;
  localparam logic [LayoutW-1:0] LayoutCounts = 3'd4;
  localparam logic [LayoutW-1:0] LayoutLevels = 3'd5;
  localparam logic [LayoutW-1:0] LayoutStatic = 3'd6;

  // Life of a kernel slot.
  localparam logic [1:0] SlotFree     = 2'd0;
  localparam logic [1:0] SlotRunning  = 2'd1;
  localparam logic [1:0] SlotDraining = 2'd2;

  localparam logic [PerfW-1:0] PerfOne = PerfW'(1) << PerfFracW;
  // What a CTA needs, or an SM has left, but for CTA slots.
  typedef struct packed {
    logic [SharedW-1:0] shared;
    logic [RegW-1:0]    registers;
    logic [WarpW-1:0]   warps;
  } amounts_t;
  // What a profile sample is of.
  typedef struct packed {
    logic               last;     // of this kernel
    logic [CtaW-1:0]    ctas;     // 1..MAX_CTAS
    logic [KernelW-1:0] kernel;   // by age
  } sample_t;
  // A launch of the port: the descriptor, and the grid from the starting block on. `context` and `priority` are words
  // of the language.
  typedef struct packed {
    logic [PriorityW-1:0] urgency;
    logic [ContextW-1:0]  ctx;
    logic [BlockW-1:0]    start_z;
    logic [BlockW-1:0]    start_y;
    logic [GridW-1:0]     start_x;
    logic [BlockW-1:0]    size_y;    // CTAs of the whole grid along y
    logic [GridW-1:0]     size_x;
    logic [GridW-1:0]     ctas;      // to run
    amounts_t             demand;    // of one CTA
  } launch_t;
  // verilator lint_on UNUSEDPARAM
endpackage
