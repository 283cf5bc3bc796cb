// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <vector>

#include "sw/core/kernel.h"

namespace sluice {

/// A workload of recorded kernels: one of each folder, which has its name and a kernelslist.g with one kernel. Geometry and
/// resources are the recording's. Of a kernel of `like` that has the folder's name come full name, type, and published figures.
/// The traces are read to their ends.
/// @param register_unit registers are allocated in multiples of this many
/// @throws InputError naming the file: no such name in `like`, not one kernel, a bad trace
[[nodiscard]] Workload import_traces(const std::vector<std::filesystem::path>& folders, const Workload& like,
                                     std::uint32_t register_unit);

}  // namespace sluice
