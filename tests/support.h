// SPDX-License-Identifier: Apache-2.0
// What tests of several folders share.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sw/core/errors.h"
#include "sw/core/units.h"

namespace sluice::test {

/// What the InputError says that `work` throws; "accepted" when it throws none.
template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// `text` with the first `from`, which is there, made `to`.
inline std::string edited(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

inline std::string test_name() {
  std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ranges::replace(name, '/', '_');
  return name;
}

/// A folder for the files of one test.
class Scratch : public ::testing::Test {
 protected:
  Scratch() { std::filesystem::create_directories(folder_); }
  ~Scratch() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("sluice_" + std::to_string(::getpid()) + "_" + test_name());
};

inline std::vector<CtaCount> counts(std::initializer_list<std::uint32_t> values) {
  std::vector<CtaCount> result;
  for (const std::uint32_t value : values) result.emplace_back(value);
  return result;
}

}  // namespace sluice::test
