// SPDX-License-Identifier: Apache-2.0
#include <Vpartition_sequencer_16.h>

#include "tb/partition_sequencer/lockstep.h"

namespace sluice::tb {
namespace {

TEST(PartitionSequencer, RtlAndTwinAgreeInEveryCycle) {
  lockstep<Vpartition_sequencer_16>({16, 4, 32, 2, 64}, campaign(2000000, 10000000), campaign(3000000, 10000000));
}

}  // namespace
}  // namespace sluice::tb
