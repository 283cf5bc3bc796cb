// SPDX-License-Identifier: Apache-2.0
#pragma once
// The built program, run as a user runs it, with a folder for its files.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace sluice::test {

namespace fs = std::filesystem;

struct Outcome {
  int exit = -1;
  std::string out, err;
};

class Sluice : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("sluice_cli_" + std::to_string(getpid()) + "_" + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    ::setenv("SLUICE_PTXAS", "", 0);  // the tests' driver loads what its own compiler makes
  }
  void TearDown() override {  // a compiler that outlives its program may write there meanwhile
    std::error_code refused;
    for (int k = 0; k < 1000 && (fs::remove_all(folder_, refused), refused); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  Outcome shell(const std::string& command) {
    const fs::path err = folder_ / "stderr";
    Outcome outcome;
    FILE* pipe = popen(("cd '" + std::string(SLUICE_SOURCE_DIR) + "' && " + command + " 2>'" + err.string() + "'").c_str(), "r");
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) outcome.out.append(buffer.data(), n);
    const int status = pclose(pipe);
    outcome.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    std::ifstream in(err);
    outcome.err.assign(std::istreambuf_iterator<char>(in), {});
    return outcome;
  }
  Outcome sluice(const std::string& arguments) { return shell("'" SLUICE_BINARY "' " + arguments); }
  /// Exit code 2, one line on standard error that holds `text`, nothing on standard output.
  void refuses(const std::string& arguments, const std::string& text) {
    const Outcome o = sluice(arguments);
    EXPECT_EQ(o.exit, 2) << arguments;
    EXPECT_NE(o.err.find(text), std::string::npos) << arguments << "\n" << o.err;
    EXPECT_EQ(std::ranges::count(o.err, '\n'), 1) << o.err;
    EXPECT_EQ(o.out, "") << arguments;
  }
  /// What a file of the folder has.
  [[nodiscard]] std::string text(const fs::path& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::ptrdiff_t count(const std::string& all, const std::string& what) {
    std::ptrdiff_t n = 0;
    for (std::size_t at = all.find(what); at != std::string::npos; at = all.find(what, at + 1)) ++n;
    return n;
  }
  /// A copy of a file with one piece of text replaced.
  std::string edited(const std::string& file, const std::string& from, const std::string& to) {
    std::ifstream in(fs::path(SLUICE_SOURCE_DIR) / file);
    std::string text(std::istreambuf_iterator<char>(in), {});
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
    const fs::path copy = folder_ / fs::path(file).filename();
    std::ofstream(copy) << text;
    return copy.string();
  }

  fs::path folder_;
  const std::string fermi = "configs/machines/fermi_table1.toml", table2 = "configs/workloads/table2.toml",
                    effisha = "configs/scenarios/effisha_group.toml";
  std::string partition(const std::string& machine, const std::string& workload, const std::string& rest = "") {
    return "partition --machine " + machine + " --workload " + workload + " " + rest;
  }
};

}  // namespace sluice::test
