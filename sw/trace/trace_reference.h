// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sluice {

/// What another simulator reported for one trace.
struct TraceReference {
  std::string trace;           ///< folder of the trace
  std::uint32_t max_ctas = 0;  ///< 0 = no limit
  double cycles = 0, core_mhz = 0;
  double cpu_seconds_low = 0, cpu_seconds_high = 0;  ///< 0 = not measured
};

/// Reads such a table: CSV with a header line `trace,max_ctas,cycles,core_mhz,cpu_seconds_low,cpu_seconds_high`.
/// @throws InputError naming file and line
[[nodiscard]] std::vector<TraceReference> read_trace_reference(const std::filesystem::path& path);

}  // namespace sluice
