// SPDX-License-Identifier: Apache-2.0
#pragma once
// `sluice run` in front of a driver for tests, with its books, cache and report.
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/sluice_program.h"
#ifdef SLUICE_FAKE_CUDA

namespace sluice::test {

class Run : public Sluice {
 protected:
  Outcome run(const std::string& before, int compile_wait_ms, const std::string& command) {
    return shell(before + " SLUICE_COMPILE_WAIT_MS=" + std::to_string(compile_wait_ms) + " SLUICE_CACHE_DIR='" +
                 (folder_ / "cache").string() + "' SLUICE_REPORT='" + (folder_ / "report").string() + "' FAKE_CUDA_BOOKS='" +
                 (folder_ / "books").string() + "' SLUICE_REAL_LIBCUDA='" SLUICE_FAKE_CUDA "' " + command);
  }
  Outcome client(const std::string& before = "", const std::string& options = "--quota 2", int compile_wait_ms = 10000) {
    return run(before, compile_wait_ms, SLUICE_BINARY " run " + options + " -- " + program_);
  }
  /// The same of a program that ends as it does without us.
  Outcome right(const std::string& before = "", const std::string& options = "--quota 2", int compile_wait_ms = 10000) {
    const Outcome o = client(before, options, compile_wait_ms);
    EXPECT_EQ(o.exit, 0) << before << options << o.out << o.err << text("books");
    return o;
  }
  std::string program_ = SLUICE_FAKE_CLIENT;
  /// A quota in a file, which may change.
  std::string quota_file(const std::string& quota) {
    std::ofstream(folder_ / "quota") << quota << "\n";
    return "--quota-file '" + (folder_ / "quota").string() + "'";
  }
  /// A program that says its quota itself, and ends after 20 seconds at most.
  void waits(const std::string& call, const std::string& before = "") {
    const Outcome o = run(before + " FAKE_CUDA_TASK_US=200 SLUICE_SHORT_US=0", 10000,
                          "timeout 20 " SLUICE_BINARY " run " + quota_file("all") + " -- " SLUICE_FAKE_WAITS " '" +
                              (folder_ / "quota").string() + "' " + call);
    EXPECT_EQ(o.exit, 0) << call << o.out << o.err << text("books");
  }
  /// A quota that changes while the program runs: these, one after the other.
  std::thread changes(std::vector<const char*> quotas, std::chrono::milliseconds each, bool when_launched = true) {
    return std::thread([this, quotas, each, when_launched] {
      if (when_launched) await_launch();
      for (const char* quota : quotas) {
        std::this_thread::sleep_for(each);
        quota_file(quota);
      }
    });
  }
  /// How often the driver has written this into its books.
  void booked(const std::string& what, int times, const std::string& why = "") {
    EXPECT_EQ(count(text("books"), what), times) << what << ": " << why << "\n" << text("books");
  }
  void has(const std::string& all, const std::string& what, const std::string& why = "") {
    EXPECT_NE(all.find(what), std::string::npos) << what << ": " << why << "\n" << all;
  }
  [[nodiscard]] nlohmann::json report() const { return nlohmann::json::parse(text("report")); }
  /// A slow program's first launch is to find the first quota.
  void await_launch() {
    for (int k = 0; k < 2000 && text("books").find("launch refused") == std::string::npos; ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  /// A stand-in for the toolkit's assembler, and the setting that names it. @param first  what it does before it assembles
  std::string ptxas(const std::string& first, const std::string& release) {
    const fs::path standin = folder_ / "ptxas";
    std::ofstream(standin) << "#!/bin/sh\n[ \"$1\" != --version ] || { echo 'tools, release " << release << ", V'; exit 0; }\n"
                           << first << "\ncp \"$3\" \"$5\"\nprintf '\\0' >> \"$5\"\n"
                           << "echo \"ptxas $1 $2 ${LD_PRELOAD:-alone}\" >> \"$FAKE_CUDA_BOOKS\"\n";
    fs::permissions(standin, fs::perms::owner_all);
    return "SLUICE_PTXAS='" + standin.string() + "' ";
  }
};

}  // namespace sluice::test
#endif
