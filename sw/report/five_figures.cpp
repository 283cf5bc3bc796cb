// SPDX-License-Identifier: Apache-2.0
#include "sw/report/paper_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/core/metrics.h"

namespace sluice::figures {

namespace {

/// Means over a scheduler's scenes.
struct Means {
  double stp = 0, antt = 0, worst_ntt = 0, makespan = 0, stalled = 0, empty = 0;
};

Means means_of(const SchedulerScenes& of, const SchedulerScenes& baseline) {
  Means m;
  std::vector<double> makespans;
  const auto n = static_cast<double>(of.scenes.size());
  for (const auto& [name, scene] : of.scenes) {
    m.stp += scene.stp / n;
    m.antt += scene.antt / n;
    m.worst_ntt = std::max(m.worst_ntt, scene.worst_ntt);
    m.stalled += scene.stalled / n;
    m.empty += scene.empty / n;
    const auto base = std::ranges::find(baseline.scenes, name, &std::pair<std::string, SceneFigures>::first);
    makespans.push_back(static_cast<double>(scene.makespan.count()) / static_cast<double>(base->second.makespan.count()));
  }
  m.makespan = geometric_mean(makespans);
  return m;
}

nlohmann::ordered_json to_json(const SchedulerScenes& of) {
  nlohmann::ordered_json scenes;
  for (const auto& [name, scene] : of.scenes)
    scenes[name] = {{"stp", scene.stp},
                    {"antt", scene.antt},
                    {"worst_ntt", scene.worst_ntt},
                    {"makespan_ms", std::chrono::duration<double, std::milli>(scene.makespan).count()},
                    {"stalled", scene.stalled},
                    {"empty", scene.empty},
                    {"evictions", scene.evictions}};
  return scenes;
}

}  // namespace

SceneFigures scene_figures(const ScheduleRun& run) {
  const auto share = [&](std::uint64_t cycles) { return static_cast<double>(cycles) / static_cast<double>(run.sm_cycles); };
  const StallCycles& s = run.stalls;
  SceneFigures out{run.stp(),
                   run.antt(),
                   0,
                   run.makespan,
                   share(s.long_memory + s.execution_resource + s.raw + s.instruction_buffer + s.barrier),
                   share(s.idle),
                   run.evictions()};
  for (const LaunchOutcome& job : run.jobs) out.worst_ntt = std::max(out.worst_ntt, job.ntt());
  return out;
}

std::vector<SchedulerScenes> read_schedulers(const nlohmann::ordered_json& data) {
  constexpr double kPicoseconds = 1e9;  // a millisecond
  std::vector<SchedulerScenes> all;
  for (const auto& [scheduler, of] : data.items()) {
    SchedulerScenes& scenes = all.emplace_back(SchedulerScenes{scheduler, of.at("system"), {}});
    for (const auto& [name, s] : of.at("scenes").items())
      scenes.scenes.emplace_back(name, SceneFigures{s.at("stp"), s.at("antt"), s.at("worst_ntt"),
                                                    Time(std::llround(s.at("makespan_ms").get<double>() * kPicoseconds)),
                                                    s.at("stalled"), s.at("empty"), s.at("evictions")});
  }
  return all;
}

Figure schedulers_compared(std::string id, std::string title, const std::vector<SchedulerScenes>& all,
                           const std::string& baseline) {
  const SchedulerScenes& base = *std::ranges::find(all, baseline, &SchedulerScenes::scheduler);
  Figure figure{std::move(id), std::move(title), "No paper compares these systems on the same work.", {}, {}, {}};
  const SchedulerScenes *most = nullptr, *least = nullptr;
  double stp = 0, antt = 0;
  for (const SchedulerScenes& of : all) {
    const Means m = means_of(of, base);
    if (most == nullptr || m.stp > stp) most = &of, stp = m.stp;
    if (least == nullptr || m.antt < antt) least = &of, antt = m.antt;
    figure.data[of.scheduler] = {{"system", of.system},    {"stp", m.stp},         {"antt", m.antt},   {"worst_ntt", m.worst_ntt},
                                 {"makespan", m.makespan}, {"stalled", m.stalled}, {"empty", m.empty}, {"scenes", to_json(of)}};
  }
  figure.measured = fmt::format("Highest STP: {} {:.3f}; lowest ANTT: {} {:.2f}.", most->scheduler, stp, least->scheduler, antt);
  return figure;
}

}  // namespace sluice::figures
