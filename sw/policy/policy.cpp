// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/policy.h"

#include <fmt/format.h>

#include "sw/core/errors.h"

namespace sluice {

void check_fits(const MachineConfig& machine, const KernelDescriptor& kernel) {
  const SmResources need = kernel.demand(), has = machine.sm.capacity;
  const auto check = [&](const char* what, std::uint32_t n, std::uint32_t limit) {
    if (n > limit)
      throw InputError(
          fmt::format("kernel {}: one CTA needs {} {}, an SM of machine {} has {}", kernel.name, n, what, machine.name, limit));
  };
  check("threads", need.threads, has.threads);
  check("registers", need.registers, has.registers);
  check("bytes of shared memory", need.shared_memory_bytes, has.shared_memory_bytes);
}

bool fit_together(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) {
  SmResources left = machine.sm.capacity;
  for (const KernelDescriptor& kernel : mix) {
    if (!fits(kernel.demand(), left)) return false;
    left = take(left, kernel.demand());
  }
  return true;
}

}  // namespace sluice
