// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/waterfill_study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "sw/partition/brute_force.h"
#include "sw/partition/waterfill.h"

namespace sluice {

namespace {

constexpr double kRounding = 1e-12;  // sums of performances are added in different orders

struct Case {
  std::vector<Profile> profiles;
  std::vector<SmResources> demand;
  SmResources capacity;
};

class CaseSource {
 public:
  CaseSource(const StudyConfig& config, bool concave, std::uint64_t index) : config_(config), concave_(concave) {
    std::seed_seq seed{static_cast<std::uint32_t>(config.seed), static_cast<std::uint32_t>(config.seed >> 32),
                       static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), concave ? 1U : 0U};
    random_.seed(seed);
  }

  Case draw() {
    Case c;
    c.capacity = {kWarpSize * draw(1, 64), draw(0, 65536), draw(0, 98304), draw(1, config_.max_ctas)};
    for (std::uint32_t k = draw(1, config_.max_kernels); k > 0; --k) {
      c.profiles.push_back(curve());
      c.demand.push_back({kWarpSize * share(c.capacity.threads / kWarpSize, 1), share(c.capacity.registers, 0),
                          share(c.capacity.shared_memory_bytes, 0), 1});
    }
    return c;
  }

 private:
  // The standard distributions differ between libraries; a remainder of 64 random bits is uniform enough and does not.
  std::uint32_t draw(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_() % (std::uint64_t{high} - low + 1));
  }
  /// What one CTA takes of `all`: from `low` to all of it, small more often than large.
  std::uint32_t share(std::uint32_t all, std::uint32_t low) {
    return draw(low, std::max(low, all / draw(1, 2 * config_.max_ctas)));
  }
  Profile curve() {
    Profile values(draw(1, config_.max_ctas));
    const std::uint32_t top = draw(0, 1) == 0 ? 6 : 1000000;  // small values make plateaus and ties
    for (double& value : values) value = draw(0, top);
    if (!concave_) return values;
    std::ranges::sort(values, std::greater{});
    std::partial_sum(values.begin(), values.end(), values.begin());
    return values;
  }

  const StudyConfig& config_;
  bool concave_;
  std::mt19937_64 random_;
};

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::string describe(const Case& c, std::uint64_t index) {
  std::string text = fmt::format("case {}: SM {}/{}/{}/{}", index, c.capacity.threads, c.capacity.registers,
                                 c.capacity.shared_memory_bytes, c.capacity.cta_slots);
  for (std::size_t k = 0; k < c.profiles.size(); ++k) {
    text += fmt::format("; CTA {}/{}/{} curve {}", c.demand[k].threads, c.demand[k].registers, c.demand[k].shared_memory_bytes,
                        fmt::join(c.profiles[k], " "));
  }
  return text;
}

void compare(const Case& c, std::uint64_t index, double epsilon, StudyTally& tally) {
  ++tally.drawn;
  const auto greedy = waterfill(c.profiles, c.demand, c.capacity, epsilon);
  const auto best = brute_force(c.profiles, c.demand, c.capacity);
  const std::uint64_t mismatches_before = tally.mismatches();
  if (best && std::ranges::min(best->performance) < 1) ++tally.contended;
  if (greedy.has_value() != best.has_value()) {
    ++tally.disagree_fit;
  } else if (!greedy) {
    ++tally.infeasible;
  } else if (const double lost = std::ranges::min(best->performance) - std::ranges::min(greedy->performance); lost != 0) {
    tally.minimum.add(lost);
  } else if (const double less = sum(best->performance) - sum(greedy->performance); less > kRounding) {
    tally.total.add(less);
  }
  if (tally.mismatches() != mismatches_before && !tally.first_mismatch) tally.first_mismatch = describe(c, index);
}

}  // namespace

void Shortfall::add(double difference) {
  ++cases;
  sum += difference;
  max = std::max(max, difference);
}

StudyResult study_waterfill(const StudyConfig& config, const std::function<void(std::uint64_t)>& progress) {
  constexpr std::uint64_t kReportEvery = 1024;
  StudyResult result;
  for (std::uint64_t i = 0; i < config.cases; ++i) {
    compare(CaseSource(config, true, i).draw(), i, config.epsilon, result.concave);
    compare(CaseSource(config, false, i).draw(), i, config.epsilon, result.arbitrary);
    if (progress && i % kReportEvery == 0) progress(2 * i);
  }
  return result;
}

}  // namespace sluice
