// SPDX-License-Identifier: Apache-2.0
// SiM's pairs on the GPU: the second kernel half a millisecond after the first, in both orders, and together.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/experiments/corun_measurement.h"
#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/io/raw_store.h"
#include "sw/policy/policy.h"

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
  std::vector<PaperKernel> kernels = paper_kernels("sim");
  kernels.insert(kernels.end(), paper_kernels("table2").begin(), paper_kernels("table2").end());
  RawLines lines(options, "sim_curves", kernels.size());
  for (const PaperKernel& k : kernels)
    lines.step(k.name, [&] {
      const PreparedKernel& kernel = session.app(k.app, measured_size(k.app, k.milliseconds.value_or(kEqualLength)));
      QuotaJob job(kernel, {});
      const StreamHandle stream = make_stream();
      static_cast<void>(native_seconds(kernel, stream.get()));
      nlohmann::json curve = nlohmann::json::array(), native = nlohmann::json::array();
      for (unsigned r = 0; r < std::min(options.repetitions, 3U); ++r) {
        native.push_back(native_seconds(kernel, stream.get()) * 1e3);
        nlohmann::json points = nlohmann::json::array();
        for (unsigned ctas = 1; ctas <= kernel.occupancy(); ++ctas) {  // the whole grid: what SiM's offline profile has
          job.order(uniform_quota(session.context().limits().sms, ctas));
          points.push_back(job.run_timed() * 1e3);
        }
        curve.push_back(points);
      }
      return nlohmann::json{{"app", k.app},
                            {"name", k.name},
                            {"blocks", kernel.spec().blocks()},
                            {"native_ms", native},
                            {"ms", curve},
                            {"violations", job.state().violations},
                            {"occupancy", kernel.occupancy()}};
    });
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
  const SoloTimes times = solo_times(options);
  SceneLines lines(options, name, runs.size() * options.repetitions);
  for (unsigned r = 0; r < options.repetitions; ++r)
    for (const Scenario& scenario : runs) {
      const GpuScenario s = gpu_scenario(session, scenario, paper);
      lines.once(scenario.name, "sequential", r, [&] { return run_streams(s, Streams::One); });
      lines.once(scenario.name, "streams", r, [&] { return run_streams(s, Streams::Each); });
      for (const char* system : schedulers)
        lines.once(scenario.name, system, r, [&] { return run_scheduled(session, s, system, with_times(session, s, times)); });
      lines.done(fmt::format("{} {}", scenario.name, r));
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
  const std::vector<Scenario> all = runs_of(seven(options));
  SceneLines lines(options, "sim_processes", 3 * all.size());
  run_natively(session, lines, all, "sim", {"green_halves", "mps", "mps_halves"});
}

void sim_equal_experiment(GpuSession& session, const ExperimentOptions& options) {
  std::vector<Scenario> runs;
  for (const std::vector<std::string>& pair : choose(table2_names(), 2)) runs.push_back(scene_of(mix_name(pair), pair));
  run_all(session, options, "sim_equal", "table2", runs);
}

}  // namespace sluice::gpu
