#include "sw/report/trace_json.h"

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

}  // namespace

nlohmann::json trace_json(const RunSpec& spec, const RunResult& result, const HostCost& cost) {
  nlohmann::json out = counters_json(result.total);
  out["cycles"] = result.cycles.value();
  out["core_mhz"] = spec.machine.core_mhz;
  out["cpu_seconds"] = cost.cpu_seconds;
  out["peak_rss_mib"] = cost.peak_rss_mib;
  out["stalls"] = {{"long_memory", ratio(result.stalls.long_memory, result.sm_cycles)},
                   {"execution_resource", ratio(result.stalls.execution_resource, result.sm_cycles)},
                   {"raw", ratio(result.stalls.raw, result.sm_cycles)},
                   {"instruction_buffer", ratio(result.stalls.instruction_buffer, result.sm_cycles)},
                   {"barrier", ratio(result.stalls.barrier, result.sm_cycles)},
                   {"idle", ratio(result.stalls.idle, result.sm_cycles)}};
  out["utilization"] = {{"alu", ratio(result.total.alu_busy, result.sm_cycles * spec.machine.sm.alu_pipes)},
                        {"sfu", ratio(result.total.sfu_busy, result.sm_cycles)},
                        {"ldst", ratio(result.total.ldst_busy, result.sm_cycles)}};
  out["unknown_opcodes"] = result.unknown_opcodes;
  out["kernels"] = nlohmann::json::array();
  for (std::size_t k = 0; k < result.kernels.size(); ++k) {
    nlohmann::json kernel = counters_json(result.kernels[k]);
    kernel["name"] = spec.launches[k].kernel.name;
    kernel["ctas"] = result.kernels[k].ctas_completed;
    kernel["finish_cycle"] = result.kernels[k].finish_cycle;
    out["kernels"].push_back(std::move(kernel));
  }
  return out;
}

}  // namespace sluice
