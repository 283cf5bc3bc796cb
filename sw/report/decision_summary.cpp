// SPDX-License-Identifier: Apache-2.0
#include "sw/report/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "sw/partition/ceiling.h"
#include "sw/partition/ipc_scaling.h"
#include "sw/partition/warped_slicer.h"
#include "sw/policy/names.h"
#include "sw/report/table.h"

namespace sluice {

namespace {

using Json = nlohmann::ordered_json;

void judge(Agreement& agreement, const Partition* decided, const Partition& reference) {
  ++agreement.mixes;
  if (decided == nullptr) {
    ++agreement.undecided;
    return;
  }
  agreement.same += agree(*decided, reference, 0) ? 1 : 0;
  agreement.within_one += agree(*decided, reference, 1) ? 1 : 0;
}

/// Agreement under one name, in order of first appearance.
Agreement& of(std::vector<std::pair<std::string, Agreement>>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &std::pair<std::string, Agreement>::first);
  return found != all.end() ? found->second : all.emplace_back(name, Agreement{}).second;
}

std::string agreement_text(const Agreement& a) {
  return fmt::format("the same in {} of {} mixes, within one CTA in {} of {}{}", a.same, a.mixes, a.within_one, a.mixes,
                     a.undecided == 0 ? "" : fmt::format(" ({} without a decision)", a.undecided));
}

Json agreement_json(const Agreement& a) {
  return {{"mixes", a.mixes}, {"same", a.same}, {"within_one_cta", a.within_one}, {"undecided", a.undecided}};
}

Json partition_json(const Partition& partition) { return {{"mode", layout_name(partition.mode)}, {"ctas", counts(partition)}}; }

Json ratio_json(const PolicyRatio& ratio) { return {{"pairs", ratio.mixes}, {"ratio", number_or_null(ratio.ipc_ratio)}}; }

}  // namespace

bool agree(const Partition& a, const Partition& b, std::uint32_t slack) {
  if (a.mode != b.mode || a.shares.size() != b.shares.size()) return false;
  if (a.mode != Mode::Static) return true;
  for (std::size_t k = 0; k < a.shares.size(); ++k) {
    const std::uint32_t ours = a.shares[k].ctas.value(), theirs = b.shares[k].ctas.value();
    if (std::max(ours, theirs) - std::min(ours, theirs) > slack) return false;
  }
  return true;
}

DecisionSummary summarize_decisions(const EvalResults& results) {
  const ResultGrid grid(results);
  DecisionSummary summary;
  summary.over_solo_curve = summarize_ratio(grid, kSoloCurve, "all");
  summary.over_oracle = summarize_ratio(grid, kOracle, "all");
  for (const ResultGrid::Mix& mix : grid.mixes()) {
    const EvalRun *ours = grid.run(mix, kWarpedSlicer), *solo = grid.run(mix, kSoloCurve), *best = grid.run(mix, kOracle);
    if (ours == nullptr) continue;
    const DecisionRecord* decided = last_joint_decision(*ours);
    if (solo != nullptr) {
      const bool on_samples = decided != nullptr && decided->reason != DecisionReason::NoProfile;
      judge(summary.warped_slicer, on_samples ? &decided->partition : nullptr, solo->partition);
      if (on_samples && !agree(decided->partition, solo->partition, 1)) summary.apart.push_back(ours);
    }
    if (decided != nullptr && !decided->samples.empty()) {
      summary.samples += decided->samples.size();
      summary.clean_samples += static_cast<std::size_t>(std::ranges::count_if(decided->samples, &ProfileSample::clean));
      if (solo != nullptr)
        for (const auto& [scaling, partition] : decided->golden)
          judge(of(summary.scalings, scaling), &partition, solo->partition);
    }
    if (best != nullptr && ours->ipc < best->ipc)
      summary.worst.push_back({ours->kernels, ours->ipc / best->ipc, decided == nullptr ? ours->partition : decided->partition,
                               best->partition, solo});
  }
  std::ranges::stable_sort(summary.worst, {}, &BelowOracle::ratio);
  if (summary.worst.size() > kWorstMixes) summary.worst.resize(kWorstMixes);
  return summary;
}

void add_golden_decisions(EvalResults& results, const MachineConfig& machine, std::span<const KernelDescriptor> kernels) {
  const std::uint32_t share = request_share(machine);
  const SamplingWindow window{static_cast<double>(machine.partitioner.profile_cycles), share == 0 ? 8192.0 : share};
  for (EvalRun& run : results.runs) {
    for (DecisionRecord& decision : run.decisions) {
      if (decision.samples.empty()) continue;
      std::vector<KernelId> ids;
      std::vector<SmResources> demand;
      for (const std::string& name : decision.kernels) {
        ids.emplace_back(static_cast<std::uint32_t>(ids.size()));
        const auto kernel = std::ranges::find(kernels, name, &KernelDescriptor::name);
        if (kernel != kernels.end()) demand.push_back(kernel->demand());
      }
      if (demand.size() != ids.size()) continue;
      decision.golden.clear();
      for (const IpcScaling scaling : kIpcScalings)
        decision.golden.emplace_back(
            to_string(scaling),
            warped_slicer_partition(golden_profiles(decision.samples, ids, scaling, window), demand, machine));
    }
  }
}

std::string decision_report(const DecisionSummary& s) {
  std::string out;
  if (s.warped_slicer.mixes > 0) {
    out += fmt::format("Warped-Slicer's decision against the solo curves': {}.\n", agreement_text(s.warped_slicer));
    out += fmt::format("Warped-Slicer over the solo curves' partition: {} (geometric mean of {} mixes).\n",
                       report::written(s.over_solo_curve.ipc_ratio, report::Notation::Number, 3), s.over_solo_curve.mixes);
  }
  if (s.over_oracle.mixes > 0)
    out += fmt::format("Warped-Slicer over the Oracle: {} (geometric mean of {} mixes).\n",
                       report::written(s.over_oracle.ipc_ratio, report::Notation::Number, 3), s.over_oracle.mixes);
  if (s.samples > 0)
    out +=
        fmt::format("{} of {} samples are of SMs that held what the label says and nothing else.\n", s.clean_samples, s.samples);
  if (!s.apart.empty()) {
    out += "More than one CTA from the solo curves:";
    for (const EvalRun* run : s.apart)
      out += fmt::format(" {} {}{}", mix_name(run->kernels), partition_label(last_joint_decision(*run)->partition),
                         run == s.apart.back() ? ".\n" : ",");
  }
  if (!s.scalings.empty()) {
    report::Table table({"golden model, from the samples", "same", "within one CTA", "mixes"});
    for (const auto& [name, a] : s.scalings)
      table.row({"scaling " + name, std::uint64_t{a.same}, std::uint64_t{a.within_one}, std::uint64_t{a.mixes}});
    out += fmt::format("\n{}", table.text());
  }
  if (!s.worst.empty()) {
    report::Table table({"furthest below the Oracle", "IPC ratio", "Warped-Slicer", "Oracle", "solo curve"});
    for (const BelowOracle& mix : s.worst)
      table.row({mix_name(mix.kernels), mix.ratio, partition_label(mix.warped_slicer), partition_label(mix.oracle),
                 mix.solo_curve == nullptr ? "–" : partition_label(mix.solo_curve->partition)});
    out += fmt::format("\n{}", table.text());
  }
  return out;
}

Json to_json(const DecisionSummary& s) {
  Json out = Json::object();
  out["warped_slicer"] = agreement_json(s.warped_slicer);
  out["scalings"] = Json::object();
  for (const auto& [name, agreement] : s.scalings) out["scalings"][name] = agreement_json(agreement);
  out["samples"] = {{"all", s.samples}, {"clean", s.clean_samples}};
  out["over_solo_curve"] = ratio_json(s.over_solo_curve);
  out["over_oracle"] = ratio_json(s.over_oracle);
  out["worst"] = Json::array();
  for (const BelowOracle& mix : s.worst) {
    out["worst"].push_back({{"kernels", mix.kernels},
                            {"ratio", mix.ratio},
                            {kWarpedSlicer, partition_json(mix.warped_slicer)},
                            {kOracle, partition_json(mix.oracle)}});
    if (mix.solo_curve != nullptr) out["worst"].back()[kSoloCurve] = partition_json(mix.solo_curve->partition);
  }
  return out;
}

}  // namespace sluice
