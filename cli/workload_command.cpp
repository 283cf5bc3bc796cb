// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/policy.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct WorkloadOptions : CommonOptions {
  std::string kernels = "A,B";
};

constexpr const char* kNew =
    "Yours: name, grid_ctas, block_threads and registers_per_cta of each kernel, which have no default.\n"
    "Every other key stands here with its default, and may go. docs/user/workloads.md says what they mean.";

int make(const WorkloadOptions& options) {
  if (std::filesystem::exists(options.workload_file)) throw InputError(fmt::format("{}: exists", options.workload_file));
  Workload workload{std::filesystem::path(options.workload_file).stem().string(), {}};
  for (const std::string& name : split_list(options.kernels)) {
    KernelDescriptor& kernel = workload.kernels.emplace_back();
    kernel.name = kernel.full_name = name;
    kernel.grid_ctas = 1000;
    kernel.block_threads = 256;
    kernel.registers_per_cta = 8192;
  }
  write_file_atomically(options.workload_file, format_workload(workload, kNew));
  try {
    (void)read_workload(options.workload_file);
  } catch (const InputError& error) {  // names that a workload can't have
    std::filesystem::remove(options.workload_file);
    throw InputError(fmt::format("--kernels {}: {}", options.kernels, error.what()));
  }
  return 0;
}

int check(const WorkloadOptions& options) {
  const Workload workload = read_workload(options.workload_file);
  std::optional<MachineConfig> machine;
  if (!options.machine_file.empty()) machine = read_machine(options.machine_file);
  for (const KernelDescriptor& kernel : workload.kernels) {
    if (machine) check_fits(*machine, kernel);
    const std::string fits = machine ? fmt::format(", {} CTAs fit on an SM of {}",
                                                   occupancy(kernel.demand(), machine->sm.capacity).value(), machine->name)
                                     : "";
    fmt::print("{}: {}, {} CTAs of {} threads{}\n", kernel.name, to_string(kernel.type), kernel.grid_ctas, kernel.block_threads,
               fits);
  }
  return 0;
}

}  // namespace

void add_workload_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<WorkloadOptions>();
  CLI::App* command = app.add_subcommand("workload", "Workload files of one's own")->require_subcommand(1);
  CLI::App* make_new = command->add_subcommand("new", "Writes a file to start from");
  CLI::App* check_it = command->add_subcommand("check", "Says what a file has, or all that it lacks");
  for (CLI::App* sub : {make_new, check_it})
    sub->add_option("file", options->workload_file, "workload description (TOML)")->required();
  make_new->add_option("--kernels", options->kernels, "names, comma separated")->capture_default_str();
  check_it->add_option("--machine", options->machine_file, "machine description (TOML): do the kernels fit?");
  make_new->callback([options, &action] { action = [options] { return make(*options); }; });
  check_it->callback([options, &action] { action = [options] { return check(*options); }; });
}

}  // namespace sluice::cli
