// SPDX-License-Identifier: Apache-2.0
#include "study/trace_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/policy/registry.h"
#include "sw/scheduler/registry.h"
#include "sw/trace/kernel_list.h"
#include "sw/trace/trace_source.h"

namespace sluice {

namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

nlohmann::json counters_json(const KernelCounters& k) {
  return {{"warp_instructions", k.warp_instructions},
          {"thread_instructions", k.thread_instructions},
          {"l1_miss_rate", ratio(k.l1_misses, k.l1_accesses)},
          {"l2_miss_rate", ratio(k.l2_misses, k.l2_accesses)},
          {"l2_mpki", 1000 * ratio(k.l2_misses, k.warp_instructions)},
          {"dram_bytes", k.dram_bytes},
          {"dram_row_hit_rate", ratio(k.dram_row_hits, k.dram_requests)}};
}

nlohmann::json stalls_json(const StallCycles& stalls, std::uint64_t cycles) {
  nlohmann::json out;
  for (const auto& [name, member] : kStallFields) out[name] = ratio(stalls.*member, cycles);
  return out;
}

/// @param cycles  SM cycles the counters cover
nlohmann::json utilization_json(const KernelCounters& k, std::uint64_t cycles, const MachineConfig& machine) {
  return {{"alu", ratio(k.alu_busy, cycles * machine.sm.alu_pipes)},
          {"sfu", ratio(k.sfu_busy, cycles)},
          {"ldst", ratio(k.ldst_busy, cycles)}};
}

}  // namespace

RunSpec trace_spec(const std::filesystem::path& list, MachineConfig machine, const TraceRunOptions& options) {
  if (policy_row(options.policy).needs == PolicyNeeds::Search)
    throw InputError(fmt::format("policy {}: many runs, not one: use static", options.policy));
  if (options.max_ctas != 0) machine.sm.capacity.cta_slots = std::min(machine.sm.capacity.cta_slots, options.max_ctas);
  RunSpec spec;
  std::vector<KernelDescriptor> kernels;
  for (ListedKernel& listed : read_kernel_list(list)) {
    KernelLaunch launch;
    launch.kernel = describe(listed.header, machine.sm.register_unit);
    launch.after = listed.after;
    launch.make_source = [file = listed.file, index = static_cast<std::uint32_t>(spec.launches.size())] {
      return std::make_unique<TraceSource>(file, index);
    };
    launch.once = true;
    kernels.push_back(launch.kernel);
    spec.launches.push_back(std::move(launch));
  }
  const PolicyPlan plan = policy_plans(options.policy, machine, kernels, options.ctas).front();
  spec.make_scheduler = scheduler_of(plan, machine);
  spec.machine = std::move(machine);
  spec.partitioner = options.partitioner;
  spec.sample = options.sample;
  return spec;
}

nlohmann::json trace_json(const RunSpec& spec, const RunResult& result, const HostCost& cost) {
  nlohmann::json out = counters_json(result.total);
  out["cycles"] = result.cycles.value();
  out["core_mhz"] = spec.machine.core_mhz;
  out["cpu_seconds"] = cost.cpu_seconds;
  out["peak_rss_mib"] = cost.peak_rss_mib;
  out["stalls"] = stalls_json(result.stalls, result.sm_cycles);
  out["utilization"] = utilization_json(result.total, result.sm_cycles, spec.machine);
  const SmResources& sm_has = spec.machine.sm.capacity;
  out["utilization"]["registers"] = ratio(result.registers_resident, result.sm_cycles * sm_has.registers);
  out["utilization"]["threads"] = ratio(result.threads_resident, result.sm_cycles * sm_has.threads);
  out["utilization"]["shared_memory"] = ratio(result.shared_bytes_resident, result.sm_cycles * sm_has.shared_memory_bytes);
  out["dram_bytes_per_cycle"] = ratio(result.total.dram_bytes, result.cycles.value());
  const Energy energy = energy_of(energy_events(result.total, result.cycles), spec.machine);
  out["energy"] = {{"sm_dynamic_joules", energy.sm_dynamic},         {"sm_leakage_joules", energy.sm_leakage},
                   {"memory_dynamic_joules", energy.memory_dynamic}, {"total_joules", energy.total()},
                   {"sm_dynamic_watts", energy.sm_dynamic_watts()},  {"average_watts", energy.watts()}};
  out["sms"] = nlohmann::json::array();
  for (const SmCounters& sm : result.sms) {
    out["sms"].push_back({{"warp_instructions", sm.work.warp_instructions},
                          {"l1_miss_rate", ratio(sm.work.l1_misses, sm.work.l1_accesses)},
                          {"utilization", utilization_json(sm.work, result.cycles.value(), spec.machine)},
                          {"stalls", stalls_json(sm.stalls, result.cycles.value())}});
  }
  out["unknown_opcodes"] = result.unknown_opcodes;
  out["kernels"] = nlohmann::json::array();
  for (std::size_t k = 0; k < result.kernels.size(); ++k) {
    nlohmann::json kernel = counters_json(result.kernels[k]);
    kernel["name"] = spec.launches[k].kernel.name;
    kernel["ctas"] = result.kernels[k].ctas_completed;
    kernel["finish_cycle"] = result.kernels[k].finish_cycle;
    kernel["utilization"] = utilization_json(result.kernels[k], result.sm_cycles, spec.machine);
    kernel["stalls"] = stalls_json(result.kernel_stalls[k], result.sm_cycles);
    if (!result.sampled.empty())
      kernel["sampled"] = {{"ctas", result.sampled[k].ctas}, {"cycles_interval", result.sampled[k].interval}};
    out["kernels"].push_back(std::move(kernel));
  }
  return out;
}

}  // namespace sluice
