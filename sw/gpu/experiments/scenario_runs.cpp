// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/experiments/scenario_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"

namespace sluice::gpu {

namespace {

constexpr Time kLimit{60'000'000'000'000};  // a minute
double ms(Time t) { return static_cast<double>(t.count()) * 1e-9; }
double us(Time t) { return static_cast<double>(t.count()) * 1e-6; }

nlohmann::json described(const GpuScenario& s, std::size_t launch) {
  return {{"name", s.scenario.jobs[s.all[launch].job].name}, {"priority", s.all[launch].priority}};
}

nlohmann::json described(const LoopDecision& d) {
  nlohmann::json events = nlohmann::json::array(), shares = nlohmann::json::array();
  for (const Event& e : d.events)
    events.push_back(e.kind == EventKind::Timer ? "timer" : fmt::format("{} {}", to_string(e.kind), e.job.value()));
  for (const JobShare& share : d.plan.jobs) {
    shares.push_back({share.job.value(), share.share.ctas.value(), share.share.sms.first.value(), share.share.sms.count});
    if (share.task_limit != kNoTaskLimit) shares.back().push_back(share.task_limit);
  }
  return {{"at_us", us(d.at)},
          {"decide_us", us(d.decided - d.at)},
          {"send_us", us(d.sent - d.decided)},
          {"events", events},
          {"shares", shares}};
}

}  // namespace

GpuScenario gpu_scenario(GpuSession& session, const Scenario& scenario, const std::string& paper, std::optional<Time> wait,
                         std::uint32_t times) {
  GpuScenario s{scenario, launches(scenario, wait.value_or(Time(0))), {}, {}, {}, {}};
  for (const ScenarioJob& job : scenario.jobs) {
    const auto& known = paper_kernels(paper);
    const auto found = std::ranges::find(known, job.kernel, &PaperKernel::name);
    if (found == known.end())
      throw InputError(fmt::format("{}: job {}: kernel {} is none of {}", scenario.file, job.name, job.kernel, paper));
    s.apps.push_back(found->app);
    s.sizes.push_back(measured_size(found->app, job.alone ? ms(*job.alone) : found->milliseconds.value_or(kEqualLength)));
    s.sizes.back().passes *= times;
    s.kernels.push_back(&session.app(s.apps.back(), s.sizes.back()));
    if (s.kernels.back()->refusal())
      throw InputError(fmt::format("{}: no quota possible: {}", job.name, *s.kernels.back()->refusal()));
  }
  return s;
}

Scenario scene_of(const std::string& name, const std::vector<std::pair<std::string, std::string>>& jobs) {
  Scenario scene;
  scene.file = scene.name = name;
  for (const auto& [job, kernel] : jobs) {
    ScenarioJob& added = scene.jobs.emplace_back();
    added.name = job;
    added.kernel = kernel;
  }
  return scene;
}
Scenario scene_of(const std::string& name, const std::vector<std::string>& kernels) {
  std::vector<std::pair<std::string, std::string>> jobs;
  for (const std::string& k : kernels) jobs.emplace_back(k, k);
  return scene_of(name, jobs);
}

std::vector<std::vector<std::uint64_t>> native_fingerprints(const GpuScenario& scenario) {
  std::vector<std::vector<std::uint64_t>> prints;
  const StreamHandle stream = make_stream();
  for (const PreparedKernel* kernel : scenario.kernels) {
    kernel->reset_buffers();
    static_cast<void>(native_seconds(*kernel, stream.get()));
    prints.push_back(kernel->fingerprints());
  }
  return prints;
}

SchedulerInput scheduler_input(const GpuSession& session, const GpuScenario& scenario) {
  SchedulerInput input{session.machine(), {}};
  for (const ScenarioLaunch& launch : scenario.all) {
    input.mix.push_back(descriptor(*scenario.kernels[launch.job]));
    input.mix.back().name = scenario.scenario.jobs[launch.job].kernel;
  }
  return input;
}

GpuRun run_scheduled(GpuSession& session, const GpuScenario& scenario, const std::string& scheduler,
                     const SchedulerInput& known) {
  const auto decides = make_scheduler(scheduler, known);
  GpuQuotaJobs gpu(scenario.kernels);
  const SchedulerInput input = scheduler_input(session, scenario);
  std::vector<LoopJob> jobs;
  for (std::size_t k = 0; k < scenario.all.size(); ++k) {
    const ScenarioLaunch& launch = scenario.all[k];
    const PreparedKernel& kernel = *scenario.kernels[launch.job];
    jobs.push_back({static_cast<std::uint32_t>(launch.job), input.mix[k], CtaCount(full_quota(kernel)), launch.priority,
                    launch.arrival, launch.after, scenario.profiles.empty() ? Profile{} : scenario.profiles[launch.job]});
  }
  const LoopResult result = run_event_loop(input.machine, jobs, *decides, gpu, kLimit);
  GpuRun run;
  run.violations = gpu.violations();
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    const LoopOutcome& o = result.jobs[k];
    run.jobs.push_back(described(scenario, k));
    run.jobs.back().update(
        {{"arrived_ms", ms(o.arrived)}, {"began_ms", ms(o.began)}, {"ended_ms", ms(o.ended)}, {"evictions", o.evictions}});
  }
  for (const LoopDecision& d : result.decisions) run.decisions.push_back(described(d));
  return run;
}

GpuRun run_streams(const GpuScenario& scenario, Streams kind) {
  std::optional<GreenStreams> halves;
  if (kind == Streams::Halves) halves.emplace(scenario.kernels.front()->context(), 2);
  std::set<std::int32_t> levels;
  for (const ScenarioLaunch& launch : scenario.all) levels.insert(launch.priority);
  std::vector<StreamHandle> streams;
  for (const ScenarioLaunch& launch : scenario.all) {
    const auto above = static_cast<unsigned>(std::distance(levels.begin(), levels.find(launch.priority)));
    streams.push_back(kind == Streams::Priorities ? make_stream_of_rank(above, static_cast<unsigned>(levels.size()))
                                                  : make_stream());
  }
  struct Flight {
    std::size_t launch;
    EventHandle done;
  };
  std::multimap<double, std::size_t> due;
  std::map<std::size_t, std::vector<std::size_t>> followers;
  for (std::size_t k = 0; k < scenario.all.size(); ++k) {
    if (scenario.all[k].after)
      followers[*scenario.all[k].after].push_back(k);
    else
      due.emplace(ms(scenario.all[k].arrival), k);
  }
  GpuRun run;
  for (std::size_t k = 0; k < scenario.all.size(); ++k) run.jobs.push_back(described(scenario, k));
  check(driver().cuCtxSynchronize(), "before a scenario");
  const Clock::time_point start = Clock::now();
  const auto now = [&] { return seconds(Clock::now() - start) * 1e3; };
  std::vector<Flight> flights;
  while (!due.empty() || !flights.empty()) {
    while (!due.empty() && due.begin()->first <= now()) {
      const auto [at, k] = *due.begin();
      due.erase(due.begin());
      const CUstream stream = halves ? halves->stream(k % halves->sms().size()) : streams[kind == Streams::One ? 0 : k].get();
      scenario.kernels[scenario.all[k].job]->launch_native(stream);
      flights.push_back({k, make_event()});
      check(driver().cuEventRecord(flights.back().done.get(), stream), "recording an event");
      run.jobs[k]["arrived_ms"] = at;
    }
    for (auto flight = flights.begin(); flight != flights.end();) {
      const CUresult result = driver().cuEventQuery(flight->done.get());
      if (result == CUDA_ERROR_NOT_READY) {
        ++flight;
        continue;
      }
      check(result, "a launch of a scenario");
      const double ended = now();
      run.jobs[flight->launch]["ended_ms"] = ended;
      for (const std::size_t f : followers[flight->launch]) due.emplace(ended + ms(scenario.all[f].arrival), f);
      flight = flights.erase(flight);
    }
  }
  return run;
}

void SceneLines::once(const std::string& scene, const std::string& system, unsigned repetition, const Run& run) {
  const std::string key = fmt::format("{}/{}/{}", scene, system, repetition);
  if (has(key)) return;
  GpuRun done = run();
  nlohmann::json line = std::move(done.more);
  line.update({{field_, scene}, {"system", system}, {"repetition", repetition}, {"jobs", done.jobs}});
  if (!done.decisions.empty()) line.update({{"decisions", done.decisions}, {"violations", done.violations}});
  add(key, std::move(line));
}

void SceneLines::repeat(const std::string& scene, const std::string& system, const Run& run) {
  for (unsigned r = 0; r < options().repetitions; ++r) once(scene, system, r, run);
  done(scene + " " + system);
}

void run_natively(GpuSession& session, SceneLines& lines, const std::vector<Scenario>& scenes, const std::string& paper,
                  const std::vector<std::string>& systems, std::uint32_t times) {
  std::optional<MpsServer> server;
  for (const std::string& system : systems) {
    if (system.starts_with("mps") && !server) server.emplace();
    for (const Scenario& scene : scenes) {
      const GpuScenario s = gpu_scenario(session, scene, paper, {}, times);
      std::optional<ScenarioProcesses> processes;
      lines.repeat(scene.name, system, [&] {
        if (system == "green_halves") return run_streams(s, Streams::Halves);
        if (!processes) processes.emplace(lines.options().program, s, system);
        return processes->run(s);
      });
    }
  }
}

}  // namespace sluice::gpu
