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

void check(const CandidateKernel& kernel, const char* what, bool good) {
  if (!good) throw InputError(fmt::format("co-schedule: kernel {}: {}", kernel.name, what));
}

void check(std::span<const CandidateKernel> kernels, const CoRunTable& table, const CoScheduleRules& rules) {
  const auto at_least_0 = [](double value) { return value >= 0 && std::isfinite(value); };
  if (rules.sms == 0) throw InputError("co-schedule: a machine without SMs");
  if (!at_least_0(rules.slice_cycles)) throw InputError("co-schedule: slice_cycles: must be at least 0");
  if (!at_least_0(rules.issue_threshold) || !at_least_0(rules.memory_threshold))
    throw InputError("co-schedule: thresholds of pruning: must be at least 0");
  for (const CandidateKernel& kernel : kernels) {
    check(kernel, "is not in the table", table.kernels.contains(kernel.name));
    check(kernel, "demand: must be one CTA slot", kernel.demand.cta_slots == 1);
    check(kernel, "a CTA does not fit on an empty SM", fits(kernel.demand, rules.capacity));
  }
}

/// The run of highest profit of one pair; none when no run gains.
std::optional<CoSchedule> best_of(const std::array<std::size_t, 2>& pair, std::span<const CandidateKernel> kernels,
                                  const CoRunTable& table, const CoScheduleRules& rules) {
  const CandidateKernel &a = kernels[pair[0]], &b = kernels[pair[1]];
  std::optional<CoSchedule> best;
  if (a.name == b.name) return best;
  for (const CoRun& run : table.of(a.name, b.name)) {
    if (!fits(a.demand, rules.capacity, run.ctas[0]) || !fits(b.demand, take(rules.capacity, a.demand, run.ctas[0]), run.ctas[1]))
      continue;
    const CoSchedule c = balanced(pair, run, kernels, table, rules);
    if (c.profit > (best ? best->profit : kRounding)) best = c;
  }
  return best;
}

}  // namespace

std::optional<std::uint64_t> shortest_slice(std::span<const SliceOverhead> slices, double most) {
  const auto found = std::ranges::find_if(slices, [&](const SliceOverhead& s) { return s.overhead <= most; });
  if (found == slices.end()) return std::nullopt;
  return found->blocks;
}

CoSchedule balanced(const std::array<std::size_t, 2>& pair, const CoRun& run, std::span<const CandidateKernel> kernels,
                    const CoRunTable& table, const CoScheduleRules& rules) {
  CoSchedule c{.kernels = pair, .ctas = run.ctas, .ipc = run.ipc};
  std::array<double, 2> rate{}, alone{}, time{};  // blocks a cycle; IPC; of a slice
  for (std::size_t k = 0; k < 2; ++k) {
    const CoRunKernel& figures = table.kernels.at(kernels[pair[k]].name);
    alone[k] = figures.ipc;
    rate[k] = run.ipc[k] * rules.sms / figures.instructions_per_block;
    c.cycles = std::max({c.cycles, rules.slice_cycles, run.ctas[k].value() * rules.sms / rate[k]});
  }
  c.profit = co_scheduling_profit(run.ipc, alone);
  for (std::size_t k = 0; k < 2; ++k) {
    c.slices[k] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(c.cycles * rate[k])));
    time[k] = static_cast<double>(c.slices[k]) / rate[k];
  }
  c.imbalance = std::abs(time[0] - time[1]) / std::max(time[0], time[1]);
  return c;
}

CoScheduleChoice find_co_schedule(std::span<const CandidateKernel> kernels, const CoRunTable& table,
                                  const CoScheduleRules& rules) {
  check(kernels, table, rules);
  CoScheduleChoice choice;
  const auto alike = [&](std::size_t a, std::size_t b) {
    const CoRunKernel &first = table.kernels.at(kernels[a].name), &second = table.kernels.at(kernels[b].name);
    return std::abs(first.issue_utilisation - second.issue_utilisation) < rules.issue_threshold &&
           std::abs(first.memory_utilisation - second.memory_utilisation) < rules.memory_threshold;
  };
  for (std::size_t b = 1; b < kernels.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      ++choice.pairs;
      choice.pruned += alike(a, b) ? 1 : 0;
    }
  if (choice.pruned == choice.pairs) choice.pruned = 0;
  double of_all = 0;
  for (std::size_t a = 0; a < kernels.size(); ++a)
    for (std::size_t b = a + 1; b < kernels.size(); ++b) {
      const bool pruned = choice.pruned > 0 && alike(a, b);
      if (pruned && !rules.price_pruning) continue;
      const std::optional<CoSchedule> best = best_of({a, b}, kernels, table, rules);
      if (!best) continue;
      of_all = std::max(of_all, best->profit);
      if (!pruned && (!choice.best || best->profit > choice.best->profit)) choice.best = best;
    }
  if (rules.price_pruning) choice.lost_profit = of_all - (choice.best ? choice.best->profit : 0);
  return choice;
}

}  // namespace sluice
