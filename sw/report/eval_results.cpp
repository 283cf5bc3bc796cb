// SPDX-License-Identifier: Apache-2.0
#include "sw/report/eval_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sw/core/energy.h"
#include "sw/core/metrics.h"
#include "sw/policy/names.h"

namespace sluice {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double as_double(std::uint64_t count) { return static_cast<double>(count); }

/// Unknown rather than infinite when there is nothing to divide by (no access, a machine without scratchpad).
double ratio(double numerator, double denominator) { return denominator > 0 ? numerator / denominator : kUnknown; }

StallFractions stall_fractions(const StallCycles& stalls, double sm_cycles) {
  const auto share = [&](std::uint64_t cycles) { return ratio(as_double(cycles), sm_cycles); };
  return {share(stalls.long_memory), share(stalls.execution_resource),
          share(stalls.raw),         share(stalls.instruction_buffer),
          share(stalls.barrier),     share(stalls.idle)};
}

UtilizationFractions utilization_fractions(const RunResult& result, const SmConfig& sm) {
  const double cycles = as_double(result.sm_cycles);
  return {ratio(as_double(result.total.alu_busy), cycles * sm.alu_pipes),
          ratio(as_double(result.total.sfu_busy), cycles),
          ratio(as_double(result.total.ldst_busy), cycles),
          ratio(as_double(result.registers_resident), cycles * sm.capacity.registers),
          ratio(as_double(result.threads_resident), cycles * sm.capacity.threads),
          ratio(as_double(result.shared_bytes_resident), cycles * sm.capacity.shared_memory_bytes)};
}

DecisionRecord record(const Decision& decision, const std::vector<std::string>& names) {
  DecisionRecord out{decision.sampled_at.value(), decision.decided_at.value(), {}, decision.profiles, decision.partition};
  out.reason = decision.reason;
  out.balance = decision.balance;
  for (const KernelId id : decision.kernels) out.kernels.push_back(names.at(id.value()));
  for (const ProfileSample& sample : decision.samples) {
    const auto owner = std::ranges::find(decision.kernels, sample.kernel);
    if (owner == decision.kernels.end()) continue;
    out.samples.push_back(sample);
    out.samples.back().kernel = KernelId(static_cast<std::uint32_t>(owner - decision.kernels.begin()));
  }
  return out;
}

/// STP, ANTT and minimum speed-up; unknown as a whole when one kernel did not finish.
void fill_fairness(EvalRun& run, std::span<const Cycles> alone) {
  std::vector<Turnaround> mix;
  for (std::size_t k = 0; k < run.per_kernel.size(); ++k)
    if (run.per_kernel[k].finish_cycle > 0)
      mix.push_back({as_double(alone[k].value()), as_double(run.per_kernel[k].finish_cycle)});
  const bool known = !mix.empty() && mix.size() == run.per_kernel.size();
  run.stp = known ? stp(mix) : kUnknown;
  run.antt = known ? antt(mix) : kUnknown;
  run.min_speedup = known ? min_speedup(mix) : kUnknown;
}

}  // namespace

SoloRun make_solo_run(const KernelDescriptor& kernel, const MachineConfig& machine, const RunResult& result,
                      std::vector<double> curve) {
  const KernelCounters& c = result.total;
  const UtilizationFractions use = utilization_fractions(result, machine.sm);
  SoloRun solo;
  solo.kernel = kernel.name;
  solo.type = kernel.type;
  solo.cycles = result.cycles.value();
  solo.warp_instructions = c.warp_instructions;
  solo.thread_instructions = c.thread_instructions;
  solo.ipc = ratio(as_double(c.thread_instructions), as_double(solo.cycles));
  solo.alu_utilization = use.alu;
  solo.sfu_utilization = use.sfu;
  solo.ldst_utilization = use.ldst;
  solo.l2_mpki = ratio(1e3 * as_double(c.l2_misses), as_double(c.warp_instructions));
  solo.l1_miss_rate = ratio(as_double(c.l1_misses), as_double(c.l1_accesses));
  solo.l2_miss_rate = ratio(as_double(c.l2_misses), as_double(c.l2_accesses));
  solo.reference = kernel.reference;
  solo.curve = std::move(curve);
  return solo;
}

EvalRun make_eval_run(RunIdentity identity, const MachineConfig& machine, const RunResult& result,
                      std::span<const Cycles> alone) {
  EvalRun run;
  static_cast<RunIdentity&>(run) = std::move(identity);
  const KernelCounters& total = result.total;
  run.cycles = result.cycles.value();
  run.ipc = ratio(as_double(total.thread_instructions), as_double(run.cycles));
  run.normalized_ipc = kUnknown;
  for (std::size_t k = 0; k < result.kernels.size(); ++k) {
    const KernelCounters& counters = result.kernels[k];
    KernelOutcome& outcome = run.per_kernel.emplace_back();
    outcome.name = run.kernels.at(k);
    outcome.finish_cycle = counters.finish_cycle;
    outcome.speedup = ratio(as_double(alone[k].value()), as_double(counters.finish_cycle));
    outcome.counters = counters;
    if (k < result.kernel_stalls.size()) outcome.stalls = stall_fractions(result.kernel_stalls[k], as_double(result.sm_cycles));
  }
  fill_fairness(run, alone);
  run.stalls = stall_fractions(result.stalls, as_double(result.sm_cycles));
  run.utilization = utilization_fractions(result, machine.sm);
  run.l1_miss_rate = ratio(as_double(total.l1_misses), as_double(total.l1_accesses));
  run.l2_miss_rate = ratio(as_double(total.l2_misses), as_double(total.l2_accesses));
  const Energy energy = energy_of(energy_events(total, result.cycles), machine);
  run.average_watts = energy.watts();
  run.total_joules = energy.total();
  for (const SmCounters& sm : result.sms) {
    const double cycles = as_double(run.cycles);
    run.sms.push_back({sm.work.warp_instructions, ratio(as_double(sm.work.alu_busy), cycles * machine.sm.alu_pipes),
                       ratio(as_double(sm.work.sfu_busy), cycles), ratio(as_double(sm.work.ldst_busy), cycles),
                       ratio(as_double(sm.work.l1_misses), as_double(sm.work.l1_accesses)), stall_fractions(sm.stalls, cycles)});
  }
  run.dram_bytes_per_cycle = ratio(as_double(total.dram_bytes), as_double(run.cycles));
  for (const Decision& decision : result.decisions) run.decisions.push_back(record(decision, run.kernels));
  const auto joint = std::find_if(result.decisions.begin(), result.decisions.end(),
                                  [&](const Decision& d) { return d.kernels.size() == run.kernels.size(); });
  if (joint != result.decisions.end()) run.partition = joint->partition;
  return run;
}

void give_oracle_the_best(EvalResults& results) {
  for (EvalRun& oracle : results.runs) {
    if (oracle.policy != kOracle) continue;
    for (const EvalRun& other : results.runs) {
      if (other.policy == kOracle || other.kernels != oracle.kernels || other.ipc <= oracle.ipc) continue;
      EvalRun best = other;
      best.policy = kOracle;
      best.taken_from = other.policy;
      best.oracle_candidates = oracle.oracle_candidates;
      best.decisions.clear();
      oracle = std::move(best);
    }
  }
}

void normalize_to_left_over(EvalResults& results) {
  for (EvalRun& run : results.runs) {
    const auto base = std::find_if(results.runs.begin(), results.runs.end(), [&](const EvalRun& other) {
      return other.policy == kLeftOver && other.kernels == run.kernels;
    });
    run.normalized_ipc = base == results.runs.end() ? kUnknown : ratio(run.ipc, base->ipc);
  }
}

const DecisionRecord* last_joint_decision(const EvalRun& run) {
  const auto found = std::find_if(run.decisions.rbegin(), run.decisions.rend(),
                                  [&](const DecisionRecord& d) { return d.kernels.size() == run.kernels.size(); });
  return found == run.decisions.rend() ? nullptr : &*found;
}

std::string mix_name(std::span<const std::string> kernels) { return fmt::format("{}", fmt::join(kernels, "_")); }

nlohmann::ordered_json number_or_null(double value) { return std::isfinite(value) ? nlohmann::ordered_json(value) : nullptr; }

}  // namespace sluice
