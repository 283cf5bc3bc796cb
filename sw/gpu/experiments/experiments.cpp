// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/experiments/experiments.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice::gpu {

namespace {

constexpr ExperimentRow kExperiments[] = {
    {"verify", verify_experiment, "results, blocks that run once, placement"},
    {"user_kernels", user_kernels_experiment, "kernels as users write them, bit by bit"},
    {"gate", gate_experiment, "what the gate decides, and whether it is right"},
    {"curves", curves_experiment, "performance over CTAs per SM"},
    {"overhead", overhead_experiment, "transformed over untransformed kernels"},
    {"preemption", preemption_experiment, "from an evict order until all CTAs are gone"},
    {"pairs", pairs_experiment, "pairs under every policy, with the exhaustive search"},
    {"triples", triples_experiment, "triples under every policy"},
    {"ranges", ranges_experiment, "pairs with SMs of their own, at every split"},
    {"mps", mps_experiment, "pairs and triples under MPS"},
    {"effisha_overhead", effisha_overhead_experiment, "EffiSha's figure 10"},
    {"effisha_latency", effisha_latency_experiment, "figure 13"},
    {"effisha_schedules", effisha_schedules_experiment, "figures 12, 14, 15"},
    {"effisha_processes", effisha_processes_experiment, "the same as processes, and under MPS"},
    {"effisha_priorities", effisha_priorities_experiment, "figure 9"},
    {"effisha_service", effisha_service_experiment, "figures 14, 15 through the service"},
    {"effisha_service_latency", effisha_service_latency_experiment, "figure 13 through the service"},
    {"sim_curves", sim_curves_experiment, "times over CTAs: what `adaptive` knows"},
    {"sim_rates", sim_rates_experiment, "rates of pairs: what replays know"},
    {"sim_pairs", sim_pairs_experiment, "SiM's figures 10, 11"},
    {"sim_pt", sim_pt_experiment, "the same under the paper's baseline"},
    {"sim_equal", sim_equal_experiment, "45 pairs of table II's kernels, all of 15 ms"},
    {"sim_processes", sim_processes_experiment, "the pairs under MPS"},
    {"kernelet_pairs", kernelet_pairs_experiment, "rates of every pair at every ratio"},
    {"kernelet_queues", kernelet_queues_experiment, "Kernelet's figures 6, 7"},
    {"slate_alone", slate_alone_experiment, "Slate's table III; Kernelet's kernels too"},
    {"slate_ranges", slate_ranges_experiment, "speeds on ranges: what `slate_measured` knows"},
    {"slate_resize", slate_resize_experiment, "ranges that move"},
    {"slate_pairs", slate_pairs_experiment, "figure 7"},
    {"slate_processes", slate_processes_experiment, "the same as processes, and under MPS"},
    {"five_rates", five_rates_experiment, "what the schedulers of the next ones know"},
    {"five_pairs", five_pairs_experiment, "45 pairs under every system, and under MPS"},
    {"five_printed", five_printed_experiment, "Kernelet and Slate as printed"},
    {"five_own", five_own_experiment, "what the GPU offers itself"},
    {"five_service", five_service_experiment, "the pairs as processes, under the service"}};

}  // namespace

std::span<const ExperimentRow> experiments() { return kExperiments; }

std::vector<std::vector<double>> in_turns(unsigned times, const std::vector<std::function<double()>>& each) {
  std::vector<std::vector<double>> all(each.size());
  for (unsigned r = 0; r <= times; ++r)
    for (std::size_t i = 0; i < each.size(); ++i)
      if (const double value = each[i](); r > 0) all[i].push_back(value);
  return all;
}

std::uint32_t full_quota(const PreparedKernel& kernel) {
  const std::uint64_t sms = kernel.context().limits().sms, spread = (kernel.spec().blocks() + sms - 1) / sms;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(kernel.occupancy(), spread));
}

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
