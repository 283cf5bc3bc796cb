// SPDX-License-Identifier: Apache-2.0
// As many kernel slots as there can be, on more SMs than that, with CHURN: every number of kernels has ranges, and curves are
// kept of some of many.
#include <Vpartition_sequencer_many.h>

#include "tb/partition_sequencer/lockstep.h"

namespace sluice::tb {
namespace {

TEST(PartitionSequencer, ManyKernelsWithChurnRtlAndTwinAgreeInEveryCycle) {
  regs::Parameters parameters{16, 8, 8, 2, 64, 1};
  parameters.churn = 6;
  lockstep<Vpartition_sequencer_many>(parameters, campaign(1000000, 10000000));
}

}  // namespace
}  // namespace sluice::tb
