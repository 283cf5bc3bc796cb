// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ours in place of the driver's functions, by purpose. Each calls the driver's own; what that answers passes unchanged.
#include "sw/interpose/table.h"

namespace sluice::interpose {

[[nodiscard]] void* module_hook(Symbol symbol);
[[nodiscard]] void* launch_hook(Symbol symbol);
[[nodiscard]] void* memory_hook(Symbol symbol);
[[nodiscard]] void* wait_hook(Symbol symbol);
[[nodiscard]] void* graph_hook(Symbol symbol);

template <class F>
[[nodiscard]] void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace sluice::interpose
