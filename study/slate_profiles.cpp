// SPDX-License-Identifier: Apache-2.0
#include "study/slate_profiles.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

namespace {

constexpr double kSectorBytes = 32;

class Held : public IScheduler {
 public:
  explicit Held(std::vector<Share> shares) : shares_(std::move(shares)) {}
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event>, Time) override {
    Plan plan;
    for (const JobView& job : jobs)
      if (may_hold_sms(job.state)) plan.jobs.push_back({job.id, shares_.at(job.id.value())});
    return plan;
  }

 private:
  std::vector<Share> shares_;
};

}  // namespace

double global_bytes_per_cycle(const KernelDescriptor& kernel, const KernelCounters& counters, double cycles) {
  return static_cast<double>(counters.l1_accesses + counters.store_lines) * kSectorBytes * kernel.behaviour.sectors / cycles;
}

std::optional<double> flops_per_cycle(const KernelDescriptor& kernel, const KernelCounters& counters, double cycles) {
  if (!kernel.flops_per_thread) return std::nullopt;
  return *kernel.flops_per_thread * kernel.block_threads * static_cast<double>(counters.ctas_completed) / cycles;
}

Intensity measured_intensity(const KernelDescriptor& kernel, const KernelCounters& alone, double cycles,
                             const MachineConfig& machine) {
  const SmConfig& sm = machine.sm;
  Intensity of;
  of.memory = global_bytes_per_cycle(kernel, alone, cycles) / dram_bytes_per_cycle(machine);
  if (const std::optional<double> flops = flops_per_cycle(kernel, alone, cycles)) {
    of.compute = *flops / (2.0 * kWarpSize * sm.alu_pipes * machine.num_sms);
    of.of = ComputeShare::PeakFlops;
  } else {
    of.compute = static_cast<double>(alone.warp_instructions) / (cycles * sm.schedulers * machine.num_sms);
  }
  return of;
}

MakeScheduler hold(std::vector<Share> shares) {
  return [shares = std::move(shares)] { return std::make_unique<Held>(shares); };
}

std::vector<HeldShares> corun_splits(const MachineConfig& machine, const std::vector<KernelDescriptor>& kernels) {
  constexpr std::uint32_t kParts = 6;
  std::vector<std::uint32_t> splits;
  for (std::uint32_t part = 1; part < kParts; ++part) {
    const std::uint32_t sms = (machine.num_sms * part + kParts / 2) / kParts;
    if (sms >= 1 && sms < machine.num_sms && (splits.empty() || splits.back() != sms)) splits.push_back(sms);
  }
  std::vector<HeldShares> all;
  for (std::size_t a = 0; a < kernels.size(); ++a)
    for (std::size_t b = a; b < kernels.size(); ++b)
      for (const std::uint32_t sms : splits)
        all.push_back({fmt::format("corun-{}-{}-{}", kernels[a].name, kernels[b].name, sms),
                       {kernels[a], kernels[b]},
                       {{kWholeMachine.ctas, {SmId(0), sms}}, {kWholeMachine.ctas, {SmId(sms), machine.num_sms - sms}}}});
  return all;
}

CorunMeasurement corun_measurement(const HeldShares& held, const RunResult& result, double first_alone, double second_alone) {
  const auto speed = [&](std::size_t k, double alone) {
    return static_cast<double>(result.kernels.at(k).warp_instructions) / static_cast<double>(result.cycles.value()) / alone;
  };
  return {held.kernels[0].name, held.kernels[1].name, {held.shares[0].sms.count, speed(0, first_alone), speed(1, second_alone)}};
}

}  // namespace sluice
