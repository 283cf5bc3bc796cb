// SPDX-License-Identifier: Apache-2.0
// Bench of the partition core: anything that the ports allow, kept curves too, the Verilated RTL and its twin in lockstep.
// SLUICE_FULL=1: 10^6 decisions.
#include <Vpartition_core.h>

#include "systemc/unit/rtl/rtl_partition_core.h"
#include "tb/common/waveform.h"
#include "tb/partition_core/lockstep.h"

namespace sluice {
namespace {

TEST(PartitionCore, RtlAndTwinAgreeInEveryCycle) {
  RtlPartitionCore<Vpartition_core, 4> rtl(tb::waveform("partition_core"));
  tb::run_lockstep(rtl, 32, 4);
}

}  // namespace
}  // namespace sluice
