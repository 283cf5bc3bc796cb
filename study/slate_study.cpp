// SPDX-License-Identifier: Apache-2.0
#include "study/paper_studies.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "study/run_cache.h"
#include "study/schedule_model.h"
#include "study/slate_profiles.h"
#include "sw/core/errors.h"
#include "sw/scheduler/arrival.h"
#include "sw/workload/task_source.h"
#include "sw/workload/workload_file.h"

namespace sluice {

namespace {

using figures::SlateAlone;

constexpr const char* kApps[] = {"BS", "GS", "MM", "RG", "TR"};
constexpr const char* kStream = "STREAM";
constexpr std::uint32_t kMeasuredSetUp = 380;  // cycles, of an H200 and an H100: configs/machines/h200_sm90.toml
constexpr std::uint32_t kTaskSizes[] = {1, 2, 5, 10, 20, 50};

class Study {
 public:
  explicit Study(const SlateStudyPlan& plan)
      : plan_(plan), model_({plan.partitioner, plan.seed, plan.jobs, {}, plan.store, plan.machine_text}) {
    for (const char* name : kApps) apps_.push_back(kernel(name));
  }

  [[nodiscard]] SlateAlone alone(const KernelDescriptor& kernel, const KernelCounters& c) const {
    const auto cycles = static_cast<double>(c.finish_cycle);
    const double hertz = plan_.machine.core_mhz * 1e6;
    SlateAlone out;
    out.name = kernel.name;
    if (const std::optional<double> flops = flops_per_cycle(kernel, c, cycles)) out.gflops = *flops * hertz / 1e9;
    out.gigabytes = global_bytes_per_cycle(kernel, c, cycles) * hertz / 1e9;
    out.warp_instructions = static_cast<double>(c.warp_instructions);
    out.ipc = out.warp_instructions / cycles / plan_.machine.num_sms;
    out.milliseconds = cycles / hertz * 1e3;
    out.intensity = measured_intensity(kernel, c, cycles, plan_.machine);
    return out;
  }

  std::vector<SlateAlone> alone() {
    std::vector<SlateAlone> all;
    for (const auto& k : apps_) all.push_back(alone(k, model_.measure_alone({plan_.machine, apps_}).at(k.name).kernels.front()));
    return all;
  }

  std::vector<figures::SlateSmCurve> curves() {
    constexpr std::uint32_t kStep = 5;         // the applications; STREAM has every count
    constexpr std::uint64_t kWindow = 100000;  // what is under way at its end is a hundredth
    std::vector<HeldShares> runs;
    std::vector<KernelDescriptor> kernels = apps_;
    kernels.insert(kernels.begin(), kernel(kStream));
    for (const KernelDescriptor& k : kernels)
      for (std::uint32_t sms = 1; sms <= plan_.machine.num_sms; ++sms)
        if (k.name == kStream || sms % kStep == 0)
          runs.push_back({fmt::format("sms-{}-{}", k.name, sms), {k}, {{kWholeMachine.ctas, {SmId(0), sms}}}, Cycles(kWindow)});
    const std::vector<RunResult> results = model_.run_held(plan_.machine, runs);
    std::vector<figures::SlateSmCurve> all;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const KernelDescriptor& k = runs[i].kernels.front();
      if (all.empty() || all.back().kernel != k.name)
        all.push_back({k.name, std::vector<double>(plan_.machine.num_sms, std::numeric_limits<double>::quiet_NaN())});
      const double rate = global_bytes_per_cycle(k, results[i].kernels.front(), static_cast<double>(results[i].cycles.value()));
      all.back().gigabytes[runs[i].shares.front().sms.count - 1] = rate * plan_.machine.core_mhz / 1e3;
    }
    return all;
  }

  std::vector<figures::SlateTasksRun> tasks() const {
    const MachineConfig& machine = plan_.machine;
    std::vector<NamedRun> runs;
    std::vector<figures::SlateTasksRun> all;
    for (const KernelDescriptor& k : apps_) {
      for (const std::uint32_t size : kTaskSizes) {
        RunSpec spec;
        spec.machine = machine;
        spec.seed = plan_.seed;
        spec.make_scheduler = [] { return std::make_unique<Arrival>(); };
        KernelLaunch& launch = spec.launches.emplace_back();
        launch.kernel = in_tasks(k, size);
        launch.once = true;
        launch.make_source = [k, size, most = machine.num_sms * machine.sm.capacity.cta_slots, seed = plan_.seed] {
          return std::make_unique<TaskSource>(k, size, 0, most, seed);
        };
        runs.push_back(
            {fmt::format("tasks-{}-{}", k.name, size),
             fmt::format("{}{}tasks of {} seed {}", plan_.machine_text, format_workload({"", {k}}, ""), size, plan_.seed),
             std::move(spec)});
        all.push_back({k.name, size, {}});
      }
    }
    const std::vector<RunResult> results = run_all(runs, plan_.store, plan_.jobs, "tasks");
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].run = alone(runs[i].spec.launches.front().kernel, results[i].kernels.front());
      all[i].run.long_memory = static_cast<double>(results[i].stalls.long_memory) / static_cast<double>(results[i].sm_cycles);
    }
    return all;
  }

  std::vector<ScheduleRun> pairs() {
    const ScheduleTarget target = target_of(plan_.pairs, plan_.machine, plan_.workload);
    std::vector<ScheduleCase> cases;
    for (const char* scheduler : {"left_over", "arrival", "slate", "slate_measured"})
      cases.push_back({fmt::format("pairs-{}", scheduler), plan_.pairs, target, scheduler});
    return model_.run(cases);
  }

  /// `left_over` over the pairs where a CTA's set-up takes longer. Nobody has printed how long it takes on this GPU.
  std::vector<figures::SlateSetUp> set_up(const ScheduleRun& left_over) const {
    std::vector<figures::SlateSetUp> all{{plan_.machine.sm.cta_launch_latency, left_over}};
    for (const std::uint32_t cycles : {100U, 300U, kMeasuredSetUp, 1000U}) {
      ModelSetting setting{
          plan_.partitioner, plan_.seed, plan_.jobs, {}, plan_.store, fmt::format("{}set-up {}", plan_.machine_text, cycles)};
      ScheduleTarget target = target_of(plan_.pairs, plan_.machine, plan_.workload);
      target.machine.sm.cta_launch_latency = cycles;
      ScheduleOnModel model(std::move(setting));
      all.push_back({cycles, model.run({{fmt::format("set-up-{}", cycles), plan_.pairs, target, "left_over"}}).front()});
    }
    return all;
  }

 private:
  [[nodiscard]] const KernelDescriptor& kernel(const char* name) const {
    const auto found = std::ranges::find(plan_.workload.kernels, name, &KernelDescriptor::name);
    if (found == plan_.workload.kernels.end())
      throw InputError(fmt::format("workload {}: kernel {}: is missing", plan_.workload.name, name));
    return *found;
  }

  const SlateStudyPlan& plan_;
  ScheduleOnModel model_;
  std::vector<KernelDescriptor> apps_;
};

/// What is no scenario of pairs is refused now, and not when all has run.
void check_pairs(const Scenario& scenario) {
  ScheduleRun named;
  for (const ScenarioJob& job : scenario.jobs) named.jobs.push_back({job.name});
  try {
    if (!figures::pair_makespans(named).contains("BS_RG")) throw InputError("pair BS_RG: is missing: table IV is about it");
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", scenario.file, error.what()));
  }
}

const SlateAlone& of_size(const std::vector<figures::SlateTasksRun>& runs, const char* name, std::uint32_t size) {
  return std::ranges::find_if(runs, [&](const auto& r) { return r.kernel == name && r.task_size == size; })->run;
}

}  // namespace

std::vector<figures::Figure> slate_study(const SlateStudyPlan& plan) {
  check_pairs(plan.pairs);
  Study study(plan);
  const std::vector<SlateAlone> alone = study.alone();
  const std::vector<figures::SlateTasksRun> tasks = study.tasks();
  const std::vector<figures::SlateSmCurve> curves = study.curves();
  const std::vector<ScheduleRun> pairs = study.pairs();
  const auto of = [&](const char* scheduler) { return *std::ranges::find(pairs, scheduler, &ScheduleRun::scheduler); };
  return {figures::slate_sm_scaling(curves),
          figures::slate_policy_table(),
          figures::slate_profiles_table(alone),
          figures::slate_gaussian_table(of_size(tasks, "GS", 1), of_size(tasks, "GS", 10)),
          figures::slate_bs_rg_table(pairs, alone, plan.machine),
          figures::slate_overhead_table(),
          figures::slate_task_sizes(tasks),
          figures::slate_pairs_figure(pairs),
          figures::slate_set_up_figure(study.set_up(of("left_over")), of("slate"))};
}

}  // namespace sluice
