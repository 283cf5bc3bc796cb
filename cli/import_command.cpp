// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "study/calibration.h"
#include "study/run_cache.h"
#include "study/run_pool.h"
#include "study/run_specs.h"
#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/trace/trace_import.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/ncu_import.h"
#include "sw/workload/source_page.h"
#include "sw/workload/workload_file.h"
#include "systemc/model_device.h"

namespace sluice::cli {

namespace {

struct ImportOptions {
  std::string csv, source, out, cut, machine;
  std::uint64_t window = 200000;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  bool json = false;
};

/// A kernel as measured and as the model runs it.
struct Comparison {
  const KernelDescriptor* kernel = nullptr;
  SoloReference model;                  ///< utilisations; cycles of the whole grid
  std::uint64_t warp_instructions = 0;  ///< that the model issued
  bool extrapolated = false;            ///< the window ended first: cycles scaled by the instructions that are left

  [[nodiscard]] double cycle_error() const {
    return static_cast<double>(model.cycles) / static_cast<double>(kernel->reference->cycles) - 1;
  }
};

/// Runs one grid of every kernel alone.
std::vector<Comparison> compare(const Workload& workload, const MachineConfig& machine, const ImportOptions& options) {
  std::vector<RunSpec> specs;
  for (const KernelDescriptor& kernel : workload.kernels) {
    check_fits(machine, kernel);
    RunSpec spec = solo_spec(machine, kernel, options.window, 1);
    spec.launches.front().once = true;
    specs.push_back(std::move(spec));
  }
  std::vector<Comparison> comparisons(specs.size());
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, options.jobs);
  const bool finished = pool.run(specs, [&](std::size_t i, const RunResult& result, const HostCost&) {
    const KernelDescriptor& kernel = workload.kernels[i];
    Comparison& c = comparisons[i];
    c.kernel = &kernel;
    c.model = measure_solo(result, machine);
    c.warp_instructions = result.total.warp_instructions;
    const double all = kernel.program
                           ? kernel.reference->instructions / kWarpSize
                           : static_cast<double>(kernel.grid_ctas) * kernel.warps_per_cta() * kernel.behaviour.warp_instructions;
    const auto issued = static_cast<double>(c.warp_instructions);
    c.extrapolated = result.kernels.front().finish_cycle == 0;
    if (issued == 0)
      throw InputError(
          fmt::format("kernel {}: issues nothing within {} cycles: take a longer --window", kernel.name, options.window));
    c.model.cycles = c.extrapolated ? static_cast<std::uint64_t>(static_cast<double>(result.cycles.value()) * all / issued)
                                    : result.cycles.value();
  });
  if (!finished) throw Interrupted("interrupted: nothing was written");
  return comparisons;
}

nlohmann::json comparison_json(const Comparison& c) {
  const SoloReference& measured = *c.kernel->reference;
  const auto figures = [](const SoloReference& r) {
    return nlohmann::json{{"cycles", r.cycles},
                          {"alu_utilization", r.alu_utilization},
                          {"sfu_utilization", r.sfu_utilization},
                          {"ldst_utilization", r.ldst_utilization}};
  };
  return {{"kernel", c.kernel->name},
          {"measured", figures(measured)},
          {"modelled", figures(c.model)},
          {"warp_instructions", {{"measured", measured.instructions / kWarpSize}, {"modelled", c.warp_instructions}}},
          {"extrapolated", c.extrapolated},
          {"error",
           {{"cycles", c.cycle_error()},
            {"alu_utilization", c.model.alu_utilization - measured.alu_utilization},
            {"sfu_utilization", c.model.sfu_utilization - measured.sfu_utilization},
            {"ldst_utilization", c.model.ldst_utilization - measured.ldst_utilization}}}};
}

int print_comparison(const std::vector<Comparison>& comparisons, bool json) {
  if (json) {
    nlohmann::json out = nlohmann::json::array();
    for (const Comparison& c : comparisons) out.push_back(comparison_json(c));
    fmt::print("{}\n", out.dump());
    return 0;
  }
  fmt::print("{:<26}{:>12}{:>12}{:>9}{:>16}{:>16}{:>16}\n", "kernel", "measured", "modelled", "error", "ALU %", "SFU %",
             "LDST %");
  for (const Comparison& c : comparisons) {
    const SoloReference& m = *c.kernel->reference;
    const auto pair = [](double measured, double model) { return fmt::format("{:.0f} / {:.0f}", 100 * measured, 100 * model); };
    fmt::print("{:<26}{:>12}{:>11}{}{:>+8.0f}%{:>16}{:>16}{:>16}\n", c.kernel->name, m.cycles, c.model.cycles,
               c.extrapolated ? "*" : " ", 100 * c.cycle_error(), pair(m.alu_utilization, c.model.alu_utilization),
               pair(m.sfu_utilization, c.model.sfu_utilization), pair(m.ldst_utilization, c.model.ldst_utilization));
  }
  fmt::print("measured / modelled; * the window ended before the grid did: cycles scaled by the instructions left\n");
  return 0;
}

/// Writes the page of the programs beside the workload `out`, which names it.
void write_programs(Workload& workload, const std::filesystem::path& out) {
  const std::filesystem::path page = std::filesystem::path(out).replace_extension(".source.csv");
  std::vector<KernelProgram> programs;
  for (KernelDescriptor& kernel : workload.kernels) {
    programs.push_back(*kernel.program);
    programs.back().file = page.filename().string();
    kernel.program = std::make_shared<KernelProgram>(programs.back());
  }
  write_file_atomically(page, format_source_page(programs));
}

int run(const ImportOptions& options) {
  Workload workload = options.source.empty() ? import_ncu(options.csv) : import_ncu(options.csv, options.source);
  const std::optional<MachineConfig> machine =  // refused before anything is written
      options.machine.empty() ? std::nullopt : std::optional(read_machine(options.machine));
  if (!options.cut.empty()) write_file_atomically(options.cut, cut_ncu(options.csv));
  if (!options.out.empty()) {
    if (!options.source.empty()) write_programs(workload, options.out);
    write_file_atomically(
        options.out,
        format_workload(workload,
                        fmt::format("Made by: sluice import ncu {}{} --out {}\nFormulas: docs/user/workloads.md.", options.csv,
                                    options.source.empty() ? "" : " --source " + options.source, options.out)));
  }
  if (machine) return print_comparison(compare(workload, *machine, options), options.json);
  nlohmann::json out = nlohmann::json::array();
  if (!options.json)
    fmt::print("{:<26}{:<10}{:>10}{:>8}{:>10}{:>8}{:>8}{:>8}{:>8}{:>10}\n", "kernel", "type", "grid", "block", "registers",
               "load%", "store%", "shared%", "SFU%", "L2 MPKI");
  for (const KernelDescriptor& k : workload.kernels) {
    const KernelBehaviour& b = k.behaviour;
    if (options.json) {
      out.push_back({{"kernel", k.name},
                     {"full_name", k.full_name},
                     {"type", to_string(k.type)},
                     {"grid_ctas", k.grid_ctas},
                     {"block_threads", k.block_threads},
                     {"registers_per_cta", k.registers_per_cta},
                     {"shared_bytes_per_cta", k.shared_bytes_per_cta},
                     {"warp_instructions", b.warp_instructions},
                     {"l2_mpki", k.reference->l2_mpki}});
    } else {
      fmt::print("{:<26}{:<10}{:>10}{:>8}{:>10}{:>8.1f}{:>8.1f}{:>8.1f}{:>8.1f}{:>10.1f}\n", k.name, to_string(k.type),
                 k.grid_ctas, k.block_threads, k.registers_per_cta, 100 * b.load_fraction, 100 * b.store_fraction,
                 100 * b.shared_fraction, 100 * b.sfu_fraction, k.reference->l2_mpki);
    }
  }
  if (options.json) fmt::print("{}\n", out.dump());
  return 0;
}

struct TraceOptions {
  std::vector<std::string> folders;
  std::string like, machine = "configs/machines/fermi_table1.toml", out;
  bool like_geometry = false;
};

int run_traces(const TraceOptions& options) {
  const std::filesystem::path out = options.out;
  Workload workload = import_traces({options.folders.begin(), options.folders.end()}, read_workload(options.like),
                                    read_machine(options.machine).sm.register_unit,
                                    options.like_geometry ? TraceGeometry::Like : TraceGeometry::Recorded);
  workload.name = out.stem().string();
  for (KernelDescriptor& kernel : workload.kernels)
    kernel.trace->file = std::filesystem::proximate(kernel.trace->path, std::filesystem::absolute(out).parent_path()).string();
  write_file_atomically(
      out, format_workload(workload, fmt::format("Made by: sluice import traces\n  {}\n  --like {}{} --machine {} --out {}",
                                                 fmt::join(options.folders, "\n  "), options.like,
                                                 options.like_geometry ? " --like-geometry" : "", options.machine, options.out)));
  fmt::print("{:<10}{:>10}{:>8}{:>12}{:>10}{:>16}\n", "kernel", "grid", "block", "registers", "shared", "a warp executes");
  for (const KernelDescriptor& k : workload.kernels)
    fmt::print("{:<10}{:>10}{:>8}{:>12}{:>10}{:>16}\n", k.name, k.grid_ctas, k.block_threads, k.registers_per_cta,
               k.shared_bytes_per_cta, k.behaviour.warp_instructions);
  return 0;
}

}  // namespace

void add_import_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand("import", "Workloads from a profiler's export, or from recordings");
  command->require_subcommand(1);
  CLI::App* ncu = command->add_subcommand("ncu", "the raw page of an Nsight Compute CSV");
  ncu->add_option("csv", options->csv, "the exported file")->required();
  ncu->add_option("--source", options->source,
                  "the source page of the same launches: kernels run its program, not a mix (with --out: FILE.source.csv too)");
  ncu->add_option("--out", options->out, "write the workload here (TOML)");
  ncu->add_option("--cut", options->cut, "write the page here with only the columns that are used");
  ncu->add_option("--machine", options->machine,
                  "run every kernel once on this machine: measured and modelled cycles and utilisations");
  ncu->add_option("--window", options->window, "with --machine: cycles of each run at most")
      ->capture_default_str()
      ->check(CLI::Range(1000, 1000000000));
  ncu->add_option("--jobs", options->jobs, "with --machine: simulations at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  ncu->add_flag("--json", options->json, "result as JSON on standard output");
  auto traces = std::make_shared<TraceOptions>();
  CLI::App* trace =
      command->add_subcommand("traces", "recordings, as a workload: a folder of `sluice gpu record` for each kernel");
  trace->add_option("folders", traces->folders, "each named as a kernel of --like, with a kernelslist.g of one kernel")
      ->required();
  trace->add_option("--like", traces->like, "workload that gives full names, types and published figures")->required();
  trace->add_flag(
      "--like-geometry", traces->like_geometry,
      "grid, registers and shared memory are those of --like; its CTAs must have as many threads as the recorded ones");
  trace->add_option("--machine", traces->machine, "its register unit rounds a warp's registers")->capture_default_str();
  trace->add_option("--out", traces->out, "write the workload here (TOML); it names the traces where they lie")->required();
  trace->callback([traces, &action] { action = [traces] { return run_traces(*traces); }; });
  ncu->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
