// SPDX-License-Identifier: Apache-2.0
#include "study/kernelet_schedules.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <iterator>

#include "sw/scheduler/scenario.h"

namespace sluice {

namespace {

using figures::Figure;

constexpr const char* kWorkloads[] = {"CI", "MI", "MIX", "ALL"};
/// Random schedules are of so many launches of each kernel: a thousand of them are to take two minutes.
constexpr std::uint32_t kRandomLaunches = 5;
/// PCIe 2.0 x16 moves 8 GB/s less packets and protocol: about 6 GB/s from pinned memory. The C2050 has 3 GB.
constexpr DeviceMemory kMemory{std::uint64_t{3} << 30, 6e9, true};
/// Inputs larger than the device together: figure 9.
constexpr double kLargeScale = 2.5;

class Schedules {
 public:
  Schedules(const KerneletPlan& plan, const KerneletMachine& machine) : plan_(plan), machine_(machine) {}

  [[nodiscard]] Scenario scenario(const std::string& workload) const {
    std::string file = "kernelet_" + workload;
    std::ranges::transform(file, file.begin(), [](unsigned char c) { return std::tolower(c); });
    return read_scenario(plan_.scenarios / (file + ".toml"));
  }
  [[nodiscard]] ScheduleTarget target(const Scenario& s) const {
    return target_of(s, machine_.runs.machine, machine_.runs.workload);
  }
  [[nodiscard]] ScheduleRun run(const Scenario& s, const char* scheduler) const {
    return schedule_on_fake(s, target(s), scheduler, {}, {machine_.tables, plan_.seed});
  }
  [[nodiscard]] static double seconds(const ScheduleRun& run) { return std::chrono::duration<double>(run.makespan).count(); }

  /// Seconds of one job after the other, each with the CTAs an SM with which it is fastest alone.
  [[nodiscard]] double best_alone(const Scenario& s) const {
    double all = 0;
    for (const ScenarioJob& job : s.jobs) {
      const std::vector<double>& curve = machine_.alone.at(job.kernel);
      all += std::chrono::duration<double>(job.alone.value_or(Time(0))).count() * job.launches * curve.back() /
             *std::ranges::max_element(curve);
    }
    return all;
  }

  [[nodiscard]] std::vector<figures::Makespans> case_one() const {
    std::vector<figures::Makespans> all;
    for (const char* workload : kWorkloads) {
      const Scenario s = scenario(workload);
      const ScheduleRun kernelet = run(s, "kernelet");
      const PruningCost cost = kernelet.pruning.value_or(PruningCost{});
      all.push_back({workload, seconds(run(s, "arrival")), seconds(run(s, "base")), seconds(kernelet),
                     seconds(run(s, "kernelet_opt")), best_alone(s),
                     static_cast<double>(cost.pruned) / static_cast<double>(std::max<std::uint64_t>(1, cost.pairs)),
                     cost.lost_profit / static_cast<double>(std::max<std::uint64_t>(1, cost.decisions))});
    }
    return all;
  }

  [[nodiscard]] Figure random() const {
    Scenario s = scenario("ALL");
    for (ScenarioJob& job : s.jobs) job.launches = kRandomLaunches;
    return figures::random_schedules(monte_carlo(s, target(s), machine_.tables, plan_.schedules, plan_.jobs),
                                     seconds(run(s, "kernelet")), seconds(run(s, "base")));
  }

  [[nodiscard]] std::vector<figures::CopyRun> case_two(const std::string& workload, double scale) const {
    std::vector<figures::CopyRun> all;
    Scenario s = scenario(workload);
    s.costs.memory = kMemory;
    for (ScenarioJob& job : s.jobs) {
      job.in_mib *= scale;
      job.out_mib *= scale;
      job.alone = std::chrono::duration_cast<Time>(*job.alone * scale);
    }
    for (const bool overlap : {true, false})
      for (const bool co_schedule : {true, false}) {
        s.costs.memory->overlap = overlap;
        const ScheduleRun r = run(s, co_schedule ? "kernelet" : "base");
        all.push_back({workload, scale, overlap, co_schedule, seconds(r),
                       static_cast<double>(r.copies->overlapped.count()) / static_cast<double>(r.copies->total.count())});
      }
    return all;
  }

 private:
  const KerneletPlan& plan_;
  const KerneletMachine& machine_;
};

Figure alone_figure(const KerneletMachine& m) {
  std::vector<figures::AloneRow> rows;
  for (const KernelDescriptor& k : m.runs.workload.kernels) {
    const CoRunKernel& figures = m.tables.executed.kernels.at(k.name);
    const std::vector<double>& curve = m.alone.at(k.name);
    const auto best = std::ranges::max_element(curve);
    rows.push_back({k.name, figures.ipc / m.runs.machine.sm.schedulers, figures.memory_utilisation,
                    static_cast<std::uint32_t>(curve.size()), static_cast<std::uint32_t>(best - curve.begin()) + 1,
                    *best / curve.back()});
    const std::vector<SliceOverhead>& slices = m.slices.at(k.name);
    if (!shortest_slice(slices)) continue;
    const double cycles =
        static_cast<double>(slices.back().blocks) * figures.instructions_per_block / (figures.ipc * m.runs.machine.num_sms);
    rows.back().slice = slices.back().blocks;
    rows.back().slice_overhead = slices.back().overhead;
    rows.back().slice_ms = cycles / m.runs.machine.core_mhz / 1e3;
  }
  return figures::kernels_alone(rows);
}

}  // namespace

KerneletMachine measured(KerneletRuns runs, figures::KerneletMachine names) {
  KerneletMeasurements m = measure_co_runs(runs);
  return {std::move(names), std::move(runs), std::move(m.tables), std::move(m.alone), std::move(m.slices)};
}

std::vector<Figure> kernelet_figures(const KerneletPlan& plan, const KerneletMachine& c2050, const KerneletMachine& gtx680) {
  std::vector<Figure> drawn;
  const auto add = [&](Figure figure) { drawn.push_back(std::move(figure)); };
  const Schedules schedules(plan, c2050);
  add(alone_figure(c2050));
  for (const KerneletMachine* m : {&c2050, &gtx680})
    add(figures::pair_prediction(m->names, pair_points(m->tables, m->runs.machine)));
  for (const KerneletMachine* m : {&c2050, &gtx680}) add(figures::total_times(m->names, Schedules(plan, *m).case_one()));
  add(schedules.random());
  std::vector<figures::CopyRun> copies;
  for (const char* workload : kWorkloads)
    for (const figures::CopyRun& r : schedules.case_two(workload, 1)) copies.push_back(r);
  add(figures::copy_variants(copies));
  std::vector<figures::CopyRun> scales;
  std::ranges::copy_if(copies, std::back_inserter(scales), [](const figures::CopyRun& r) { return r.workload == "MIX"; });
  for (const figures::CopyRun& r : schedules.case_two("MIX", kLargeScale)) scales.push_back(r);
  add(figures::copy_scales(scales));
  add(figures::pruning(pruning_points(c2050.tables, c2050.runs)));
  return drawn;
}

}  // namespace sluice
