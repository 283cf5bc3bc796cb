// SPDX-License-Identifier: Apache-2.0
// All five systems on the GPU with equal work: each pair of table II's ten kernels, of 15 ms each, both there from the start.
#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <memory>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/experiments/corun_measurement.h"
#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"
#include "sw/policy/i_policy.h"

namespace sluice::gpu {

namespace {

constexpr const char* kPaper = "table2";
/// One of each system, its baseline on this runtime, and the two plain shares.
constexpr const char* kSchedulers[] = {"arrival",      "piv",           "dprr", "adaptive", "slate_measured",
                                       "kernelet_opt", "warped_slicer", "even", "spatial"};

/// Kernelet and Slate as their authors print them, beside our variants that know measured pairs: those see the kernels alone.
constexpr const char* kPrinted[] = {"kernelet", "kernelet_opt", "slate", "slate_measured"};

/// Milliseconds of the whole grid at each count: what SiM and Slate know.
std::vector<double> times(const std::vector<double>& rates, std::uint64_t blocks, std::size_t counts) {
  std::vector<double> ms;
  for (const double rate : rates) ms.push_back(1e3 * static_cast<double>(blocks) / rate);
  ms.resize(counts, ms.back());  // where the driver places fewer than fit by the resources
  return ms;
}

SchedulerInput known(const GpuSession& session, const GpuScenario& s, const CorunRates& rates, double core_mhz) {
  SchedulerInput input = scheduler_input(session, s);
  input.machine.core_mhz = core_mhz;
  input.executed = rates.table;
  input.coruns = rates.splits;
  input.min_slice = std::chrono::milliseconds(1);
  for (const KernelDescriptor& k : input.mix)
    input.times[k.name] = times(rates.alone.at(k.name), k.grid_ctas, occupancy(k.demand(), input.machine.sm.capacity).value());
  return input;
}

/// Each kernel a process; those of a pair are told to launch.
void as_processes(const std::string& system, ScenarioProcesses& processes, const GpuScenario& all,
                  const ExperimentOptions& options, RawStore& store, Progress& progress) {
  for (const std::vector<std::string>& pair : choose(table2_names(), 2)) {
    const std::string name = mix_name(pair);
    for (unsigned r = 0; r < options.repetitions; ++r) {
      const std::string key = fmt::format("{}/{}/{}", name, system, r);
      if (store.has(key)) continue;
      store.add(key, {{"scenario", name},
                      {"system", system},
                      {"repetition", r},
                      {"jobs", processes.run(all, {pair.begin(), pair.end()}).jobs},
                      {"on", options.on}});
    }
    progress.done(fmt::format("{} {}", name, system));
  }
}

std::filesystem::path mps_folder() { return std::filesystem::temp_directory_path() / fmt::format("sluice_mps_{}", getpid()); }

using Run = std::function<GpuRun()>;
/// One run of a pair, unless it is known.
void add_line(RawStore& store, const std::string& pair, const char* system, unsigned repetition, const ExperimentOptions& options,
              const Run& run) {
  const std::string key = fmt::format("{}/{}/{}", pair, system, repetition);
  if (store.has(key)) return;
  const GpuRun done = run();
  nlohmann::json told = {
      {"scenario", pair}, {"system", system}, {"repetition", repetition}, {"jobs", done.jobs}, {"on", options.on}};
  if (!done.decisions.empty()) told.update({{"decisions", done.decisions}, {"violations", done.violations}});
  store.add(key, std::move(told));
}

/// The turnaround of each alone, of the same launch; both in one stream; both in two.
void add_plain(RawStore& store, const GpuScenario& s, unsigned repetition, const ExperimentOptions& options) {
  const auto line = [&](const char* system, const Run& run) {
    add_line(store, s.scenario.name, system, repetition, options, run);
  };
  for (std::size_t k = 0; k < s.all.size(); ++k)
    line(k == 0 ? "alone_first" : "alone_second", [&] {
      GpuScenario alone = s;
      alone.all = {s.all[k]};
      return run_streams(alone, Streams::One);
    });
  line("sequential", [&] { return run_streams(s, Streams::One); });
  line("streams", [&] { return run_streams(s, Streams::Each); });
}

}  // namespace

void five_rates_experiment(GpuSession& session, const ExperimentOptions& options) {
  measure_corun_rates(session, options, kPaper, "five_rates", true);
}

void five_pairs_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "five_pairs.jsonl");
  const double core_mhz = options.on.at("core_mhz");
  const CorunRates rates = read_corun_rates(options.out / "five_rates.jsonl", kPaper, session.machine().num_sms * core_mhz * 1e6);
  const std::vector<std::vector<std::string>> pairs = choose(table2_names(), 2);
  Progress progress("five_pairs", pairs.size() * 2);
  for (const std::vector<std::string>& pair : pairs) {
    GpuScenario s = gpu_scenario(session, scene_of(mix_name(pair), pair), kPaper);
    for (const std::string& kernel : pair) s.profiles.push_back(rates.alone.at(kernel));
    for (unsigned r = 0; r < options.repetitions; ++r) {
      add_plain(store, s, r, options);
      for (const char* system : kSchedulers)
        add_line(store, s.scenario.name, system, r, options, [&] {
          const auto scheduler = make_scheduler(system, known(session, s, rates, core_mhz));
          return run_scheduled(session, s, *scheduler);
        });
    }
    progress.done(s.scenario.name);
  }
  const GpuScenario all = gpu_scenario(session, scene_of("table2", table2_names()), kPaper);
  const MpsServer server(mps_folder());
  ScenarioProcesses processes(options.program, all, Clients::Plain);
  as_processes("mps", processes, all, options, store, progress);
}

void five_printed_experiment(GpuSession& session, const ExperimentOptions& options) {
  if (options.profiles.empty())
    throw InputError("five_printed: --profiles FILE.csv: a raw Nsight Compute page of the ten kernels is needed");
  RawStore store(options.out / "five_printed.jsonl");
  const double core_mhz = options.on.at("core_mhz"), sm_cycles = session.machine().num_sms * core_mhz * 1e6;
  const CorunRates rates = read_corun_rates(options.out / "five_rates.jsonl", kPaper, sm_cycles);
  std::vector<KernelDescriptor> kernels;
  for (const PaperKernel& k : paper_kernels(kPaper)) {
    kernels.push_back(descriptor(session.app(k.app, measured_size(k.app, kEqualLength))));
    kernels.back().name = k.name;
  }
  const CoRunTable predicted =
      kernelet_tables(read_markov(options.profiles), rates, kPaper, kernels, session.machine(), sm_cycles).predicted;
  const Intensities intensities = read_intensities(options.profiles);
  const std::vector<std::vector<std::string>> pairs = choose(table2_names(), 2);
  Progress progress("five_printed", pairs.size());
  for (const std::vector<std::string>& pair : pairs) {
    const GpuScenario s = gpu_scenario(session, scene_of(mix_name(pair), pair), kPaper);
    for (unsigned r = 0; r < options.repetitions; ++r) {
      add_plain(store, s, r, options);
      for (const char* system : kPrinted)
        add_line(store, s.scenario.name, system, r, options, [&] {
          SchedulerInput input = known(session, s, rates, core_mhz);
          input.predicted = predicted;
          input.intensities = intensities;
          const auto scheduler = make_scheduler(system, input);
          return run_scheduled(session, s, *scheduler);
        });
    }
    progress.done(s.scenario.name);
  }
}

void five_own_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "five_own.jsonl");
  const std::vector<std::vector<std::string>> pairs = choose(table2_names(), 2);
  Progress progress("five_own", pairs.size() * 4);
  {
    const GreenStreams halves(session.context(), 2);
    for (const std::vector<std::string>& pair : pairs) {
      const GpuScenario s = gpu_scenario(session, scene_of(mix_name(pair), pair), kPaper);
      for (unsigned r = 0; r < options.repetitions; ++r) {
        add_plain(store, s, r, options);
        add_line(store, s.scenario.name, "green_halves", r, options, [&] { return run_streams(s, Streams::Green, &halves); });
      }
      progress.done(s.scenario.name);
    }
  }
  const GpuScenario all = gpu_scenario(session, scene_of("table2", table2_names()), kPaper);
  const auto processes = [&](const char* system, Clients clients) {
    ScenarioProcesses each(options.program, all, clients);
    static_cast<void>(each.run(all));  // code is loaded
    as_processes(system, each, all, options, store, progress);
  };
  processes("processes", Clients::Plain);
  const MpsServer server(mps_folder());
  processes("mps", Clients::Plain);
  processes("mps_halves", Clients::Halves);
}

}  // namespace sluice::gpu
