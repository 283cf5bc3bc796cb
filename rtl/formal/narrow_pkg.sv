// SPDX-License-Identifier: Apache-2.0
// sluice_pkg with narrow fields, for proofs that would take too long with the real ones.
package sluice_pkg;
  localparam int unsigned KernelW   = 4;
  localparam int unsigned KIndexW   = 3;
  localparam int unsigned SmW       = 2;
  localparam int unsigned SlotW     = 3;
  localparam int unsigned GridW     = 3;
  localparam int unsigned ResidentW = 5;
  localparam int unsigned CtaW      = 3;
  localparam int unsigned WarpW     = 2;
`ifdef REGIONS   // capacities that are no power of two of the units
  localparam int unsigned RegW      = 3;
`else
  localparam int unsigned RegW      = 2;
`endif
  localparam int unsigned SharedW   = 2;
  localparam int unsigned AmountW   = WarpW + RegW + SharedW;
  localparam int unsigned SmCountW  = 3;
  localparam int unsigned TimerW    = 3;
  localparam int unsigned DrainShift = 1;
  localparam int unsigned WindowW   = 3;
  localparam int unsigned ShareW    = 2;
  localparam int unsigned InstW     = 4;
  localparam int unsigned PerfFracW = 2;
  localparam int unsigned PerfW     = 3;
  localparam int unsigned MantissaW = 3;
  localparam int unsigned ExponentW = 2;
  localparam int unsigned ScaledW   = 4;
  localparam int unsigned WordW     = 4;
  localparam int unsigned OperandW  = 5;
  localparam int unsigned TagW      = 2;
  localparam int unsigned PriorityW = 2;
  localparam int unsigned LossW     = 4;
  localparam logic [PerfW-1:0] PerfOne = PerfW'(1) << PerfFracW;
  localparam int unsigned ModeW = 3;
  localparam logic [ModeW-1:0] ModeLeftOver = 3'd0;
  localparam logic [ModeW-1:0] ModeFcfs     = 3'd1;
  localparam logic [ModeW-1:0] ModeEven     = 3'd2;
  localparam logic [ModeW-1:0] ModeSpatial  = 3'd3;
  localparam logic [ModeW-1:0] ModeStatic   = 3'd4;
  localparam logic [ModeW-1:0] ModeDynamic  = 3'd5;
  localparam int unsigned LayoutW = 3;
  localparam logic [LayoutW-1:0] LayoutFree   = 3'd0;
  localparam logic [LayoutW-1:0] LayoutHold   = 3'd1;
  localparam logic [LayoutW-1:0] LayoutAlone  = 3'd2;
  localparam logic [LayoutW-1:0] LayoutRanges = 3'd3;
  localparam logic [LayoutW-1:0] LayoutCounts = 3'd4;
  localparam logic [LayoutW-1:0] LayoutLevels = 3'd5;
  localparam logic [LayoutW-1:0] LayoutStatic = 3'd6;
  localparam logic [1:0] SlotFree     = 2'd0;
  localparam logic [1:0] SlotRunning  = 2'd1;
  localparam logic [1:0] SlotDraining = 2'd2;
  typedef struct packed {
    logic [SharedW-1:0] shared;
    logic [RegW-1:0]    registers;
    logic [WarpW-1:0]   warps;
  } amounts_t;
  typedef struct packed {
    logic               last;
    logic [CtaW-1:0]    ctas;
    logic [KernelW-1:0] kernel;
  } sample_t;
  typedef struct packed {
    logic               port_stuck;
    logic               bad_kernel;
    logic               slot_busy;
    logic               cannot_fit;
    logic               bad_done;
    logic [KIndexW-1:0] kernel;
    logic [SmW-1:0]     sm;
    logic [SlotW-1:0]   slot;
  } dispatch_error_t;

  // Defaults of the blocks, which Yosys looks at first, are beyond narrow fields.
  function automatic logic sizes_exist(input int unsigned sms, input int unsigned kernels, input int unsigned ctas);
    sizes_exist = sms != 0 && kernels != 0 && ctas != 0;
  endfunction
endpackage
