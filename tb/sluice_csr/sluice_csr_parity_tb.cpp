// SPDX-License-Identifier: Apache-2.0
// Registers with parity: they agree with it in every cycle, and tell what is reported to them.
#include <Vsluice_csr_parity.h>

#include "tb/sluice_csr/random_traffic.h"

namespace sluice::tb {
namespace {

TEST(SluiceCsr, WithParityRtlAndTwinAgreeInEveryCycle) {
  random_traffic<Vsluice_csr_parity>({16, 2, 8, 2, 64, 1, 0, 1, 0, 0, 1, 0, 1}, campaign(600000, 10000000));
}

}  // namespace
}  // namespace sluice::tb
