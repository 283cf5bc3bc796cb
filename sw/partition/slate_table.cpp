// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/slate_table.h"

#include <fmt/format.h>

#include <cmath>

#include "sw/core/errors.h"

namespace sluice {

std::string_view to_string(SlateClass of) {
  switch (of) {
    case SlateClass::LowCompute: return "L_C";
    case SlateClass::MediumCompute: return "M_C";
    case SlateClass::HighCompute: return "H_C";
    case SlateClass::MediumMemory: return "M_M";
    case SlateClass::HighMemory: return "H_M";
  }
  return "unknown";
}

int compute_level(const Intensity& kernel) {
  const bool flops = kernel.of == ComputeShare::PeakFlops;
  if (kernel.compute >= (flops ? kSlateThresholds.compute_high : kIssueHigh)) return 2;
  return kernel.compute >= (flops ? kSlateThresholds.compute_medium : kIssueMedium) ? 1 : 0;
}

int memory_level(const Intensity& kernel) {
  if (kernel.memory >= kSlateThresholds.memory_high) return 2;
  return kernel.memory >= kSlateThresholds.memory_medium ? 1 : 0;
}

SlateClass slate_class(const Intensity& kernel) {
  for (const double value : {kernel.compute, kernel.memory})
    if (!std::isfinite(value) || value < 0)
      throw InputError(fmt::format("intensity {}: must be finite and at least 0, as a share of the machine's peak", value));
  constexpr SlateClass kByMemory[] = {SlateClass::LowCompute, SlateClass::MediumMemory, SlateClass::HighMemory};
  constexpr SlateClass kByCompute[] = {SlateClass::LowCompute, SlateClass::MediumCompute, SlateClass::HighCompute};
  const int memory = memory_level(kernel);
  return memory > 0 ? kByMemory[memory] : kByCompute[compute_level(kernel)];
}

bool slate_corun(SlateClass active, SlateClass candidate, SlateTable table) {
  static constexpr bool kTable[5][5] = {
      // L_C    M_C    H_C    M_M    H_M
      {true, true, false, true, true},     // L_C
      {true, true, false, false, true},    // M_C
      {false, false, false, false, true},  // H_C
      {true, false, true, false, false},   // M_M
      {true, true, false, false, false},   // H_M
  };
  const auto row = static_cast<int>(active), column = static_cast<int>(candidate);
  return kTable[row][column] || (table == SlateTable::Symmetric && kTable[column][row]);
}

}  // namespace sluice
