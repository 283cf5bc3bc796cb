// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/policy.h"

namespace sluice {

policies::Plans policies::left_over(const PolicyInput& in) {
  std::vector<CtaCount> ctas;
  SmResources left = in.machine.sm.capacity;
  for (const KernelDescriptor& kernel : in.mix) {
    check_fits(in.machine, kernel);
    ctas.push_back(occupancy(kernel.demand(), left));
    left = take(left, kernel.demand(), ctas.back());
  }
  return {{Mode::LeftOver, on_every_sm(ctas, Mode::LeftOver), {}}};
}

}  // namespace sluice
