// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/policy.h"

namespace sluice {

policies::Plans policies::fcfs(const PolicyInput& in) {
  for (const KernelDescriptor& kernel : in.mix) check_fits(in.machine, kernel);
  std::vector<CtaCount> ctas(in.mix.size());
  SmResources left = in.machine.sm.capacity;
  for (bool placed = true; placed;) {
    placed = false;
    for (std::size_t k = 0; k < in.mix.size(); ++k) {
      if (!fits(in.mix[k].demand(), left)) continue;
      left = take(left, in.mix[k].demand());
      ctas[k] += CtaCount(1);
      placed = true;
    }
  }
  return {{Mode::Fcfs, on_every_sm(ctas, Mode::Fcfs), {}}};
}

}  // namespace sluice
