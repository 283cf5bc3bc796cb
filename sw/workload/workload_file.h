// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "sw/core/kernel.h"

namespace sluice {

// Limits that the reader enforces and the importers keep to: what is written can be read.
inline constexpr std::uint32_t kMaxRegistersPerCta = 65536;        ///< 32-bit registers
inline constexpr std::uint32_t kMaxSharedBytesPerCta = 262143;     ///< the partition core's 18-bit field
inline constexpr std::uint32_t kMaxWarpInstructions = 1000000000;  ///< of one warp
inline constexpr double kMaxInstructions = 1e18;                   ///< thread instructions of a reference
inline constexpr std::uint64_t kMaxReferenceCycles = 1000000000000;
inline constexpr double kMaxMpki = 1e6;  ///< L2 misses per thousand warp instructions

/// Reads a workload description (docs/user/workloads.md).
/// @throws InputError naming file, line, key and allowed values
[[nodiscard]] Workload read_workload(const std::filesystem::path& path);

/// Tells a trace from another one of the same name; below 2^63, as a TOML file holds it. @throws InputError naming the file
[[nodiscard]] std::uint64_t trace_hash(const std::filesystem::path& path);

/// The text `read_workload` reads back, fractions to six decimals. `comment` goes on top, one `# ` line each.
[[nodiscard]] std::string format_workload(const Workload& workload, const std::string& comment);

}  // namespace sluice
