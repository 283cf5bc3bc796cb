// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "sw/gpu/record/listing.h"

namespace sluice::gpu {

/// Of each instruction: the value of its guard, where the branches on the only way to it have decided that. A loop whose
/// comparison was made before it often has a predicated first turn that never runs.
///
/// Two comparisons are the same if they compare the same values. A value is known by the instruction that wrote it, through
/// copies. Nothing is known behind a place where several ways meet.
[[nodiscard]] std::vector<std::optional<bool>> decided_guards(const SassKernel& kernel);

}  // namespace sluice::gpu
