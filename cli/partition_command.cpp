// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common.h"
#include "sw/policy/registry.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

constexpr PolicyNeeds kWithoutRun[] = {PolicyNeeds::Nothing, PolicyNeeds::Counts};

struct PartitionOptions : CommonOptions {
  std::string pairs = "all", policies = "left_over,fcfs,even,spatial", ctas;
};

int run(const PartitionOptions& options) {
  const MachineConfig machine = read_machine(options.machine_file);
  const Workload workload = read_workload(options.workload_file);
  nlohmann::json out = nlohmann::json::array();
  const std::vector<std::string> policies = split_list(options.policies);
  for (const Mix& mix : parse_mixes(workload, machine, options.pairs)) {
    for (const std::string& name : policies) {
      const PolicyRow& row = policy_row(name);
      if (std::ranges::find(kWithoutRun, row.needs) == std::end(kWithoutRun))
        throw InputError(fmt::format("policy {}: its partition needs a run (sluice sim, sluice eval); here: {}", name,
                                     policy_names(kWithoutRun)));
      const Partition partition = policy_plans(name, machine, mix.kernels, parse_counts(options.ctas)).front().partition;
      out.push_back({{"kernels", mix.kernel_names()},
                     {"policy", name},
                     {"mode", layout_name(partition.mode)},
                     {"ctas", counts(partition)}});
    }
  }
  if (options.json) {
    fmt::print("{}\n", out.dump());
    return 0;
  }
  fmt::print("{:<16}{:<14}{:<12}{}\n", "kernels", "policy", "mode", "CTAs per SM");
  for (const nlohmann::json& row : out) {
    fmt::print("{:<16}{:<14}{:<12}{}\n", fmt::format("{}", fmt::join(row["kernels"].get<std::vector<std::string>>(), "_")),
               row["policy"].get<std::string>(), row["mode"].get<std::string>(),
               fmt::join(row["ctas"].get<std::vector<std::uint32_t>>(), ", "));
  }
  return 0;
}

}  // namespace

void add_partition_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<PartitionOptions>();
  CLI::App* command = app.add_subcommand("partition", "Partitions that follow from the resources alone, without a simulation");
  options->add_files(*command);
  options->add_json(*command);
  command->add_option("--pairs", options->pairs, "all, triples, or A_B,A_C_D,...")->capture_default_str();
  command->add_option("--policy", options->policies, "left_over, fcfs, even, spatial, static (comma separated)")
      ->capture_default_str();
  command->add_option("--ctas", options->ctas, "policy static: CTAs of each kernel per SM, e.g. 3,2");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
