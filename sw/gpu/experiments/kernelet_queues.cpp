// SPDX-License-Identifier: Apache-2.0
// Kernelet's queues on the GPU: slices of two kernels side by side as the scheduler chooses them, by rates of pairs that the Markov
// model predicts or that were measured, against launches one after the other and all at once.
#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/apps/ncu_page.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"
#include "sw/policy/corun_table.h"

namespace sluice::gpu {

namespace {

constexpr Time kSlice = std::chrono::milliseconds(1);  // virtual slices cost little: long enough for the host's turn

std::string pair_name(const PaperKernel& a, const PaperKernel& b) { return a.name + "_" + b.name; }

const PreparedKernel& prepared(GpuSession& session, const PaperKernel& k) {
  return session.app(k.app, measured_size(k.app, kEqualLength));
}

/// Blocks a second of each kernel under these quotas on every SM.
std::vector<double> rates(QuotaMix& mix, const std::vector<std::uint32_t>& ctas, unsigned sms, double window) {
  std::vector<QuotaTable> tables;
  for (const std::uint32_t c : ctas) tables.push_back(uniform_quota(sms, c));
  return mix.restart(tables, 1e-3, window).blocks_per_second;
}

}  // namespace

void kernelet_pairs_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "kernelet_pairs.jsonl");
  const auto& kernels = paper_kernels("kernelet");
  const MachineConfig machine = session.machine();
  Progress progress("kernelet_pairs", kernels.size() * (kernels.size() + 1) / 2);
  for (const PaperKernel& k : kernels) {
    if (!store.has(k.name)) {
      const PreparedKernel& kernel = prepared(session, k);
      QuotaMix alone({&kernel});
      std::vector<double> curve;
      for (std::uint32_t c = 1; c <= kernel.occupancy(); ++c) curve.push_back(rates(alone, {c}, machine.num_sms, options.window)[0]);
      store.add(k.name, {{"kernel", k.name}, {"app", k.app}, {"blocks_per_second", curve}, {"on", options.on}});
    }
    progress.done(k.name);
  }
  for (std::size_t a = 0; a < kernels.size(); ++a)
    for (std::size_t b = a + 1; b < kernels.size(); ++b) {
      const std::string name = pair_name(kernels[a], kernels[b]);
      if (!store.has(name)) {
        const PreparedMix mix = {&prepared(session, kernels[a]), &prepared(session, kernels[b])};
        QuotaMix running(mix);
        nlohmann::json runs = nlohmann::json::array();
        for (const auto& ctas : slice_ratios(descriptor(*mix[0]).demand(), descriptor(*mix[1]).demand(), machine.sm.capacity))
          runs.push_back({{"ctas", {ctas[0].value(), ctas[1].value()}},
                          {"blocks_per_second",
                           rates(running, {ctas[0].value(), ctas[1].value()}, machine.num_sms, options.window)}});
        running.evict();
        store.add(name, {{"first", kernels[a].name}, {"second", kernels[b].name}, {"runs", runs}, {"on", options.on}});
      }
      progress.done(name);
    }
}

namespace {

/// What Kernelet and its OPT decide by.
struct Tables {
  CoRunTable predicted, executed;
};

Tables tables(GpuSession& session, const ExperimentOptions& options) {
  const std::filesystem::path file = options.out / "kernelet_pairs.jsonl";
  const std::vector<nlohmann::json> lines = RawStore::read(file);
  if (lines.empty()) throw InputError(fmt::format("{}: is missing: run kernelet_pairs first", file.string()));
  if (options.profiles.empty())
    throw InputError("kernelet_queues: --profiles FILE.csv: a raw Nsight Compute page of the eight kernels is needed");
  const MarkovPage page = read_markov(options.profiles);
  MachineConfig machine = session.machine();
  machine.sm.schedulers = page.machine.schedulers;
  const double sm_cycles = machine.num_sms * options.on.at("core_mhz").get<double>() * 1e6;
  std::vector<KernelDescriptor> kernels;
  std::vector<MarkovKernel> models;
  Tables t;
  for (const PaperKernel& k : paper_kernels("kernelet")) {
    const auto known = page.apps.find(k.app);
    if (known == page.apps.end()) throw InputError(fmt::format("{}: no launch of {}", options.profiles.string(), k.app));
    const auto line = std::ranges::find_if(lines, [&](const nlohmann::json& l) { return l.value("kernel", "") == k.name; });
    if (line == lines.end()) throw InputError(fmt::format("{}: no line of {}", file.string(), k.name));
    const double instructions = known->second.instructions_per_block;
    std::vector<double> ipc;
    for (const double rate : (*line)["blocks_per_second"]) ipc.push_back(rate * instructions / sm_cycles);
    const KernelDescriptor& kernel = kernels.emplace_back(descriptor(prepared(session, k)));
    kernels.back().name = k.name;
    models.push_back(calibrated_kernel(known->second.counters,
                                       {kernel.warps_per_cta(), static_cast<unsigned>(ipc.size()), ipc.front(), ipc.back()},
                                       page.machine));
    t.executed.kernels[k.name] = {ipc.back(), instructions, std::min(1.0, ipc.back() / page.machine.schedulers),
                                  known->second.counters.dram_utilisation};
  }
  t.predicted = predicted_co_runs(kernels, models, t.executed.kernels, machine);
  for (const nlohmann::json& line : lines) {
    if (!line.contains("runs")) continue;
    const bool in_order = line["first"] < line["second"];  // the table has the lesser name first
    const std::string first = line[in_order ? "first" : "second"], second = line[in_order ? "second" : "first"];
    std::vector<CoRun>& runs = t.executed.pairs[{first, second}];
    const std::array<std::size_t, 2> at = {in_order ? 0U : 1U, in_order ? 1U : 0U};
    for (const nlohmann::json& r : line["runs"]) {
      CoRun& run = runs.emplace_back();
      for (std::size_t i = 0; i < 2; ++i) {
        run.ctas[i] = CtaCount(r["ctas"][at[i]].get<std::uint32_t>());
        const double per_block = t.executed.kernels.at(i == 0 ? first : second).instructions_per_block;
        run.ipc[i] = std::max(1e-9, r["blocks_per_second"][at[i]].get<double>() * per_block / sm_cycles);  // none placed: stands still
      }
    }
  }
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
  const GpuScenario s = gpu_scenario(session, queue(options, "mix", kShort), "kernelet");  // as short as the random plans are many
  for (unsigned r = 0; r < options.repetitions; ++r) systems("mix_short", s, r);
  for (unsigned seed = 1; seed <= options.plans; ++seed) {
    line("mix_short", "monte_carlo", seed, [&] { return scheduled(s, "monte_carlo", seed); });
    progress.done(fmt::format("random {}", seed));
  }
}

}  // namespace sluice::gpu
