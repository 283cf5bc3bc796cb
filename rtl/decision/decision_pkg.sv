// SPDX-License-Identifier: Apache-2.0
// decision_pkg: the states of a decision, and the word that tells serial_unit and perf_table what to do in a cycle
// (docs/reference/blocks/partition_core.md).
package decision_pkg;
  // verilator lint_off UNUSEDPARAM
  // What is on the bus.
  localparam int unsigned SourceW = 4;
  localparam logic [SourceW-1:0] FromNothing  = 4'd0;    // zero
  localparam logic [SourceW-1:0] FromEntry    = 4'd1;    // of the sample that comes in
  localparam logic [SourceW-1:0] FromWord     = 4'd2;    // of the table
  localparam logic [SourceW-1:0] FromMantissa = 4'd3;    // of that word, leading one included
  localparam logic [SourceW-1:0] FromCapacity = 4'd4;    // of an SM
  localparam logic [SourceW-1:0] FromDemand   = 4'd5;    // of a CTA
  localparam logic [SourceW-1:0] FromEpsilon  = 4'd6;
  localparam logic [SourceW-1:0] FromLimit    = 4'd7;
  localparam logic [SourceW-1:0] FromOne      = 4'd8;    // performance 1.0
  localparam logic [SourceW-1:0] FromLevel    = 4'd9;
  localparam logic [SourceW-1:0] FromAnchor   = 4'd10;
  localparam logic [SourceW-1:0] FromQuotient = 4'd11;

  // Resources, in the order in which they are tried.
  localparam logic [1:0] Slots     = 2'd0;
  localparam logic [1:0] Warps     = 2'd1;
  localparam logic [1:0] Registers = 2'd2;
  localparam logic [1:0] Shared    = 2'd3;
  // verilator lint_on UNUSEDPARAM

  // The name begins with the phase.
  typedef enum logic [5:0] {
    Idle, Collect, Best,
    RaiseRead, RaiseCompare, RaiseKeep,
    NormBest, NormRead, NormDivide, NormStore,
    HullLoad, HullMultiply, HullDivide, HullLine, HullRead, HullCompare, HullKeep, NextKernel,
    FitSm, FitKernel, FitTake, FitEnd,
    ScanPick, ScanRead, ScanCompare, ScanKeep, ScanEnd,
    StepFirst, StepRead, StepCompare, StepCheck, GainLoad, GainTake, GainCheck,
    JudgeLimit, JudgeRead, JudgeTake, JudgeCheck, Done
  } state_e;

  // How far a decision is: the registers of decision_steps, as wide as fields of sluice_pkg, whose constants Yosys does
  // not take here.
  localparam int unsigned LeftW = 6;
  typedef struct packed {
    state_e           state;
    logic [2:0]       kernel;     // under work
    logic [5:0]       level;      // CTAs of it
    logic [5:0]       anchor;     // from whose performance the hull's line comes
    logic [LeftW-1:0] left;       // cycles of a loop; finals that are still to come
    logic [1:0]       resource;
    logic [3:0]       exponent;   // of the kernel's best
    logic [2:0]       worst;      // the worst-off kernel: it tries a step to `level` CTAs
    logic             placed;     // every kernel has its first CTA
    logic [7:0]       full;       // kernels that take no other step
    logic             no_fit;
    logic             spatial;
  } progress_t;

  typedef struct packed {
    logic [SourceW-1:0] source;     // on the bus
    logic [1:0]         resource;   // of a capacity or a demand
    logic               load_a;     // A <- bus
    logic               clear_a;    // A <- 0
    logic               load_b;     // B <- bus
    logic               load_q;     // Q <- word of the table
    logic               clear_q;    // Q <- 0
    logic               multiply;   // {A, Q} <- {A + Q[0] B, Q} >> 1
    logic               divide;     // {A, Q} <- {A, Q} << 1 after the trial subtraction of B; its success enters Q
    logic               subtract;   // A <- A - B
    logic               exceed;     // A <- A - B - 1: below zero unless A > B
    logic               lose;       // A <- A - (1.0 - B)
    logic               fresh;      // forgets that something went below zero
    logic               write;      // word <- B
    logic               write_q;    // word <- Q
    logic               at_anchor;  // the word is that of the anchor, not of the level
  } control_t;
endpackage
