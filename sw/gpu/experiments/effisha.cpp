// SPDX-License-Identifier: Apache-2.0
// EffiSha's schedules on the GPU: eleven kernels arrive one after the other, under schedulers and under what the GPU offers.
#include <fmt/format.h>
#include <algorithm>

#include "sw/gpu/experiments/scenario_runs.h"

namespace sluice::gpu {

namespace {

constexpr const char* kSettings[] = {"group", "sjf", "random"};
constexpr const char* kSchedulers[] = {"rr", "prio_np", "piv", "dprr"};
constexpr std::pair<const char*, Streams> kStreams[] = {
    {"fcfs", Streams::One}, {"streams", Streams::Each}, {"stream_priorities", Streams::Priorities}};

Scenario setting(const ExperimentOptions& options, const std::string& name) {
  Scenario scenario = read_scenario(options.scenarios / ("effisha_" + name + ".toml"));
  scenario.name = name;
  return scenario;
}

/// Milliseconds of each job's kernel alone, untransformed and under quotas.
nlohmann::json alone(const GpuScenario& s) {
  nlohmann::json all = nlohmann::json::object();
  const StreamHandle stream = make_stream();
  for (std::size_t j = 0; j < s.kernels.size(); ++j) {
    const PreparedKernel& kernel = *s.kernels[j];
    QuotaJob job(kernel, {});
    job.order(uniform_quota(kernel.context().limits().sms, kernel.occupancy()));
    const auto ms =
        in_turns(5, {[&] { return native_seconds(kernel, stream.get()) * 1e3; }, [&] { return job.run_timed() * 1e3; }});
    all[s.scenario.jobs[j].name] = {{"native_ms", ms[0]}, {"quota_ms", ms[1]}};
  }
  return all;
}

}  // namespace

void effisha_schedules_experiment(GpuSession& session, const ExperimentOptions& options) {
  SceneLines lines(options, "effisha_schedules", std::size(kSettings) * options.repetitions, "setting");
  for (const char* name : kSettings) {
    const GpuScenario s = gpu_scenario(session, setting(options, name), "effisha");
    if (!lines.has("alone")) lines.add("alone", {{"alone", alone(s)}});
    const auto prints = native_fingerprints(s);
    for (unsigned r = 0; r < options.repetitions; ++r) {
      for (const auto& [system, kind] : kStreams) lines.once(name, system, r, [&] { return run_streams(s, kind); });
      for (const char* system : kSchedulers)
        lines.once(name, system, r, [&] {
          for (const PreparedKernel* kernel : s.kernels) kernel->poison_outputs();
          GpuRun run = run_scheduled(session, s, system, scheduler_input(session, s));
          bool same = true;
          for (std::size_t k = 0; k < s.kernels.size(); ++k) same = same && s.kernels[k]->fingerprints() == prints[k];
          run.more["bit_identical"] = same;
          return run;
        });
      lines.done(fmt::format("{} {}", name, r));
    }
  }
}

void effisha_processes_experiment(GpuSession& session, const ExperimentOptions& options) {
  std::vector<Scenario> all;
  for (const char* name : kSettings) all.push_back(setting(options, name));
  SceneLines lines(options, "effisha_processes", 4 * all.size(), "setting");
  run_natively(session, lines, all, "effisha", {"green_halves", "processes", "mps", "mps_priorities"});
}

void effisha_priorities_experiment(GpuSession& session, const ExperimentOptions& options) {
  Scenario scenario = read_scenario(options.scenarios / "effisha_fig9.toml");
  constexpr std::uint32_t kLaunches = 100;  // of the paper's 1,000
  for (ScenarioJob& job : scenario.jobs) job.launches = std::min(job.launches, kLaunches);
  RawLines lines(options, "effisha_priorities", scenario.waits.size());
  for (const Time wait : scenario.waits)
    lines.step(fmt::format("wait {} ms", wait.count() / 1'000'000'000), [&] {
      const GpuScenario s = gpu_scenario(session, scenario, "effisha", wait);
      const GpuRun run = run_scheduled(session, s, "piv", scheduler_input(session, s));  // without its 10,000 decisions
      return nlohmann::json{
          {"wait_ms", static_cast<double>(wait.count()) * 1e-9}, {"violations", run.violations}, {"jobs", run.jobs}};
    });
}

}  // namespace sluice::gpu
