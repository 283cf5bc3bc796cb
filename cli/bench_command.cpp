// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common.h"
#include "study/run_pool.h"
#include "study/trace_run.h"
#include "sw/trace/trace_reference.h"
#include "sw/workload/machine_file.h"

namespace sluice::cli {

namespace {

namespace fs = std::filesystem;

struct BenchOptions : CommonOptions {
  std::string traces, reference;
  unsigned repeat = 1;
};

struct BenchRun {
  std::string trace;
  std::uint32_t max_ctas = 0;
  MeasuredRun measured;  ///< the fastest repetition
  const TraceReference* reference = nullptr;

  /// Time against the reference's time, whatever the two clocks: 0 = equal.
  [[nodiscard]] double error(double core_mhz) const {
    return static_cast<double>(measured.result.cycles.value()) / core_mhz / (reference->cycles / reference->core_mhz) - 1;
  }
};

/// Folders of `root` that hold a kernelslist.g, by name.
std::vector<std::string> trace_folders(const fs::path& root) {
  std::vector<std::string> names;
  if (!fs::is_directory(root)) throw InputError(fmt::format("{}: no such folder", root.string()));
  for (const auto& entry : fs::directory_iterator(root)) {
    if (fs::exists(entry.path() / "kernelslist.g")) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  if (names.empty()) throw InputError(fmt::format("{}: no folder with a kernelslist.g in it", root.string()));
  return names;
}

BenchRun measure(const BenchOptions& options, const MachineConfig& machine, const std::string& trace, std::uint32_t max_ctas) {
  BenchRun run{trace, max_ctas, {}, nullptr};
  TraceRunOptions how;
  how.max_ctas = max_ctas;
  const RunSpec spec = trace_spec({fs::path(options.traces) / trace / "kernelslist.g"}, machine, how);
  for (unsigned i = 0; i < options.repeat; ++i) {
    const MeasuredRun once = run_one(spec);
    if (i == 0 || once.cost.cpu_seconds < run.measured.cost.cpu_seconds) run.measured = once;
  }
  return run;
}

nlohmann::json to_json(const BenchRun& run, const MachineConfig& machine) {
  const double seconds = run.measured.cost.cpu_seconds;
  const RunResult& result = run.measured.result;
  nlohmann::json out = {{"trace", run.trace},
                        {"max_ctas", run.max_ctas},
                        {"cycles", result.cycles.value()},
                        {"warp_instructions", result.total.warp_instructions},
                        {"cpu_seconds", seconds},
                        {"warp_instructions_per_second", static_cast<double>(result.total.warp_instructions) / seconds},
                        {"cycles_per_second", static_cast<double>(result.cycles.value()) / seconds},
                        {"peak_rss_mib", run.measured.cost.peak_rss_mib}};
  if (run.reference != nullptr) {
    out["reference"] = {
        {"cycles", run.reference->cycles}, {"core_mhz", run.reference->core_mhz}, {"cycle_error", run.error(machine.core_mhz)}};
    if (run.reference->cpu_seconds_low > 0)
      out["reference"]["speed_ratio"] = {run.reference->cpu_seconds_low / seconds, run.reference->cpu_seconds_high / seconds};
  }
  return out;
}

std::string reference_text(const BenchRun& run, const MachineConfig& machine) {
  if (run.reference == nullptr) return "";
  std::string text = fmt::format("{:+.1f} %", 100 * run.error(machine.core_mhz));
  if (run.reference->cpu_seconds_low > 0)
    text += fmt::format(", {:.0f} to {:.0f} times its speed", run.reference->cpu_seconds_low / run.measured.cost.cpu_seconds,
                        run.reference->cpu_seconds_high / run.measured.cost.cpu_seconds);
  return text;
}

int run(const BenchOptions& options) {
  const MachineConfig machine = read_machine(options.machine_file);
  std::vector<TraceReference> references;
  if (!options.reference.empty()) references = read_trace_reference(options.reference);
  const std::vector<std::string> traces = trace_folders(options.traces);
  for (const std::string& trace : traces) (void)trace_spec({fs::path(options.traces) / trace / "kernelslist.g"}, machine, {});
  std::vector<BenchRun> runs;
  for (const std::string& trace : traces) {
    runs.push_back(measure(options, machine, trace, 0));
    for (const TraceReference& reference : references) {
      if (reference.trace != trace) continue;
      if (reference.max_ctas != 0) runs.push_back(measure(options, machine, trace, reference.max_ctas));
      for (BenchRun& run : runs) {
        if (run.trace == trace && run.max_ctas == reference.max_ctas) run.reference = &reference;
      }
    }
  }
  double seconds = 0, cycles = 0, instructions = 0, peak = 0;
  for (const BenchRun& run : runs) {
    if (run.max_ctas != 0) continue;
    seconds += run.measured.cost.cpu_seconds;
    cycles += static_cast<double>(run.measured.result.cycles.value());
    instructions += static_cast<double>(run.measured.result.total.warp_instructions);
    peak = std::max(peak, run.measured.cost.peak_rss_mib);
  }
  if (options.json) {
    nlohmann::json out = {{"machine", machine.name},
                          {"core_mhz", machine.core_mhz},
                          {"suite",
                           {{"cpu_seconds", seconds},
                            {"cycles_per_second", cycles / seconds},
                            {"warp_instructions_per_second", instructions / seconds},
                            {"peak_rss_mib", peak}}},
                          {"runs", nlohmann::json::array()}};
    for (const BenchRun& run : runs) out["runs"].push_back(to_json(run, machine));
    fmt::print("{}\n", out.dump());
    return 0;
  }
  fmt::print("{:<18} {:>5} {:>9} {:>12} {:>8} {:>10} {:>9} {:>6}  {}\n", "trace", "limit", "cycles", "instructions", "CPU s",
             "k instr/s", "cycles/s", "MiB", "against the reference");
  for (const BenchRun& run : runs) {
    const double s = run.measured.cost.cpu_seconds;
    const RunResult& r = run.measured.result;
    fmt::print("{:<18} {:>5} {:>9} {:>12} {:>8.2f} {:>10.0f} {:>9.0f} {:>6.0f}  {}\n", run.trace,
               run.max_ctas == 0 ? "" : std::to_string(run.max_ctas), r.cycles.value(), r.total.warp_instructions, s,
               static_cast<double>(r.total.warp_instructions) / s / 1e3, static_cast<double>(r.cycles.value()) / s,
               run.measured.cost.peak_rss_mib, reference_text(run, machine));
  }
  fmt::print("suite without limits: {:.2f} CPU seconds, {:.0f} cycles/s, {:.0f} k warp instructions/s, {:.0f} MiB at most\n",
             seconds, cycles / seconds, instructions / seconds / 1e3, peak);
  return 0;
}

}  // namespace

void add_bench_command(CLI::App& app, Action& action) {
  CLI::App* bench = app.add_subcommand("bench", "Benchmarks: how fast the models and the hardware are");
  bench->require_subcommand(1);
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = bench->add_subcommand("model", "Speed and memory of the GPU model on every trace list of a folder");
  command->add_option("--traces", options->traces, "folder of folders with a kernelslist.g each")->required();
  options->machine_file = "configs/machines/fermi_accelsim.toml";
  command->add_option("--machine", options->machine_file, "machine description (TOML)")->capture_default_str();
  command->add_option("--reference", options->reference,
                      "cycles and CPU seconds of another simulator (CSV), e.g. data/accelsim_traces.csv");
  command->add_option("--repeat", options->repeat, "runs of each trace; the fastest counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  options->add_json(*command);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
  add_bench_rtl_command(*bench, action);
  add_bench_service_command(*bench, action);
}

}  // namespace sluice::cli
