// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/co_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sw/core/errors.h"

namespace sluice {

namespace {

constexpr double kRounding = 1e-9;  ///< of a profit: no gain

void check(std::size_t kernel, const char* what, bool good) {
  if (!good) throw InputError(fmt::format("co-schedule: kernel {}: {}", kernel, what));
}

void check(std::span<const CandidateKernel> kernels, const CoScheduleRules& rules) {
  const auto at_least_0 = [](double value) { return value >= 0 && std::isfinite(value); };
  if (rules.sms == 0 || rules.schedulers == 0) throw InputError("co-schedule: a machine without SMs or schedulers");
  if (!at_least_0(rules.slice_cycles)) throw InputError("co-schedule: slice_cycles: must be at least 0");
  if (!at_least_0(rules.issue_threshold) || !at_least_0(rules.memory_threshold))
    throw InputError("co-schedule: thresholds of pruning: must be at least 0");
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const CandidateKernel& kernel = kernels[k];
    check(k, "instructions_per_block: must be above 0",
          kernel.instructions_per_block > 0 && std::isfinite(kernel.instructions_per_block));
    check(k, "blocks: must be at least 1", kernel.blocks > 0);
    for (const double utilisation : {kernel.issue_utilisation, kernel.memory_utilisation})
      check(k, "utilisation: must be 0 to 1", utilisation >= 0 && utilisation <= 1);
    check(k, "demand: must be one CTA slot", kernel.demand.cta_slots == 1);
    check(k, "a CTA does not fit on an empty SM", fits(kernel.demand, rules.capacity));
  }
}

unsigned warps(const CandidateKernel& kernel, std::uint32_t ctas) {
  return ctas * ((kernel.demand.threads + kWarpSize - 1) / kWarpSize);
}

double ipc_alone(const CandidateKernel& kernel, const CoScheduleRules& rules) {
  const unsigned all = warps(kernel, occupancy(kernel.demand, rules.capacity).value());
  return markov_sm_ipc(std::array{kernel.model}, std::array{all}, rules.schedulers)[0];
}

/// Slices of equal time at the IPC of `c`.
void balance(CoSchedule& c, std::span<const CandidateKernel> kernels, const CoScheduleRules& rules) {
  std::array<double, 2> rate{};  // blocks a cycle
  double cycles = rules.slice_cycles;
  for (std::size_t k = 0; k < 2; ++k) {
    rate[k] = c.ipc[k] * rules.sms / kernels[c.kernels[k]].instructions_per_block;
    cycles = std::max(cycles, c.ctas[k].value() * rules.sms / rate[k]);
  }
  for (std::size_t k = 0; k < 2; ++k) cycles = std::min(cycles, static_cast<double>(kernels[c.kernels[k]].blocks) / rate[k]);
  std::array<double, 2> time{};
  for (std::size_t k = 0; k < 2; ++k) {
    c.slices[k] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(cycles * rate[k])));
    time[k] = static_cast<double>(c.slices[k]) / rate[k];
  }
  c.imbalance = std::abs(time[0] - time[1]) / std::max(time[0], time[1]);
}

/// The counts of highest profit of one pair; profit 0 when none gains.
CoSchedule best_counts(const std::array<std::size_t, 2>& pair, std::span<const CandidateKernel> kernels,
                       std::span<const double> alone, const CoScheduleRules& rules) {
  const CandidateKernel &a = kernels[pair[0]], &b = kernels[pair[1]];
  const std::array models{a.model, b.model};
  const std::array own{alone[pair[0]], alone[pair[1]]};
  CoSchedule best{.kernels = pair};
  for (CtaCount n(1); fits(a.demand, rules.capacity, n); n += CtaCount(1)) {
    const std::uint32_t beside = occupancy(b.demand, take(rules.capacity, a.demand, n)).value();
    for (std::uint32_t m = 1; m <= beside; ++m) {
      const std::vector<double> ipc = markov_sm_ipc(models, std::array{warps(a, n.value()), warps(b, m)}, rules.schedulers);
      const double profit = co_scheduling_profit(ipc, own);
      if (profit <= best.profit) continue;
      best.profit = profit;
      best.ctas = {n, CtaCount(m)};
      best.ipc = {ipc[0], ipc[1]};
    }
  }
  return best;
}

}  // namespace

CoScheduleChoice find_co_schedule(std::span<const CandidateKernel> kernels, const CoScheduleRules& rules) {
  check(kernels, rules);
  CoScheduleChoice choice;
  std::vector<double> alone;
  for (const CandidateKernel& kernel : kernels) alone.push_back(ipc_alone(kernel, rules));
  const auto alike = [&](std::size_t a, std::size_t b) {
    return std::abs(kernels[a].issue_utilisation - kernels[b].issue_utilisation) < rules.issue_threshold &&
           std::abs(kernels[a].memory_utilisation - kernels[b].memory_utilisation) < rules.memory_threshold;
  };
  for (std::size_t b = 1; b < kernels.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      ++choice.pairs;
      choice.pruned += alike(a, b) ? 1 : 0;
    }
  if (choice.pruned == choice.pairs) choice.pruned = 0;
  CoSchedule kept;
  double of_all = 0;
  for (std::size_t a = 0; a < kernels.size(); ++a)
    for (std::size_t b = a + 1; b < kernels.size(); ++b) {
      const bool pruned = choice.pruned > 0 && alike(a, b);
      if (pruned && !rules.price_pruning) continue;
      const CoSchedule best = best_counts({a, b}, kernels, alone, rules);
      of_all = std::max(of_all, best.profit);
      if (!pruned && best.profit > kept.profit) kept = best;
    }
  if (rules.price_pruning) choice.lost_profit = of_all - kept.profit;
  if (kept.profit > kRounding) {
    balance(kept, kernels, rules);
    choice.best = kept;
  }
  return choice;
}

}  // namespace sluice
