// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>

#include "study/rtl_benchmark/rtl_benchmark.h"
#include "sw/core/errors.h"
#include "sw/io/progress.h"
#include "sw/partition/star_hull.h"
#include "sw/partition/warped_slicer.h"
#include "systemc/unit/rtl/decision_driver.h"

namespace sluice {

namespace {

class Profiles {
 public:
  explicit Profiles(std::uint64_t seed) : random_(seed) {}

  DecisionCase next() {
    DecisionCase c;
    const std::uint32_t kernels = in(2, 3);
    c.config.num_kernels = static_cast<std::uint8_t>(kernels);
    c.config.capacity_warps = 48;
    c.config.capacity_registers = 32768;
    c.config.capacity_shared_bytes = 49152;
    c.config.capacity_slots = 8;
    c.config.loss_limit = static_cast<std::uint32_t>(std::lround(1.2 * kPerfOne));
    for (std::uint32_t k = 0; k < kernels; ++k) {
      c.config.demand_warps[k] = in(1, chance(0.1) ? 48 : 8);
      c.config.demand_registers[k] = in(0, c.config.capacity_registers / (chance(0.1) ? 1 : 4));
      c.config.demand_shared_bytes[k] = chance(0.5) ? 0 : in(0, c.config.capacity_shared_bytes / (chance(0.1) ? 1 : 4));
      const std::uint32_t levels = in(1, 8);
      c.samples.push_back(curve(levels));
    }
    return c;
  }

 private:
  std::uint32_t in(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

  std::vector<std::uint32_t> curve(std::uint32_t levels) {
    std::vector<std::uint32_t> samples;
    const double peak = real(500, 10240), knee = real(0.5, 12), droop = chance(0.3) ? real(0, 0.12) : 0;
    for (std::uint32_t j = 1; j <= levels; ++j) {
      const double n = j;
      const double value =
          peak * (1 - std::exp(-n / knee)) * std::max(0.05, 1 - droop * std::max(0.0, n - knee)) * real(0.98, 1.02);
      samples.push_back(static_cast<std::uint32_t>(value));
    }
    return samples;
  }

  std::mt19937_64 random_;
};

constexpr std::uint32_t kWindow = 5120;  // cycles

std::vector<Profile> exact_profiles(const DecisionCase& c) {
  std::vector<Profile> profiles;
  for (const std::vector<std::uint32_t>& samples : c.samples) {
    Profile& profile = profiles.emplace_back();
    for (const std::uint32_t insts : samples) profile.push_back(static_cast<double>(insts) / kWindow);
  }
  return profiles;
}

/// The samples' curves, of which the core decides over the star hulls.

constexpr std::uint32_t kKernelsAtMost = 8;

Partition exact_partition(const DecisionCase& c, const std::vector<Profile>& profiles) {
  std::vector<SmResources> demand;
  for (std::size_t k = 0; k < profiles.size(); ++k)
    demand.push_back({c.config.demand_warps[k] * kWarpSize, c.config.demand_registers[k], c.config.demand_shared_bytes[k], 1});
  MachineConfig machine;
  machine.num_sms = kKernelsAtMost;
  machine.sm.capacity = {c.config.capacity_warps * kWarpSize, c.config.capacity_registers, c.config.capacity_shared_bytes,
                         c.config.capacity_slots};
  std::vector<Profile> hulls;
  for (const Profile& profile : profiles) hulls.push_back(star_hull(profile));
  return warped_slicer_partition(hulls, demand, machine);
}

}  // namespace

FixedPointCost measure_fixed_point(IPartitionCore& core, std::uint64_t decisions, std::uint64_t seed) {
  Profiles random(seed);
  FixedPointCost cost{decisions};
  Progress progress("fixed point", decisions);
  for (std::uint64_t d = 0; d < decisions; ++d) {
    const DecisionCase c = random.next();
    const std::vector<Profile> profiles = exact_profiles(c);
    const auto watch = [&](const PartitionCoreOut& out) {
      if (!out.scaled_valid) return;
      const std::size_t kernel = out.scaled_kernel, level = out.scaled_ctas - 1U;
      const double exact = profiles[kernel][level];
      if (c.samples[kernel][level] >= 1000)
        cost.entry_max_error = std::max(cost.entry_max_error, std::abs(scaled_ipc(out.scaled, kWindow) - exact) / exact);
    };
    const auto decided = decide(core, c, watch);
    if (!decided) throw CheckFailed("partition_core does not decide");
    progress.done("");
    const Partition golden = exact_partition(c, profiles);
    const bool spatial = decided->no_fit || decided->spatial;
    if (spatial != (golden.mode == Mode::Spatial)) {
      ++cost.changed;
      ++cost.changed_verdict;
      continue;
    }
    int most = 0;
    for (std::size_t k = 0; !spatial && k < profiles.size(); ++k)
      most = std::max(most, std::abs(static_cast<int>(decided->ctas[k]) - static_cast<int>(golden.shares[k].ctas.value())));
    cost.changed += most > 0 ? 1 : 0;
    cost.changed_by_more += most > 1 ? 1 : 0;
  }
  return cost;
}

}  // namespace sluice
