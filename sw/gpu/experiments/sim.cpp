// SPDX-License-Identifier: Apache-2.0
// SiM's pairs on the GPU: the second kernel half a millisecond after the first, in both orders, and together.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/experiments/corun_measurement.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"
#include "sw/policy/i_policy.h"

namespace sluice::gpu {

namespace {

constexpr const char* kSystems[] = {"arrival", "even", "adaptive"};
/// The paper's baseline PT, and one after the other in the same session.
constexpr const char* kBaselines[] = {"arrival", "pt"};

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
  std::vector<PaperKernel> kernels = paper_kernels("sim");
  kernels.insert(kernels.end(), paper_kernels("table2").begin(), paper_kernels("table2").end());
  Progress progress("sim_curves", kernels.size());
  const unsigned sms = session.context().limits().sms;
  for (const PaperKernel& k : kernels) {
    if (!store.has(k.name)) {
      const PreparedKernel& kernel = session.app(k.app, measured_size(k.app, k.milliseconds.value_or(kEqualLength)));
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

void sim_rates_experiment(GpuSession& session, const ExperimentOptions& options) {
  measure_corun_rates(session, options, "sim", "sim_rates", false);
}

namespace {

/// Milliseconds of a whole grid with 1, 2, ... CTAs an SM, from sim_curves.
SoloTimes solo_times(const ExperimentOptions& options) {
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

/// What `adaptive` is made from: a time for every count that fits by the resources, although the driver places fewer of some.
SchedulerInput with_times(const GpuSession& session, const GpuScenario& s, const SoloTimes& times) {
  SchedulerInput input = scheduler_input(session, s);
  input.times = times;
  for (const KernelDescriptor& k : input.mix) {
    std::vector<double>& own = input.times[k.name];
    if (own.empty()) throw InputError(fmt::format("kernel {}: has no times: run sim_curves first", k.name));
    own.resize(occupancy(k.demand(), input.machine.sm.capacity).value(), own.back());
  }
  return input;
}

void run_all(GpuSession& session, const ExperimentOptions& options, const std::string& name, const std::string& paper,
             const std::vector<Scenario>& runs, std::span<const char* const> schedulers = kSystems) {
  RawStore store(options.out / (name + ".jsonl"));
  const SoloTimes times = solo_times(options);
  Progress progress(name, runs.size() * options.repetitions);
  for (unsigned r = 0; r < options.repetitions; ++r)
    for (const Scenario& scenario : runs) {
      const GpuScenario s = gpu_scenario(session, scenario, paper);
      const auto line = [&](const char* system, const auto& run) {
        const std::string key = fmt::format("{}/{}/{}", scenario.name, system, r);
        if (store.has(key)) return;
        const GpuRun done = run();
        nlohmann::json told = {
            {"scenario", scenario.name}, {"system", system}, {"repetition", r}, {"jobs", done.jobs}, {"on", options.on}};
        if (!done.decisions.empty()) told.update({{"decisions", done.decisions}, {"violations", done.violations}});
        store.add(key, std::move(told));
      };
      line("sequential", [&] { return run_streams(s, Streams::One); });
      line("streams", [&] { return run_streams(s, Streams::Each); });
      for (const char* system : schedulers)
        line(system, [&] {
          const auto scheduler = make_scheduler(system, with_times(session, s, times));
          return run_scheduled(session, s, *scheduler);
        });
      progress.done(fmt::format("{} {}", scenario.name, r));
    }
}

}  // namespace

void sim_pairs_experiment(GpuSession& session, const ExperimentOptions& options) {
  run_all(session, options, "sim_pairs", "sim", runs_of(seven(options)));
}

void sim_pt_experiment(GpuSession& session, const ExperimentOptions& options) {
  run_all(session, options, "sim_pt", "sim", runs_of(seven(options)), kBaselines);
}

void sim_processes_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "sim_processes.jsonl");
  const std::vector<Scenario> all = runs_of(seven(options));
  Progress progress("sim_processes", all.size() + 2 * all.size() / 3);
  const auto add = [&](const std::string& key, const Scenario& scenario, const char* system, unsigned r, const GpuRun& run) {
    store.add(key, {{"scenario", scenario.name}, {"system", system}, {"repetition", r}, {"jobs", run.jobs}, {"on", options.on}});
  };
  {
    const GreenStreams halves(session.context(), 2);
    for (const Scenario& scenario : all) {
      const GpuScenario s = gpu_scenario(session, scenario, "sim");
      for (unsigned r = 0; r < options.repetitions; ++r)
        if (const std::string key = fmt::format("{}/green_halves/{}", scenario.name, r); !store.has(key))
          add(key, scenario, "green_halves", r, run_streams(s, Streams::Green, &halves));
      progress.done(scenario.name + " green_halves");
    }
  }
  const MpsServer server(std::filesystem::temp_directory_path() / fmt::format("sluice_mps_{}", getpid()));
  for (const auto& [system, clients] : {std::pair("mps", Clients::Plain), std::pair("mps_halves", Clients::Halves)})
    for (std::size_t first = 0; first < all.size(); first += 3) {  // the three scenarios of a pair have the same processes
      const GpuScenario s = gpu_scenario(session, all[first], "sim");
      std::optional<ScenarioProcesses> processes;
      for (std::size_t which = first; which < first + 3; ++which)
        for (unsigned r = 0; r < options.repetitions; ++r) {
          const std::string key = fmt::format("{}/{}/{}", all[which].name, system, r);
          if (store.has(key)) continue;
          if (!processes) {
            processes.emplace(options.program, s, clients);
            static_cast<void>(processes->run(s));  // the first run of a process is slower
          }
          GpuScenario now = s;
          for (std::size_t k = 0; k < now.all.size(); ++k) {
            const auto job = std::ranges::find(all[which].jobs, now.scenario.jobs[now.all[k].job].name, &ScenarioJob::name);
            now.all[k].arrival = job->arrival;
          }
          add(key, all[which], system, r, processes->run(now));
        }
      progress.done(fmt::format("{} {}", all[first].name, system));
    }
}

void sim_equal_experiment(GpuSession& session, const ExperimentOptions& options) {
  std::vector<Scenario> runs;
  for (const std::vector<std::string>& pair : choose(table2_names(), 2)) {
    Scenario& scenario = runs.emplace_back();
    scenario.file = scenario.name = mix_name(pair);
    for (const std::string& app : pair) {
      ScenarioJob& job = scenario.jobs.emplace_back();
      job.name = job.kernel = app;
    }
  }
  run_all(session, options, "sim_equal", "table2", runs);
}

}  // namespace sluice::gpu
