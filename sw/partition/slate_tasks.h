// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>

namespace sluice {

/// Consecutive blocks of a grid that one worker runs in order.
struct SlateTask {
  std::uint32_t first = 0, blocks = 0;
};

inline constexpr std::uint32_t kSlateTaskSize = 10;

/// Blocks of a task: Slate's ten, or one where a worker would get fewer than 64 blocks, as its last task would then leave the
/// others idle for a tenth of the run and more. The second half is ours.
[[nodiscard]] constexpr std::uint32_t slate_task_size(std::uint64_t blocks, std::uint64_t workers) {
  constexpr std::uint64_t kFewBlocks = 64;
  return blocks < kFewBlocks * workers ? 1 : kSlateTaskSize;
}

/// Tasks of a grid. @pre size >= 1
[[nodiscard]] constexpr std::uint32_t slate_tasks(std::uint32_t blocks, std::uint32_t size) {
  return blocks / size + (blocks % size == 0 ? 0 : 1);
}

/// The task that the n-th pull from Slate's queue gives (listing 2). Behind the end it has no blocks, where the printed
/// subtraction would wrap. Tasks of the model are CTAs (sw/workload/task_source.h): its dispatcher is the queue. @pre size >= 1
[[nodiscard]] constexpr SlateTask slate_task(std::uint32_t n, std::uint32_t blocks, std::uint32_t size) {
  const std::uint64_t first = std::min<std::uint64_t>(std::uint64_t{n} * size, blocks);
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(std::min<std::uint64_t>(size, blocks - first))};
}

}  // namespace sluice
