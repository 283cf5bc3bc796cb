// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sw/io/atomic_file.h"

namespace sluice::gpu {

/// A folder of measured lines, for pages made from it.
class PageFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    make_folder(folder_);
  }
  void write(const std::string& name, const std::vector<nlohmann::json>& all) const {
    std::ofstream out(folder_ / name);
    for (const nlohmann::json& line : all) out << line.dump() << "\n";
  }
  std::filesystem::path folder_;
};

}  // namespace sluice::gpu
