// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::gpu {

/// What the threads of the recorded CTAs wrote. A row has a word for each lane of a warp: word i of a thread is in its warp's row
/// i.
struct RecordedLog {
  std::uint32_t ctas = 0, threads = 0;  ///< recorded CTAs; threads of one
  std::vector<std::uint32_t> starts;    ///< of each warp, CTA after CTA: its first row; and the end
  std::vector<std::uint32_t> counts;    ///< of each lane, unused lanes too: words that it wrote
  std::vector<std::uint32_t> words;     ///< the rows
  [[nodiscard]] std::uint32_t warps() const { return (threads + 31) / 32; }  ///< of a CTA
};

/// A launch whose threads have logged.
struct RecordedLaunch {
  std::string symbol;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t registers = 0, shared_bytes = 0, sm = 90;  ///< of the program's kernel; shared memory static and dynamic
  std::uint64_t shared_window = 0, local_window = 0;       ///< generic addresses where they begin
  RecordedLog log;
};

}  // namespace sluice::gpu
