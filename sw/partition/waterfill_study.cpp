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
#include "sw/partition/remaining_time.h"
#include "sw/partition/waterfill.h"

namespace sluice {

namespace {

constexpr double kRounding = 1e-12;  // sums are added in different orders

struct Case {
  std::vector<Profile> profiles;
  std::vector<SmResources> demand;
  SmResources capacity;
  std::vector<double> left;  ///< of each grid; for remaining times
};
using Solve = std::optional<WaterfillResult> (*)(const Case&, const StudyConfig&);

/// A way to share an SM, and the search for the same goal. In their results more performance is better.
struct Rivals {
  Solve greedy, best;
  bool times;  ///< performance is a remaining time with its sign turned
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
    for (std::size_t k = 0; k < c.profiles.size(); ++k) c.left.push_back(draw(0, 8) / 8.0);
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

/// Times alone: small values make them equal and far apart.
std::vector<RemainingWork> work_of(const Case& c) {
  std::vector<RemainingWork> work;
  for (std::size_t k = 0; k < c.profiles.size(); ++k) {
    work.push_back({{}, c.left[k]});
    for (const double value : c.profiles[k]) work.back().alone.push_back(1 / (1 + value));
  }
  return work;
}

std::optional<WaterfillResult> with_sign_turned(std::optional<RemainingTimeResult> found) {
  if (!found) return std::nullopt;
  for (double& time : found->remaining) time = -time;
  return WaterfillResult{std::move(found->ctas), std::move(found->remaining)};
}

constexpr Rivals kWaterfill{
    [](const Case& c, const StudyConfig& config) { return waterfill(c.profiles, c.demand, c.capacity, config.epsilon); },
    [](const Case& c, const StudyConfig&) { return brute_force(c.profiles, c.demand, c.capacity); }, false};
constexpr Rivals kRemainingTime{
    [](const Case& c, const StudyConfig&) { return with_sign_turned(allocate_remaining_time(work_of(c), c.demand, c.capacity)); },
    [](const Case& c, const StudyConfig&) { return with_sign_turned(search_remaining_time(work_of(c), c.demand, c.capacity)); },
    true};

std::string describe(const Case& c, std::uint64_t index, bool times) {
  std::string text = fmt::format("case {}: SM {}/{}/{}/{}", index, c.capacity.threads, c.capacity.registers,
                                 c.capacity.shared_memory_bytes, c.capacity.cta_slots);
  const std::vector<RemainingWork> work = work_of(c);
  for (std::size_t k = 0; k < c.profiles.size(); ++k) {
    text += fmt::format("; CTA {}/{}/{} ", c.demand[k].threads, c.demand[k].registers, c.demand[k].shared_memory_bytes);
    text += times ? fmt::format("left {} of {}", work[k].left, fmt::join(work[k].alone, " "))
                  : fmt::format("curve {}", fmt::join(c.profiles[k], " "));
  }
  return text;
}

/// Some kernel would do better with another of its counts.
bool contended(const Case& c, const WaterfillResult& best, bool times) {
  if (!times) return std::ranges::min(best.performance) < 1;
  const std::vector<RemainingWork> work = work_of(c);
  for (std::size_t k = 0; k < work.size(); ++k)
    if (-best.performance[k] > std::ranges::min(work[k].alone) * work[k].left) return true;
  return false;
}

void compare(const Case& c, std::uint64_t index, const StudyConfig& config, const Rivals& rivals, StudyTally& tally) {
  ++tally.drawn;
  const auto greedy = rivals.greedy(c, config), best = rivals.best(c, config);
  const std::uint64_t mismatches_before = tally.mismatches();
  if (best && contended(c, *best, rivals.times)) ++tally.contended;
  if (greedy.has_value() != best.has_value()) {
    ++tally.disagree_fit;
  } else if (!greedy) {
    ++tally.infeasible;
  } else {
    const double goal = std::ranges::min(best->performance), unit = goal < 0 ? -goal : 1;
    if (const double lost = goal - std::ranges::min(greedy->performance); lost != 0) {
      tally.minimum.add(lost / unit);
    } else if (const double less = (sum(best->performance) - sum(greedy->performance)) / unit; less > kRounding) {
      tally.total.add(less);
    }
  }
  if (tally.mismatches() != mismatches_before && !tally.first_mismatch) tally.first_mismatch = describe(c, index, rivals.times);
}

StudyResult study(const StudyConfig& config, const Rivals& rivals, const std::function<void(std::uint64_t)>& progress) {
  constexpr std::uint64_t kReportEvery = 1024;
  StudyResult result;
  for (std::uint64_t i = 0; i < config.cases; ++i) {
    compare(CaseSource(config, true, i).draw(), i, config, rivals, result.concave);
    compare(CaseSource(config, false, i).draw(), i, config, rivals, result.arbitrary);
    if (progress && i % kReportEvery == 0) progress(2 * i);
  }
  return result;
}

}  // namespace

void Shortfall::add(double difference) {
  ++cases;
  sum += difference;
  max = std::max(max, difference);
}

StudyResult study_waterfill(const StudyConfig& config, const std::function<void(std::uint64_t)>& progress) {
  return study(config, kWaterfill, progress);
}

StudyResult study_remaining_time(const StudyConfig& config, const std::function<void(std::uint64_t)>& progress) {
  return study(config, kRemainingTime, progress);
}

}  // namespace sluice
