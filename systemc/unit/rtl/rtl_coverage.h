// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <verilated.h>
#if VM_COVERAGE
#include <unistd.h>
#include <verilated_cov.h>

#include <atomic>
#include <cstdlib>
#include <string>
#endif

namespace sluice {

#if VM_COVERAGE
inline constexpr bool kCountsCoverage = true;

/// Writes what a model has covered to SLUICE_COVERAGE_DIR, one file a call.
inline void write_coverage(VerilatedContext& context, const char* name) {
  static std::atomic<unsigned> files{0};
  const char* dir = std::getenv("SLUICE_COVERAGE_DIR");
  if (dir == nullptr) return;
  context.coveragep()->write(
      (std::string(dir) + "/" + name + std::to_string(getpid()) + "_" + std::to_string(files++) + ".dat").c_str());
}
#else
inline constexpr bool kCountsCoverage = false;  // a build with coverage is made by tb/coverage.sh
inline void write_coverage(VerilatedContext& /*context*/, const char* /*name*/) {}
#endif

}  // namespace sluice
