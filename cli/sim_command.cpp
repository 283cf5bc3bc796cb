// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sluice_provenance.h>

#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "study/run_cache.h"
#include "study/run_pool.h"
#include "study/run_specs.h"
#include "study/waveform_file.h"
#include "sw/policy/names.h"
#include "sw/policy/registry.h"
#include "sw/report/eval_results.h"
#include "sw/report/summary.h"
#include "sw/report/timelines.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "systemc/model_device.h"

namespace sluice::cli {

namespace {

struct SimOptions : CommonOptions {
  std::string kernels, policy = kWarpedSlicer, ctas, fst, timeline;
  double monitor = -1;  ///< negative: as the machine says
  bool whole = false;
  std::uint32_t sample = 1;
};

/// Each kernel's grid once, in place of a window and of instruction counts.
RunSpec whole(RunSpec spec, std::uint32_t sample) {
  for (KernelLaunch& launch : spec.launches) launch.once = true;
  spec.window = Cycles(0);
  spec.sample = sample;
  return spec;
}

RunResult run_with(std::optional<WaveformFile>& waveform, const RunSpec& spec) {
  try {
    RunResult result = run_one(spec).result;
    if (waveform) waveform->keep();
    return result;
  } catch (const SystemError&) {
    if (waveform) waveform->explain();
    throw;
  }
}

int run(const SimOptions& options) {
  MachineConfig machine = read_machine(options.machine_file);
  if (options.monitor >= 0) machine.partitioner.monitor_threshold = options.monitor;
  Workload workload = read_workload(options.workload_file);
  set_balance(options.balance, machine, workload.kernels);
  const std::vector<Mix> mixes = parse_mixes(workload, machine, options.kernels);
  if (mixes.size() != 1) throw InputError(fmt::format("--kernels {}: one mix, e.g. IMG_NN", options.kernels));
  const Mix& mix = mixes.front();
  if (policy_row(options.policy).needs == PolicyNeeds::Search)
    throw InputError(fmt::format("policy {}: runs many simulations: use sluice eval", options.policy));
  const PolicyPlan plan =
      policy_plans(options.policy, machine, mix.kernels, parse_counts(options.ctas, {options.policy})).front();
  check_partitioner(machine, options.kind(), mix.kernels.size());
  for (const std::string& file : {options.fst, options.timeline}) {
    if (!file.empty()) check_writable(std::filesystem::absolute(file).parent_path());
  }
  if (!options.fst.empty() && options.kind() == PartitionerKind::Twin)
    throw InputError(fmt::format("--fst {}: the twin has no waveform: use --partitioner rtl or both", options.fst));
  std::optional<WaveformFile> waveform;
  if (!options.fst.empty()) waveform.emplace(options.fst);
  std::vector<std::uint64_t> targets;
  std::vector<Cycles> alone(mix.kernels.size(), Cycles(options.window));
  for (const KernelDescriptor& kernel : mix.kernels) {
    const RunSpec solo = solo_spec(machine, kernel, options.window, options.seed);
    const RunResult result = run_one(options.whole ? whole(solo, options.sample) : solo).result;
    targets.push_back(options.whole ? 0 : result.total.warp_instructions);
    if (options.whole)
      alone[targets.size() - 1] = result.cycles;
    else if (targets.back() == 0)
      throw InputError(
          fmt::format("kernel {}: issues nothing within {} cycles: take a longer --window", kernel.name, options.window));
  }
  RunSpec spec = mix_spec(machine, mix.kernels, plan, targets, options.kind(), options.seed);
  if (options.whole) spec = whole(std::move(spec), options.sample);
  if (waveform) spec.fst_file = waveform->scratch();
  spec.timeline_file = options.timeline;
  const RunResult result = run_with(waveform, spec);
  EvalResults results;
  results.runs.push_back(make_eval_run({mix.kernel_names(), mix.category, options.policy, options.partitioner, plan.partition, 0},
                                       machine, result, alone));
  const EvalRun& entry = results.runs.front();
  if (options.timeline.ends_with(".json"))
    write_timeline_page(options.timeline, entry,
                        {{"version", SLUICE_VERSION},
                         {"commit", SLUICE_COMMIT},
                         {"machine", machine.name},
                         {"workload", std::filesystem::path(options.workload_file).stem().string()},
                         {"window_cycles", options.window},
                         {"policy", options.policy},
                         {"partitioner", options.partitioner},
                         {"seed", options.seed}});
  if (options.json) {
    nlohmann::json json = to_json(results).at("runs").at(0);
    for (std::size_t k = 0; k < result.sampled.size(); ++k)
      json["per_kernel"][k]["sampled"] = {{"ctas", result.sampled[k].ctas}, {"cycles_interval", result.sampled[k].interval}};
    fmt::print("{}\n", json.dump());
    return 0;
  }
  fmt::print("{} under {} ({}): {} {}\n", mix.name(), options.policy, options.partitioner, layout_name(entry.partition.mode),
             partition_label(entry.partition));
  fmt::print("  {} cycles, IPC {:.1f}, STP {:.3f}, ANTT {:.3f}, minimum speed-up {:.3f}\n", entry.cycles, entry.ipc, entry.stp,
             entry.antt, entry.min_speedup);
  fmt::print(
      "  utilisation: ALU {:.0f} %, SFU {:.0f} %, LDST {:.0f} %, registers {:.0f} %; L1 misses {:.1f} %, L2 misses {:.1f} %\n",
      100 * entry.utilization.alu, 100 * entry.utilization.sfu, 100 * entry.utilization.ldst, 100 * entry.utilization.registers,
      100 * entry.l1_miss_rate, 100 * entry.l2_miss_rate);
  for (const KernelOutcome& k : entry.per_kernel)
    fmt::print("  {} done at cycle {}, speed-up {:.3f}\n", k.name, k.finish_cycle, k.speedup);
  print_sampled(result, [&](std::size_t k) { return mix.kernels[k]; });
  for (const DecisionRecord& d : entry.decisions)
    fmt::print("  decided at cycle {}: {}\n", d.decided_at, partition_label(d.partition));
  return 0;
}

}  // namespace

void add_sim_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<SimOptions>();
  CLI::App* command = app.add_subcommand("sim", "Run one mix on the SystemC GPU model");
  options->add_files(*command);
  options->add_balance(*command);
  options->add_run(*command);
  options->add_json(*command);
  command->add_flag("--whole", options->whole, "each kernel's whole grid, once, in place of a window")->excludes("--window");
  SimOptions::add_sample(*command, options->sample)->needs("--whole");
  command->add_option("--kernels", options->kernels, "the mix, e.g. IMG_NN")->required();
  command->add_option("--policy", options->policy, policy_names())->capture_default_str();
  command->add_option("--ctas", options->ctas, "policy static: CTAs of each kernel per SM, e.g. 3,2");
  command
      ->add_option(
          "--monitor", options->monitor,
          "phase monitor: profile again when a kernel's instructions move by more than this share of the reference; 0 = off "
          "(default: monitor_threshold of the machine)")
      ->check(CLI::Range(0.0, 1.99));
  command->add_option("--fst", options->fst, "waveform of the partition unit (partitioner rtl)");
  command
      ->add_option(
          "--timeline", options->timeline,
          "Chrome trace of the CTAs on every SM (1 us = 1 cycle); of FILE.json also a page FILE.html and a picture FILE.svg")
      ->excludes("--sample");  // its cycles are not the whole's
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
