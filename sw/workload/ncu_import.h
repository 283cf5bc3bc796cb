// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

#include "sw/core/kernel.h"

namespace sluice {

/// Descriptors from the raw page of an Nsight Compute export (`ncu --page raw --csv`, or the GUI's): one kernel a row.
/// Geometry, resources, instruction mix, lines per access and hit rates are measured; what a profiler does not tell (dependency
/// distance, DRAM row locality, size of the L2-resident data) keeps a default. docs/user/workloads.md has every formula.
/// What it returns is within the limits of `read_workload`.
/// @throws InputError naming file, line and column on a file that is not such a page, is cut off, lacks a column, or has one in
///         another unit
[[nodiscard]] Workload import_ncu(const std::filesystem::path& path);

/// The same with the programs of a source page of the same launches, in the same order.
/// @throws InputError also on a source page whose kernels are others
[[nodiscard]] Workload import_ncu(const std::filesystem::path& path, const std::filesystem::path& source_page);

/// The same page with only the columns `import_ncu` reads.
[[nodiscard]] std::string cut_ncu(const std::filesystem::path& path);

}  // namespace sluice
