// SPDX-License-Identifier: Apache-2.0
// EffiSha's schedules on the GPU: eleven kernels arrive one after the other, under schedulers and under what the GPU offers.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

constexpr const char* kSettings[] = {"group", "sjf", "random"};
constexpr const char* kSchedulers[] = {"rr", "prio_np", "piv", "dprr"};
constexpr std::pair<const char*, Streams> kStreams[] = {
    {"fcfs", Streams::One}, {"streams", Streams::Each}, {"stream_priorities", Streams::Priorities}};

GpuScenario setting(GpuSession& session, const ExperimentOptions& options, const std::string& name,
                    std::optional<Time> wait = {}) {
  return gpu_scenario(session, read_scenario(options.scenarios / ("effisha_" + name + ".toml")), "effisha", wait);
}

/// Milliseconds of each job's kernel alone, untransformed and under quotas.
nlohmann::json alone(const GpuScenario& s) {
  nlohmann::json all = nlohmann::json::object();
  const StreamHandle stream = make_stream();
  for (std::size_t j = 0; j < s.kernels.size(); ++j) {
    const PreparedKernel& kernel = *s.kernels[j];
    QuotaJob job(kernel, {});
    job.order(uniform_quota(kernel.context().limits().sms, kernel.occupancy()));
    nlohmann::json native = nlohmann::json::array(), quota = nlohmann::json::array();
    for (int i = 0; i < 6; ++i) {
      const double untransformed = native_seconds(kernel, stream.get()) * 1e3, under = job.run_timed() * 1e3;
      if (i == 0) continue;  // warms up
      native.push_back(untransformed);
      quota.push_back(under);
    }
    all[s.scenario.jobs[j].name] = {{"native_ms", native}, {"quota_ms", quota}};
  }
  return all;
}

bool identical(const GpuScenario& s, const std::vector<std::vector<std::uint64_t>>& prints) {
  bool same = true;
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    same = same && s.kernels[k]->fingerprints() == prints[k];
    s.kernels[k]->poison_outputs();
  }
  return same;
}

void add(RawStore& store, const std::string& key, const GpuRun& run, nlohmann::json rest, const ExperimentOptions& options) {
  rest.update({{"jobs", run.jobs}, {"on", options.on}});
  if (!run.decisions.empty()) rest.update({{"decisions", run.decisions}, {"violations", run.violations}});
  store.add(key, std::move(rest));
}

}  // namespace

void effisha_schedules_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "effisha_schedules.jsonl");
  Progress progress("effisha_schedules", std::size(kSettings) * options.repetitions);
  for (const char* name : kSettings) {
    const GpuScenario s = setting(session, options, name);
    if (!store.has("alone")) store.add("alone", {{"alone", alone(s)}, {"on", options.on}});
    const auto prints = native_fingerprints(s);
    for (const PreparedKernel* kernel : s.kernels) kernel->poison_outputs();
    for (unsigned r = 0; r < options.repetitions; ++r) {
      const auto key = [&](const char* system) { return fmt::format("{}/{}/{}", name, system, r); };
      const auto told = [&](const char* system) {
        return nlohmann::json{{"setting", name}, {"system", system}, {"repetition", r}};
      };
      for (const auto& [system, kind] : kStreams)
        if (!store.has(key(system))) add(store, key(system), run_streams(s, kind), told(system), options);
      for (const char* system : kSchedulers) {
        if (store.has(key(system))) continue;
        const auto scheduler = make_scheduler(system, scheduler_input(session, s));
        for (const PreparedKernel* kernel : s.kernels) kernel->poison_outputs();
        const GpuRun run = run_scheduled(session, s, *scheduler);
        nlohmann::json line = told(system);
        line["bit_identical"] = identical(s, prints);
        add(store, key(system), run, line, options);
      }
      progress.done(fmt::format("{} {}", name, r));
    }
  }
}

void effisha_processes_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "effisha_processes.jsonl");
  Progress progress("effisha_processes", 4 * std::size(kSettings));
  const GreenStreams halves(session.context(), 2);
  for (const char* name : kSettings) {
    const GpuScenario s = setting(session, options, name);
    const auto repeat = [&](const char* system, const auto& once) {
      for (unsigned r = 0; r < options.repetitions; ++r) {
        const std::string key = fmt::format("{}/{}/{}", name, system, r);
        if (!store.has(key)) add(store, key, once(), {{"setting", name}, {"system", system}, {"repetition", r}}, options);
      }
      progress.done(fmt::format("{} {}", name, system));
    };
    repeat("green_halves", [&] { return run_streams(s, Streams::Green, &halves); });
    const auto run = [&](const char* system, Clients clients) {
      ScenarioProcesses processes(options.program, s, clients);
      static_cast<void>(processes.run(s));  // the first run of a process is slower
      repeat(system, [&] { return processes.run(s); });
    };
    run("processes", Clients::Plain);
    const MpsServer server(std::filesystem::temp_directory_path() / fmt::format("sluice_mps_{}", getpid()));
    run("mps", Clients::Plain);
    run("mps_priorities", Clients::Priorities);
  }
}

void effisha_priorities_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "effisha_priorities.jsonl");
  Scenario scenario = read_scenario(options.scenarios / "effisha_fig9.toml");
  constexpr std::uint32_t kLaunches = 100;  // of the paper's 1,000
  for (ScenarioJob& job : scenario.jobs) job.launches = std::min(job.launches, kLaunches);
  Progress progress("effisha_priorities", scenario.waits.size());
  for (const Time wait : scenario.waits) {
    const std::string key = fmt::format("wait {} ms", wait.count() / 1'000'000'000);
    if (!store.has(key)) {
      const GpuScenario s = gpu_scenario(session, scenario, "effisha", wait);
      const auto scheduler = make_scheduler("piv", scheduler_input(session, s));
      GpuRun run = run_scheduled(session, s, *scheduler);
      run.decisions = nlohmann::json::array();  // 10,000 of them
      add(store, key, run, {{"wait_ms", static_cast<double>(wait.count()) * 1e-9}, {"violations", run.violations}}, options);
    }
    progress.done(key);
  }
}

}  // namespace sluice::gpu
