// SPDX-License-Identifier: Apache-2.0
// SiM's pairs on the GPU: the second kernel half a millisecond after the first, in both orders, and together.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

constexpr const char* kSystems[] = {"arrival", "even", "adaptive"};

/// The scenario has a hundredth of the paper's times, for the model; here they are the paper's.
Scenario seven(const ExperimentOptions& options) {
  Scenario scenario = read_scenario(options.scenarios / "sim_pairs.toml");
  for (ScenarioJob& job : scenario.jobs) job.alone.reset();
  scenario.pair_gap = *scenario.pair_gap * 100;
  return scenario;
}

}  // namespace

void sim_curves_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "sim_curves.jsonl");
  const auto& kernels = paper_kernels("sim");
  Progress progress("sim_curves", kernels.size());
  const unsigned sms = session.context().limits().sms;
  for (const PaperKernel& k : kernels) {
    if (!store.has(k.name)) {
      const PreparedKernel& kernel = session.app(k.app, measured_size(k.app, *k.milliseconds));
      QuotaJob job(kernel, {});
      const StreamHandle stream = make_stream();
      static_cast<void>(native_seconds(kernel, stream.get()));
      nlohmann::json curve = nlohmann::json::array(), native = nlohmann::json::array();
      for (unsigned r = 0; r < std::min(options.repetitions, 3U); ++r) {
        native.push_back(native_seconds(kernel, stream.get()) * 1e3);
        nlohmann::json points = nlohmann::json::array();
        for (unsigned ctas = 1; ctas <= kernel.occupancy(); ++ctas) {  // the whole grid: what SiM's offline profile has
          job.order(uniform_quota(sms, ctas));
          points.push_back(job.run_timed() * 1e3);
        }
        curve.push_back(points);
      }
      store.add(k.name, {{"app", k.app},
                         {"name", k.name},
                         {"blocks", kernel.spec().blocks()},
                         {"native_ms", native},
                         {"ms", curve},
                         {"violations", job.state().violations},
                         {"occupancy", kernel.occupancy()},
                         {"on", options.on}});
    }
    progress.done(k.name);
  }
}

/// Milliseconds of a whole grid with 1, 2, ... CTAs an SM, from sim_curves.
static SoloTimes solo_times(const ExperimentOptions& options) {
  SoloTimes times;
  for (const nlohmann::json& line : RawStore::read(options.out / "sim_curves.jsonl")) {
    std::vector<double>& own = times[line["name"]];
    const auto runs = line["ms"].get<std::vector<std::vector<double>>>();
    for (std::size_t c = 0; c < runs.front().size(); ++c) {
      std::vector<double> one;
      for (const auto& run : runs) one.push_back(run[c]);
      std::ranges::nth_element(one, one.begin() + static_cast<std::ptrdiff_t>(one.size() / 2));
      own.push_back(one[one.size() / 2]);
    }
  }
  return times;
}

void sim_pairs_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "sim_pairs.jsonl");
  const SoloTimes times = solo_times(options);
  if (times.empty()) throw InputError(fmt::format("{}: is missing: run sim_curves first", (options.out / "sim_curves.jsonl").string()));
  const std::vector<Scenario> runs = runs_of(seven(options));
  Progress progress("sim_pairs", runs.size() * options.repetitions);
  for (unsigned r = 0; r < options.repetitions; ++r)
    for (const Scenario& scenario : runs) {
      const GpuScenario s = gpu_scenario(session, scenario, "sim");
      const auto line = [&](const char* system, const GpuRun& run) {
        const std::string key = fmt::format("{}/{}/{}", scenario.name, system, r);
        if (store.has(key)) return;
        nlohmann::json told = {{"scenario", scenario.name}, {"system", system}, {"repetition", r},
                               {"jobs", run.jobs},          {"on", options.on}};
        if (!run.decisions.empty()) told.update({{"decisions", run.decisions}, {"violations", run.violations}});
        store.add(key, std::move(told));
      };
      line("sequential", run_streams(s, Streams::One));
      line("streams", run_streams(s, Streams::Each));
      for (const char* system : kSystems) {
        SchedulerInput input = scheduler_input(session, s);
        input.times = times;
        const auto scheduler = make_scheduler(system, input);
        line(system, run_scheduled(session, s, *scheduler));
      }
      progress.done(fmt::format("{} {}", scenario.name, r));
    }
}

}  // namespace sluice::gpu
