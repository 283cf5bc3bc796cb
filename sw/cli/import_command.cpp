#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "sw/cli/commands.h"
#include "sw/core/errors.h"
#include "sw/report/atomic_file.h"
#include "sw/workload/ncu_import.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct Options {
  std::string csv, out, cut;
  bool json = false;
};

int run(const Options& options) {
  const Workload workload = import_ncu(options.csv);
  if (!options.cut.empty()) write_file_atomically(options.cut, cut_ncu(options.csv));
  if (!options.out.empty()) {
    write_file_atomically(
        options.out, format_workload(workload, fmt::format("Made by: sluice import ncu {} --out {}\nFormulas: docs/workloads.md.",
                                                           options.csv, options.out)));
  }
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

}  // namespace

void add_import_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("import", "Kernel descriptors from a profiler's export");
  command->require_subcommand(1);
  CLI::App* ncu = command->add_subcommand("ncu", "the raw page of an Nsight Compute CSV");
  ncu->add_option("csv", options->csv, "the exported file")->required();
  ncu->add_option("--out", options->out, "write the workload here (TOML)");
  ncu->add_option("--cut", options->cut, "write the page here with only the columns that are used");
  ncu->add_flag("--json", options->json, "result as JSON on standard output");
  ncu->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
