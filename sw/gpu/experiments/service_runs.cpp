// SPDX-License-Identifier: Apache-2.0
// The papers' scenes through the sharing service: each job is a process of its own that knows nothing of Sluice, under `sluice
// serve --mps`. The same processes under MPS alone beside them.
#include <fmt/format.h>

#include <algorithm>

#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/policy/names.h"

namespace sluice::gpu {

namespace {

constexpr const char* kSettings[] = {"group", "sjf", "random"};

GpuScenario effisha(GpuSession& session, const ExperimentOptions& options, const std::string& setting) {
  return gpu_scenario(session, read_scenario(options.scenarios / fmt::format("effisha_{}.toml", setting)), "effisha");
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

/// Each mix at once, one launch of 15 ms each, until all are done: beside each other under MPS alone, and under each scheduler.
void at_once(GpuSession& session, const ExperimentOptions& options, const std::string& file,
             const std::vector<std::vector<std::string>>& mixes, const std::vector<const char*>& schedulers) {
  SceneLines lines(options, file, mixes.size() * (1 + schedulers.size()));
  const GpuScenario all = gpu_scenario(session, scene_of("table2", table2_names()), "table2");
  const auto prints = native_fingerprints(all);
  const auto run = [&](const std::string& system, ScenarioProcesses& processes) {
    for (const std::string& job : table2_names())
      for (unsigned r = 0; r < options.repetitions; ++r)
        if (const std::string key = fmt::format("{}/{}/{}", job, system, r); !lines.has(key))
          lines.add(key, {{"alone", job}, {"system", system}, {"repetition", r}, {"ms", processes.repeat({job}, 5)}});
    for (const std::vector<std::string>& mix : mixes) {
      const std::set<std::string> jobs = {mix.begin(), mix.end()};
      if (!lines.has(fmt::format("{}/{}/0", mix_name(mix), system)))
        static_cast<void>(processes.run(all, jobs));  // `adaptive` sees all of them
      lines.repeat(mix_name(mix), system, [&] { return processes.run(all, jobs); });
    }
  };
  {
    const MpsServer server;
    ScenarioProcesses processes(options.program, all);
    run("mps", processes);
  }
  for (const std::string scheduler : schedulers) {
    const std::string system = scheduler + "_service", key = "end/" + system;
    const SharingService daemon(options.program, scheduler);
    ScenarioProcesses processes(options.program, all, &daemon);
    processes.poison();
    run(system, processes);
    const bool same = identical(processes, all, prints);
    if (!lines.has(key)) lines.add(key, {{"ended", key}, {"bit_identical", same}, {"launches", told(processes.end())}});
  }
}

}  // namespace

void effisha_service_experiment(GpuSession& session, const ExperimentOptions& options) {
  constexpr const char* kSchedulers[] = {"rr", "piv", "dprr"};
  SceneLines lines(options, "effisha_service", std::size(kSettings) * std::size(kSchedulers), "setting");
  for (const std::string scheduler : kSchedulers) {
    SharingService service(options.program, scheduler);
    for (const char* setting : kSettings) {
      const std::string system = scheduler + "_service", name = fmt::format("{}/{}", setting, system);
      lines.step(name + "/end", [&] {
        const GpuScenario s = effisha(session, options, setting);
        const auto prints = native_fingerprints(s);
        ScenarioProcesses processes(options.program, s, &service);  // known to the service, and transformed
        static_cast<void>(service.log());
        processes.poison();
        for (unsigned r = 0; r < options.repetitions; ++r)
          lines.once(setting, system, r, [&] {
            GpuRun run = processes.run(s);
            const SharingService::Log log = service.log();
            run.more = {{"service_decide_us", log.decide_us}, {"service_evict_us", log.evict_us}};
            return run;
          });
        const bool same = identical(processes, s, prints);
        return nlohmann::json{{"ended", name}, {"bit_identical", same}, {"launches", told(processes.end())}};
      });
    }
  }
}

void effisha_service_latency_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawLines lines(options, "effisha_service_latency", paper_kernels("effisha").size());
  constexpr double kSeconds = 2;
  SharingService service(options.program, "rr");
  for (const PaperKernel& k : paper_kernels("effisha")) {
    if (!options.apps.empty() && std::ranges::count(options.apps, k.app) == 0) continue;
    lines.step(k.app, [&] {
      const GpuScenario s =
          gpu_scenario(session, scene_of(k.name, {{k.name + ".1", k.name}, {k.name + ".2", k.name}}), "effisha");
      const auto prints = native_fingerprints(s);
      ScenarioProcesses processes(options.program, s, &service);
      static_cast<void>(service.log());
      const auto launches = static_cast<unsigned>(kSeconds * 1e3 / *k.milliseconds) / 2 + 1;
      processes.poison();
      const std::vector<double> ms = processes.repeat({}, launches);
      const SharingService::Log log = service.log();
      const bool same = identical(processes, s, prints);
      return nlohmann::json{{"app", k.app},
                            {"launches", launches},
                            {"ms", ms},
                            {"grids_us", log.evict_us},
                            {"decide_us", log.decide_us},
                            {"bit_identical", same},
                            {"counts", told(processes.end())}};
    });
  }
}

void five_service_experiment(GpuSession& session, const ExperimentOptions& options) {
  at_once(session, options, "five_service", choose(table2_names(), 2), {"even", "adaptive", "piv"});
}

void equal_work_experiment(GpuSession& session, const ExperimentOptions& options) {
  const std::vector<std::string>& names = options.apps.empty() ? table2_names() : options.apps;
  for (const std::size_t size : {2, 3})
    at_once(session, options, fmt::format("equal_work_{}", size), choose(names, size), {"even", "adaptive"});
}

/// Launches end to end, long enough for `balance` to hear of each of its turns; then again, when it knows the pair.
void balance_service_experiment(GpuSession& session, const ExperimentOptions& options) {
  constexpr const char* kPairs[][2] = {{"BLK", "BFS"}, {"DXT", "KNN"}, {"HOT", "NN"}, {"IMG", "MVP"}, {"MM", "LBM"}};
  constexpr unsigned kAlone = 40, kAgain = 80;  // launches of some 15 ms
  RawLines lines(options, "balance_service", 2 * std::size(kPairs));
  const GpuScenario all = gpu_scenario(session, scene_of("table2", table2_names()), "table2");
  const auto prints = native_fingerprints(all);
  for (const char* scheduler : {kEven, kBalance}) {
    SharingService daemon(options.program, scheduler);
    ScenarioProcesses processes(options.program, all, &daemon);
    processes.poison();
    static_cast<void>(daemon.log());
    const unsigned first = scheduler == std::string(kBalance) ? 300 : 20;
    for (const auto& [a, b] : kPairs)
      for (unsigned r = 0; r < options.repetitions; ++r)
        lines.step(fmt::format("{}_{}/{}/{}", a, b, scheduler, r), [&] {
          nlohmann::json line = {{"kernels", {a, b}}, {"scheduler", scheduler}, {"repetition", r}, {"launches", {first, kAgain}}};
          for (const std::string job : {a, b}) line["alone_ms"].push_back(processes.repeat({job}, kAlone).front() / kAlone);
          line["first_ms"] = processes.repeat({a, b}, first);
          line["again_ms"] = processes.repeat({a, b}, kAgain);
          line["reasons"] = daemon.log().reasons;
          return line;
        });
    const bool same = identical(processes, all, prints);
    const std::string key = fmt::format("end/{}", scheduler);
    if (!lines.has(key)) lines.add(key, {{"ended", key}, {"bit_identical", same}, {"launches", told(processes.end())}});
  }
}

/// Table II's kernels, one every third of their time alone, under the service and MPS. `balance` has seen each beside the next.
void arrivals_service_experiment(GpuSession& session, const ExperimentOptions& options) {
  constexpr const char* kSchedulers[] = {"arrival", kEven, "adaptive", kBalance};
  constexpr unsigned kSeen = 300;  // launches of some 15 ms, as balance_service
  const std::vector<std::string> names = table2_names();
  Scenario comes = scene_of("arrivals", names);
  for (std::size_t k = 0; k < names.size(); ++k) comes.jobs[k].arrival = std::chrono::milliseconds(5 * k);
  const GpuScenario all = gpu_scenario(session, comes, "table2");
  const auto prints = native_fingerprints(all);
  SceneLines lines(options, "arrivals_service", 1 + std::size(kSchedulers));
  const auto run = [&](const std::string& system, ScenarioProcesses& processes) {
    for (const std::string& job : names)
      if (const std::string key = fmt::format("{}/{}", job, system); !lines.has(key))
        lines.add(key, {{"alone", job}, {"system", system}, {"ms", processes.repeat({job}, 5).front() / 5}});
    lines.repeat(comes.name, system, [&] { return processes.run(all); });
  };
  {
    const MpsServer server;
    ScenarioProcesses processes(options.program, all);
    run("mps", processes);
  }
  for (const std::string scheduler : kSchedulers) {
    const SharingService daemon(options.program, scheduler);
    ScenarioProcesses processes(options.program, all, &daemon);
    processes.poison();
    for (std::size_t k = 1; scheduler == kBalance && k < names.size(); ++k)
      static_cast<void>(processes.repeat({names[k - 1], names[k]}, kSeen));
    run(scheduler + "_service", processes);
    const std::string key = "end/" + scheduler;
    const bool same = identical(processes, all, prints);
    if (!lines.has(key)) lines.add(key, {{"ended", key}, {"bit_identical", same}, {"launches", told(processes.end())}});
  }
}

}  // namespace sluice::gpu
