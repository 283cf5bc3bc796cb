// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common.h"
#include "study/calibration.h"
#include "study/run_cache.h"
#include "study/run_pool.h"
#include "study/run_specs.h"
#include "sw/io/atomic_file.h"
#include "sw/io/progress.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"
#include "systemc/model_device.h"

namespace sluice::cli {

namespace {

struct CalibrateOptions : CommonOptions {
  std::string out;
  unsigned steps = 24;
  std::uint64_t fit_window = 300000;
};

std::vector<RunResult> measure(const std::vector<KernelDescriptor>& kernels, const MachineConfig& machine, std::uint64_t window,
                               const CalibrateOptions& options) {
  std::vector<RunSpec> specs;
  for (const KernelDescriptor& k : kernels)
    specs.push_back(k.launch_reference ? launch_spec(machine, k, options.seed) : solo_spec(machine, k, window, options.seed));
  std::vector<RunResult> results(kernels.size());
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, options.jobs);
  if (!pool.run(specs, [&](std::size_t i, const RunResult& r, const HostCost&) { results[i] = r; })) {
    throw Interrupted("interrupted: nothing was written");
  }
  return results;
}

double distance(const KernelDescriptor& kernel, const RunResult& result, const MachineConfig& machine) {
  return kernel.launch_reference ? launch_distance(measure_launch(result, machine), *kernel.launch_reference)
                                 : fit_distance(compare_solo(measure_solo(result, machine), *kernel.reference));
}

KernelDescriptor step(const KernelDescriptor& kernel, const RunResult& result, const MachineConfig& machine, double damping) {
  return kernel.launch_reference ? launch_step(kernel, measure_launch(result, machine), damping)
                                 : calibration_step(kernel, measure_solo(result, machine), damping);
}

void print_limits(const Workload& workload, const std::vector<RunResult>& results, const MachineConfig& machine) {
  fmt::print("\n{:<10}{:>8}{:>7}{:>7}{:>10}{:>8}{:>14}{:>8}  {}\n", "kernel", "issue %", "ALU %", "SFU %", "lookups %", "held %",
             "crossbar %", "DRAM %", "limit");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const SoloLimits l = measure_limits(results[i], machine);
    fmt::print("{:<10}{:>8.0f}{:>7.0f}{:>7.0f}{:>10.0f}{:>8.0f}{:>8.0f} of{:>3.0f}{:>8.0f}  {}\n", workload.kernels[i].name,
               100 * l.issue, 100 * l.alu, 100 * l.sfu, 100 * l.lookups, 100 * l.held, 100 * l.interconnect,
               100 * l.interconnect_max, 100 * l.dram, l.limit);
  }
}

void print_launches(const Workload& workload, const std::vector<RunResult>& results, const MachineConfig& machine, bool as_json) {
  nlohmann::json out = nlohmann::json::array();
  if (!as_json)
    fmt::print("{:<10}{:>24}{:>26}\n{:<10}{:>24}{:>26}\n", "kernel", "one launch, ms", "issue slots used, %", "",
               "model published", "model published");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const LaunchReference model = measure_launch(results[i], machine), &published = *workload.kernels[i].launch_reference;
    const double time_error = model.milliseconds / published.milliseconds - 1;
    out.push_back({{"kernel", workload.kernels[i].name},
                   {"time_ms", model.milliseconds},
                   {"time_error", time_error},
                   {"issue_utilization", model.issue_utilization},
                   {"issue_error", model.issue_utilization - published.issue_utilization},
                   {"limit", measure_limits(results[i], machine).limit}});
    if (!as_json)
      fmt::print("{:<10}{:>8.4f}{:>8.4f} {:>+6.1f}%{:>10.1f}{:>8.1f} {:>+6.1f}\n", workload.kernels[i].name, model.milliseconds,
                 published.milliseconds, 100 * time_error, 100 * model.issue_utilization, 100 * published.issue_utilization,
                 100 * (model.issue_utilization - published.issue_utilization));
  }
  if (as_json)
    fmt::print("{}\n", out.dump());
  else
    print_limits(workload, results, machine);
}

void print_fit(const Workload& workload, const std::vector<RunResult>& results, const MachineConfig& machine, bool as_json) {
  nlohmann::json out = nlohmann::json::array();
  if (!as_json) {
    fmt::print("{:<10}{:>22}{:>14}{:>14}{:>14}{:>18}\n", "kernel", "instructions / cycle", "ALU %", "SFU %", "LDST %", "L2 MPKI");
    fmt::print("{:<10}{:>22}{:>14}{:>14}{:>14}{:>18}\n", "", "model published", "model publ.", "model publ.", "model publ.",
               "model published");
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const SoloFit fit = compare_solo(measure_solo(results[i], machine), *workload.kernels[i].reference);
    const double model_rate = fit.model.instructions / static_cast<double>(fit.model.cycles);
    const double published_rate = fit.published.instructions / static_cast<double>(fit.published.cycles);
    if (as_json) {
      const SoloLimits l = measure_limits(results[i], machine);
      out.push_back({{"kernel", workload.kernels[i].name},
                     {"instructions_error", fit.instructions_error},
                     {"alu_error", fit.alu_error},
                     {"sfu_error", fit.sfu_error},
                     {"ldst_error", fit.ldst_error},
                     {"mpki_error", fit.mpki_error},
                     {"mpki_absolute_error", fit.mpki_absolute_error},
                     {"issue", l.issue},
                     {"lookups", l.lookups},
                     {"held", l.held},
                     {"interconnect", l.interconnect},
                     {"interconnect_max", l.interconnect_max},
                     {"dram", l.dram},
                     {"limit", l.limit}});
      continue;
    }
    fmt::print("{:<10}{:>8.1f}{:>6.1f} {:>+6.1f}%{:>8.0f}{:>6.0f}{:>8.0f}{:>6.0f}{:>8.0f}{:>6.0f}{:>10.1f}{:>8.1f}\n",
               workload.kernels[i].name, model_rate, published_rate, 100 * fit.instructions_error,
               100 * fit.model.alu_utilization, 100 * fit.published.alu_utilization, 100 * fit.model.sfu_utilization,
               100 * fit.published.sfu_utilization, 100 * fit.model.ldst_utilization, 100 * fit.published.ldst_utilization,
               fit.model.l2_mpki, fit.published.l2_mpki);
  }
  if (as_json) {
    fmt::print("{}\n", out.dump());
  } else {
    print_limits(workload, results, machine);
  }
}

int run(const CalibrateOptions& options) {
  const MachineConfig machine = read_machine(options.machine_file);
  Workload workload = read_workload(options.workload_file);
  const bool launches = !workload.kernels.empty() && workload.kernels.front().launch_reference;
  for (const KernelDescriptor& k : workload.kernels) {
    if (launches ? !k.launch_reference : !k.reference)
      throw InputError(fmt::format("{}: kernel {}: kernel.{} is missing: nothing to calibrate against", options.workload_file,
                                   k.name, launches ? "launch_reference" : "reference"));
  }
  if (!options.out.empty()) check_writable(std::filesystem::absolute(options.out).parent_path());
  if (options.steps > 0) {
    std::vector<KernelDescriptor> trial;
    for (const KernelDescriptor& k : workload.kernels)
      trial.push_back(launches ? initial_launch(k, machine) : initial_behaviour(k, machine));
    std::vector<double> best(trial.size(), 1e300);
    Progress progress("calibrate", options.steps);
    for (unsigned n = 0; n < options.steps; ++n) {
      const std::vector<RunResult> results = measure(trial, machine, options.fit_window, options);
      for (std::size_t i = 0; i < trial.size(); ++i) {
        const double found = distance(trial[i], results[i], machine);
        if (found < best[i]) {
          best[i] = found;
          workload.kernels[i] = trial[i];
        }
        trial[i] = step(trial[i], results[i], machine, n < options.steps / 2 ? 1.0 : 0.4);
      }
      progress.done(fmt::format("step {}", n + 1));
    }
  }
  const auto print = launches ? print_launches : print_fit;
  print(workload, measure(workload.kernels, machine, options.window, options), machine, options.json);
  if (!options.out.empty()) {
    write_file_atomically(
        options.out,
        format_workload(
            workload,
            fmt::format("Made by: sluice calibrate --machine {} --workload {} --steps {} --fit-window {} --seed {}\n"
                        "Geometry, resources and reference are published figures; behaviour is fitted to the reference of\n"
                        "each kernel alone, never to a run with others (docs/user/workloads.md).",
                        options.machine_file, options.workload_file, options.steps, options.fit_window, options.seed)));
  }
  return 0;
}

}  // namespace

void add_calibrate_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "Fit each kernel's behaviour to its own published solo figures; print the fit and what limits each");
  options->add_files(*command);
  options->add_run(*command);
  options->add_jobs(*command);
  options->add_json(*command);
  command->add_option("--steps", options->steps, "steps of the fit; 0 only prints how well the workload fits as it is")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000));
  command->add_option("--fit-window", options->fit_window, "cycles of each trial run")
      ->capture_default_str()
      ->check(CLI::Range(1000, 1000000000));
  command->add_option("--out", options->out, "write the fitted workload here");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
