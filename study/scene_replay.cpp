// SPDX-License-Identifier: Apache-2.0
#include "study/scene_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sw/core/errors.h"
#include "sw/policy/i_policy.h"
#include "sw/scheduler/registry.h"

namespace sluice::gpu {

using nlohmann::json;

namespace {

Time time_of(double ms) { return Time(std::llround(ms * kPicosPerMs)); }
double ms_of(Time t) { return static_cast<double>(t.count()) / kPicosPerMs; }

double alone_ms(const SceneKernel& k, std::uint32_t ctas) {
  if (k.ms.empty()) throw InputError(fmt::format("kernel {}: has no time alone", k.kernel.name));
  return k.ms[std::min<std::size_t>(k.ms.size() == 1 ? 1 : ctas, k.ms.size()) - 1];
}

}  // namespace

SceneRun measured_run(const json& line) {
  SceneRun run;
  for (const json& job : line.at("jobs")) {
    const double arrived = job.at("arrived_ms"), ended = job.at("ended_ms");
    run.launches.push_back({job.at("name"), arrived, ended - arrived});
    run.end = std::max(run.end, ended);
  }
  const json decisions = line.value("decisions", json::array());
  if (!decisions.is_array()) return run;  // only their number was kept
  for (const json& d : decisions) {
    SceneRun::Decision& decision = run.decisions.emplace_back();
    const double us = d.at("at_us").get<double>() + d.at("decide_us").get<double>() + d.at("send_us").get<double>();
    decision.at = us * 1e-3;
    decision.events = d.at("events").get<std::vector<std::string>>();
    for (const json& s : d.at("shares"))
      decision.shares[s[0]] = {CtaCount(s[1].get<std::uint32_t>()), {SmId(s[2].get<std::uint32_t>()), s[3]}};
  }
  return run;
}

double range_speed(const std::vector<CorunMeasurement>& all, const std::string& own, const std::string& other, std::uint32_t sms,
                   std::uint32_t num_sms) {
  for (const CorunMeasurement& m : all) {
    if (m.first == own && m.second == other && m.rate.first_sms == sms) return m.rate.first;
    if (m.second == own && m.first == other && num_sms - m.rate.first_sms == sms) return m.rate.second;
  }
  return 0;
}

TaskTimes measured_times(const Scene& scene) {
  return [scene](JobId id, const Plan& plan) {
    const SceneKernel& k = scene.kernels[scene.jobs.at(id.value()).kernel];
    const std::uint32_t sms = scene.machine.num_sms;
    const auto own = std::ranges::find(plan.jobs, id, &JobShare::job);
    const std::uint32_t ctas = std::min(own->share.ctas, k.most).value();
    const SmRange range{own->share.sms.first, std::min(own->share.sms.count, sms - own->share.sms.first.value())};
    const double tasks = k.kernel.grid_ctas, at_once = static_cast<double>(ctas) * range.count;
    const auto last = [&](double task_ms) { return std::max(Time(1), time_of(task_ms)); };
    if (plan.jobs.size() == 2) {
      const JobShare& other = plan.jobs[plan.jobs[0].job == id ? 1 : 0];
      const std::string& beside = scene.kernels[scene.jobs.at(other.job.value()).kernel].kernel.name;
      if (range.count < sms) {
        const double speed = range_speed(scene.coruns, k.kernel.name, beside, range.count, sms);
        if (speed > 0) return last(at_once * alone_ms(k, k.most.value()) / (speed * tasks));
      }
      for (const CoRun& run : scene.rates.of(k.kernel.name, beside)) {
        if (run.ctas[0] != own->share.ctas || run.ctas[1] != other.share.ctas) continue;
        const CoRunKernel& known = scene.rates.kernels.at(k.kernel.name);
        return last(alone_ms(k, k.most.value()) * (known.ipc / run.ipc[0]) * at_once / tasks);
      }
    }
    // Whole rounds on the SMs of the share: each takes as long on a part of the SMs as on all.
    const double rounds = std::ceil(tasks / (static_cast<double>(ctas) * sms));
    return last(alone_ms(k, ctas) / rounds);
  };
}

SceneRun replay(const Scene& scene) {
  SchedulerInput input{scene.machine, {}};
  std::vector<FakeJob> jobs;
  for (const Scene::Job& job : scene.jobs) {
    const SceneKernel& k = scene.kernels.at(job.kernel);
    FakeJob& fake = jobs.emplace_back();
    fake.kernel = k.kernel;
    fake.arrival = time_of(job.arrival);
    fake.priority = job.priority;
    input.mix.push_back(k.kernel);
    const std::uint32_t fit = occupancy(k.kernel.demand(), scene.machine.sm.capacity).value();
    std::vector<double>& times = input.times[k.kernel.name];
    times.clear();
    for (std::uint32_t c = 1; c <= fit; ++c) {
      times.push_back(scene.told_ms.value_or(alone_ms(k, c)));
      fake.profile.push_back(1 / alone_ms(k, c));
    }
  }
  input.coruns = scene.coruns;
  input.predicted = scene.pairs.predicted;
  input.executed = scene.pairs.executed;
  input.min_slice = scene.min_slice;
  LoggedScheduler scheduler(make_scheduler(scene.scheduler, input));
  const FakeResult result = run_fake(scene.machine, jobs, scheduler, scene.costs, nullptr, measured_times(scene));
  SceneRun run;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const FakeOutcome& o = result.jobs[j];
    if (!o.done) throw CheckFailed(fmt::format("scheduler {}: {} does not end", scene.scheduler, scene.jobs[j].name));
    run.launches.push_back({scene.jobs[j].name, ms_of(o.arrived), ms_of(o.ended - o.arrived)});
  }
  run.end = ms_of(result.end);
  for (const LoggedDecision& d : scheduler.decisions()) {
    SceneRun::Decision& decision = run.decisions.emplace_back();
    decision.at = ms_of(d.now);
    for (const Event& e : d.events)
      decision.events.push_back(e.kind == EventKind::Timer ? "timer" : fmt::format("{} {}", to_string(e.kind), e.job.value()));
    for (const JobShare& s : d.plan.jobs) decision.shares[s.job.value()] = s.share;
  }
  return run;
}

}  // namespace sluice::gpu
