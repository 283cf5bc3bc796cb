// SPDX-License-Identifier: Apache-2.0
#include "study/scene_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "study/beside_known.h"
#include "study/schedule_model.h"
#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"

namespace sluice::gpu {

using nlohmann::json;

namespace {

constexpr int kTrials = 3;  // of a grid: times grow by whole waves of CTAs

/// The scene's launches as jobs of a scenario.
Scenario scenario_of(const MeasuredScene& scene, double shorter) {
  Scenario scenario;
  scenario.file = scenario.name = scene.scene;
  for (const json& launch : scene.lines.front().at("jobs")) {
    ScenarioJob& job = scenario.jobs.emplace_back();
    job.name = launch.at("name");
    job.kernel = kernel_of(job.name);
    job.arrival = Time(std::llround(launch.at("arrived_ms").get<double>() * kPicosPerMs / shorter));
    const std::int32_t priority = launch.at("priority");
    job.asked = {priority, priority};
  }
  return scenario;
}

/// Decisions of a run in the form of an experiment's line.
json decisions_of(const std::filesystem::path& log, double shorter) {
  json all = json::array();
  std::istringstream text(read_file(log));
  for (std::string line; std::getline(text, line);) {
    const json d = json::parse(line);
    json events = json::array(), shares = json::array();
    for (const json& e : d.at("events"))
      events.push_back(
          e.at("kind") == "timer" ? "timer" : fmt::format("{} {}", e.at("kind").get<std::string>(), e.at("job").get<unsigned>()));
    const auto bounded = [](const json& v) { return v.is_null() ? UINT32_MAX : v.get<std::uint32_t>(); };
    for (const json& s : d.at("shares"))
      shares.push_back({s.at("job"), bounded(s.at("ctas")), s.at("first_sm"), bounded(s.at("sms"))});
    all.push_back({{"at_us", d.at("now_ps").get<double>() * 1e-6 * shorter},
                   {"decide_us", 0},
                   {"send_us", 0},
                   {"events", events},
                   {"shares", shares}});
  }
  return all;
}

/// Grids with which the kernels last as long alone as on the GPU.
std::map<std::string, KernelDescriptor> sized(const SceneModelPlan& plan, const std::map<std::string, double>& alone) {
  ScheduleTarget target{plan.machine, {}};
  std::vector<std::string> names;
  for (const auto& [name, ms] : alone) {
    const auto found = std::ranges::find(plan.workload.kernels, name, &KernelDescriptor::name);
    if (found == plan.workload.kernels.end())
      throw InputError(fmt::format("workload {}: has no kernel {}", plan.workload.name, name));
    target.kernels.push_back(*found);
    names.push_back(name);
  }
  scale_time(target, plan.time_scale);
  for (int trial = 0; trial < kTrials; ++trial) {
    ScheduleOnModel model({PartitionerKind::Twin, plan.seed, plan.jobs});
    const std::map<std::string, RunResult>& runs = model.measure_alone(target);
    for (KernelDescriptor& kernel : target.kernels) {
      const double ms = static_cast<double>(runs.at(kernel.name).kernels.front().finish_cycle) / (target.machine.core_mhz * 1e3);
      const double wanted = alone.at(kernel.name) / plan.shorter;
      kernel.grid_ctas = static_cast<std::uint32_t>(std::max(1.0, std::round(kernel.grid_ctas * wanted / ms)));
    }
  }
  std::map<std::string, KernelDescriptor> all;
  for (std::size_t k = 0; k < names.size(); ++k) all[names[k]] = target.kernels[k];
  return all;
}

}  // namespace

void replay_on_model(const SceneModelPlan& plan) {
  MeasuredFolder measured = measured_folder(plan.folder);
  const auto left_out = [&](const std::string& kernel) {
    return !plan.kernels.empty() && std::ranges::find(plan.kernels, kernel) == plan.kernels.end();
  };
  std::erase_if(measured.alone, [&](const auto& kernel) { return left_out(kernel.first); });
  std::erase_if(measured.scenes, [&](const MeasuredScene& scene) {
    return std::ranges::any_of(scene.lines.front().at("jobs"),
                               [&](const json& job) { return left_out(kernel_of(job.at("name"))); });
  });
  if (measured.scenes.empty())
    throw InputError(fmt::format("{}: no scenes that a model can replay: effisha_schedules, sim_pairs or slate_pairs.jsonl",
                                 plan.folder.string()));
  const std::map<std::string, KernelDescriptor> kernels = sized(plan, measured.alone);
  ScheduleTarget machine{plan.machine, {}};
  scale_time(machine, plan.time_scale);
  const std::filesystem::path logs = plan.folder / "model_decisions";  // while the simulations run
  make_folder(logs);
  std::vector<ScheduleCase> cases;
  for (const MeasuredScene& scene : measured.scenes) {
    ScheduleCase& c = cases.emplace_back();
    c.name = fmt::format("{}-{}", scene.scene, scene.scheduler);
    c.scenario = scenario_of(scene, plan.shorter);
    c.target.machine = machine.machine;
    for (const ScenarioJob& job : c.scenario.jobs) c.target.kernels.push_back(kernels.at(job.kernel));
    c.scheduler = scene.scheduler;
    c.decisions = logs / (c.name + ".jsonl");
    write_file_atomically(c.decisions, "");
  }
  ScheduleOnModel model({PartitionerKind::Twin, plan.seed, plan.jobs});
  const std::vector<ScheduleRun> runs = model.run(cases);
  std::string text;
  const auto ms = [&](Time t) { return static_cast<double>(t.count()) / kPicosPerMs * plan.shorter; };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const MeasuredScene& scene = measured.scenes[i];
    json jobs = json::array();
    for (const LaunchOutcome& launch : runs[i].jobs)
      jobs.push_back({{"name", launch.name},
                      {"priority", launch.priority},
                      {"arrived_ms", ms(launch.arrival)},
                      {"began_ms", ms(launch.began)},
                      {"ended_ms", ms(launch.arrival + launch.turnaround)},
                      {"alone_ms", ms(launch.alone)},
                      {"evictions", launch.evictions}});
    text += json({{"key", fmt::format("{}/{}", scene.scene, scene.scheduler)},
                  {"scene", scene.scene},
                  {"system", scene.scheduler},
                  {"machine", plan.machine.name},
                  {"workload", plan.workload.name},
                  {"time_scale", plan.time_scale},
                  {"shorter", plan.shorter},
                  {"seed", plan.seed},
                  {"jobs", jobs},
                  {"decisions", decisions_of(cases[i].decisions, plan.shorter)}})
                .dump() +
            "\n";
  }
  write_file_atomically(plan.folder / "model.jsonl", text);
  std::filesystem::remove_all(logs);
}

}  // namespace sluice::gpu
