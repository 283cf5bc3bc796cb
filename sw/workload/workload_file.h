#pragma once
#include <filesystem>
#include <string>

#include "sw/core/kernel.h"

namespace sluice {

/// Reads a workload description (docs/workloads.md).
/// @throws InputError naming file, line, key and allowed values
[[nodiscard]] Workload read_workload(const std::filesystem::path& path);

/// The text `read_workload` reads back. `comment` goes on top, one `# ` line each.
[[nodiscard]] std::string format_workload(const Workload& workload, const std::string& comment);

}  // namespace sluice
