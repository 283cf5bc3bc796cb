// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/policy/even.h"
#include "sw/policy/fcfs.h"
#include "sw/policy/left_over.h"
#include "sw/policy/names.h"
#include "sw/policy/oracle.h"
#include "sw/policy/spatial.h"
#include "sw/policy/static_quota.h"
#include "sw/policy/warped_slicer.h"

namespace sluice {

namespace {

using Ctas = std::vector<CtaCount>;
using Made = std::unique_ptr<IPolicy>;

template <class Policy>
Made plain(const Ctas&, const SoloCurves&) {
  return std::make_unique<Policy>();
}
template <class Policy>
Made own_mode(const Ctas&, const SoloCurves&) {
  return std::make_unique<Policy>(Enforcement::OwnMode);
}
Made with_counts(const Ctas& ctas, const SoloCurves&) { return std::make_unique<StaticQuota>(ctas); }
Made with_curves(const Ctas&, const SoloCurves& curves) { return std::make_unique<SoloCurve>(curves); }

constexpr PolicyRow kRows[] = {
    {kLeftOver, "Left-Over", 0, PolicyNeeds::Nothing, plain<LeftOver>},
    {kFcfs, "FCFS", 1, PolicyNeeds::Nothing, plain<Fcfs>},
    {kEven, "Even", 2, PolicyNeeds::Nothing, plain<Even>},
    {kSpatial, "Spatial", 3, PolicyNeeds::Nothing, plain<Spatial>},
    {kStatic, "Static", 4, PolicyNeeds::Counts, with_counts},
    {kWarpedSlicer, "Warped-Slicer", 5, PolicyNeeds::Profiling, plain<WarpedSlicer>},
    {kSoloCurve, "Solo curve", 7, PolicyNeeds::Curves, with_curves},
    {kOracle, "Oracle", 6, PolicyNeeds::Search, plain<Oracle>},
    {kEvenMode, "Even (own mode)", 8, PolicyNeeds::Nothing, own_mode<Even>},
    {kSpatialMode, "Spatial (own mode)", 9, PolicyNeeds::Nothing, own_mode<Spatial>},
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

std::unique_ptr<IPolicy> make_policy(std::string_view name, const std::vector<CtaCount>& ctas, const SoloCurves& curves) {
  return policy_row(name).make(ctas, curves);
}

}  // namespace sluice
