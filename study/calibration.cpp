// SPDX-License-Identifier: Apache-2.0
#include "study/calibration.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sw/scheduler/registry.h"

namespace sluice {

namespace {

/// Beyond this mean distance a warp's own instructions no longer wait for each other.
constexpr double kMaxDistance = 40.0;

// Where every fit starts, so that it depends on published figures and the kernel's chosen shares only.
constexpr double kStartDistance = 4.0;
/// Table II's cache-sensitive kernels start with a working set of which eight CTAs overfill a 16 KB L1.
constexpr std::uint32_t kStartReuseLinesCache = 20, kStartReuseLines = 4;

/// Mean active lanes of a warp: the last warp of a block may be partial.
double lanes_per_warp(const KernelDescriptor& kernel) {
  return static_cast<double>(kernel.block_threads) / kernel.warps_per_cta();
}

/// Published rate in warp instructions per SM and cycle.
double published_ipc(const KernelDescriptor& kernel, const MachineConfig& machine) {
  const SoloReference& published = *kernel.reference;
  return published.instructions / static_cast<double>(published.cycles) / machine.num_sms / lanes_per_warp(kernel);
}

double global_fraction(const KernelBehaviour& b) { return b.load_fraction + b.store_fraction; }

void set_stream_fraction(KernelBehaviour& b, double stream) {
  b.reuse_fraction = std::clamp(1.0 - b.footprint_fraction - stream, 0.0, 1.0 - b.footprint_fraction);
}

double stream_fraction(const KernelBehaviour& b) { return std::max(0.0, 1.0 - b.footprint_fraction - b.reuse_fraction); }

/// target / value, kept within a factor of `most` and shortened to the power `damping`.
double ratio_step(double target, double value, double damping, double most = 2) {
  return std::pow(std::clamp(target / std::max(value, 1e-9), 1 / most, most), damping);
}

std::uint32_t instructions(double of_a_warp) { return static_cast<std::uint32_t>(std::max(1.0, std::round(of_a_warp))); }

}  // namespace

SoloReference measure_solo(const RunResult& result, const MachineConfig& machine) {
  const KernelCounters& k = result.total;
  const auto sm_cycles = static_cast<double>(result.sm_cycles);
  SoloReference model;
  model.instructions = static_cast<double>(k.thread_instructions);
  model.cycles = result.cycles.value();
  model.alu_utilization = static_cast<double>(k.alu_busy) / (sm_cycles * machine.sm.alu_pipes);
  model.sfu_utilization = static_cast<double>(k.sfu_busy) / sm_cycles;
  model.ldst_utilization = static_cast<double>(k.ldst_busy) / sm_cycles;
  model.l2_mpki =
      k.warp_instructions == 0 ? 0 : 1e3 * static_cast<double>(k.l2_misses) / static_cast<double>(k.warp_instructions);
  return model;
}

SoloLimits measure_limits(const RunResult& result, const MachineConfig& machine) {
  const KernelCounters& k = result.total;
  const auto count = [](std::uint64_t events) { return static_cast<double>(events); };
  const double cycles = count(result.cycles.value()), sm_cycles = count(result.sm_cycles);
  SoloLimits limits;
  limits.issue = count(k.warp_instructions) / (sm_cycles * machine.sm.schedulers);
  limits.alu = count(k.alu_busy) / (sm_cycles * machine.sm.alu_pipes);
  limits.sfu = count(k.sfu_busy) / sm_cycles;
  const double lookups =
      count(k.l1_accesses + k.store_lines + k.shared_passes);  // a cycle each; the rest of ldst_busy is waiting
  limits.lookups = lookups / sm_cycles;
  limits.held = std::max(0.0, count(k.ldst_busy) - lookups) / sm_cycles;

  const InterconnectConfig& net = machine.interconnect;
  const double line = std::ceil((net.header_bytes + 128.0) / net.bytes_per_cycle), header = 1;
  const double reads = count(k.l1_misses), writes = count(k.store_lines);
  const double ports = std::min(machine.num_sms, machine.l2_slices);
  limits.interconnect = std::max(reads * header + writes * line, reads * line + writes * header) / (ports * cycles);
  if (net.input_queued) {  // heads at an output, as docs/user/machines.md has it; the same share both ways
    const double heads = ports / std::max(machine.num_sms, machine.l2_slices);
    limits.interconnect_max = (1 + heads - std::sqrt(1 + heads * heads)) / heads;
  }
  limits.dram = count(k.dram_bytes) / cycles / dram_bytes_per_cycle(machine);

  constexpr double kFull = 0.85;  // of what there is: the rest is lost to chance
  const StallCycles& s = result.stalls;
  const std::pair<double, std::string_view> shares[] = {
      {limits.dram, "DRAM"},   {limits.interconnect / limits.interconnect_max, "interconnect"},
      {limits.issue, "issue"}, {limits.alu, "ALU"},
      {limits.sfu, "SFU"},     {limits.lookups, "LDST"}};
  const auto fullest = std::ranges::max_element(shares, {}, &std::pair<double, std::string_view>::first);
  if (fullest->first >= kFull) {
    limits.limit = fullest->second;
  } else if (limits.held >= 0.5) {
    limits.limit = "MSHRs";  // latency, with as many lines under way as the L1 may have
  } else {
    const std::pair<std::uint64_t, std::string_view> waits[] = {{s.long_memory, "memory latency"},
                                                                {s.execution_resource, "pipelines"},
                                                                {s.raw, "latency of results"},
                                                                {s.instruction_buffer, "instruction supply"},
                                                                {s.barrier, "barriers"}};
    limits.limit = std::ranges::max_element(waits, {}, &std::pair<std::uint64_t, std::string_view>::first)->second;
  }
  return limits;
}

SoloFit compare_solo(const SoloReference& model, const SoloReference& published) {
  SoloFit fit;
  fit.model = model;
  fit.published = published;
  const double model_rate = model.instructions / static_cast<double>(model.cycles);
  fit.instructions_error = model_rate / (published.instructions / static_cast<double>(published.cycles)) - 1;
  fit.alu_error = model.alu_utilization - published.alu_utilization;
  fit.sfu_error = model.sfu_utilization - published.sfu_utilization;
  fit.ldst_error = model.ldst_utilization - published.ldst_utilization;
  fit.mpki_absolute_error = model.l2_mpki - published.l2_mpki;
  fit.mpki_error = published.l2_mpki > 0 ? model.l2_mpki / published.l2_mpki - 1 : 0;
  return fit;
}

KernelDescriptor initial_behaviour(KernelDescriptor kernel, const MachineConfig& machine) {
  const SoloReference& published = *kernel.reference;
  KernelBehaviour& b = kernel.behaviour;
  const double ipc = published_ipc(kernel, machine);
  b.dependency_distance = kStartDistance;
  b.fetch_interval = 0;
  b.reuse_lines = kernel.type == KernelType::Cache ? kStartReuseLinesCache : kStartReuseLines;
  const double others = global_fraction(b) + b.shared_fraction;
  b.sfu_fraction = std::min(published.sfu_utilization / machine.sm.sfu_interval / ipc, std::max(0.0, 0.9 - others));
  const double alu_fraction = std::max(1 - b.sfu_fraction - others, 1e-3);
  b.alu_interval = std::clamp(published.alu_utilization * machine.sm.alu_pipes / (ipc * alu_fraction), 1.0, 8.0);
  const double ldst_per_instruction = published.ldst_utilization / ipc - b.shared_fraction;
  b.transactions = std::clamp(0.5 * ldst_per_instruction / std::max(global_fraction(b), 1e-3), 1.0, 32.0);
  set_stream_fraction(b, published.l2_mpki / 1e3 / std::max(global_fraction(b) * b.transactions, 1e-6));
  return kernel;
}

KernelDescriptor calibration_step(KernelDescriptor kernel, const SoloReference& model, double damping) {
  const SoloFit fit = compare_solo(model, *kernel.reference);
  KernelBehaviour& b = kernel.behaviour;
  const double stream = stream_fraction(b);
  // Misses per instruction are the product of streaming share and lines per access: a change of one is taken out of the other.
  const double speed = ratio_step(1.0, 1.0 + fit.instructions_error, damping);  // > 1: must get faster
  double lines_step = ratio_step(fit.published.ldst_utilization, model.ldst_utilization, damping);
  // A full LDST pipeline tells nothing of how overfull it is: then the instruction rate does.
  if (model.ldst_utilization > 0.93 && speed > 1) lines_step = std::min(lines_step, 1 / speed);
  const double lines = std::clamp(b.transactions * lines_step, 1.0, 32.0);
  const double miss_step = ratio_step(fit.published.l2_mpki, model.l2_mpki, damping);
  set_stream_fraction(b, std::max(1e-5, stream) * miss_step * b.transactions / lines);
  b.transactions = lines;
  change_rate(kernel, speed);
  return kernel;
}

void change_rate(KernelDescriptor& kernel, double speed) {
  KernelBehaviour& b = kernel.behaviour;
  if (speed < 1 && b.dependency_distance <= 1.0) {
    b.fetch_interval =
        std::clamp(b.fetch_interval + (1 / speed - 1) * (2.0 + b.fetch_interval), 0.0, KernelBehaviour::kMaxFetchInterval);
  } else if (speed > 1 && b.fetch_interval > 0) {
    b.fetch_interval = std::max(0.0, b.fetch_interval / speed - 0.02);
  } else if (speed > 1 && b.dependency_distance >= kMaxDistance && kernel.type == KernelType::Cache && b.reuse_lines > 4) {
    --b.reuse_lines;  // latency is hidden already: what is left is thrashing
  } else {
    b.dependency_distance = std::clamp(b.dependency_distance * speed * speed, 1.0, kMaxDistance);
  }
}

double fit_distance(const SoloFit& fit) {
  // In units of the tolerance an architect would ask for: 10 % of the instructions, 8 points of a utilisation, 15 % or 1 of MPKI.
  const double mpki = std::min(std::abs(fit.mpki_error) / 0.15, std::abs(fit.mpki_absolute_error));
  const auto square = [](double x) { return x * x; };
  return square(fit.instructions_error / 0.10) + square(fit.alu_error / 0.08) + square(fit.sfu_error / 0.08) +
         square(fit.ldst_error / 0.08) + square(mpki);
}

RunSpec launch_spec(const MachineConfig& machine, const KernelDescriptor& kernel, std::uint64_t seed) {
  RunSpec spec;
  spec.machine = machine;
  KernelLaunch launch{kernel, 0, Cycles(0)};
  launch.once = true;
  spec.launches.push_back(launch);
  spec.make_scheduler = [machine, kernel] { return make_scheduler("arrival", {machine, {kernel}}); };
  spec.seed = seed;
  return spec;
}

LaunchReference measure_launch(const RunResult& result, const MachineConfig& machine) {
  const double cycles = static_cast<double>(result.kernels.front().finish_cycle);
  const auto active = static_cast<double>(result.sm_cycles - result.stalls.idle);  // as profilers count: with a warp there
  return {cycles / machine.core_mhz / 1e3,
          static_cast<double>(result.total.warp_instructions) / (std::max(active, 1.0) * machine.sm.schedulers)};
}

KernelDescriptor initial_launch(KernelDescriptor kernel, const MachineConfig& machine) {
  const LaunchReference& published = *kernel.launch_reference;
  const double slots = published.milliseconds * 1e3 * machine.core_mhz * machine.num_sms * machine.sm.schedulers;
  kernel.behaviour.warp_instructions =
      instructions(published.issue_utilization * slots / kernel.grid_ctas / kernel.warps_per_cta());
  kernel.behaviour.dependency_distance = kStartDistance;
  kernel.behaviour.fetch_interval = 0;
  return kernel;
}

KernelDescriptor launch_step(KernelDescriptor kernel, const LaunchReference& model, double damping) {
  const LaunchReference& published = *kernel.launch_reference;
  const double rate = ratio_step(published.issue_utilization, model.issue_utilization, damping, 4);
  const double time = ratio_step(published.milliseconds, model.milliseconds, damping, 4);
  change_rate(kernel, rate);
  // At another rate the same instructions take another time.
  kernel.behaviour.warp_instructions = instructions(kernel.behaviour.warp_instructions * time * rate);
  return kernel;
}

double launch_distance(const LaunchReference& model, const LaunchReference& published) {
  return std::hypot((model.milliseconds / published.milliseconds - 1) / 0.10,
                    (model.issue_utilization - published.issue_utilization) / 0.05);
}

}  // namespace sluice
