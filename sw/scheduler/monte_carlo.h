// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <random>
#include <span>

#include "sw/scheduler/pair_scheduler.h"

namespace sluice {

/// Kernelet's MC: two kernels at random, with a slice ratio at random. Equal seeds draw equally.
class MonteCarlo : public PairScheduler {
 public:
  /// @throws InputError as PairScheduler
  MonteCarlo(const MachineConfig& machine, CoRunTable table, std::span<const KernelDescriptor> mix, std::uint64_t seed,
             Time min_slice = kMinSlice)
      : PairScheduler(machine, std::move(table), mix, min_slice), random_(seed) {}

 private:
  [[nodiscard]] std::optional<CoSchedule> choose(std::span<const CandidateKernel> kernels) override {
    const std::size_t a = random_() % kernels.size(), b = (a + 1 + random_() % (kernels.size() - 1)) % kernels.size();
    const std::vector<CoRun> runs = table().of(kernels[a].name, kernels[b].name);
    if (runs.empty()) return std::nullopt;  // they do not fit together
    return balanced({a, b}, runs[random_() % runs.size()], kernels, table(), rules());
  }

  std::mt19937_64 random_;
};

}  // namespace sluice
