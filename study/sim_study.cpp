// SPDX-License-Identifier: Apache-2.0
#include "study/sim_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "study/launch_fit.h"
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

SimPair bounds(const SimKernel& a, const SimKernel& b) {
  SimPair pair;
  pair.name = a.kernel.name + "_" + b.kernel.name;
  pair.low = a.low() || b.low();
  const double sum = a.model.milliseconds + b.model.milliseconds, longer = std::max(a.model.milliseconds, b.model.milliseconds);
  const double slots = a.model.milliseconds * a.model.issue_utilization + b.model.milliseconds * b.model.issue_utilization;
  pair.bound = sum / longer;
  pair.slot_bound = sum / std::max(longer, slots);
  return pair;
}

}  // namespace

SimOutcome run_sim(const SimStudy& study, double equal_ms) {
  if (!study.scenario.pair_gap) throw InputError(fmt::format("{}: pair_gap_ms is missing", study.scenario.file));
  const Workload workload = equal_ms > 0 ? of_length(study.workload, equal_ms) : study.workload;
  ScheduleOnModel model({study.partitioner,
                         study.seed,
                         study.jobs,
                         {},
                         study.runs_folder / (equal_ms > 0 ? "equal" : "paper"),
                         study.machine_text});
  const ScheduleTarget all = target_of(study.scenario, study.machine, workload);
  SimOutcome out;
  for (const KernelDescriptor& kernel : all.kernels) {
    if (!kernel.launch_reference)
      throw InputError(fmt::format("workload {}: kernel {}: kernel.launch_reference is missing", workload.name, kernel.name));
    const RunResult& run = model.measure_alone(all).at(kernel.name);
    out.kernels.push_back({kernel, measure_launch(run, study.machine), run, model.measure_times(all).at(kernel.name)});
  }
  std::vector<ScheduleCase> cases;
  for (const Scenario& pair : runs_of(study.scenario))
    for (const char* scheduler : {kSequential, kSimSchedulers[0], kSimSchedulers[1], kSimSchedulers[2]})
      if (counts(scheduler, pair))
        cases.push_back({pair.name + "-" + scheduler, pair, target_of(pair, study.machine, workload), scheduler});
  const std::vector<ScheduleRun> runs = model.run(cases);
  const auto run_of = [&](const std::string& scenario, const std::string& scheduler) -> const ScheduleRun* {
    const auto found = std::ranges::find(cases, scenario + "-" + scheduler, &ScheduleCase::name);
    return found == cases.end() ? nullptr : &runs[static_cast<std::size_t>(found - cases.begin())];
  };
  for (std::size_t a = 0; a < out.kernels.size(); ++a) {
    for (std::size_t b = a + 1; b < out.kernels.size(); ++b) {
      SimPair& pair = out.pairs.emplace_back(bounds(out.kernels[a], out.kernels[b]));
      const std::string &first = out.kernels[a].kernel.name, &second = out.kernels[b].kernel.name;
      for (const char* scheduler : kSimSchedulers) {
        std::vector<const ScheduleRun*> ours, sequential;
        for (const std::string& order : {pair.name, fmt::format("{}_{}", second, first), pair.name + "_together"}) {
          if (run_of(order, scheduler) == nullptr) continue;
          ours.push_back(run_of(order, scheduler));
          sequential.push_back(run_of(order, kSequential));
        }
        pair.shares[scheduler] = share(ours, sequential);
      }
    }
  }
  return out;
}

}  // namespace sluice
