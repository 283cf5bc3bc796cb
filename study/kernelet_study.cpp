// SPDX-License-Identifier: Apache-2.0
#include "study/kernelet_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>

#include "study/launch_fit.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "study/slate_profiles.h"
#include "sw/core/errors.h"
#include "sw/partition/markov_fit.h"
#include "sw/policy/co_schedule.h"
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
    const std::vector<RunResult> results = run_all(wanted, runs.runs_folder, runs.jobs, "slices");
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
  const std::vector<RunResult> results = run_all(wanted, runs.runs_folder, runs.jobs, "pairs");

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

}  // namespace sluice
