// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rapidcheck.h>

#include <span>

#include "sw/policy/corun_table.h"

namespace sluice::test {

/// Figures of all pairs and ratios, each at random: some pairs gain, others lose.
inline CoRunTable random_co_runs(std::span<const KernelDescriptor> mix, const MachineConfig& machine) {
  CoRunTable table;
  const auto figure = [](int low, int high) { return *rc::gen::inRange(low, high) / 10.0; };
  for (const KernelDescriptor& k : mix)
    table.kernels[k.name] = {figure(5, 15), figure(10000, 100000), figure(0, 11), figure(0, 11)};
  for (const KernelDescriptor& a : mix)
    for (const KernelDescriptor& b : mix)
      if (a.name < b.name)
        for (const auto& ctas : slice_ratios(a.demand(), b.demand(), machine.sm.capacity))
          table.pairs[{a.name, b.name}].push_back({ctas, {figure(1, 12), figure(1, 12)}});
  return table;
}

}  // namespace sluice::test
