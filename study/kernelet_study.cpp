// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <future>
#include <iterator>

#include "study/calibration.h"
#include "study/paper_studies.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "study/slate_profiles.h"
#include "sw/core/errors.h"
#include "sw/partition/markov_fit.h"
#include "sw/policy/co_schedule.h"
#include "sw/scheduler/scenario.h"
#include "sw/workload/workload_file.h"

namespace sluice {

namespace {

NamedRun counted(const KerneletRuns& runs, const std::vector<KernelDescriptor>& kernels, const std::vector<CtaCount>& ctas) {
  NamedRun run;
  std::vector<Share> shares;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    run.name += fmt::format("{}{}-{}", k == 0 ? "" : "-", kernels[k].name, ctas[k].value());
    run.spec.launches.push_back({kernels[k], 0, Cycles(0)});
    shares.push_back({ctas[k]});
  }
  run.fingerprint =
      fmt::format("{}{} {} {} seed {}", runs.machine_text, format_workload({"", kernels}, ""), run.name, runs.window, runs.seed);
  run.spec.machine = runs.machine;
  run.spec.window = Cycles(runs.window);
  run.spec.seed = runs.seed;
  run.spec.make_scheduler = hold(std::move(shares));
  return run;
}

/// Latencies are those of an access with nothing else under way (tests/systemc/closed_form_test.cpp), but for flits.
MarkovMachine markov_machine(const MachineConfig& m) {
  constexpr double kSectorBytes = 32;
  MarkovMachine out;
  out.schedulers = m.sm.schedulers;
  out.cycles_per_sector = kSectorBytes * m.num_sms * m.sm.schedulers / dram_bytes_per_cycle(m);
  out.l1_latency = m.sm.l1.hit_latency;
  out.l2_latency = out.l1_latency + m.sm.l1.miss_latency + 2.0 * m.interconnect.latency + m.l2.hit_latency;
  out.dram_latency = out.l2_latency + m.dram.controller_latency + (m.dram.t_rcd + m.dram.t_cl) * m.core_mhz / m.dram.clock_mhz;
  return out;
}

/// A kernel alone with 1, 2, ... CTAs on every SM, to as many as fit.
using Alone = std::vector<RunResult>;

double sm_ipc(const RunResult& run, std::size_t kernel, const MachineConfig& machine) {
  const std::uint64_t instructions = run.kernels.at(kernel).warp_instructions;
  if (instructions == 0) throw InputError("a kernel issues nothing in the window: it must be longer");
  return static_cast<double>(instructions) / static_cast<double>(run.cycles.value()) / machine.num_sms;
}

CoRunKernel figures_of(const KernelDescriptor& kernel, const RunResult& alone, const MachineConfig& machine) {
  CoRunKernel k;
  k.ipc = sm_ipc(alone, 0, machine);
  k.instructions_per_block = instructions_per_block(kernel);
  k.issue_utilisation = std::min(1.0, k.ipc / machine.sm.schedulers);
  const double bytes = static_cast<double>(alone.total.dram_bytes) / static_cast<double>(alone.cycles.value());
  k.memory_utilisation = std::min(1.0, bytes / dram_bytes_per_cycle(machine));
  return k;
}

/// The calibrated version of the model, with waits for every result and not for loads only: on this machine warps also wait for
/// pipes, and each pipe is a queue of its own. So no kernel's instructions take longer (memory_stall_limit 0). Two kernels meet
/// in the LDST unit, which serves in order: a partner counts with its use of the unit or of DRAM, whichever is more, and a kernel
/// feels it with the share of its waits that are behind the unit.
MarkovKernel model_of(const KernelDescriptor& kernel, const Alone& alone, const CoRunKernel& figures,
                      const MachineConfig& machine) {
  constexpr double kSectorsPerLine = 4;
  const RunResult& full = alone.back();
  const KernelCounters& count = full.total;
  const auto per_instruction = [&](std::uint64_t n) {
    return static_cast<double>(n) / static_cast<double>(count.warp_instructions);
  };
  MarkovCounters c;
  c.loads = 1;
  c.l2_sectors = kSectorsPerLine * per_instruction(count.l1_misses);
  if (count.l2_accesses > 0)
    c.dram_sectors = c.l2_sectors * std::min(1.0, static_cast<double>(count.l2_misses) / static_cast<double>(count.l2_accesses));
  c.store_sectors = kSectorsPerLine * per_instruction(count.store_lines);
  c.dram_utilisation = figures.memory_utilisation;
  MarkovMachine m = markov_machine(machine);
  m.l1_latency = machine.sm.alu_latency;  // of a result that is not from memory
  m.memory_stall_limit = 0;
  const auto ctas = static_cast<unsigned>(alone.size());
  MarkovKernel model = calibrated_kernel(c, {kernel.warps_per_cta(), ctas, sm_ipc(alone.front(), 0, machine), figures.ipc}, m);
  const KernelBehaviour& b = kernel.behaviour;
  const double ldst = b.load_fraction + b.store_fraction + b.shared_fraction;
  const double unit_busy = static_cast<double>(count.ldst_busy) / static_cast<double>(full.sm_cycles);
  model.exposure = std::min(1.0, ldst / std::max(model.waits[0].ratio, ldst));
  model.traffic = std::min(1.0, std::max(unit_busy, figures.memory_utilisation));
  return model;
}

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

std::map<std::string, std::vector<SliceOverhead>> measure_slices(const KerneletRuns& runs) {
  constexpr std::uint32_t kMostWaves = 64;
  std::map<std::string, std::vector<SliceOverhead>> slices;
  std::map<std::string, double> shorter;  // cycles of half as many waves
  std::vector<KernelDescriptor> kernels = runs.workload.kernels;
  for (std::uint32_t waves = 1; waves <= 2 * kMostWaves && !kernels.empty(); waves *= 2) {
    std::vector<NamedRun> wanted;
    for (KernelDescriptor kernel : kernels) {
      const std::uint32_t wave = occupancy(kernel.demand(), runs.machine.sm.capacity).value() * runs.machine.num_sms;
      kernel.grid_ctas = waves * wave;
      NamedRun& run = wanted.emplace_back();
      run.name = fmt::format("slice-{}-{}", kernel.name, waves);
      run.fingerprint = fmt::format("{}{} seed {}", runs.machine_text, format_workload({"", {kernel}}, ""), runs.seed);
      run.spec = launch_spec(runs.machine, kernel, runs.seed);
    }
    const std::vector<RunResult> results = run_all(wanted, runs.store, runs.jobs, "slices");
    std::vector<KernelDescriptor> longer;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const auto cycles = static_cast<double>(results[i].kernels.front().finish_cycle);
      std::vector<SliceOverhead>& own = slices[kernels[i].name];
      if (waves > 1) {
        const double before = shorter.at(kernels[i].name);
        own.push_back({wanted[i].spec.launches.front().kernel.grid_ctas / 2, before / (cycles - before) - 1});
      }
      shorter[kernels[i].name] = cycles;
      if (!shortest_slice(own)) longer.push_back(kernels[i]);
    }
    kernels = std::move(longer);
  }
  return slices;
}

KerneletMeasurements measure_co_runs(const KerneletRuns& runs) {
  const std::vector<KernelDescriptor>& kernels = runs.workload.kernels;
  std::vector<NamedRun> wanted;
  for (const KernelDescriptor& k : kernels)
    for (CtaCount ctas(1); fits(k.demand(), runs.machine.sm.capacity, ctas); ctas += CtaCount(1))
      wanted.push_back(counted(runs, {k}, {ctas}));
  const std::size_t first_pair = wanted.size();
  struct Pair {
    std::size_t a, b;
    std::array<CtaCount, 2> ctas;
  };
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < kernels.size(); ++a)
    for (std::size_t b = 0; b < kernels.size(); ++b)
      if (kernels[a].name < kernels[b].name)
        for (const auto& ctas : slice_ratios(kernels[a].demand(), kernels[b].demand(), runs.machine.sm.capacity)) {
          pairs.push_back({a, b, ctas});
          wanted.push_back(counted(runs, {kernels[a], kernels[b]}, {ctas[0], ctas[1]}));
        }
  const std::vector<RunResult> results = run_all(wanted, runs.store, runs.jobs, "pairs");

  KerneletMeasurements measured;
  auto& [tables, curves, slices] = measured;
  slices = measure_slices(runs);
  std::vector<MarkovKernel> models;
  auto next = results.begin();
  for (const KernelDescriptor& k : kernels) {
    const Alone alone(next, next + occupancy(k.demand(), runs.machine.sm.capacity).value());
    next += static_cast<std::ptrdiff_t>(alone.size());
    CoRunKernel& figures = tables.executed.kernels[k.name] = figures_of(k, alone.back(), runs.machine);
    models.push_back(model_of(k, alone, figures, runs.machine));
    for (const RunResult& run : alone) curves[k.name].push_back(sm_ipc(run, 0, runs.machine));
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const RunResult& r = results[first_pair + i];
    tables.executed.pairs[{kernels[pairs[i].a].name, kernels[pairs[i].b].name}].push_back(
        {pairs[i].ctas, {sm_ipc(r, 0, runs.machine), sm_ipc(r, 1, runs.machine)}});
  }
  tables.predicted = predicted_co_runs(kernels, models, tables.executed.kernels, runs.machine);
  return measured;
}

std::vector<figures::PairPoint> pair_points(const CoRunTables& tables, const MachineConfig& machine) {
  std::vector<figures::PairPoint> points;
  for (const auto& [names, executed] : tables.executed.pairs) {
    const std::vector<CoRun>& predicted = tables.predicted.pairs.at(names);
    std::size_t chosen = 0;
    double most = -1e9;
    const auto profit = [&first = names.first, &second = names.second](const CoRunTable& table, const CoRun& run) {
      return co_scheduling_profit(run.ipc, std::array{table.kernels.at(first).ipc, table.kernels.at(second).ipc});
    };
    for (std::size_t i = 0; i < executed.size(); ++i) {
      const double peak = machine.sm.schedulers;
      points.push_back({names.first,
                        names.second,
                        {executed[i].ctas[0].value(), executed[i].ctas[1].value()},
                        (predicted[i].ipc[0] + predicted[i].ipc[1]) / peak,
                        (executed[i].ipc[0] + executed[i].ipc[1]) / peak,
                        profit(tables.predicted, predicted[i]),
                        profit(tables.executed, executed[i]),
                        false});
      if (points.back().predicted_profit > most) {
        most = points.back().predicted_profit;
        chosen = points.size() - 1;
      }
    }
    points[chosen].chosen = true;
  }
  return points;
}

std::vector<double> monte_carlo(const Scenario& scenario, const ScheduleTarget& target, const CoRunTables& tables,
                                unsigned schedules, unsigned jobs) {
  std::vector<double> seconds(schedules);
  std::vector<std::future<void>> workers;
  for (unsigned worker = 0; worker < jobs; ++worker)
    workers.push_back(std::async(std::launch::async, [&, worker] {
      for (unsigned i = worker; i < schedules; i += jobs) {
        const ScheduleRun run = schedule_on_fake(scenario, target, "monte_carlo", {}, {tables, i + 1});
        seconds[i] = std::chrono::duration<double>(run.makespan).count();
      }
    }));
  for (std::future<void>& worker : workers) worker.get();
  return seconds;
}

std::vector<figures::PruningPoint> pruning_points(const CoRunTables& tables, const KerneletRuns& runs) {
  std::vector<CandidateKernel> kernels;
  for (const KernelDescriptor& k : runs.workload.kernels) kernels.push_back({k.name, k.demand()});
  std::vector<figures::PruningPoint> points;
  for (const double issue : {0.0, 0.1, 0.2, 0.4, 0.8})
    for (const double memory : {0.05, 0.1, 0.2, 0.4}) {
      CoScheduleRules rules{runs.machine.sm.capacity, runs.machine.num_sms};
      rules.issue_threshold = issue;
      rules.memory_threshold = memory;
      rules.price_pruning = true;
      const CoScheduleChoice choice = find_co_schedule(kernels, tables.predicted, rules);
      points.push_back({issue, memory, choice.pairs, choice.pruned, choice.lost_profit.value_or(0)});
      if (issue == 0) break;  // nothing is pruned, whatever the other threshold
    }
  return points;
}

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
