// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sw/policy/policy.h"

namespace sluice {

/// What a policy has to know before its partition is known. Nothing: it follows from the resources alone. Counts: CTAs of each
/// kernel, from the host. Curves: IPC of each kernel alone over CTA counts. Profiling: the partition unit measures while the mix
/// runs. Unit: a mode that only the model's partition unit has, so it is no scheduler. Search: many runs.
enum class PolicyNeeds { Nothing, Counts, Curves, Profiling, Unit, Search };

/// A policy as commands, reports and schedulers know it.
struct PolicyRow {
  std::string_view name;   ///< what a user gives, and results.json says
  std::string_view label;  ///< what a person reads
  std::size_t colour;      ///< its place in the palette of the charts
  PolicyNeeds needs;
  policies::Plans (*plans)(const PolicyInput& in);
};

/// Every policy, in the order in which reports list them. A new one is its file, its test, and its row here.
[[nodiscard]] std::span<const PolicyRow> policy_rows();
/// nullptr when there is none of that name.
[[nodiscard]] const PolicyRow* find_policy(std::string_view name);
/// @throws InputError listing the names when it is none of them
[[nodiscard]] const PolicyRow& policy_row(std::string_view name);
/// Names separated by ", ": of all policies, or of those that need one of `needs`.
[[nodiscard]] std::string policy_names(std::span<const PolicyNeeds> needs = {});

/// The plans of a policy by its name. @param ctas  PolicyNeeds::Counts; @param curves  PolicyNeeds::Curves
/// @throws InputError listing the names when it is none of them, and as policies do
[[nodiscard]] policies::Plans policy_plans(std::string_view name, const MachineConfig& machine,
                                           const std::vector<KernelDescriptor>& mix, const std::vector<CtaCount>& ctas = {},
                                           const SoloCurves& curves = {});

}  // namespace sluice
