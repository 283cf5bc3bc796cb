// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sw/core/profile.h"
#include "sw/core/resources.h"

namespace sluice {

/// The loop of Warped-Slicer's algorithm 1 and of SiM's: raises the worst-off kernel step by step until no step fits. A kernel at
/// its last step is full. A step that does not fit ends its kernel only. Ties go to the lowest index.
///
/// @pre as many steps as demands; performance and counts of each kernel's steps grow, the first count is 1
/// @param epsilon  smallest gain per CTA worth taking, in the unit of performance; 0 takes every step
/// @return the step that each kernel ends at; nullopt when one CTA of each does not fit together
[[nodiscard]] std::optional<std::vector<std::size_t>> raise_worst(std::span<const PerformanceSteps> steps,
                                                                  std::span<const SmResources> demand,
                                                                  const SmResources& capacity, double epsilon = 0.0);

}  // namespace sluice
