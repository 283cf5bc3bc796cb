// SPDX-License-Identifier: Apache-2.0
// Kernelet's queues on the GPU: slices of two kernels side by side as the scheduler chooses them, by rates of pairs that the
// Markov model predicts or that were measured, against launches one after the other and all at once.
#include <fmt/format.h>

#include <algorithm>

#include "sw/gpu/experiments/corun_measurement.h"
#include "sw/gpu/experiments/scenario_runs.h"

namespace sluice::gpu {

namespace {

double last_end(const nlohmann::json& jobs) {
  double last = 0;
  for (const nlohmann::json& job : jobs) last = std::max(last, job["ended_ms"].get<double>());
  return last;
}

/// @param all  also each launch and each decision: for who replays the queue
nlohmann::json told(const GpuRun& run, bool all) {
  nlohmann::json line = {{"end_ms", last_end(run.jobs)}, {"launches", run.jobs.size()}};
  if (all) line["jobs"] = run.jobs;
  if (run.decisions.empty()) return line;
  std::vector<double> us;
  for (const nlohmann::json& d : run.decisions) us.push_back(d["decide_us"]);
  std::ranges::sort(us);
  double sum = 0;
  for (const double t : us) sum += t;
  if (all) line["decisions"] = run.decisions;
  line.update({{"decided", us.size()},
               {"decide_ms", sum * 1e-3},
               {"decide_p99_us", us[us.size() * 99 / 100]},
               {"violations", run.violations}});
  return line;
}

}  // namespace

void kernelet_pairs_experiment(GpuSession& session, const ExperimentOptions& options) {
  measure_corun_rates(session, options, "kernelet", "kernelet_pairs", false);
}

void kernelet_queues_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawLines lines(options, "kernelet_queues", 4 * options.repetitions + options.plans);
  const CoRunTables known = kernelet_knows(session, options, "kernelet",
                                           known_rates(session, options, "kernelet", "kernelet_pairs"), "kernelet_queues");
  const auto scheduled = [&](const GpuScenario& s, const char* name, std::uint64_t seed) {
    SchedulerInput input = scheduler_input(session, s);
    input.predicted = known.predicted;
    input.executed = known.executed;
    input.min_slice = kQueueSlice;
    input.machine.core_mhz = options.on.at("core_mhz");  // the tables' cycles
    input.seed = seed;
    return run_scheduled(session, s, name, input);
  };
  const auto line = [&](const std::string& queue, const char* system, unsigned r, const auto& run) {
    const std::string key = fmt::format("{}/{}/{}", queue, system, r);
    if (lines.has(key)) return;
    nlohmann::json all = told(run(), r == 0);  // random plans count from 1
    all.update({{"queue", queue}, {"system", system}, {"repetition", r}});
    lines.add(key, std::move(all));
  };
  const auto systems = [&](const std::string& queue, const GpuScenario& s, unsigned r) {
    line(queue, "sequential", r, [&] { return run_streams(s, Streams::One); });
    line(queue, "base", r, [&] { return run_streams(s, Streams::Each); });
    for (const char* name : {"kernelet", "kernelet_opt"}) line(queue, name, r, [&] { return scheduled(s, name, 1); });
  };
  for (const char* group : {"ci", "mi", "mix", "all"}) {
    const GpuScenario s = gpu_scenario(session, kernelet_queue(options.scenarios, group, kQueueLaunches), "kernelet");
    for (unsigned r = 0; r < options.repetitions; ++r) {
      systems(group, s, r);
      lines.done(fmt::format("{} {}", group, r));
    }
  }
  const GpuScenario s = gpu_scenario(session, kernelet_queue(options.scenarios, "mix", kShortQueueLaunches),
                                     "kernelet");  // as short as the random plans are many
  for (unsigned r = 0; r < options.repetitions; ++r) systems("mix_short", s, r);
  for (unsigned seed = 1; seed <= options.plans; ++seed) {
    line("mix_short", "monte_carlo", seed, [&] { return scheduled(s, "monte_carlo", seed); });
    lines.done(fmt::format("random {}", seed));
  }
}

}  // namespace sluice::gpu
