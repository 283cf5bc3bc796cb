// SPDX-License-Identifier: Apache-2.0
#include "study/trace_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/policy/registry.h"
#include "sw/scheduler/registry.h"
#include "sw/trace/kernel_list.h"
#include "sw/trace/repeated_trace.h"

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

/// A policy that is asked for one kernel of each stream: the one that is there, or that comes next. A stream keeps its share
/// between two kernels, and its place among the others.
class PolicyOfStreams : public IScheduler {
 public:
  /// @param streams  of each kernel, from 0 on
  PolicyOfStreams(const MachineConfig& machine, std::vector<KernelDescriptor> kernels, std::vector<std::size_t> streams,
                  TraceRunOptions options, Mode mode)
      : machine_(machine), kernels_(std::move(kernels)), streams_(std::move(streams)), options_(std::move(options)), mode_(mode) {
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      if (streams_[k] == now_.size()) now_.emplace_back(k);
  }
  [[nodiscard]] Mode mode() const override { return mode_; }
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time) override {
    for (const Event& event : events)
      if (event.kind == EventKind::Done || event.kind == EventKind::Lost) go_on(event.job.value());
    std::vector<KernelDescriptor> mix;
    std::vector<CtaCount> ctas;
    std::vector<KernelId> ids;
    std::vector<std::size_t> of;
    for (std::size_t s = 0; s < now_.size(); ++s) {
      if (!now_[s]) continue;
      ids.emplace_back(static_cast<std::uint32_t>(mix.size()));
      of.push_back(*now_[s]);
      mix.push_back(kernels_[*now_[s]]);
      if (!options_.ctas.empty()) ctas.push_back(options_.ctas.at(s));
    }
    std::vector<Share> shares(mix.size(), kWholeMachine);
    if (mix.size() > 1) shares = policy_plans(options_.policy, machine_, mix, ctas).front().shares(ids);
    Plan plan;
    for (const JobView& job : jobs)
      if (const auto found = std::ranges::find(of, job.id.value()); found != of.end() && may_hold_sms(job.state))
        plan.jobs.push_back({job.id, shares[static_cast<std::size_t>(found - of.begin())]});
    plan.reason = fmt::format("{} streams share the machine", mix.size());
    return plan;
  }

 private:
  void go_on(std::size_t done) {
    auto& now = now_[streams_[done]];
    now.reset();
    for (std::size_t k = done + 1; k < kernels_.size() && !now; ++k)
      if (streams_[k] == streams_[done]) now = k;
  }

  MachineConfig machine_;
  std::vector<KernelDescriptor> kernels_;
  std::vector<std::size_t> streams_;
  TraceRunOptions options_;
  Mode mode_;
  std::vector<std::optional<std::size_t>> now_;  ///< of each stream; nothing: it is over
};

}  // namespace

RunSpec trace_spec(const std::vector<std::filesystem::path>& lists, MachineConfig machine, const TraceRunOptions& options) {
  if (policy_row(options.policy).needs == PolicyNeeds::Search)
    throw InputError(fmt::format("policy {}: many runs, not one: use static", options.policy));
  if (options.max_ctas != 0) machine.sm.capacity.cta_slots = std::min(machine.sm.capacity.cta_slots, options.max_ctas);
  RunSpec spec;
  std::vector<KernelDescriptor> kernels, first;  // first: of each stream
  std::vector<std::size_t> streams;
  for (std::uint32_t process = 0; process < lists.size(); ++process) {
    const std::size_t before = kernels.size();
    for (ListedKernel& listed : read_kernel_list(lists[process])) {
      KernelLaunch launch;
      launch.kernel = describe(listed.header, machine.sm.register_unit);
      if (listed.after) launch.after = before + *listed.after;
      launch.make_source = [file = listed.file, index = static_cast<std::uint32_t>(kernels.size()), process] {
        return trace_source(file, index, process);
      };
      launch.once = true;
      kernels.push_back(launch.kernel);
      streams.push_back(launch.after ? streams[*launch.after] : first.size());
      if (!launch.after) first.push_back(launch.kernel);
      spec.launches.push_back(std::move(launch));
    }
    if (options.until_one) spec.until_one.push_back(kernels.size() - 1);
  }
  const PolicyPlan plan = policy_plans(options.policy, machine, first, options.ctas).front();
  if (plan.shares && first.size() < kernels.size())
    spec.make_scheduler = [=] { return std::make_unique<PolicyOfStreams>(machine, kernels, streams, options, plan.mode); };
  else
    spec.make_scheduler = scheduler_of(plan, machine);
  spec.machine = std::move(machine);
  spec.partitioner = options.partitioner;
  spec.sample = options.sample;
  spec.window = Cycles(options.window);
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
    kernel["begin_cycle"] = result.host.began[k];
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
