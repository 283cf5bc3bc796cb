// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>

namespace sluice {

/// Consecutive blocks of a grid that one worker runs in order.
struct SlateTask {
  std::uint32_t first = 0, blocks = 0;
};

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
