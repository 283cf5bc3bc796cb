// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

namespace sluice {

/// Priorities of jobs run from 0 to this; larger is more important. EffiSha's evaluation draws from 0..30.
inline constexpr std::int32_t kMaxPriority = 30;

/// Of a job that asks for none: by the nice value of its host thread, 10 at nice 0 and 20 at nice -20. EffiSha does not say how.
/// What is above 20 is root's alone.
[[nodiscard]] constexpr std::int32_t thread_priority(std::int32_t nice) { return (20 - nice) / 2; }

/// EffiSha's root rule (section 6.4): only root may go above the priority of the host thread. What others ask for above it is
/// ignored, and the job has the thread's.
[[nodiscard]] constexpr std::int32_t granted_priority(std::optional<std::int32_t> asked, std::int32_t thread, bool root) {
  return asked && (root || *asked <= thread) ? *asked : thread;
}

}  // namespace sluice
