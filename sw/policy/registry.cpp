// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/policy/names.h"

namespace sluice {

namespace {

/// The partition sequencer profiles online and decides by water-filling and the loss guard: the counts are the run's.
policies::Plans warped_slicer(const PolicyInput& in) {
  for (const KernelDescriptor& kernel : in.mix) check_fits(in.machine, kernel);
  return {{Mode::Dynamic, {Mode::Static, {}}, {}}};
}

/// The partition sequencer measures partitions side by side and keeps the best: the counts are the run's.
policies::Plans balance(const PolicyInput& in) {
  for (const KernelDescriptor& kernel : in.mix) check_fits(in.machine, kernel);
  return {{Mode::Balance, {Mode::Static, {}}, {}}};
}

/// The dispatcher's own mode holds the shares, where otherwise the host sets them as quotas and masks of Static.
template <policies::Plans (*policy)(const PolicyInput&), Mode mode>
policies::Plans in_own_mode(const PolicyInput& in) {
  policies::Plans plans = policy(in);
  plans.front().mode = mode;
  return plans;
}

constexpr PolicyRow kRows[] = {
    {kLeftOver, "Left-Over", 0, PolicyNeeds::Nothing, policies::left_over},
    {kFcfs, "FCFS", 1, PolicyNeeds::Nothing, policies::fcfs},
    {kEven, "Even", 2, PolicyNeeds::Nothing, policies::even},
    {kSpatial, "Spatial", 3, PolicyNeeds::Nothing, policies::spatial},
    {kStatic, "Static", 4, PolicyNeeds::Counts, policies::static_quota},
    {kWarpedSlicer, "Warped-Slicer", 5, PolicyNeeds::Profiling, warped_slicer},
    {kBalance, "Balance", 10, PolicyNeeds::Unit, balance},
    {kSoloCurve, "Solo curve", 7, PolicyNeeds::Curves, policies::solo_curve},
    {kOracle, "Oracle", 6, PolicyNeeds::Search, policies::oracle},
    {kEvenMode, "Even (own mode)", 8, PolicyNeeds::Nothing, in_own_mode<policies::even, Mode::Even>},
    {kSpatialMode, "Spatial (own mode)", 9, PolicyNeeds::Nothing, in_own_mode<policies::spatial, Mode::Spatial>},
};

}  // namespace

std::span<const PolicyRow> policy_rows() { return kRows; }

const PolicyRow* find_policy(std::string_view name) {
  const auto* row = std::ranges::find(kRows, name, &PolicyRow::name);
  return row == std::end(kRows) ? nullptr : row;
}

const PolicyRow& policy_row(std::string_view name) {
  if (const PolicyRow* row = find_policy(name)) return *row;
  throw InputError(fmt::format("policy {}: must be one of {}", name, policy_names()));
}

std::string policy_names(std::span<const PolicyNeeds> needs) {
  std::vector<std::string_view> names;
  for (const PolicyRow& row : kRows)
    if (needs.empty() || std::ranges::find(needs, row.needs) != needs.end()) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

policies::Plans policy_plans(std::string_view name, const MachineConfig& machine, const std::vector<KernelDescriptor>& mix,
                             const std::vector<CtaCount>& ctas, const SoloCurves& curves) {
  return policy_row(name).plans({machine, mix, ctas, curves});
}

}  // namespace sluice
