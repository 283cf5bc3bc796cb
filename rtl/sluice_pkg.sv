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
  localparam int unsigned ScaledW   = ExponentW + MantissaW - 1;  // {exponent, mantissa}: partition_core
  localparam int unsigned WordW     = 16;  // of the performance table: an entry, then a performance
  localparam int unsigned OperandW  = 18;  // of the serial unit: amounts of an SM, the loss limit, twice a mantissa
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
  localparam logic [ModeW-1:0] ModeBalance  = 3'd6;
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
  // What went wrong in the dispatcher, pulses, and whose it was.
  typedef struct packed {
    logic               port_stuck;
    logic               bad_kernel;
    logic               slot_busy;
    logic               cannot_fit;
    logic               bad_done;
    logic [KIndexW-1:0] kernel;   // 0 with a bad end
    logic [SmW-1:0]     sm;       // of a bad end or a stuck port, else 0
    logic [SlotW-1:0]   slot;     // of a bad end, else 0
  } dispatch_error_t;
  // What a kernel slot takes of it.
  typedef struct packed {
    logic [PriorityW-1:0] urgency;
    logic [GridW-1:0]     ctas;
    amounts_t             demand;
  } descriptor_t;
  // A CTA at the dispatch port, and its place in the grid of a kernel of the launch port.
  typedef struct packed {
    logic [SmW-1:0]       sm;
    logic [KIndexW-1:0]   kernel;
    logic [SlotW-1:0]     slot;
    logic [GridW-1:0]     cta;
    logic [GridW-1:0]     x;
    logic [BlockW-1:0]    y;
    logic [BlockW-1:0]    z;
    logic [ContextW-1:0]  ctx;
    logic [PriorityW-1:0] urgency;
    logic [RegW-1:0]      register_base;
    logic [SharedW-1:0]   shared_base;
    logic                 region_valid;
    logic [TagW-1:0]      tag;
  } dispatch_t;
  // AXI4-Lite with 12 bits of address: what a manager drives, and what it is answered.
  typedef struct packed {
    logic [11:0] awaddr;
    logic        awvalid;
    logic [31:0] wdata;
    logic [3:0]  wstrb;
    logic        wvalid;
    logic        bready;
    logic [11:0] araddr;
    logic        arvalid;
    logic        rready;
  } axi_request_t;
  typedef struct packed {
    logic        awready;
    logic        wready;
    logic [1:0]  bresp;
    logic        bvalid;
    logic        arready;
    logic [31:0] rdata;
    logic [1:0]  rresp;
    logic        rvalid;
  } axi_response_t;
  // How the host wants decisions made.
  typedef struct packed {
    logic [ModeW-1:0]   mode;
    logic               mode_write;          // pulse with the (new) mode
    logic               reprofile;           // pulse
    logic [TimerW-1:0]  warm_up;             // cycles
    logic [WindowW-1:0] window;
    logic [WindowW-1:0] delay;
    logic [PerfW-1:0]   epsilon;
    logic [LossW-1:0]   loss_limit;          // units of 2**-PerfFracW
    logic               monitor_enable;
    logic [PerfW-1:0]   monitor_threshold;
    logic [WindowW-1:0] monitor_window;      // cycles
    logic [7:0]         monitor_hold;        // monitor windows
    logic [ShareW-1:0]  request_share;       // lines a window; 0: 2**ShareW
    logic [7:0]         drain_limit;         // units of 2**DrainShift cycles
  } decision_config_t;
  // What decides how many CTAs an SM holds says in a cycle: partition_sequencer, or after it another block.
  typedef struct packed {
    logic           sample_read;      // the counters of this SM are read, to be the next sample
    logic [SmW-1:0] sample_sm;
    logic           sample_drop;      // which counts as none
    logic           profile_clear;
    logic           profile_enable;
    logic           profiling;
    logic           quota_changed;    // pulse
    logic           regions;          // no quotas: contiguous regions,
    logic           round_robin;      // CTAs in turn
    logic           in_order;         // or in order
    logic [3:0]     state;
    logic           decision;         // pulse
    logic           spatial;
    logic           no_fit;
    logic           no_profile;
    logic           monitoring;       // a decision is in force
    logic           idle;
  } sequenced_t;
  // How far a decision is, and what the last one rests on.
  typedef struct packed {
    logic [3:0] state;        // of the sequencer
    logic       decision;     // pulse: enforced
    logic       spatial;      // of the last decision
    logic       no_fit;
    logic       dropped;      // of the last profile
    logic       no_profile;
    logic       fell_back;    // a mode that would have ranges has none to give
  } decision_status_t;

  // Blocks check their parameters by this; sluice_top names each with its range.
  function automatic logic sizes_exist(input int unsigned sms, input int unsigned kernels, input int unsigned ctas);
    sizes_exist = sms >= 1 && sms <= 2**SmW && kernels >= 2 && kernels <= 2**KIndexW && ctas >= 2 && ctas <= 2**SlotW;
  endfunction
  // verilator lint_on UNUSEDPARAM
endpackage
