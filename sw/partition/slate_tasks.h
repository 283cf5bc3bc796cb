// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace sluice {

/// Consecutive blocks of a grid that one worker runs in order.
struct SlateTask {
  std::uint64_t first = 0, blocks = 0;

  bool operator==(const SlateTask&) const = default;
};

inline constexpr std::uint32_t kSlateTaskSize = 10;

/// Blocks of a task: Slate's ten, or one where a worker would get fewer than 64 blocks, as its last task would then leave the
/// others idle for a tenth of the run and more. The second half is ours.
[[nodiscard]] constexpr std::uint32_t slate_task_size(std::uint64_t blocks, std::uint64_t workers) {
  constexpr std::uint64_t kFewBlocks = 64;
  return blocks < kFewBlocks * workers ? 1 : kSlateTaskSize;
}

/// Slate's queue of tasks (listing 2): workers pull groups of consecutive blocks, in order. It outlives workers: after a change
/// of SMs, new ones go on where the old ones stopped. A pull at the end gives nothing, where the printed subtraction would wrap.
class SlateTaskQueue {
 public:
  /// @throws std::logic_error when a task has no block
  SlateTaskQueue(std::uint64_t blocks, std::uint32_t task_size) : blocks_(blocks), task_size_(task_size) {
    if (task_size == 0) throw std::logic_error("a task of 0 blocks: must be at least 1");
  }
  /// @return 0 blocks when none is left
  SlateTask pull() {
    const SlateTask task{next_, std::min<std::uint64_t>(task_size_, blocks_ - next_)};
    next_ += task.blocks;
    return task;
  }

 private:
  std::uint64_t blocks_, next_ = 0;
  std::uint32_t task_size_;
};

}  // namespace sluice
