// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common.h"
#include "study/rtl_benchmark/rtl_benchmark.h"
#include "sw/partition/star_hull.h"
#include "sw/partition/warped_slicer.h"
#include "sw/policy/curves_file.h"
#include "sw/policy/names.h"
#include "sw/policy/registry.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "systemc/unit/rtl/decision_driver.h"

namespace sluice::cli {

namespace {

constexpr PolicyNeeds kWithoutRun[] = {PolicyNeeds::Nothing, PolicyNeeds::Counts},
                      kWithCurves[] = {PolicyNeeds::Nothing, PolicyNeeds::Counts, PolicyNeeds::Curves, PolicyNeeds::Profiling};

struct PartitionOptions : CommonOptions {
  PartitionOptions() { partitioner = "paper"; }
  std::string pairs = "all", policies, ctas, curves;
};

/// Warped-Slicer over the curves' star hulls, as the partition core decides: in double precision, or by the core itself. Every
/// curve goes in as shares of its best, on which the decision depends alone.
Partition decide(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix, const SoloCurves& all,
                 IPartitionCore* core) {
  const auto warps = [](const SmResources& r) { return r.threads / kWarpSize; };
  const auto fixed = [](double value) { return static_cast<std::uint32_t>(std::lround(value * kPerfOne)); };
  const SmResources& sm = machine.sm.capacity;
  DecisionCase c;
  c.config.num_kernels = static_cast<std::uint8_t>(mix.size());
  c.config.capacity_warps = warps(sm);
  c.config.capacity_registers = sm.registers;
  c.config.capacity_shared_bytes = sm.shared_memory_bytes;
  c.config.capacity_slots = sm.cta_slots;
  c.config.epsilon = fixed(machine.partitioner.epsilon);
  c.config.loss_limit = fixed(machine.partitioner.loss_limit);
  std::vector<Profile> hulls;
  std::vector<SmResources> demand;
  std::vector<CtaCount> alone;
  for (std::size_t k = 0; k < mix.size(); ++k) {
    demand.push_back(mix[k].demand());
    alone.push_back(occupancy(demand[k], sm));
    Profile curve = all.at(mix[k].name);
    curve.resize(std::min<std::size_t>(curve.size(), alone[k].value()));
    hulls.push_back(star_hull(curve));
    if (core == nullptr) continue;
    c.config.demand_warps[k] = warps(demand[k]);
    c.config.demand_registers[k] = demand[k].registers;
    c.config.demand_shared_bytes[k] = demand[k].shared_memory_bytes;
    const double best = std::max(std::ranges::max(curve), 1e-300);
    std::vector<std::uint32_t>& samples = c.samples.emplace_back();
    for (const double ipc : curve) samples.push_back(static_cast<std::uint32_t>(std::lround(65536 * ipc / best)));
  }
  if (core == nullptr) return warped_slicer_partition(hulls, demand, machine);
  const std::optional<PartitionCoreOut> out = sluice::decide(*core, c, [](const PartitionCoreOut&) {});
  if (!out) throw CheckFailed("the partition core does not decide");
  if (out->no_fit || out->spatial) return on_own_sms(alone, machine.num_sms);
  std::vector<CtaCount> ctas;
  for (std::size_t k = 0; k < mix.size(); ++k) ctas.emplace_back(out->ctas[k]);
  return on_every_sm(ctas);
}

int run(const PartitionOptions& options) {
  const MachineConfig machine = read_machine(options.machine_file);
  const Workload workload = read_workload(options.workload_file);
  const bool with_curves = !options.curves.empty();
  if (!with_curves && options.partitioner != "paper") throw InputError("--partitioner: the unit decides over --curves");
  const SoloCurves curves = with_curves ? read_curves(options.curves) : SoloCurves();
  const std::span<const PolicyNeeds> possible = with_curves ? std::span<const PolicyNeeds>(kWithCurves) : kWithoutRun;
  nlohmann::json out = nlohmann::json::array();
  const std::vector<std::string> policies = split_list(!options.policies.empty() ? options.policies
                                                       : with_curves ? "left_over,fcfs,even,spatial,warped_slicer,solo_curve"
                                                                     : "left_over,fcfs,even,spatial");
  const std::vector<CtaCount> given = parse_counts(options.ctas, policies);
  for (const Mix& mix : parse_mixes(workload, machine, options.pairs)) {
    for (const std::string& kernel : mix.kernel_names())
      if (with_curves && (!curves.contains(kernel) || curves.at(kernel).empty()))
        throw InputError(fmt::format("{}: kernel {}: no curve: the heading must have its name", options.curves, kernel));
    for (const std::string& name : policies) {
      const PolicyRow& row = policy_row(name);
      if (std::ranges::find(possible, row.needs) == possible.end())
        throw InputError(fmt::format("policy {}: its partition needs a run (sluice sim, sluice eval){}; here: {}", name,
                                     with_curves ? "" : " or --curves", policy_names(possible)));
      const bool unit = row.needs == PolicyNeeds::Profiling;
      Partition partition = policy_plans(unit ? kSoloCurve : name, machine, mix.kernels, given, curves).front().partition;
      if (unit) {
        if (mix.kernels.size() > kMaxKernels)
          throw InputError(fmt::format("{}: the partition core decides for {} kernels at most", mix.name(), kMaxKernels));
        const auto core = options.partitioner == "rtl"    ? decision_models().make_core(true)
                          : options.partitioner == "twin" ? make_twin_partition_core()
                                                          : nullptr;
        partition = decide(machine, mix.kernels, curves, core.get());
      }
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
  CLI::App* command =
      app.add_subcommand("partition", "Partitions that follow from the resources, or from curves as well, without a simulation");
  options->add_files(*command);
  options->add_json(*command);
  command->add_option("--pairs", options->pairs, "all, triples, or A_B,A_C_D,...")->capture_default_str();
  command->add_option("--policy", options->policies,
                      "comma separated: left_over, fcfs, even, spatial, static; with --curves also warped_slicer and solo_curve; "
                      "default all but static");
  command->add_option("--curves", options->curves, "CSV: CTAs per SM, and the IPC of each kernel alone with so many");
  command
      ->add_option("--partitioner", options->partitioner,
                   "warped_slicer decides on paper, or by the partition core's rtl or twin")
      ->capture_default_str()
      ->check(CLI::IsMember({"paper", "rtl", "twin"}));
  command->add_option("--ctas", options->ctas, "policy static: CTAs of each kernel per SM, e.g. 3,2");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
