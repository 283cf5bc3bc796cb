#include "sw/report/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sw/core/metrics.h"
#include "sw/workload/calibration.h"

namespace sluice {

using nlohmann::json;

namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

json reference_json(const SoloReference& r) {
  return {{"instructions", r.instructions},         {"cycles", r.cycles},
          {"alu_utilization", r.alu_utilization},   {"sfu_utilization", r.sfu_utilization},
          {"ldst_utilization", r.ldst_utilization}, {"l2_mpki", r.l2_mpki}};
}

std::vector<std::uint32_t> plain(const std::vector<CtaCount>& counts) {
  std::vector<std::uint32_t> values;
  for (const CtaCount c : counts) values.push_back(c.value());
  return values;
}

/// Fractions of SM-cycles, and cache and DRAM figures: what explains a run.
void add_counters(json& out, const RunResult& r, const MachineConfig& machine) {
  const SmResources& capacity = machine.sm.capacity;
  out["alu_utilization"] = ratio(r.total.alu_busy, r.sm_cycles * machine.sm.alu_pipes);
  out["sfu_utilization"] = ratio(r.total.sfu_busy, r.sm_cycles);
  out["ldst_utilization"] = ratio(r.total.ldst_busy, r.sm_cycles);
  out["thread_utilization"] = ratio(r.threads_resident, r.sm_cycles * capacity.threads);
  out["register_utilization"] = ratio(r.registers_resident, r.sm_cycles * capacity.registers);
  out["shared_memory_utilization"] = ratio(r.shared_bytes_resident, r.sm_cycles * capacity.shared_memory_bytes);
  out["l1_miss_rate"] = ratio(r.total.l1_misses, r.total.l1_accesses);
  out["l2_miss_rate"] = ratio(r.total.l2_misses, r.total.l2_accesses);
  out["l2_mpki"] = 1e3 * ratio(r.total.l2_misses, r.total.warp_instructions);
  out["dram_bytes_per_cycle"] = ratio(r.total.dram_bytes, r.cycles.value());
  out["dram_row_hit_rate"] = ratio(r.total.dram_row_hits, r.total.dram_requests);
  out["stalls"] = {{"long_memory", ratio(r.stalls.long_memory, r.sm_cycles)},
                   {"execution_resource", ratio(r.stalls.execution_resource, r.sm_cycles)},
                   {"raw", ratio(r.stalls.raw, r.sm_cycles)},
                   {"instruction_buffer", ratio(r.stalls.instruction_buffer, r.sm_cycles)},
                   {"barrier", ratio(r.stalls.barrier, r.sm_cycles)},
                   {"idle", ratio(r.stalls.idle, r.sm_cycles)}};
}

std::string mix_name(const json& run) {
  return fmt::format("{}", fmt::join(run.at("kernels").get<std::vector<std::string>>(), "_"));
}

json summary_of(const json& runs, const std::string& category) {
  std::map<std::string, std::map<std::string, std::vector<double>>> values;  // policy -> metric -> value per mix
  for (const json& run : runs) {
    if (category != "all" && run.at("category") != category) continue;
    auto& policy = values[run.at("policy").get<std::string>()];
    for (const char* metric : {"normalized_ipc", "stp", "antt", "min_speedup"}) {
      if (run.at(metric).is_number()) policy[metric].push_back(run.at(metric).get<double>());
    }
  }
  json out = json::object();
  for (auto& [policy, metrics] : values) {
    json& entry = out[policy];
    entry["pairs"] = metrics["stp"].size();
    for (const auto& [metric, list] : metrics) entry[metric] = geometric_mean(list);
  }
  return out;
}

}  // namespace

double ipc(const RunResult& result) { return ratio(result.total.thread_instructions, result.cycles.value()); }

json solo_entry(const KernelDescriptor& kernel, const RunResult& result, const MachineConfig& machine,
                const std::vector<double>& curve) {
  json out = {{"kernel", kernel.name},
              {"type", to_string(kernel.type)},
              {"cycles", result.cycles.value()},
              {"warp_instructions", result.total.warp_instructions},
              {"thread_instructions", result.total.thread_instructions},
              {"ipc", ipc(result)},
              {"curve", curve},
              {"reference", kernel.reference ? reference_json(*kernel.reference) : json()}};
  add_counters(out, result, machine);
  return out;
}

json run_entry(const Mix& mix, const std::string& policy, const std::string& partitioner, const Partition& partition,
               const RunResult& result, const MachineConfig& machine, Cycles alone, std::size_t candidates) {
  std::vector<Turnaround> turnarounds;
  json per_kernel = json::array();
  for (std::size_t k = 0; k < mix.kernels.size(); ++k) {
    const std::uint64_t finish = result.kernels[k].finish_cycle;
    turnarounds.push_back({static_cast<double>(alone.value()), static_cast<double>(finish)});
    per_kernel.push_back({{"kernel", mix.kernels[k].name},
                          {"finish_cycle", finish},
                          {"speedup", speedup(turnarounds.back())},
                          {"warp_instructions", result.kernels[k].warp_instructions},
                          {"l1_miss_rate", ratio(result.kernels[k].l1_misses, result.kernels[k].l1_accesses)},
                          {"l2_mpki", 1e3 * ratio(result.kernels[k].l2_misses, result.kernels[k].warp_instructions)}});
  }
  json decisions = json::array();
  for (const Decision& d : result.decisions) {
    std::vector<std::string> kernels;
    for (const KernelId k : d.kernels) kernels.push_back(mix.kernels[k.value()].name);
    decisions.push_back({{"sampled_at", d.sampled_at.value()},
                         {"decided_at", d.decided_at.value()},
                         {"kernels", kernels},
                         {"profiles", d.profiles},
                         {"mode", to_string(d.partition.mode)},
                         {"ctas", plain(d.partition.ctas)}});
  }
  json out = {{"kernels", mix.kernel_names()},
              {"category", mix.category},
              {"policy", policy},
              {"partitioner", partitioner},
              {"partition", {{"mode", to_string(partition.mode)}, {"ctas", plain(partition.ctas)}}},
              {"candidates", candidates},
              {"cycles", result.cycles.value()},
              {"ipc", ipc(result)},
              {"normalized_ipc", nullptr},
              {"stp", stp(turnarounds)},
              {"antt", antt(turnarounds)},
              {"min_speedup", min_speedup(turnarounds)},
              {"per_kernel", per_kernel},
              {"decisions", decisions}};
  add_counters(out, result, machine);
  return out;
}

json normalize_and_summarize(json& runs) {
  std::map<std::string, double> base;
  std::set<std::string> categories;
  for (const json& run : runs) {
    categories.insert(run.at("category").get<std::string>());
    if (run.at("policy") == "left_over") base[mix_name(run)] = run.at("ipc").get<double>();
  }
  for (json& run : runs) {
    const auto found = base.find(mix_name(run));
    run["normalized_ipc"] = found == base.end() ? json() : json(run.at("ipc").get<double>() / found->second);
  }
  json summary = json::object();
  for (const std::string& category : categories) summary[category] = summary_of(runs, category);
  summary["all"] = summary_of(runs, "all");
  return summary;
}

std::string results_csv(const json& results) {
  const char* columns[] = {"cycles",
                           "ipc",
                           "normalized_ipc",
                           "stp",
                           "antt",
                           "min_speedup",
                           "alu_utilization",
                           "sfu_utilization",
                           "ldst_utilization",
                           "register_utilization",
                           "l1_miss_rate",
                           "l2_miss_rate",
                           "dram_bytes_per_cycle"};
  std::string out = fmt::format("kernels,category,policy,partitioner,mode,ctas,{}\n", fmt::join(columns, ","));
  for (const json& run : results.at("runs")) {
    out += fmt::format("{},{},{},{},{},{}", mix_name(run), run.at("category").get<std::string>(),
                       run.at("policy").get<std::string>(), run.at("partitioner").get<std::string>(),
                       run.at("partition").at("mode").get<std::string>(),
                       fmt::join(run.at("partition").at("ctas").get<std::vector<std::uint32_t>>(), "/"));
    for (const char* column : columns) out += run.at(column).is_null() ? "," : "," + run.at(column).dump();
    out += "\n";
  }
  return out;
}

std::string results_table(const json& results) {
  const auto policies = results.at("meta").at("policies").get<std::vector<std::string>>();
  std::map<std::string, std::map<std::string, const json*>> by_mix;
  std::vector<std::pair<std::string, std::string>> order;  // category, mix
  std::size_t width = 12;
  for (const json& run : results.at("runs")) {
    const std::string name = mix_name(run);
    if (!by_mix.contains(name)) order.emplace_back(run.at("category").get<std::string>(), name);
    by_mix[name][run.at("policy").get<std::string>()] = &run;
    width = std::max(width, name.size());
  }
  std::ranges::stable_sort(order, {}, &std::pair<std::string, std::string>::first);
  std::string out = fmt::format("{:<{}}", "IPC / Left-Over", width + 4);
  for (const std::string& p : policies) out += fmt::format("{:>14}", p);
  out += "   Warped-Slicer's partition\n";
  const auto averages = [&](const std::string& category, const std::string& label) {
    std::string line = fmt::format("{:<{}}", label, width + 4);
    for (const std::string& p : policies) {
      const json& all = results.at("summary").at(category);
      line += all.contains(p) && all[p].contains("normalized_ipc")
                  ? fmt::format("{:>14.3f}", all[p]["normalized_ipc"].get<double>())
                  : fmt::format("{:>14}", "-");
    }
    return line + "\n";
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order[i].first != order[i - 1].first) out += order[i].first + "\n";
    out += fmt::format("  {:<{}}", order[i].second, width + 2);
    const auto& runs = by_mix[order[i].second];
    for (const std::string& p : policies) {
      const auto run = runs.find(p);
      out += run == runs.end() || run->second->at("normalized_ipc").is_null()
                 ? fmt::format("{:>14}", "-")
                 : fmt::format("{:>14.3f}", run->second->at("normalized_ipc").get<double>());
    }
    if (const auto ws = runs.find("warped_slicer"); ws != runs.end()) {
      const json& partition = ws->second->at("partition");
      out += fmt::format("   {} ({})", partition.at("mode").get<std::string>(),
                         fmt::join(partition.at("ctas").get<std::vector<std::uint32_t>>(), ","));
    }
    out += "\n";
    if (i + 1 == order.size() || order[i + 1].first != order[i].first) out += averages(order[i].first, "  geometric mean");
  }
  out += averages("all", "all: geometric mean");
  return out;
}

}  // namespace sluice
