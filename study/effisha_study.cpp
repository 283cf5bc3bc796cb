// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "study/paper_studies.h"
#include "study/run_cache.h"
#include "study/schedule_model.h"
#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/policy.h"
#include "sw/report/paper_figures.h"
#include "sw/scheduler/registry.h"

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
  /// @throws InputError for any scenario, before the first is run
  explicit EffishaRuns(const EffishaPlan& plan) : plan_(plan) {
    for (const char* name : {"group", "sjf", "random", "fig9"})
      if (const Scenario scenario = read(name); *name != 'f') (void)target_of(scenario, plan.machine, plan.workload);
  }

  [[nodiscard]] std::vector<effisha::KernelCosts> costs() const {
    const Scenario scenario = read("group");
    return measure_preemption(scenario, target_of(scenario, plan_.machine, plan_.workload), plan_.store,
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
  [[nodiscard]] ScheduleCase of(const Scenario& scenario, const std::string& scheduler,
                                const std::optional<SoftwarePreemption>& software) const {
    return {fmt::format("{}-{}-{}", scenario.name, scheduler, software ? to_string(software->polling) : "hardware"), scenario,
            scaled(target_of(scenario, plan_.machine, plan_.workload), plan_.time_scale), scheduler};
  }
  void run(const std::vector<ScheduleCase>& requests, const std::optional<SoftwarePreemption>& software,
           std::vector<Setting>& settings) const {
    const ModelSetting setting{
        plan_.partitioner, plan_.seed,  plan_.jobs,
        software,          plan_.store, fmt::format("{}{} scale {}", plan_.machine_text, plan_.workload_text, plan_.time_scale)};
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

using effisha::kMechanisms;

constexpr double kWarmMs = 0.15, kMeasuredMs = 0.3;  // of the shorter run; what the longer one has more
constexpr double kCheckMs = 0.1;                     // L / r: the longest time between two looks at the flag
constexpr unsigned kEvictions = 4;                   // of each kernel under each mechanism

std::optional<SoftwarePreemption> software(std::size_t mechanism) {
  if (mechanism == effisha::kHardware) return {};
  return SoftwarePreemption{mechanism == effisha::kBasic   ? Polling::Basic
                            : mechanism == effisha::kProxy ? Polling::Proxy
                                                           : Polling::Adaptive};
}

/// The GPU belongs to the only job, but for the times at which it has to leave; it comes back when it has left.
class TakesAway : public IScheduler {
 public:
  /// @param least  the job runs so long at least, and by up to `more` longer, before it must leave
  TakesAway(Time least, Time more) : least_(least), more_(more) {}

  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override {
    const auto came = [&](EventKind kind) { return std::ranges::any_of(events, [&](const Event& e) { return e.kind == kind; }); };
    if (came(EventKind::Arrived) || came(EventKind::Evicted)) {
      // Multiples of the golden ratio fall everywhere between two block boundaries.
      const double part = std::fmod(0.6180339887 * ++turns_, 1);
      leaves_at_ = now + least_ + Time(std::llround(part * static_cast<double>(more_.count())));
    }
    const bool holds = now < leaves_at_ || turns_ > static_cast<int>(kEvictions);
    if (!holds || jobs.empty() || !may_hold_sms(jobs.front().state)) return {};
    return {{{jobs.front().id, kWholeMachine}}, turns_ > static_cast<int>(kEvictions) ? std::nullopt : std::optional(leaves_at_)};
  }

 private:
  Time least_, more_, leaves_at_{};
  int turns_ = 0;
};

Time milliseconds(double value) { return Time(std::llround(value * 1e9)); }

/// The runs of one kernel, in the order in which they are asked for.
class KernelRuns {
 public:
  KernelRuns(const MachineConfig& machine, const KernelDescriptor& kernel, double alone_ms, std::string fingerprint,
             std::uint64_t seed)
      : machine_(machine), kernel_(kernel), fingerprint_(std::move(fingerprint)), seed_(seed) {
    wave_ = occupancy(kernel.demand(), machine.sm.capacity).value() * machine.num_sms;
    task_ms_ = alone_ms * wave_ / kernel.grid_ctas;
    first_ = std::max(2U, rounds(kWarmMs));
    second_ = first_ + std::max(2U, rounds(kMeasuredMs));
  }

  /// A kernel as it is (no mechanism): two runs, of which the shorter comes first; under a mechanism: the longer, and one with
  /// evictions.
  void add(std::optional<std::size_t> mechanism, std::vector<NamedRun>& runs) const {
    const std::string name = mechanism ? std::string(kMechanisms[*mechanism]) : "as_it_is";
    for (const std::uint32_t count : {first_, second_}) {
      if (mechanism && count == first_) continue;
      RunSpec spec = alone(mechanism, tasks(mechanism, count));
      if (mechanism)
        spec.make_scheduler = [machine = machine_, kernel = kernel_] { return make_scheduler("piv", {machine, {kernel}}); };
      runs.push_back(named(fmt::format("{}-{}-{}", kernel_.name, name, count), std::move(spec)));
    }
    if (!mechanism) return;
    RunSpec spec = alone(mechanism, kernel_.grid_ctas);
    const double most = std::max(task_ms_, kCheckMs), least = kCheckMs + task_ms_;
    spec.make_scheduler = [least, most] { return std::make_unique<TakesAway>(milliseconds(least), milliseconds(most)); };
    // Every stay and every departure at their longest.
    spec.window =
        Cycles(static_cast<std::uint64_t>(kEvictions * (least + most + 2 * (kCheckMs + task_ms_)) * 1e3 * machine_.core_mhz));
    runs.push_back(named(fmt::format("{}-{}-evicted", kernel_.name, name), std::move(spec)));
  }
  [[nodiscard]] std::uint32_t wave() const { return wave_; }
  [[nodiscard]] double task_ms(const RunResult& shorter, const RunResult& longer) const {
    return ms(longer.kernels[0].finish_cycle - shorter.kernels[0].finish_cycle) / (second_ - first_);
  }
  [[nodiscard]] double kernel_ms(const RunResult& shorter, const RunResult& longer) const {
    const double rounds = static_cast<double>(kernel_.grid_ctas) / wave_ - first_;
    return ms(shorter.kernels[0].finish_cycle) + rounds * task_ms(shorter, longer);
  }
  /// @param as_it_is  the longer run without a mechanism
  [[nodiscard]] effisha::KernelCosts::OfMechanism costs(std::size_t mechanism, const RunResult& as_it_is, const RunResult& longer,
                                                        const RunResult& evicted) const {
    effisha::KernelCosts::OfMechanism costs;
    const double mine = tasks(mechanism, second_), theirs = tasks({}, second_);
    costs.overhead = (static_cast<double>(longer.kernels[0].finish_cycle) / mine) /
                         (static_cast<double>(as_it_is.kernels[0].finish_cycle) / theirs) -
                     1;
    costs.host_reads = static_cast<double>(longer.host.pcie_reads) / mine;
    const std::vector<std::uint64_t>& left = evicted.host.eviction_cycles.front();
    if (left.empty()) throw CheckFailed(fmt::format("{} under {}: was never evicted", kernel_.name, kMechanisms[mechanism]));
    costs.latency_mean_ms = ms(std::accumulate(left.begin(), left.end(), std::uint64_t{0})) / static_cast<double>(left.size());
    costs.latency_max_ms = ms(*std::ranges::max_element(left));
    return costs;
  }

 private:
  [[nodiscard]] std::uint32_t rounds(double length) const { return static_cast<std::uint32_t>(std::ceil(length / task_ms_)); }
  [[nodiscard]] double ms(std::uint64_t cycles) const { return static_cast<double>(cycles) / (1e3 * machine_.core_mhz); }
  /// Of so many rounds of all CTAs that do tasks: a proxy does none.
  [[nodiscard]] std::uint32_t tasks(std::optional<std::size_t> mechanism, std::uint32_t rounds) const {
    const bool proxy = mechanism == effisha::kProxy || mechanism == effisha::kAdaptive;
    return rounds * (wave_ - (proxy ? 1 : 0));
  }
  [[nodiscard]] RunSpec alone(std::optional<std::size_t> mechanism, std::uint32_t grid) const {
    RunSpec spec;
    spec.machine = machine_;
    spec.kernel_slots = 4;
    spec.seed = seed_;
    if (mechanism) spec.software = software(*mechanism);
    KernelLaunch launch{kernel_, 0, Cycles(0)};
    launch.kernel.grid_ctas = grid;
    launch.once = true;
    spec.launches.push_back(std::move(launch));
    return spec;
  }
  [[nodiscard]] NamedRun named(const std::string& name, RunSpec spec) const {
    return {name, fmt::format("{} {} seed {}", fingerprint_, name, seed_), std::move(spec)};
  }

  const MachineConfig& machine_;
  const KernelDescriptor& kernel_;
  std::string fingerprint_;
  std::uint64_t seed_;
  std::uint32_t wave_ = 0, first_ = 0, second_ = 0;
  double task_ms_ = 0;
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

std::vector<effisha::KernelCosts> measure_preemption(const Scenario& scenario, const ScheduleTarget& target,
                                                     const std::filesystem::path& keep, const std::string& fingerprint,
                                                     std::uint64_t seed, unsigned jobs) {
  std::vector<KernelRuns> kernels;
  std::vector<NamedRun> runs;
  for (std::size_t k = 0; k < scenario.jobs.size(); ++k) {
    const ScenarioJob& job = scenario.jobs[k];
    if (!job.alone) throw InputError(fmt::format("{}: job {}: alone_ms is missing", scenario.file, job.name));
    check_fits(target.machine, target.kernels[k]);
    const double alone_ms = std::chrono::duration<double, std::milli>(*job.alone).count();
    kernels.emplace_back(target.machine, target.kernels[k], alone_ms, fingerprint, seed);
    kernels.back().add({}, runs);
    for (std::size_t m = 0; m < kMechanisms.size(); ++m) kernels.back().add(m, runs);
  }
  const std::vector<RunResult> results = run_all(runs, keep, jobs, "kernels alone");
  constexpr std::size_t kRuns = 2 + 2 * kMechanisms.size();
  std::vector<effisha::KernelCosts> costs;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::span<const RunResult> mine(results.data() + k * kRuns, kRuns);
    effisha::KernelCosts& of = costs.emplace_back();
    of.kernel = scenario.jobs[k].name;
    of.task_ms = kernels[k].task_ms(mine[0], mine[1]);
    of.alone_ms = kernels[k].kernel_ms(mine[0], mine[1]);
    of.ctas = kernels[k].wave();
    for (std::size_t m = 0; m < kMechanisms.size(); ++m)
      of.by[m] = kernels[k].costs(m, mine[1], mine[2 + 2 * m], mine[3 + 2 * m]);
  }
  return costs;
}

}  // namespace sluice
