// SPDX-License-Identifier: Apache-2.0
#include "study/effisha_study.h"

#include <fmt/format.h>

#include <algorithm>

#include "study/preemption_costs.h"
#include "study/schedule_model.h"
#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/report/effisha_figures.h"

namespace sluice {

namespace {

using effisha::Setting;

/// Fewer cycles for the same times, as `sluice schedule --time-scale`.
ScheduleTarget scaled(ScheduleTarget target, double scale) {
  scale_time(target, scale);
  return target;
}

class EffishaRuns {
 public:
  explicit EffishaRuns(const EffishaPlan& plan) : plan_(plan) {}

  [[nodiscard]] std::vector<effisha::KernelCosts> costs() const {
    const Scenario scenario = read("group");
    return measure_preemption(scenario, target_of(scenario, plan_.machine, plan_.workload), folder("alone"),
                              plan_.machine_text + plan_.workload_text, plan_.seed, plan_.jobs);
  }

  /// The three settings. What looks at no priority runs under the first only.
  [[nodiscard]] std::vector<Setting> settings() const {
    std::vector<Setting> settings;
    std::vector<ScheduleCase> hardware, software;
    for (const char* name : {"group", "sjf", "random"}) {
      settings.push_back({name, {}});
      const Scenario scenario = read(name);
      if (settings.size() == 1)
        for (const char* scheduler : {"arrival", "rr"}) hardware.push_back(of(scenario, scheduler, {}));
      for (const char* scheduler : {"prio_np", "piv", "dprr"}) hardware.push_back(of(scenario, scheduler, {}));
      for (const char* scheduler : {"piv", "dprr"}) software.push_back(of(scenario, scheduler, SoftwarePreemption{}));
    }
    run(hardware, {}, settings);
    run(software, SoftwarePreemption{}, settings);
    return settings;
  }

  /// Figure 9, on the fake executor.
  [[nodiscard]] std::vector<effisha::Evictions> evictions() const {
    const Scenario scenario = read("fig9");
    const ScheduleTarget target = abstract_target(scenario);
    std::vector<effisha::Evictions> all;
    for (const Time wait : scenario.waits) {
      effisha::Evictions& of = all.emplace_back();
      of.wait_ms = std::chrono::duration<double, std::milli>(wait).count();
      for (const LaunchOutcome& launch : schedule_on_fake(scenario, target, "piv", wait).jobs)
        of.by_priority.at(static_cast<std::size_t>(launch.priority - 1)) += launch.evictions;
    }
    return all;
  }

 private:
  [[nodiscard]] Scenario read(const std::string& name) const {
    return read_scenario(plan_.scenarios / ("effisha_" + name + ".toml"));
  }
  [[nodiscard]] std::filesystem::path folder(const std::string& name) const { return plan_.runs_folder / name; }
  [[nodiscard]] ScheduleCase of(const Scenario& scenario, const std::string& scheduler,
                                const std::optional<SoftwarePreemption>& software) const {
    return {fmt::format("{}-{}-{}", scenario.name, scheduler, software ? to_string(software->polling) : "hardware"), scenario,
            scaled(target_of(scenario, plan_.machine, plan_.workload), plan_.time_scale), scheduler};
  }
  void run(const std::vector<ScheduleCase>& requests, const std::optional<SoftwarePreemption>& software,
           std::vector<Setting>& settings) const {
    const ModelSetting setting{
        plan_.partitioner,   plan_.seed,
        plan_.jobs,          software,
        folder("schedules"), fmt::format("{}{} scale {}", plan_.machine_text, plan_.workload_text, plan_.time_scale)};
    const std::vector<ScheduleRun> runs = ScheduleOnModel(setting).run(requests);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      Scenario equal = requests[i].scenario;
      for (std::size_t k = 0; k < equal.jobs.size(); ++k) equal.jobs[k].alone = runs[i].jobs[k].alone;
      Scenario drains = equal;
      drains.costs.evict = runs[i].eviction;
      const Setting::Row row{runs[i], schedule_on_fake(equal, requests[i].target, requests[i].scheduler),
                             schedule_on_fake(drains, abstract_target(drains), requests[i].scheduler)};
      const bool looks = row.model.scheduler != "arrival" && row.model.scheduler != "rr";
      for (Setting& of : settings)
        if (!looks || requests[i].scenario.name == "effisha_" + of.name) of.rows.push_back(row);
    }
  }

  const EffishaPlan& plan_;
};

}  // namespace

double host_reads_per_us(const std::filesystem::path& figures) {
  const nlohmann::json page = nlohmann::json::parse(read_file(figures), nullptr, false);
  double sum = 0, kernels = 0;
  if (!page.is_discarded() && page.value("figures", nlohmann::json::object()).contains("10 flags"))
    for (const auto& [kernel, forms] : page["figures"]["10 flags"]["data"].items())
      if (forms.contains("basic") && forms["basic"].contains("host_reads_per_us")) {
        sum += forms["basic"]["host_reads_per_us"].get<double>();
        ++kernels;
      }
  if (kernels == 0) throw InputError(figures.string() + ": has no reads of host memory a us under figure \"10 flags\"");
  return sum / kernels;
}

std::vector<figures::Figure> effisha_study(const EffishaPlan& plan) {
  const EffishaRuns study(plan);
  const std::vector<effisha::KernelCosts> costs = study.costs();
  const std::vector<Setting> settings = study.settings();
  return {effisha::kernels(costs, settings.front().rows.front().model),
          effisha::block_tasks(costs),
          effisha::evictions(study.evictions()),
          effisha::transformation_overhead(costs, plan.reads_per_us),
          effisha::scheduling_overhead(settings),
          effisha::preemption_latency(costs),
          effisha::turnaround(settings),
          effisha::throughput(settings),
          effisha::software_and_hardware(costs)};
}

}  // namespace sluice
