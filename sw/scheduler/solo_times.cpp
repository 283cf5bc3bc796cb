// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/solo_times.h"

#include <fmt/format.h>

#include <cmath>

#include "sw/core/errors.h"
#include "sw/policy/policy.h"

namespace sluice {

const std::vector<double>& times_of(const KernelDescriptor& kernel, const SoloTimes& times, const MachineConfig& machine) {
  check_fits(machine, kernel);
  const auto found = times.find(kernel.name);
  if (found == times.end()) throw InputError(fmt::format("kernel {}: no times alone over CTA counts", kernel.name));
  const std::vector<double>& alone = found->second;
  const std::uint32_t most = occupancy(kernel.demand(), machine.sm.capacity).value();
  if (alone.size() < most)
    throw InputError(fmt::format("kernel {}: no time alone with {} CTAs on an SM: must have one for each of 1..{}", kernel.name,
                                 alone.size() + 1, most));
  for (std::size_t j = 0; j < alone.size(); ++j)
    if (!std::isfinite(alone[j]) || alone[j] <= 0)
      throw InputError(fmt::format("kernel {}: time {} alone with {} CTAs on an SM: must be finite and above 0", kernel.name,
                                   alone[j], j + 1));
  return alone;
}

double time_alone(const KernelDescriptor& kernel, const SoloTimes& times, const MachineConfig& machine) {
  check_fits(machine, kernel);
  const auto found = times.find(kernel.name);
  if (found == times.end() || found->second.empty()) throw InputError(fmt::format("kernel {}: no time alone", kernel.name));
  const double time = found->second.back();
  if (!std::isfinite(time) || time <= 0)
    throw InputError(fmt::format("kernel {}: time {} alone: must be finite and above 0", kernel.name, time));
  return time;
}

std::vector<double> fake_solo_times(const MachineConfig& machine, const KernelDescriptor& kernel, Time task_time) {
  check_fits(machine, kernel);
  const double each = std::chrono::duration<double, std::milli>(task_time).count();
  std::vector<double> times;
  for (std::uint32_t c = 1; c <= occupancy(kernel.demand(), machine.sm.capacity).value(); ++c) {
    const std::uint64_t at_once = std::uint64_t{c} * machine.num_sms;
    const std::uint64_t rounds = (kernel.grid_ctas + at_once - 1) / at_once;
    times.push_back(each * static_cast<double>(rounds));
  }
  return times;
}

}  // namespace sluice
