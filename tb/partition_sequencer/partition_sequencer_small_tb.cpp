// SPDX-License-Identifier: Apache-2.0
// Fewer SMs than kernel slots, more levels than SMs.
#include <Vpartition_sequencer_5.h>

#include "tb/partition_sequencer/lockstep.h"

namespace sluice::tb {
namespace {

TEST(PartitionSequencer, FewSmsRtlAndTwinAgreeInEveryCycle) {
  lockstep<Vpartition_sequencer_5>({5, 8, 32, 2, 64, 1}, campaign(1000000, 10000000));
}

}  // namespace
}  // namespace sluice::tb
