// SPDX-License-Identifier: Apache-2.0
// Bench of the partition core: anything that the ports allow, the Verilated RTL and its twin in lockstep. SLUICE_FULL=1: 10^6
// decisions.
#include "tb/partition_core/lockstep.h"

#include "tb/common/waveform.h"

namespace sluice {
namespace {

TEST(PartitionCore, RtlAndTwinAgreeInEveryCycle) {
  const auto rtl = make_rtl_partition_core(tb::waveform("partition_core"), 1000);
  tb::run_lockstep(*rtl, 32);
}

}  // namespace
}  // namespace sluice
