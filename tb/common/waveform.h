// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace sluice::tb {

/// Where the design under test writes its waveform: <SLUICE_FST_DIR>/<design>.<test>.fst; empty (none) without SLUICE_FST_DIR.
/// build/waves/<design>.gtkw shows it in GTKWave.
inline std::string waveform(const std::string& design) {
  const char* dir = std::getenv("SLUICE_FST_DIR");
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  return dir == nullptr || test == nullptr ? "" : std::string(dir) + "/" + design + "." + test->name() + ".fst";
}

}  // namespace sluice::tb
