// SPDX-License-Identifier: Apache-2.0
// What a unit built on demand exports.
#include <Vsluice_top.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"

extern "C" __attribute__((visibility("default"))) sluice::ISluiceTop* sluice_make_unit(const char* fst_file,
                                                                                       std::uint64_t clock_period_ps) {
  return new sluice::RtlSluiceTop<Vsluice_top, NUM_SCHED>(fst_file, clock_period_ps, READY_SMS);
}
