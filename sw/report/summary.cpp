// SPDX-License-Identifier: Apache-2.0
#include "sw/report/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sw/core/metrics.h"
#include "sw/policy/names.h"
#include "sw/policy/registry.h"

namespace sluice {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

constexpr std::string_view kCategoryOrder[] = {"compute+cache", "compute+memory", "compute+compute"};

std::vector<double> finite(std::span<const double> values) {
  std::vector<double> out;
  std::copy_if(values.begin(), values.end(), std::back_inserter(out), [](double v) { return std::isfinite(v); });
  return out;
}

/// Position in the fixed order; unknown names follow, in order of appearance (the sort is stable).
std::size_t policy_rank(std::string_view policy) {
  return static_cast<std::size_t>(std::ranges::find(policy_rows(), policy, &PolicyRow::name) - policy_rows().begin());
}
std::size_t category_rank(std::string_view category) {
  return static_cast<std::size_t>(std::find(std::begin(kCategoryOrder), std::end(kCategoryOrder), category) -
                                  std::begin(kCategoryOrder));
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

bool in_category(const ResultGrid::Mix& mix, std::string_view category) { return category == "all" || mix.category == category; }

/// The kernels' times alone, summed, over the time of the mix.
double serial_gain(const EvalRun& run) {
  double alone = 0;
  for (const KernelOutcome& k : run.per_kernel) alone += k.speedup * static_cast<double>(k.finish_cycle);
  return run.per_kernel.empty() || run.cycles == 0 ? kUnknown : alone / static_cast<double>(run.cycles);
}

PolicySummary summarize_policy(const ResultGrid& grid, const std::string& policy, const std::string& category) {
  std::vector<double> ipc, stp, antt, slowest, serial, fairness;
  PolicySummary out;
  out.policy = policy;
  out.category = category;
  for (const ResultGrid::Mix& mix : grid.mixes()) {
    const EvalRun* run = in_category(mix, category) ? grid.run(mix, policy) : nullptr;
    if (run == nullptr) continue;
    const EvalRun* base = grid.run(mix, kLeftOver);
    ++out.mixes;
    ipc.push_back(run->normalized_ipc);
    stp.push_back(run->stp);
    antt.push_back(run->antt);
    slowest.push_back(run->min_speedup);
    serial.push_back(serial_gain(*run));
    fairness.push_back(base != nullptr ? run->min_speedup / base->min_speedup : kUnknown);
  }
  out.normalized_ipc = geometric_mean_of_known(ipc);
  out.stp = mean_of_known(stp);
  out.antt = mean_of_known(antt);
  out.min_speedup = geometric_mean_of_known(slowest);
  out.serial_gain = geometric_mean_of_known(serial);
  out.fairness = geometric_mean_of_known(fairness);
  out.category_mean = kUnknown;
  return out;
}

}  // namespace

PolicyRatio summarize_ratio(const ResultGrid& grid, std::string_view over, const std::string& category) {
  PolicyRatio out{std::string(over), category, 0, kUnknown};
  std::vector<double> ratios;
  for (const ResultGrid::Mix& mix : grid.mixes()) {
    const EvalRun* ours = grid.run(mix, kWarpedSlicer);
    const EvalRun* theirs = grid.run(mix, over);
    if (in_category(mix, category) && ours != nullptr && theirs != nullptr) ratios.push_back(ours->ipc / theirs->ipc);
  }
  out.mixes = ratios.size();
  out.ipc_ratio = geometric_mean_of_known(ratios);
  return out;
}

double geometric_mean_of_known(std::span<const double> values) {
  const std::vector<double> known = finite(values);
  if (known.empty() || std::any_of(known.begin(), known.end(), [](double v) { return v <= 0; })) return kUnknown;
  return geometric_mean(known);
}

double mean_of_known(std::span<const double> values) {
  const std::vector<double> known = finite(values);
  if (known.empty()) return kUnknown;
  double sum = 0;
  for (const double v : known) sum += v;
  return sum / static_cast<double>(known.size());
}

const PolicySummary* Summary::find(std::string_view policy, std::string_view category) const {
  const auto it = std::find_if(policies.begin(), policies.end(),
                               [&](const PolicySummary& s) { return s.policy == policy && s.category == category; });
  return it == policies.end() ? nullptr : &*it;
}

const PolicyRatio* Summary::find_ratio(std::string_view over, std::string_view category) const {
  const auto it =
      std::find_if(ratios.begin(), ratios.end(), [&](const PolicyRatio& r) { return r.over == over && r.category == category; });
  return it == ratios.end() ? nullptr : &*it;
}

Summary summarize(const EvalResults& results) {
  const ResultGrid grid(results);
  Summary summary;
  for (const std::string& policy : grid.policies()) {
    std::vector<double> category_means;
    for (const std::string& category : grid.categories()) {
      PolicySummary s = summarize_policy(grid, policy, category);
      if (s.mixes == 0) continue;
      category_means.push_back(s.normalized_ipc);
      summary.policies.push_back(std::move(s));
    }
    PolicySummary all = summarize_policy(grid, policy, "all");
    all.category_mean = geometric_mean_of_known(category_means);
    summary.policies.push_back(std::move(all));
  }
  summary.of_pairs = std::ranges::all_of(results.runs, [](const EvalRun& run) { return run.kernels.size() == 2; });
  std::vector<std::string> categories = grid.categories();
  categories.emplace_back("all");
  for (const PublishedGain& gain : kPublishedGains)
    for (const std::string& category : categories) {
      PolicyRatio ratio = summarize_ratio(grid, gain.over, category);
      if (ratio.mixes > 0) summary.ratios.push_back(std::move(ratio));
    }
  return summary;
}

ResultGrid::ResultGrid(const EvalResults& results) {
  for (const EvalRun& run : results.runs) {
    add_once(policies_, run.policy);
    add_once(categories_, run.category);
  }
  std::stable_sort(policies_.begin(), policies_.end(),
                   [](const auto& a, const auto& b) { return policy_rank(a) < policy_rank(b); });
  std::stable_sort(categories_.begin(), categories_.end(),
                   [](const auto& a, const auto& b) { return category_rank(a) < category_rank(b); });
  for (const std::string& category : categories_)
    for (const EvalRun& run : results.runs) {
      if (run.category != category) continue;
      const std::string name = mix_name(run.kernels);
      auto mix =
          std::find_if(mixes_.begin(), mixes_.end(), [&](const Mix& m) { return m.name == name && m.category == category; });
      if (mix == mixes_.end())
        mix = mixes_.insert(mixes_.end(), {name, category, std::vector<const EvalRun*>(policies_.size(), nullptr)});
      const auto column = static_cast<std::size_t>(std::find(policies_.begin(), policies_.end(), run.policy) - policies_.begin());
      if (mix->runs[column] == nullptr) mix->runs[column] = &run;
    }
}

const EvalRun* ResultGrid::run(const Mix& mix, std::string_view policy) const {
  const auto it = std::find(policies_.begin(), policies_.end(), policy);
  return it == policies_.end() ? nullptr : mix.runs[static_cast<std::size_t>(it - policies_.begin())];
}

std::string policy_label(std::string_view policy) {
  const PolicyRow* row = find_policy(policy);
  return std::string(row == nullptr ? policy : row->label);
}

std::size_t policy_colour(const std::string& policy, std::size_t position) {
  const PolicyRow* row = find_policy(policy);
  return row == nullptr ? 7 + position % 3 : row->colour;
}

std::string partition_label(const Partition& partition) {
  if (partition.mode == Mode::Static) return fmt::format("({})", fmt::join(counts(partition), ","));
  const PolicyRow* row = find_policy(layout_name(partition.mode));
  return std::string(row == nullptr ? layout_name(partition.mode) : row->label);
}

}  // namespace sluice
