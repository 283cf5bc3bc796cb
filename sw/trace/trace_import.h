// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <vector>

#include "sw/core/kernel.h"

namespace sluice {

/// Whose grid, registers and shared memory an imported kernel has.
enum class TraceGeometry { Recorded, Like };

/// A workload of recorded kernels: one of each folder, which has its name and a kernelslist.g with one kernel. Of a kernel of
/// `like` that has the folder's name come full name, type, and published figures. The traces are read to their ends.
/// @param register_unit registers are allocated in multiples of this many
/// @param geometry Like: grid, registers and shared memory are those of `like`, too
/// @throws InputError naming the file: no such name in `like`, not one kernel, a bad trace; Like: CTAs of other threads
[[nodiscard]] Workload import_traces(const std::vector<std::filesystem::path>& folders, const Workload& like,
                                     std::uint32_t register_unit, TraceGeometry geometry = TraceGeometry::Recorded);

}  // namespace sluice
