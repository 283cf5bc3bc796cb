// SPDX-License-Identifier: Apache-2.0
#include "study/evaluation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "study/run_cache.h"
#include "study/run_specs.h"
#include "sw/core/errors.h"
#include "sw/policy/names.h"
#include "sw/policy/registry.h"
#include "sw/report/summary.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "systemc/model_device.h"

namespace sluice {

namespace {

/// The policy's result is the best of many runs.
bool searches(const std::string& policy) { return policy_row(policy).needs == PolicyNeeds::Search; }

/// Everything about one evaluation that is worked out once.
struct Evaluation {
  EvaluationPlan options;
  MachineConfig machine;
  std::vector<Mix> mixes;
  std::vector<KernelDescriptor> kernels;  ///< of all mixes, each once

  [[nodiscard]] std::string mix_fingerprint(const std::vector<KernelDescriptor>& mix, const std::string& how) const {
    return fingerprint(mix, options.partitioner_text + how);
  }
  [[nodiscard]] bool searches(const Mix& mix) const {
    return options.oracle_pairs.empty() || std::ranges::find(options.oracle_pairs, mix.name()) != options.oracle_pairs.end();
  }
  [[nodiscard]] std::uint64_t oracle_window() const {
    return options.oracle_window == 0 ? search_window(options.window) : options.oracle_window;
  }
  [[nodiscard]] std::vector<RunResult> run(const std::vector<NamedRun>& runs, const std::string& what) const {
    return options.find ? options.find(runs) : run_all(runs, options.store, options.jobs, what);
  }
  [[nodiscard]] std::string fingerprint(const std::vector<KernelDescriptor>& mix, const std::string& how) const {
    return fmt::format("{}\n{}\nseed {}\n{}", options.machine_text, format_workload({"", mix}, ""), options.seed, how);
  }
};

std::map<std::string, RunResult> run_solos(const Evaluation& e, std::uint64_t window) {
  std::vector<NamedRun> runs;
  for (const KernelDescriptor& k : e.kernels) {
    runs.push_back(
        {"solo-" + k.name, e.fingerprint({k}, fmt::format("solo {}", window)), solo_spec(e.machine, k, window, e.options.seed)});
  }
  const std::vector<RunResult> results = e.run(runs, "alone");
  std::map<std::string, RunResult> by_name;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (results[i].total.warp_instructions == 0) {
      throw InputError(
          fmt::format("kernel {}: issues nothing within {} cycles: take a longer --window", e.kernels[i].name, window));
    }
    by_name[e.kernels[i].name] = results[i];
  }
  return by_name;
}

/// Figure 3a: each kernel with 1..N CTAs per SM.
SoloCurves run_curves(const Evaluation& e) {
  std::vector<NamedRun> runs;
  std::vector<std::string> owner;
  for (const KernelDescriptor& k : e.kernels) {
    const std::uint32_t most = occupancy(k.demand(), e.machine.sm.capacity).value();
    for (std::uint32_t n = 1; n <= most; ++n) {
      NamedRun run{fmt::format("curve-{}-{}", k.name, n),
                   e.fingerprint({k}, fmt::format("curve {} {}", n, e.options.curve_window)),
                   solo_spec(e.machine, k, e.options.curve_window, e.options.seed)};
      run.spec.machine.sm.capacity.cta_slots = n;
      runs.push_back(std::move(run));
      owner.push_back(k.name);
    }
  }
  const std::vector<RunResult> results = e.run(runs, "curves");
  SoloCurves curves;
  for (std::size_t i = 0; i < runs.size(); ++i) curves[owner[i]].push_back(make_solo_run({}, e.machine, results[i]).ipc);
  return curves;
}

std::vector<std::uint64_t> targets_of(const Mix& mix, const std::map<std::string, RunResult>& solos) {
  std::vector<std::uint64_t> targets;
  for (const KernelDescriptor& k : mix.kernels) targets.push_back(solos.at(k.name).total.warp_instructions);
  return targets;
}

/// One mix under one plan of a policy. The name tells the plan: policies that come to the same plan share a run.
/// What the partition unit decides itself depends on which unit it is.
NamedRun mix_run(const Evaluation& e, const Mix& mix, const std::string& policy, const PolicyPlan& plan,
                 const std::vector<std::uint64_t>& targets) {
  const std::string_view unit = to_string(e.options.partitioner);
  const bool own = plan.mode == Mode::Dynamic || plan.mode == Mode::Even || plan.mode == Mode::Spatial;
  const std::string how = own ? fmt::format("{}_mode-{}", to_string(plan.mode), unit)
                              : fmt::format("{}-{}", layout_name(plan.partition.mode), fmt::join(counts(plan.partition), "-"));
  const std::string rule = mix.kernels.size() > 2 && !plan.rule.empty() ? plan.rule + "-" : "";  // of two, the other gets all
  // The search decides nothing in hardware: with the twin its many runs outlive changes of the RTL.
  const PartitionerKind partitioner = searches(policy) ? PartitionerKind::Twin : e.options.partitioner;
  return {fmt::format("{}-{}{}", mix.name(), rule, how),
          e.mix_fingerprint(mix.kernels, fmt::format("{}{} {}", rule, how, fmt::join(targets, " "))),
          mix_spec(e.machine, mix.kernels, plan, targets, partitioner, e.options.seed)};
}

/// The same run as one of the Oracle's: it may be stopped when it is not the best, and so is kept under a name of its own.
NamedRun raced(const Evaluation& e, NamedRun run, const Mix& mix, const std::vector<std::uint64_t>& targets, std::size_t wanted) {
  run.wanted = wanted;
  run.name += "-raced";
  run.fingerprint += " raced";
  run.race = e.mix_fingerprint(mix.kernels, fmt::format("race {}", fmt::join(targets, " ")));
  return run;
}

/// Every kernel reached its target.
bool ended(const RunResult& result) {
  return std::ranges::all_of(result.kernels, [](const auto& k) { return k.finish_cycle != 0; });
}

double ipc_of(const RunResult& result) {
  return static_cast<double>(result.total.thread_instructions) / static_cast<double>(result.cycles.value());
}

/// The Oracle's partitions of every mix worth a run over the whole window: all, or the best of a search over a shorter one.
std::vector<std::vector<PolicyPlan>> oracle_plans(const Evaluation& e) {
  std::vector<std::vector<PolicyPlan>> plans(e.mixes.size());
  for (std::size_t m = 0; m < e.mixes.size(); ++m) {
    if (e.searches(e.mixes[m])) plans[m] = policy_plans(kOracle, e.machine, e.mixes[m].kernels);
  }
  const std::uint64_t window = e.oracle_window();
  if (window >= e.options.window) return plans;
  const std::map<std::string, RunResult> solos = run_solos(e, window);
  std::vector<NamedRun> runs;
  for (std::size_t m = 0; m < e.mixes.size(); ++m) {
    const std::vector<std::uint64_t> targets = targets_of(e.mixes[m], solos);
    for (const PolicyPlan& plan : plans[m])
      runs.push_back(raced(e, mix_run(e, e.mixes[m], kOracle, plan, targets), e.mixes[m], targets, kOracleFinalists));
  }
  const std::vector<RunResult> results = e.run(runs, "searched");
  std::size_t begin = 0;
  for (std::vector<PolicyPlan>& of_mix : plans) {
    const auto race = std::span(results).subspan(begin, of_mix.size());
    begin += of_mix.size();
    std::vector<std::uint64_t> cycles;
    for (const RunResult& r : race)
      if (ended(r)) cycles.push_back(r.cycles.value());
    const std::uint64_t bound = race_bound(cycles, kOracleFinalists);
    // Which of the longer ones were stopped, and where, depends on the order they ran in: none of them is looked at.
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < of_mix.size(); ++i)
      if (ended(race[i]) && race[i].cycles.value() <= bound) order.emplace_back(-ipc_of(race[i]), i);
    std::ranges::sort(order);
    order.resize(std::min(order.size(), kOracleFinalists));
    std::vector<PolicyPlan> best;
    for (const auto& [negative_ipc, i] : order) best.push_back(of_mix[i]);
    of_mix = std::move(best);
  }
  return plans;
}

struct Candidate {
  std::size_t mix;
  std::string policy;
  Partition partition;
};

/// Every mix under every policy; of the Oracle's finalists the one with the highest IPC.
std::vector<EvalRun> run_mixes(const Evaluation& e, const std::map<std::string, RunResult>& solos, const SoloCurves& curves) {
  const std::vector<std::string> policies = e.options.policies;
  const bool with_oracle = std::ranges::any_of(policies, searches);
  const std::vector<std::vector<PolicyPlan>> finalists =
      with_oracle ? oracle_plans(e) : std::vector<std::vector<PolicyPlan>>(e.mixes.size());
  std::vector<NamedRun> runs;
  std::vector<Candidate> candidates;
  for (std::size_t m = 0; m < e.mixes.size(); ++m) {
    const Mix& mix = e.mixes[m];
    const std::vector<std::uint64_t> targets = targets_of(mix, solos);
    for (const std::string& policy : policies) {
      for (const PolicyPlan& plan : searches(policy) ? finalists[m] : policy_plans(policy, e.machine, mix.kernels, {}, curves)) {
        runs.push_back(mix_run(e, mix, policy, plan, targets));
        candidates.push_back({m, policy, plan.partition});
      }
    }
  }
  // Run each name once. A run that only the Oracle wants is one of a race.
  std::set<std::string> of_others;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!searches(candidates[i].policy)) of_others.insert(runs[i].name);
  std::vector<NamedRun> unique;
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (searches(candidates[i].policy) && of_others.contains(runs[i].name)) continue;  // theirs may be of other hardware
    const Mix& mix = e.mixes[candidates[i].mix];
    if (searches(candidates[i].policy)) runs[i] = raced(e, std::move(runs[i]), mix, targets_of(mix, solos), 1);
    if (index.emplace(runs[i].name, unique.size()).second) unique.push_back(runs[i]);
  }
  const std::vector<RunResult> results = e.run(unique, "together");

  std::vector<EvalRun> entries;
  for (std::size_t i = 0; i < candidates.size();) {
    const Mix& mix = e.mixes[candidates[i].mix];
    const std::vector<Cycles> alone(mix.kernels.size(), Cycles(e.options.window));
    std::optional<EvalRun> best;
    std::size_t end = i;
    for (; end < candidates.size() && candidates[end].mix == candidates[i].mix && candidates[end].policy == candidates[i].policy;
         ++end) {
      const std::size_t ran = index[runs[end].name];
      EvalRun run = make_eval_run({mix.kernel_names(), mix.category, candidates[end].policy,
                                   std::string(to_string(unique[ran].spec.partitioner)), candidates[end].partition, 0},
                                  e.machine, results[ran], alone);
      if (!best || run.ipc > best->ipc) best = std::move(run);
    }
    if (searches(candidates[i].policy))
      best->oracle_candidates = static_cast<std::size_t>(
          std::ranges::count(policy_plans(kOracle, e.machine, mix.kernels), Mode::Static, &PolicyPlan::mode));
    entries.push_back(std::move(*best));
    i = end;
  }
  return entries;
}

Evaluation prepare(const EvaluationPlan& plan) {
  Evaluation e{plan, plan.machine, parse_mixes(plan.workload, plan.machine, plan.mixes), {}};
  std::set<std::string> seen;
  for (const KernelDescriptor& k : plan.workload.kernels) {
    const bool used = std::ranges::any_of(e.mixes, [&](const Mix& mix) {
      return std::ranges::find(mix.kernels, k.name, &KernelDescriptor::name) != mix.kernels.end();
    });
    if (!used || !seen.insert(k.name).second) continue;
    check_fits(e.machine, k);
    e.kernels.push_back(k);
  }
  if (plan.policies.empty()) throw InputError(fmt::format("--policies: none given; there are {}", policy_names()));
  const bool with_oracle = std::ranges::any_of(plan.policies, searches);
  for (const std::string& name : plan.oracle_pairs) {
    if (!with_oracle) throw InputError("--oracle-pairs: policy oracle is not among --policies");
    if (std::ranges::find(e.mixes, name, &Mix::name) == e.mixes.end())
      throw InputError(fmt::format("--oracle-pairs: {} is not among the mixes {}", name, plan.mixes));
  }
  for (const std::string& policy : plan.policies) {  // names, mixes and machines are refused before anything runs
    const PolicyNeeds needs = policy_row(policy).needs;
    for (const Mix& mix : e.mixes)
      if (!searches(policy)) check_partitioner(e.machine, plan.partitioner, mix.kernels.size());
    if (needs == PolicyNeeds::Counts) throw InputError(fmt::format("policy {}: use sluice sim --ctas a,b", policy));
    if (needs == PolicyNeeds::Curves) {
      if (plan.curve_window == 0)
        throw InputError(fmt::format("policy {}: no curves over CTA counts here: use sluice eval", policy));
      continue;
    }
    for (const Mix& mix : e.mixes)
      for (const PolicyPlan& p : policy_plans(policy, e.machine, mix.kernels))
        check_unit_has(p.mode, plan.partitioner, e.machine);
  }
  return e;
}

}  // namespace

void check_evaluation(const EvaluationPlan& plan) { (void)prepare(plan); }

EvaluationOutcome evaluate(const EvaluationPlan& plan) {
  const Evaluation e = prepare(plan);
  EvaluationOutcome outcome;
  outcome.solos = run_solos(e, plan.window);
  SoloCurves curves;
  if (plan.curve_window != 0) curves = run_curves(e);
  outcome.results.runs = run_mixes(e, outcome.solos, curves);
  give_oracle_the_best(outcome.results);
  normalize_to_left_over(outcome.results);
  add_golden_decisions(outcome.results, e.machine, e.kernels);
  for (const KernelDescriptor& k : e.kernels)
    outcome.results.solo.push_back(make_solo_run(k, e.machine, outcome.solos.at(k.name), curves[k.name]));
  return outcome;
}

}  // namespace sluice
