// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sw/interpose/context_state.h"

namespace sluice::interpose {

/// Launches of a process and their GPU time: under quota, and natively with the reasons. Some launches of
/// each kernel are timed by events, the 1st, 2nd, 4th, ... and one each 100 ms; the mean stands for the others.
class Coverage {
 public:
  enum class Way : std::uint8_t { Quota, Native };
  struct Key {
    Way way = Way::Quota;
    std::string kernel, reason;
    std::uint64_t module = 0;  ///< of its text, where it is under quota: a hash
    GpuNumber gpu = 0;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): of the compiler's own text
  };
  struct Row {
    const Key* key = nullptr;
    std::uint64_t launches = 0, timed = 0;
    double ms = 0;
    std::chrono::steady_clock::time_point last;
    [[nodiscard]] double gpu_ms() const {
      return timed == 0 ? 0 : ms / static_cast<double>(timed) * static_cast<double>(launches);
    }
  };
  /// A launch that was counted, and between whose events it is timed.
  struct Timed {
    Row* row = nullptr;
    std::uint64_t blocks = 0;  ///< 0: it tells nothing of the kernel's length
    ContextId context = 0;
    CUevent begin = nullptr, end = nullptr;
  };
  [[nodiscard]] Row& row(const Key& key);  ///< stays where it is until forget()
  /// Counts a launch. @return what to hand to end() behind it, where it is timed; the stream is not captured
  [[nodiscard]] std::optional<Timed> begin(Row& row, std::uint64_t blocks, CUstream stream);
  void end(Timed timed, CUstream stream);  ///< with the lock held
  /// A replay of a graph, some of whose launches are timed as a whole: each gets an equal part.
  void add(const Key& key, std::uint64_t launches, double ms, std::uint64_t timed_launches);
  /// Of about so many blocks, under quota or natively as they are short: about the mean of the last four that were timed; nothing
  /// before there are three.
  [[nodiscard]] std::optional<double> microseconds(const std::string& kernel, std::uint64_t blocks);
  bool collect();  ///< reads the events that are done. @return some are not
  void context_ends(ContextId context);
  void forget();  ///< in a child: the parent tells its own
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] nlohmann::json json() const;
  [[nodiscard]] std::vector<CoverageLine> lines(GpuNumber gpu) const;  ///< of a kernel and a way one, with the first reason
  [[nodiscard]] std::string table() const;                             ///< for people

 private:
  struct Mean {
    unsigned timed = 0;
    double ms = 0;
  };
  [[nodiscard]] CUevent event(ContextId context);
  std::map<Key, Row> rows_;
  std::map<std::pair<std::string, int>, Mean> means_;  // by kernel and the blocks' number of bits
  std::deque<Timed> open_;
  std::multimap<ContextId, CUevent> free_;
};

}  // namespace sluice::interpose
