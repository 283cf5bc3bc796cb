// SPDX-License-Identifier: Apache-2.0
// Bench of phase_monitor at the standard size.
#include <Vphase_monitor.h>

#include "tb/phase_monitor/phase_monitor_bench.h"

namespace sluice::tb {
namespace {

TEST(PhaseMonitor, RtlAndTwinAgreeInEveryCycle) { lockstep<Vphase_monitor, 4, 2>(campaign(3000000, 60000000)); }

TEST(PhaseMonitor, JudgesExactlyAtTheThreshold) { judges_exactly<Vphase_monitor, 4, 2>(campaign(250, 10000)); }

}  // namespace
}  // namespace sluice::tb
