// SPDX-License-Identifier: Apache-2.0
// Profiles that outlive changes of the present kernels: CHURN.
#include <Vpartition_sequencer_churn.h>

#include "tb/partition_sequencer/lockstep.h"

namespace sluice::tb {
namespace {

TEST(PartitionSequencer, WithChurnRtlAndTwinAgreeInEveryCycle) {
  regs::Parameters parameters{5, 3, 8, 2, 64, 1};
  parameters.churn = 6;
  lockstep<Vpartition_sequencer_churn>(parameters, campaign(2000000, 10000000));
}

}  // namespace
}  // namespace sluice::tb
