// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"

namespace sluice {

/// Kernels that run together, in launch order (Left-Over serves them in it).
struct Mix {
  std::vector<KernelDescriptor> kernels;
  std::string category;  ///< types in the order compute, cache, memory, e.g. "compute+cache"

  [[nodiscard]] std::string name() const;  ///< "DXT_MVP"
  [[nodiscard]] std::vector<std::string> kernel_names() const;
};

/// `all`: Warped-Slicer's pairs (compute with cache, compute with memory, compute with compute; the compute kernel first);
/// `all_triples`: two compute kernels and one memory or cache kernel that fit on one SM together; `triples`: those of them whose
/// kernels are all `in_triples`; `compute_triples`: the paper's set, every three of the `in_triples` kernels with a compute
/// kernel among them, whether they fit together or not; or a list such as "A_B,A_C_D".
/// @throws InputError naming the kernels of the workload when a name is not among them
[[nodiscard]] std::vector<Mix> parse_mixes(const Workload& workload, const MachineConfig& machine, const std::string& spec);

}  // namespace sluice
