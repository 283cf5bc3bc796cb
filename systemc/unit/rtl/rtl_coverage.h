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

/// Called when a Verilated model ends: writes the lines and toggles that it covered to SLUICE_COVERAGE_DIR, one file a model.
/// Nothing in a build without coverage (tb/coverage.sh makes one with it).
inline void write_coverage([[maybe_unused]] VerilatedContext& context) {
#if VM_COVERAGE
  static std::atomic<unsigned> models{0};
  const char* dir = std::getenv("SLUICE_COVERAGE_DIR");
  if (dir == nullptr) return;
  context.coveragep()->write(
      (std::string(dir) + "/" + std::to_string(getpid()) + "_" + std::to_string(models++) + ".dat").c_str());
#endif
}

}  // namespace sluice
