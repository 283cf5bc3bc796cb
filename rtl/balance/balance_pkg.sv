// SPDX-License-Identifier: Apache-2.0
// balance_pkg: number formats and states of balance_search, and the word that tells its arithmetic what to do in a
// cycle (docs/reference/blocks/balance_search.md).
package balance_pkg;
  // verilator lint_off UNUSEDPARAM
  localparam int unsigned W        = 18;   // registers of the arithmetic, words of the table
  localparam int unsigned SampleW  = 12;   // a window's instructions, shifted down by the caller
  localparam int unsigned CountW   = 6;    // samples of an entry, 0..63
  localparam int unsigned MeanW    = 15;   // eighths of a sample
  localparam int unsigned RateW    = 15;   // 1.0 = 2**13
  localparam int unsigned WeightW  = 7;    // 1..127, any unit
  localparam int unsigned KeepW    = 18;   // 1.0 = 2**15
  localparam int unsigned Rounds   = 3;
  localparam int unsigned EntryW   = 4;    // of a round, the base first
  localparam int unsigned RowW     = 6;    // of all rounds

  // What is on the bus.
  typedef enum logic [4:0] {
    FromNothing, FromSample, FromWord, FromCount, FromAlone2, FromAlone4, FromA, FromQuotient, FromProduct, FromSum,
    FromFloor, FromShort, FromTime, FromTime64th, FromWeight3, FromWeight4, FromWeight7, FromBestShort, FromBestTime,
    FromBeforeShort, FromBeforeTime, FromKeep, FromOne, FromSevenEighths, FromMostRate, FromMostTime, FromCapacity,
    FromDemand
  } source_e;

  // The name begins with the sub-program: list, rates, step, alone.
  typedef enum logic [6:0] {
    Idle, Wait, AddRead, AddSum, AddTake, AddWrite,
    ListStart, ListLoad, ListMore, ListSm, ListKernel, ListTake, ListFit, ListFewer, ListLook, ListSame, ListNext,
    ListClear,
    MeanCount, MeanRead, MeanDivide, MeanStore,
    RateStart, RateAlone, RateRead, RateTry, RateCheck, RateLoad, RateDivide, RateHave,
    SumLoad, SumAdd, SumKeep, FloorLoad, FloorTake, FloorCheck, FloorMost, FloorAdd, FloorKeep,
    TimeRate, TimeLoad, TimeTake, TimeCheck, TimeDivide, TimeLoadA, TimeLoadB, TimeMost, TimeKeep,
    UseTime, UseSum, UseMultiply, UseProduct, UseLoad, UseTake, UseWeight, UseAdd, UseKeep,
    StepStart, BackShortA, BackShortB, BackShort, BackTimeA, BackTimeB, BackTime, Back64th, BackExceed, BackCheck,
    StepBase,
    NearA, NearB, NearTake, NearCheck, GainA, GainB, GainTake, Gain64th, GainExceed, GainCheck,
    BaseA, BaseB, BaseTake, BaseCheck, PaidOne, PaidHere, PaidMultiply, PaidBase, PaidTry, PaidCheck, PaidDivide,
    PaidA, PaidB, PaidTake, PaidEnd, StepTake, StepNext, StepEnd,
    TurnsTake, KeepStart, KeepTime, KeepLimit, KeepMultiply, KeepWeight, KeepTake, KeepCheck, OnAllStart, TurnsStart,
    AloneStart, AloneMean, AloneNext, Done
  } state_e;

  // Where candidates come from, in this order: a new kind is another of these (balance_list).
  typedef enum logic [1:0] {Near, Fewer, Far} kind_e;

  // What is measured: partitions side by side; then, on all SMs, the base, CTAs in turn, and each kernel alone. Entries
  // of all SMs are the base, what CTAs in turn do, and a kernel alone.
  typedef enum logic [1:0] {SideBySide, OnAll, InTurn, Alone} phase_e;
  localparam logic [EntryW-1:0] TurnsEntry = EntryW'(1);
  localparam logic [EntryW-1:0] AloneEntry = EntryW'(2);

  typedef struct packed {
    state_e            state;
    logic [2:0]        kernel;      // under work
    logic [5:0]        left;        // cycles of a loop
    logic [1:0]        resource;
    kind_e             kind;        // of the candidate that is made
    logic [2:0]        to;          // it has a CTA more of this kernel,
    logic [2:0]        off;         // for which CTAs of this one leave
    logic [1:0]        distant;     // which of the neighbours' neighbours
    logic              second;      // the second step of such a one
    logic              fills;       // what is left over is filled
    logic [2:0]        grown;       // with CTAs of this kernel
    logic [RowW-1:0]   row;         // that is compared
    logic [RowW-1:0]   rows;        // that there are
    logic [RowW-1:0]   first;       // new one of this round
    logic [RowW-1:0]   base;        // row of the base,
    logic [RowW-1:0]   earlier;      // and of the one before it
    logic              has_before;
    logic [EntryW-1:0] entry;       // under work
    logic [EntryW:0]   entries;     // of this round
    logic [EntryW-1:0] best;        // of them
    phase_e            phase;
    logic [1:0]        round;
    logic              measured;    // all rates of the entry under work are above 0
    logic              known;       // those of the best
    logic              returned;    // the one before is the base again
    logic              worth;       // the last round reached `keep`
    logic              shares;      // what is kept is a partition
  } progress_t;

  // What becomes of the candidate that is made.
  typedef enum logic [2:0] {Stays, IsBase, HasMore, HasLess, HasTwoThirds} work_e;

  typedef struct packed {
    source_e    source;         // on the bus
    logic       load_a;         // A <- bus
    logic       clear_a;        // A <- 0
    logic       load_b;         // B <- bus
    logic       load_q;         // Q <- bus
    logic       clear_q;        // Q <- 0
    logic       multiply;       // {A, Q} <- {A + Q[0] B, Q} >> 1
    logic       divide;         // {A, Q} <- {A, Q} << 1 after the trial subtraction of B; its success enters Q
    logic       add;            // A <- A + B
    logic       subtract;       // A <- A - B
    logic       exceed;         // A <- A - B - 1: below zero unless A > B
    logic       fresh;          // forgets that something went below zero
    logic       write;          // word of the table <- result: A, Q or a constant
    logic       at_base;        // the word is the base's
    logic       keep_sum;       // Sum, Short or Time of the entry under work <- result
    logic       keep_short;
    logic       keep_time;
    logic       keep_alone;     // of the kernel <- result
    logic       best;           // Short and Time are the best's,
    logic       earlier;         // are the one before's
    logic       no_samples;     // there is none yet
    logic       sampled;        // one more of the entry
    work_e      work;
    logic [2:0] work_kernel;
    logic       add_row;        // the candidate is a new row
  } control_t;
  // verilator lint_on UNUSEDPARAM
endpackage
