// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/workload/synthetic_source.h"

namespace sluice {

/// A kernel in Slate's tasks: each CTA of the machine runs `task_size` consecutive blocks of the kernel, one after the other, in
/// its slot. The dispatcher hands tasks out in order, so it is Slate's queue, and progress survives a change of SMs. As in
/// Slate's loop, warps do not wait for each other between the blocks of a task.
class TaskSource : public IInstructionSource {
 public:
  /// @param kernel, address_space, most_ctas, seed  as of SyntheticSource; blocks behave as that kernel's CTAs. @pre task_size >=
  /// 1
  TaskSource(const KernelDescriptor& kernel, std::uint32_t task_size, std::uint32_t address_space, std::uint32_t most_ctas,
             std::uint64_t seed)
      : blocks_(kernel, address_space, most_ctas, seed),
        grid_(kernel.grid_ctas),
        task_size_(task_size),
        length_(kernel.behaviour.warp_instructions) {}

  [[nodiscard]] std::uint32_t num_registers() const override { return blocks_.num_registers(); }
  Instruction next(WarpCursor& cursor) const override;
  void lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const override;

 private:
  [[nodiscard]] WarpCursor in_block(const WarpCursor& cursor, std::uint32_t position) const;

  SyntheticSource blocks_;
  std::uint32_t grid_, task_size_;
  std::uint32_t length_;  ///< instructions of a warp in one block
};

/// The kernel whose CTAs are tasks of so many blocks of `kernel`. @pre task_size >= 1
[[nodiscard]] KernelDescriptor in_tasks(KernelDescriptor kernel, std::uint32_t task_size);

}  // namespace sluice
