// SPDX-License-Identifier: Apache-2.0
// Kernelet's queues on the GPU: slices of two kernels side by side as the scheduler chooses them, by rates of pairs that the
// Markov model predicts or that were measured, against launches one after the other and all at once.
#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/apps/ncu_page.h"
#include "sw/gpu/experiments/corun_rates.h"
#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

constexpr Time kSlice = std::chrono::milliseconds(1);  // virtual slices cost little: long enough for the host's turn

/// What Kernelet and its OPT decide by.
struct Tables {
  CoRunTable predicted, executed;
};

Tables tables(GpuSession& session, const ExperimentOptions& options) {
  if (options.profiles.empty())
    throw InputError("kernelet_queues: --profiles FILE.csv: a raw Nsight Compute page of the eight kernels is needed");
  const MarkovPage page = read_markov(options.profiles);
  MachineConfig machine = session.machine();
  machine.sm.schedulers = page.machine.schedulers;
  const double sm_cycles = machine.num_sms * options.on.at("core_mhz").get<double>() * 1e6;
  const CorunRates rates = read_corun_rates(options.out / "kernelet_pairs.jsonl", "kernelet", sm_cycles);
  std::vector<KernelDescriptor> kernels;
  std::vector<MarkovKernel> models;
  Tables t{{}, rates.table};
  for (const PaperKernel& k : paper_kernels("kernelet")) {
    const auto known = page.apps.find(k.app);
    if (known == page.apps.end()) throw InputError(fmt::format("{}: no launch of {}", options.profiles.string(), k.app));
    const auto& [counters, instructions] = known->second;
    std::vector<double> ipc;
    for (const double rate : rates.alone.at(k.name)) ipc.push_back(rate * instructions / sm_cycles);
    const KernelDescriptor& kernel = kernels.emplace_back(descriptor(session.app(k.app, measured_size(k.app, kEqualLength))));
    kernels.back().name = k.name;
    models.push_back(calibrated_kernel(
        counters, {kernel.warps_per_cta(), static_cast<unsigned>(ipc.size()), ipc.front(), ipc.back()}, page.machine));
    t.executed.kernels[k.name] = {ipc.back(), instructions, std::min(1.0, ipc.back() / page.machine.schedulers),
                                  counters.dram_utilisation};
  }
  for (auto& [names, runs] : t.executed.pairs)
    for (CoRun& run : runs) {
      run.ipc[0] *= t.executed.kernels.at(names.first).instructions_per_block;
      run.ipc[1] *= t.executed.kernels.at(names.second).instructions_per_block;
    }
  t.predicted = predicted_co_runs(kernels, models, t.executed.kernels, machine);
  return t;
}

/// The paper's arrivals for launches of 15 ms, as dense against their length.
Scenario queue(const ExperimentOptions& options, const std::string& group, std::uint32_t launches) {
  Scenario scenario = read_scenario(options.scenarios / ("kernelet_" + group + ".toml"));
  for (ScenarioJob& job : scenario.jobs) {
    if (job.per_second && job.alone) *job.per_second *= static_cast<double>(job.alone->count()) * 1e-9 / kEqualLength;
    job.alone.reset();
    job.launches = launches;
  }
  return scenario;
}

double last_end(const nlohmann::json& jobs) {
  double last = 0;
  for (const nlohmann::json& job : jobs) last = std::max(last, job["ended_ms"].get<double>());
  return last;
}

nlohmann::json told(const GpuRun& run) {
  nlohmann::json line = {{"end_ms", last_end(run.jobs)}, {"launches", run.jobs.size()}};
  if (run.decisions.empty()) return line;
  std::vector<double> us;
  for (const nlohmann::json& d : run.decisions) us.push_back(d["decide_us"]);
  std::ranges::sort(us);
  double all = 0;
  for (const double t : us) all += t;
  line.update({{"decisions", us.size()},
               {"decide_ms", all * 1e-3},
               {"decide_p99_us", us[us.size() * 99 / 100]},
               {"violations", run.violations}});
  return line;
}

}  // namespace

void kernelet_pairs_experiment(GpuSession& session, const ExperimentOptions& options) {
  measure_corun_rates(session, options, "kernelet", "kernelet_pairs", false);
}

void kernelet_queues_experiment(GpuSession& session, const ExperimentOptions& options) {
  constexpr std::uint32_t kLaunches = 20, kShort = 3;
  RawStore store(options.out / "kernelet_queues.jsonl");
  const Tables known = tables(session, options);
  Progress progress("kernelet_queues", 4 * options.repetitions + options.plans);
  const auto scheduled = [&](const GpuScenario& s, const char* name, std::uint64_t seed) {
    SchedulerInput input = scheduler_input(session, s);
    input.predicted = known.predicted;
    input.executed = known.executed;
    input.min_slice = kSlice;
    input.machine.core_mhz = options.on.at("core_mhz");  // the tables' cycles
    input.seed = seed;
    const auto scheduler = make_scheduler(name, input);
    return run_scheduled(session, s, *scheduler);
  };
  const auto line = [&](const std::string& queue, const char* system, unsigned r, const auto& run) {
    const std::string key = fmt::format("{}/{}/{}", queue, system, r);
    if (store.has(key)) return;
    nlohmann::json all = told(run());
    all.update({{"queue", queue}, {"system", system}, {"repetition", r}, {"on", options.on}});
    store.add(key, std::move(all));
  };
  const auto systems = [&](const std::string& queue, const GpuScenario& s, unsigned r) {
    line(queue, "sequential", r, [&] { return run_streams(s, Streams::One); });
    line(queue, "base", r, [&] { return run_streams(s, Streams::Each); });
    for (const char* name : {"kernelet", "kernelet_opt"}) line(queue, name, r, [&] { return scheduled(s, name, 1); });
  };
  for (const char* group : {"ci", "mi", "mix", "all"}) {
    const GpuScenario s = gpu_scenario(session, queue(options, group, kLaunches), "kernelet");
    for (unsigned r = 0; r < options.repetitions; ++r) {
      systems(group, s, r);
      progress.done(fmt::format("{} {}", group, r));
    }
  }
  const GpuScenario s =
      gpu_scenario(session, queue(options, "mix", kShort), "kernelet");  // as short as the random plans are many
  for (unsigned r = 0; r < options.repetitions; ++r) systems("mix_short", s, r);
  for (unsigned seed = 1; seed <= options.plans; ++seed) {
    line("mix_short", "monte_carlo", seed, [&] { return scheduled(s, "monte_carlo", seed); });
    progress.done(fmt::format("random {}", seed));
  }
}

}  // namespace sluice::gpu
