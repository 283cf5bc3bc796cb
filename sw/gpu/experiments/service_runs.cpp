// SPDX-License-Identifier: Apache-2.0
// The papers' scenes through the sharing service: each job is a process of its own that knows nothing of Sluice, under `sluice
// serve --mps`. The same processes under MPS alone, and natively one at a time, beside them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

std::filesystem::path scratch(const char* what) {
  return std::filesystem::temp_directory_path() / fmt::format("sluice_{}_{}", what, getpid());
}

std::set<std::string> names_of(const GpuScenario& s) {
  std::set<std::string> names;
  for (const ScenarioJob& job : s.scenario.jobs) names.insert(job.name);
  return names;
}

/// @param prints  by job
bool identical(ScenarioProcesses& processes, const GpuScenario& s, const std::vector<std::vector<std::uint64_t>>& prints) {
  const auto theirs = processes.fingerprints();  // by launch
  bool same = theirs.size() == s.all.size();
  for (std::size_t k = 0; same && k < theirs.size(); ++k) same = theirs[k] == prints[s.all[k].job];
  return same;
}

nlohmann::json told(const ScenarioProcesses::Launches& l) {
  return {{"under_quota", l.quota}, {"native", l.native}, {"violations", l.violations}, {"evictions", l.evictions}};
}

}  // namespace

void effisha_service_experiment(GpuSession& session, const ExperimentOptions& options) {
  constexpr const char* kSettings[] = {"group", "sjf", "random"};
  constexpr const char* kSchedulers[] = {"rr", "piv", "dprr"};
  RawStore store(options.out / "effisha_service.jsonl");
  Progress progress("effisha_service", std::size(kSettings) * std::size(kSchedulers));
  for (const char* scheduler : kSchedulers) {
    SharingService service(options.program, scheduler, scratch("service"));
    for (const char* setting : kSettings) {
      const std::string name = fmt::format("{}/{}_service", setting, scheduler);
      if (!store.has(name + "/end")) {
        const GpuScenario s =
            gpu_scenario(session, read_scenario(options.scenarios / fmt::format("effisha_{}.toml", setting)), "effisha");
        const auto prints = native_fingerprints(s);
        ScenarioProcesses processes(options.program, s, Clients::Service, &service);
        static_cast<void>(processes.run(s));  // code is loaded, transformed, and known to the service
        static_cast<void>(service.log());
        processes.poison();
        for (unsigned r = 0; r < options.repetitions; ++r) {
          const GpuRun run = processes.run(s);
          const SharingService::Log log = service.log();
          store.add(fmt::format("{}/{}", name, r), {{"setting", setting},
                                                    {"system", fmt::format("{}_service", scheduler)},
                                                    {"repetition", r},
                                                    {"jobs", run.jobs},
                                                    {"service_decide_us", log.decide_us},
                                                    {"service_evict_us", log.evict_us},
                                                    {"on", options.on}});
        }
        const bool same = identical(processes, s, prints);
        store.add(name + "/end",
                  {{"ended", name}, {"bit_identical", same}, {"launches", told(processes.end())}, {"on", options.on}});
      }
      progress.done(name);
    }
  }
}

void effisha_service_latency_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "effisha_service_latency.jsonl");
  Progress progress("effisha_service_latency", paper_kernels("effisha").size());
  constexpr double kSeconds = 2;
  SharingService service(options.program, "rr", scratch("service"));
  for (const PaperKernel& k : paper_kernels("effisha")) {
    if (!options.apps.empty() && std::ranges::count(options.apps, k.app) == 0) continue;
    if (!store.has(k.app)) {
      GpuScenario s = gpu_scenario(session, scene_of(k.name, {{k.name + ".1", k.name}, {k.name + ".2", k.name}}), "effisha");
      const auto prints = native_fingerprints(s);
      ScenarioProcesses processes(options.program, s, Clients::Service, &service);
      static_cast<void>(processes.run(s));
      static_cast<void>(service.log());
      const auto launches = static_cast<unsigned>(kSeconds * 1e3 / *k.milliseconds) / 2 + 1;
      processes.poison();
      const std::vector<double> ms = processes.repeat(names_of(s), launches);
      const SharingService::Log log = service.log();
      const bool same = identical(processes, s, prints);
      store.add(k.app, {{"app", k.app},
                        {"launches", launches},
                        {"ms", ms},
                        {"grids_us", log.evict_us},
                        {"decide_us", log.decide_us},
                        {"bit_identical", same},
                        {"counts", told(processes.end())},
                        {"on", options.on}});
    }
    progress.done(k.app);
  }
}

void five_service_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "five_service.jsonl");
  const std::vector<std::vector<std::string>> pairs = choose(table2_names(), 2);
  constexpr const char* kSchedulers[] = {"even", "adaptive", "piv"};
  Progress progress("five_service", pairs.size() * (1 + std::size(kSchedulers)));
  const GpuScenario all = gpu_scenario(session, scene_of("table2", table2_names()), "table2");
  const auto prints = native_fingerprints(all);
  const auto run = [&](const std::string& system, ScenarioProcesses& processes) {
    for (const std::vector<std::string>& pair : pairs) {
      const std::set<std::string> jobs = {pair.begin(), pair.end()};
      if (!store.has(fmt::format("{}/{}/0", mix_name(pair), system)))
        static_cast<void>(processes.run(all, jobs));  // `adaptive` sees both
      for (unsigned r = 0; r < options.repetitions; ++r) {
        const std::string key = fmt::format("{}/{}/{}", mix_name(pair), system, r);
        if (store.has(key)) continue;
        store.add(key, {{"scenario", mix_name(pair)},
                        {"system", system},
                        {"repetition", r},
                        {"jobs", processes.run(all, jobs).jobs},
                        {"on", options.on}});
      }
      progress.done(mix_name(pair) + " " + system);
    }
  };
  const auto alone = [&](const std::string& system, ScenarioProcesses& processes) {
    for (const std::string& job : table2_names())
      for (unsigned r = 0; r < options.repetitions; ++r) {
        const std::string key = fmt::format("{}/{}/{}", job, system, r);
        if (!store.has(key))
          store.add(
              key,
              {{"alone", job}, {"system", system}, {"repetition", r}, {"ms", processes.repeat({job}, 5)}, {"on", options.on}});
      }
  };
  const auto service = [&](const char* scheduler) {
    SharingService daemon(options.program, scheduler, scratch("service"));
    ScenarioProcesses processes(options.program, all, Clients::Service, &daemon);
    static_cast<void>(processes.run(all));
    processes.poison();
    alone(fmt::format("{}_service", scheduler), processes);
    run(fmt::format("{}_service", scheduler), processes);
    const std::string key = fmt::format("end/{}_service", scheduler);
    const bool same = identical(processes, all, prints);
    if (!store.has(key))
      store.add(key, {{"ended", key}, {"bit_identical", same}, {"launches", told(processes.end())}, {"on", options.on}});
  };
  {
    const MpsServer server(scratch("mps"));
    ScenarioProcesses processes(options.program, all, Clients::Plain);
    static_cast<void>(processes.run(all));
    alone("mps", processes);
    run("mps", processes);
  }
  for (const char* scheduler : kSchedulers) service(scheduler);
}

void slate_service_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "slate_service.jsonl");
  constexpr unsigned kLaunches = 100;
  std::vector<std::string> kernels;
  for (const PaperKernel& k : paper_kernels("slate")) kernels.push_back(k.name);
  Progress progress("slate_service", 2 * kernels.size());
  const GpuScenario all = gpu_scenario(session, scene_of("slate", kernels), "slate");
  const auto run = [&](const std::string& system, ScenarioProcesses& processes) {
    static_cast<void>(processes.run(all));
    for (const std::string& k : kernels) {
      for (unsigned r = 0; r < options.repetitions; ++r) {
        const std::string key = fmt::format("{}/{}/{}", k, system, r);
        if (!store.has(key))
          store.add(key, {{"kernel", k},
                          {"system", system},
                          {"repetition", r},
                          {"launches", kLaunches},
                          {"ms", processes.repeat({k}, kLaunches)[0]},
                          {"on", options.on}});
      }
      progress.done(fmt::format("{} {}", k, system));
    }
  };
  {
    const MpsServer server(scratch("mps"));
    ScenarioProcesses processes(options.program, all, Clients::Plain);
    run("mps", processes);
  }
  SharingService daemon(options.program, "even", scratch("service"));
  ScenarioProcesses processes(options.program, all, Clients::Service, &daemon);
  run("service", processes);
  if (!store.has("end")) store.add("end", {{"ended", "service"}, {"launches", told(processes.end())}, {"on", options.on}});
}

}  // namespace sluice::gpu
