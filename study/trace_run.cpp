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
  return spec;
}

}  // namespace sluice
