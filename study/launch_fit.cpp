// SPDX-License-Identifier: Apache-2.0
#include "study/launch_fit.h"

#include <algorithm>
#include <cmath>

#include "study/calibration.h"
#include "sw/scheduler/registry.h"

namespace sluice {

namespace {

constexpr double kStartDistance = 4;

std::uint32_t instructions(double of_a_warp) { return static_cast<std::uint32_t>(std::max(1.0, std::round(of_a_warp))); }

double step_to(double target, double value, double damping) {
  return std::pow(std::clamp(target / std::max(value, 1e-9), 0.25, 4.0), damping);
}

}  // namespace

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
  const double rate = step_to(published.issue_utilization, model.issue_utilization, damping);
  const double time = step_to(published.milliseconds, model.milliseconds, damping);
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
