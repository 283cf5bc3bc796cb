// SPDX-License-Identifier: Apache-2.0
#include <Vsluice_csr.h>

#include "tb/sluice_csr/random_traffic.h"

namespace sluice::tb {
namespace {

TEST(SluiceCsr, RtlAndTwinAgreeInEveryCycle) { random_traffic<Vsluice_csr>({16, 4, 8, 2, 64}, campaign(600000, 10000000)); }

// More decisions than random traffic has time for: one a cycle, through every bit that 2^18 of them turn.
TEST(SluiceCsr, DecisionsAreCountedWithEveryCarry) {
  const regs::Parameters parameters{16, 4, 8, 2, 64};
  RtlSluiceCsr<Vsluice_csr> rtl(parameters);
  SluiceCsrTwin twin(parameters);
  SluiceCsrIn in;
  in.rst_n = false;
  ASSERT_EQ(rtl.cycle(in), twin.cycle(in)) << "in reset";
  in.rst_n = true;
  in.status.decision = true;
  in.axi.arvalid = in.axi.rready = true;
  in.axi.araddr = regs::kDecisions;
  for (unsigned c = 0; c <= 1U << 18; ++c) ASSERT_EQ(rtl.cycle(in), twin.cycle(in)) << "after " << c << " decisions";
}

}  // namespace
}  // namespace sluice::tb
