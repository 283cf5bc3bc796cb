// SPDX-License-Identifier: Apache-2.0
// sluice report effisha: runs what the figures of EffiSha's evaluation need, and draws them on one page.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/paper_page.h"
#include "study/preemption_costs.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "study/schedule_model.h"
#include "sw/report/effisha_figures.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct Options : PaperOptions {
  std::string scenarios = "configs/scenarios";
  double time_scale = 0.05;
};

using effisha::Setting;

/// Fewer cycles for the same times, as `sluice schedule --time-scale`.
ScheduleTarget scaled(ScheduleTarget target, double scale) {
  scale_time(target, scale);
  return target;
}

class Study {
 public:
  explicit Study(const Options& options)
      : options_(options),
        machine_(read_machine(options.machine_file)),
        workload_(read_workload(options.workload_file)),
        fingerprint_(machine_text(options.machine_file) + machine_text(options.workload_file)) {}

  [[nodiscard]] const MachineConfig& machine() const { return machine_; }

  [[nodiscard]] std::vector<effisha::KernelCosts> costs() const {
    const Scenario scenario = read("group");
    return measure_preemption(scenario, target_of(scenario, machine_, workload_), folder("alone"), fingerprint_, options_.seed,
                              options_.jobs);
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
    return read_scenario(std::filesystem::path(options_.scenarios) / ("effisha_" + name + ".toml"));
  }
  [[nodiscard]] std::filesystem::path folder(const std::string& name) const {
    return std::filesystem::path(options_.out) / "runs" / name;
  }
  [[nodiscard]] ScheduleCase of(const Scenario& scenario, const std::string& scheduler,
                                const std::optional<SoftwarePreemption>& software) const {
    return {fmt::format("{}-{}-{}", scenario.name, scheduler, software ? to_string(software->polling) : "hardware"), scenario,
            scaled(target_of(scenario, machine_, workload_), options_.time_scale), scheduler};
  }
  void run(const std::vector<ScheduleCase>& requests, const std::optional<SoftwarePreemption>& software,
           std::vector<Setting>& settings) const {
    const ModelSetting setting{options_.kind(),     options_.seed,
                               options_.jobs,       software,
                               folder("schedules"), fmt::format("{} scale {}", fingerprint_, options_.time_scale)};
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

  const Options& options_;
  MachineConfig machine_;
  Workload workload_;
  std::string fingerprint_;
};

int run(const Options& options) {
  check_writable(options.out);
  const Study study(options);
  const std::vector<effisha::KernelCosts> costs = study.costs();
  const std::vector<Setting> settings = study.settings();
  const std::vector<figures::Figure> drawn = {effisha::kernels(costs, settings.front().rows.front().model),
                                              effisha::block_tasks(costs),
                                              effisha::evictions(study.evictions()),
                                              effisha::transformation_overhead(costs),
                                              effisha::scheduling_overhead(settings),
                                              effisha::preemption_latency(costs),
                                              effisha::turnaround(settings),
                                              effisha::throughput(settings),
                                              effisha::software_and_hardware(costs)};
  nlohmann::ordered_json meta = options.meta({{"machine", study.machine().name}, {"workload", options.workload_name()}});
  meta["time_scale_of_schedules"] = options.time_scale;
  write_paper_page("EffiSha's evaluation on the Sluice model", drawn, std::move(meta), options);
  return 0;
}

}  // namespace

void add_report_effisha_command(CLI::App& report, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = report.add_subcommand("effisha", "EffiSha's tables and figures beside what the paper states");
  options->add_inputs(*command, "configs/machines/k40.toml", "configs/workloads/effisha.toml");
  command->add_option("--scenarios", options->scenarios, "folder of effisha_{group,sjf,random,fig9}.toml")->capture_default_str();
  command->add_option("--time-scale", options->time_scale, "share of the cycles that schedules simulate")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1.0));
  options->add_unit(*command);
  options->add_page(*command);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
