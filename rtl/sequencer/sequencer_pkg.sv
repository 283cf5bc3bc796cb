// SPDX-License-Identifier: Apache-2.0
// sequencer_pkg: the states of partition_sequencer, with the values that STATUS shows (register map); PlanCount shows
// as Plan, FallBack as Idle. Enforcing takes no time of its own: quotas change in the cycle after the decision.
package sequencer_pkg;
  typedef enum logic [3:0] {Idle = 4'd0, WarmUp = 4'd1, Profile = 4'd2, Scale = 4'd3, Allocate = 4'd4, Delay = 4'd5,
      Plan = 4'd6,
                            Monitor = 4'd7, Drain = 4'd8, PlanCount = 4'd9, FallBack = 4'd10} state_e;

  // Where the walk over the kernels of the plan is.
  typedef struct packed {
    logic oldest;    // at the oldest kernel,
    logic youngest;  // at the youngest
    logic through;   // Scale: all samples are read,
    logic again;     // and some kernel has levels left for another window
  } walk_t;

  // What came of the last decision.
  typedef struct packed {
    logic spatial;      // loss guard
    logic no_fit;       // one CTA of each does not fit, or of an EVEN share
    logic no_profile;   // a kernel had no clean sample
  } outcome_t;

  // Of n contiguous ranges of all SMs, SMs / n in each and one more in the first SMs % n: the range of SM m, and its
  // place there.
  function automatic int unsigned range_of(input int unsigned sms, input int unsigned n, input int unsigned m);
    range_of = (m < sms % n * (sms / n + 1)) ? m / (sms / n + 1) : (m - sms % n) / (sms / n);
  endfunction
  function automatic int unsigned place_of(input int unsigned sms, input int unsigned n, input int unsigned m);
    place_of = (m < sms % n * (sms / n + 1)) ? m % (sms / n + 1) : (m - sms % n) % (sms / n);
  endfunction
endpackage
