// SPDX-License-Identifier: Apache-2.0
#include <Vsluice_csr_wide.h>

#include "tb/sluice_csr/random_traffic.h"

namespace sluice::tb {
namespace {

TEST(SluiceCsr, RtlAndTwinAgreeInEveryCycleFortySms) {
  random_traffic<Vsluice_csr_wide>({40, 3, 32, 4, 0, 1, 1, 2, 4, 9, 1, 9, 1}, campaign(600000, 10000000));
}

}  // namespace
}  // namespace sluice::tb
