// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/experiments/experiments.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice::gpu {

namespace {

constexpr ExperimentRow kExperiments[] = {
    {"verify", verify_experiment, "results, blocks that run once, placement"},
    {"curves", curves_experiment, "performance over CTAs per SM"},
    {"overhead", overhead_experiment, "transformed over untransformed kernels"},
    {"preemption", preemption_experiment, "from an evict order until all CTAs are gone"},
    {"equal_work", equal_work_experiment, "pairs and triples until all are done, under the service"},
    {"effisha_overhead", effisha_overhead_experiment, "EffiSha's figure 10"},
    {"effisha_service", effisha_service_experiment, "figures 14, 15 through the service"},
    {"effisha_service_latency", effisha_service_latency_experiment, "figure 13 through the service"},
    {"slate_alone", slate_alone_experiment, "Slate's table III; Kernelet's kernels too"},
    {"five_service", five_service_experiment, "45 pairs of table II's kernels, under the service"},
    {"balance_service", balance_service_experiment, "five pairs that stay, under the service's balance and even"},
    {"arrivals_service", arrivals_service_experiment, "table II's kernels as they come, under the service"}};

}  // namespace

std::span<const ExperimentRow> experiments() { return kExperiments; }

std::vector<std::vector<std::string>> choose(const std::vector<std::string>& names, std::size_t size) {
  if (size == 0) return {{}};
  std::vector<std::vector<std::string>> out;
  for (std::size_t first = 0; first + size <= names.size(); ++first)
    for (std::vector<std::string>& rest :
         choose({names.begin() + static_cast<std::ptrdiff_t>(first) + 1, names.end()}, size - 1)) {
      rest.insert(rest.begin(), names[first]);
      out.push_back(std::move(rest));
    }
  return out;
}

std::string mix_name(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, "_")); }

}  // namespace sluice::gpu
