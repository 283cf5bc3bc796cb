// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

namespace sluice {

/// Progress of a list of runs on standard error: a bar with the time left on a terminal, a line every tenth otherwise.
class Progress {
 public:
  Progress(std::string what, std::size_t total)
      : what_(std::move(what)), total_(total), start_(std::chrono::steady_clock::now()) {}

  void done(const std::string& name) {
    ++done_;
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const auto left = static_cast<unsigned>(elapsed / static_cast<double>(done_) * static_cast<double>(total_ - done_));
    const auto passes = [&](std::size_t parts) {
      return done_ == total_ || done_ * parts / total_ != (done_ - 1) * parts / total_;
    };
    if (isatty(STDERR_FILENO) != 0) {
      if (!passes(1000)) return;
      constexpr std::size_t kWidth = 30;
      const std::size_t filled = kWidth * done_ / total_;
      std::fprintf(stderr, "\r%s [%s%s] %zu/%zu, %u:%02u left, %-30.30s%s", what_.c_str(), std::string(filled, '#').c_str(),
                   std::string(kWidth - filled, '.').c_str(), done_, total_, left / 60, left % 60, name.c_str(),
                   done_ == total_ ? "\n" : "");
    } else if (passes(10)) {
      std::fprintf(stderr, "%s: %zu/%zu, %u:%02u left\n", what_.c_str(), done_, total_, left / 60, left % 60);
    }
  }

 private:
  std::string what_;
  std::size_t total_, done_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace sluice
