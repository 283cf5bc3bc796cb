// SPDX-License-Identifier: Apache-2.0
// The largest counts, and kernels that are no power of two.
#include <Vphase_monitor_3.h>

#include "tb/phase_monitor/phase_monitor_bench.h"

namespace sluice::tb {
namespace {

TEST(PhaseMonitor, ThreeKernelsRtlAndTwinAgreeInEveryCycle) { lockstep<Vphase_monitor_3, 3, 4>(campaign(3000000, 60000000)); }

TEST(PhaseMonitor, ThreeKernelsJudgesExactlyAtTheThreshold) { judges_exactly<Vphase_monitor_3, 3, 4>(campaign(250, 10000)); }

}  // namespace
}  // namespace sluice::tb
