// SPDX-License-Identifier: Apache-2.0
#pragma once
// What lies between two blocks of a persistent CTA: a barrier, copies that still run, and where the shared memory is.
#include <optional>
#include <string>
#include <vector>

#include "sw/gpu/rewrite/ptx.h"

namespace sluice::gpu {

/// A barrier that nothing in `text` uses; 0 where there are none at all. Nothing: all are used, or one is named by a register.
[[nodiscard]] std::optional<int> free_barrier(const std::string& text);

/// Instructions, for all threads, that wait for the copies which `text` can have left open; whole lines, or none.
[[nodiscard]] std::string drain_of(const std::string& text);

/// The symbol of the dynamic shared memory behind which the state lies: the kernel's own, the one with the largest alignment;
/// kOwnDynamic where it has static shared memory alone; empty where it has none at all.
[[nodiscard]] std::string dynamic_shared(const std::string& ptx, const std::vector<Item>& items, const Reach& reach);
inline constexpr const char* kOwnDynamic = "sluice_rt_dynamic";

}  // namespace sluice::gpu
