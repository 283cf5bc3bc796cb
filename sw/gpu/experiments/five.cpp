// SPDX-License-Identifier: Apache-2.0
// All five systems on the GPU with equal work: each pair of table II's ten kernels, of 15 ms each, both there from the start.
#include "sw/gpu/experiments/corun_measurement.h"
#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/policy/policy.h"

namespace sluice::gpu {

namespace {

constexpr const char* kPaper = "table2";
/// One of each system, its baseline on this runtime, and the two plain shares.
constexpr const char* kSchedulers[] = {"arrival",      "piv",           "dprr", "adaptive", "slate_measured",
                                       "kernelet_opt", "warped_slicer", "even", "spatial"};

/// Kernelet and Slate as their authors print them, beside our variants that know measured pairs: those see the kernels alone.
constexpr const char* kPrinted[] = {"kernelet", "kernelet_opt", "slate", "slate_measured"};

std::vector<Scenario> pairs() {
  std::vector<Scenario> all;
  for (const std::vector<std::string>& pair : choose(table2_names(), 2)) all.push_back(scene_of(mix_name(pair), pair));
  return all;
}

/// Milliseconds of the whole grid at each count: what SiM and Slate know.
std::vector<double> times(const std::vector<double>& rates, std::uint64_t blocks, std::size_t counts) {
  std::vector<double> ms;
  for (const double rate : rates) ms.push_back(1e3 * static_cast<double>(blocks) / rate);
  ms.resize(counts, ms.back());  // where the driver places fewer than fit by the resources
  return ms;
}

SchedulerInput known(const GpuSession& session, const GpuScenario& s, const CorunRates& rates, const ExperimentOptions& options) {
  SchedulerInput input = scheduler_input(session, s);
  input.machine.core_mhz = options.on.at("core_mhz");
  input.executed = rates.table;
  input.coruns = rates.splits;
  input.min_slice = std::chrono::milliseconds(1);
  for (const KernelDescriptor& k : input.mix)
    input.times[k.name] = times(rates.alone.at(k.name), k.grid_ctas, occupancy(k.demand(), input.machine.sm.capacity).value());
  return input;
}

/// The turnaround of each alone, of the same launch; both in one stream; both in two.
void add_plain(SceneLines& lines, const GpuScenario& s, unsigned repetition) {
  for (std::size_t k = 0; k < s.all.size(); ++k)
    lines.once(s.scenario.name, k == 0 ? "alone_first" : "alone_second", repetition, [&] {
      GpuScenario alone = s;
      alone.all = {s.all[k]};
      return run_streams(alone, Streams::One);
    });
  lines.once(s.scenario.name, "sequential", repetition, [&] { return run_streams(s, Streams::One); });
  lines.once(s.scenario.name, "streams", repetition, [&] { return run_streams(s, Streams::Each); });
}

/// Every pair natively, and under these schedulers. @param more  what they know beside `known`
void run_pairs(GpuSession& session, SceneLines& lines, const CorunRates& rates, std::span<const char* const> schedulers,
               const std::function<void(SchedulerInput&)>& more) {
  for (const Scenario& pair : pairs()) {
    GpuScenario s = gpu_scenario(session, pair, kPaper);
    for (const ScenarioJob& job : pair.jobs) s.profiles.push_back(rates.alone.at(job.kernel));
    for (unsigned r = 0; r < lines.options().repetitions; ++r) {
      add_plain(lines, s, r);
      for (const char* system : schedulers)
        lines.once(pair.name, system, r, [&] {
          SchedulerInput input = known(session, s, rates, lines.options());
          more(input);
          return run_scheduled(session, s, system, input);
        });
    }
    lines.done(pair.name);
  }
}

}  // namespace

void five_rates_experiment(GpuSession& session, const ExperimentOptions& options) {
  measure_corun_rates(session, options, kPaper, "five_rates", true);
}

void five_pairs_experiment(GpuSession& session, const ExperimentOptions& options) {
  SceneLines lines(options, "five_pairs", pairs().size() * 2);
  run_pairs(session, lines, known_rates(session, options, kPaper, "five_rates"), kSchedulers, [](SchedulerInput&) {});
  run_natively(session, lines, pairs(), kPaper, {"mps"});
}

void five_printed_experiment(GpuSession& session, const ExperimentOptions& options) {
  const CorunRates rates = known_rates(session, options, kPaper, "five_rates");
  const CoRunTable predicted = kernelet_knows(session, options, kPaper, rates, "five_printed").predicted;
  const Intensities intensities = read_intensities(options.profiles);
  SceneLines lines(options, "five_printed", pairs().size());
  run_pairs(session, lines, rates, kPrinted, [&](SchedulerInput& input) {
    input.predicted = predicted;
    input.intensities = intensities;
  });
}

void five_own_experiment(GpuSession& session, const ExperimentOptions& options) {
  SceneLines lines(options, "five_own", pairs().size() * 5);
  for (const Scenario& pair : pairs()) {
    const GpuScenario s = gpu_scenario(session, pair, kPaper);
    for (unsigned r = 0; r < options.repetitions; ++r) add_plain(lines, s, r);
    lines.done(pair.name);
  }
  run_natively(session, lines, pairs(), kPaper, {"green_halves", "processes", "mps", "mps_halves"});
}

}  // namespace sluice::gpu
