// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "sw/interpose/context_state.h"

namespace sluice::interpose {

/// What the program has allocated of each GPU's memory, and a limit for it: SLUICE_MEMORY in bytes, or the service's. Memory that
/// the driver takes for itself (contexts, code, a module's variables, pools that hold what was freed) is not counted.
class Memory {
 public:
  static Memory& instance();           ///< lives as long as the process
  [[nodiscard]] static bool counts();  ///< somebody asks for it; else no allocation is hooked
  enum class Kind : std::uint8_t { Pointer, Handle, Array };
  using Key = std::pair<Kind, unsigned long long>;
  /// Calls the driver for so many bytes, if there is room, and counts them where it succeeds. @param key  of what it made
  template <class Driver, class Made>
  [[nodiscard]] CUresult allocate(std::uint64_t bytes, const Driver& driver, const Made& key, GpuNumber gpu = current_gpu()) {
    if (!reserve(bytes, gpu)) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = driver();
    settle(bytes, result == CUDA_SUCCESS ? std::optional<Key>(key()) : std::nullopt, gpu);
    return result;
  }
  /// It is about to be freed: its address may come again at once. @return its bytes, for the case that the driver refuses
  std::uint64_t freed(const Key& key);
  void add(const Key& key, std::uint64_t bytes, GpuNumber gpu = current_gpu());  ///< it was not freed
  void context_ends(ContextId context);                                          ///< with all that was allocated there
  [[nodiscard]] bool refuse_nodes();  ///< a graph's allocations are the driver's: refused, where there is a limit
  [[nodiscard]] MemoryFigures figures(GpuNumber gpu = current_gpu()) const;
  void forget() { new (this) Memory; }  ///< in a forked child: the parent's are not its own

 private:
  [[nodiscard]] bool reserve(std::uint64_t bytes, GpuNumber gpu);
  void settle(std::uint64_t bytes, const std::optional<Key>& made, GpuNumber gpu);
  void ask(GpuNumber gpu);
  struct Block {
    std::uint64_t bytes = 0;
    ContextId context = 0;  ///< 0: it outlives contexts
    GpuNumber gpu = 0;
  };
  mutable std::mutex lock_;
  std::map<Key, Block> blocks_;
  std::map<GpuNumber, MemoryFigures> now_;
  std::set<GpuNumber> asked_;  ///< for the limit
};

}  // namespace sluice::interpose
