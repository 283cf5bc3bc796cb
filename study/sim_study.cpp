// SPDX-License-Identifier: Apache-2.0
#include "study/paper_studies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "study/calibration.h"
#include "study/schedule_model.h"
#include "sw/core/errors.h"
#include "sw/scheduler/schedule_run.h"

namespace sluice {

namespace {

using figures::SimKernel;
using figures::SimPair;
using figures::SimShare;

constexpr const char* kSequential = "arrival";

Workload of_length(Workload workload, double equal_ms) {
  for (KernelDescriptor& k : workload.kernels) {
    if (!k.launch_reference) continue;  // of no pair, or run_sim() says so
    const double length = equal_ms / k.launch_reference->milliseconds;
    k.behaviour.warp_instructions = static_cast<std::uint32_t>(std::max(1.0, std::round(k.behaviour.warp_instructions * length)));
    k.launch_reference->milliseconds = equal_ms;
  }
  return workload;
}

/// The orders of arrival that count for a scheduler.
bool counts(const std::string& scheduler, const Scenario& pair) {
  return !pair.name.ends_with("_together") || scheduler == "adaptive" || scheduler == kSequential;
}

double span_ms(const ScheduleRun& run) { return std::chrono::duration<double, std::milli>(run.makespan).count(); }

/// Means over orders, of `run` and of the sequential run in the same order.
SimShare share(const std::vector<const ScheduleRun*>& runs, const std::vector<const ScheduleRun*>& sequential) {
  SimShare out;
  double span = 0, sequential_span = 0, sequential_antt = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    span += span_ms(*runs[i]);
    sequential_span += span_ms(*sequential[i]);
    out.antt += runs[i]->antt() / static_cast<double>(runs.size());
    sequential_antt += sequential[i]->antt() / static_cast<double>(runs.size());
    for (const LaunchOutcome& job : runs[i]->jobs) out.worst_ntt = std::max(out.worst_ntt, job.ntt());
  }
  out.stp = sequential_span / span;
  out.antt_sequential = out.antt / sequential_antt;
  return out;
}

/// @param sequential  in each order
SimPair limits(const SimKernel& a, const SimKernel& b, const std::vector<const ScheduleRun*>& sequential,
               const MachineConfig& machine) {
  SimPair pair;
  pair.name = a.kernel.name + "_" + b.kernel.name;
  pair.low = a.low() || b.low();
  double span = 0;  // the longest: an STP is of some of the orders
  for (const ScheduleRun* run : sequential) span = std::max(span, span_ms(*run));
  pair.bound = span / sim_bound({&a.run, &b.run}, machine);
  pair.longer_alone = span / std::max(a.model.milliseconds, b.model.milliseconds);
  return pair;
}

void check_bound(const SimPair& pair) {
  constexpr double kRounding = 1e-9;
  for (const auto& [scheduler, share] : pair.shares)
    if (share.stp > pair.bound * (1 + kRounding))
      throw CheckFailed(fmt::format("{} under {}: STP {} is above the bound {}", pair.name, scheduler, share.stp, pair.bound));
}

}  // namespace

double sim_bound(const std::vector<const RunResult*>& runs, const MachineConfig& machine) {
  const SmConfig& sm = machine.sm;
  KernelCounters work;
  for (const RunResult* run : runs)
    for (const KernelCounters& kernel : run->kernels) work += kernel;
  const double cycles = std::max({static_cast<double>(work.warp_instructions) / sm.schedulers,
                                  static_cast<double>(work.alu_busy) / sm.alu_pipes, static_cast<double>(work.sfu_busy)}) /
                        machine.num_sms;
  return cycles / machine.core_mhz / 1e3;
}

SimOutcome run_sim(const SimStudy& study, double equal_ms) {
  if (!study.scenario.pair_gap) throw InputError(fmt::format("{}: pair_gap_ms is missing", study.scenario.file));
  const Workload workload = equal_ms > 0 ? of_length(study.workload, equal_ms) : study.workload;
  ScheduleOnModel model({study.partitioner, study.seed, study.jobs, {}, study.store, study.machine_text});
  const ScheduleTarget all = target_of(study.scenario, study.machine, workload);
  for (const KernelDescriptor& kernel : all.kernels)
    if (!kernel.launch_reference)
      throw InputError(fmt::format("workload {}: kernel {}: kernel.launch_reference is missing", workload.name, kernel.name));
  std::vector<ScheduleCase> cases;
  for (const Scenario& pair : runs_of(study.scenario))
    for (const char* scheduler : {kSequential, kSimSchedulers[0], kSimSchedulers[1], kSimSchedulers[2]})
      if (counts(scheduler, pair))
        cases.push_back({pair.name + "-" + scheduler, pair, target_of(pair, study.machine, workload), scheduler});
  model.check(cases);
  SimOutcome out;
  for (const KernelDescriptor& kernel : all.kernels) {
    const RunResult& run = model.measure_alone(all).at(kernel.name);
    out.kernels.push_back({kernel, measure_launch(run, study.machine), run, {}});
    out.kernels.back().times = model.measure_times(all).at(kernel.name);
  }
  const std::vector<ScheduleRun> runs = model.run(cases);
  const auto run_of = [&](const std::string& scenario, const std::string& scheduler) -> const ScheduleRun* {
    const auto found = std::ranges::find(cases, scenario + "-" + scheduler, &ScheduleCase::name);
    return found == cases.end() ? nullptr : &runs[static_cast<std::size_t>(found - cases.begin())];
  };
  for (std::size_t a = 0; a < out.kernels.size(); ++a) {
    for (std::size_t b = a + 1; b < out.kernels.size(); ++b) {
      const std::string &first = out.kernels[a].kernel.name, &second = out.kernels[b].kernel.name, name = first + "_" + second;
      const std::vector<std::string> orders = {name, fmt::format("{}_{}", second, first), name + "_together"};
      std::vector<const ScheduleRun*> in_turn;
      for (const std::string& order : orders)
        if (const ScheduleRun* run = run_of(order, kSequential)) in_turn.push_back(run);
      SimPair& pair = out.pairs.emplace_back(limits(out.kernels[a], out.kernels[b], in_turn, study.machine));
      for (const char* scheduler : kSimSchedulers) {
        std::vector<const ScheduleRun*> ours, sequential;
        for (const std::string& order : orders) {
          if (run_of(order, scheduler) == nullptr) continue;
          ours.push_back(run_of(order, scheduler));
          sequential.push_back(run_of(order, kSequential));
        }
        pair.shares[scheduler] = share(ours, sequential);
      }
      check_bound(pair);
    }
  }
  return out;
}

std::vector<figures::Figure> sim_study(const SimStudy& study, double equal_ms) {
  const SimOutcome paper = run_sim(study);
  std::vector<figures::Figure> drawn = {
      figures::sim_table2(study.machine),
      figures::sim_table3(paper.kernels, study.machine),
      figures::sim_spatial(paper.kernels, study.machine),
      figures::sim_example(study.machine),
      figures::sim_units(paper.kernels, study.machine),
      figures::sim_curves(paper.kernels),
      figures::sim_pairs(paper.pairs, true, false),
      figures::sim_pairs(paper.pairs, false, false),
      figures::sim_antt(paper.pairs, false),
  };
  if (equal_ms == 0) return drawn;
  const SimOutcome equal = run_sim(study, equal_ms);
  for (const bool low : {true, false}) drawn.push_back(figures::sim_pairs(equal.pairs, low, true));
  drawn.push_back(figures::sim_antt(equal.pairs, true));
  return drawn;
}

}  // namespace sluice
