// SPDX-License-Identifier: Apache-2.0
#include "sw/workload/task_source.h"

#include "sw/partition/slate_tasks.h"

namespace sluice {

WarpCursor TaskSource::in_block(const WarpCursor& cursor, std::uint32_t position) const {
  WarpCursor block = cursor;
  block.cta = slate_task(cursor.cta, grid_, task_size_).first + position / length_;
  return block;
}

Instruction TaskSource::next(WarpCursor& cursor) const {
  if (cursor.position >= slate_task(cursor.cta, grid_, task_size_).blocks * length_) return {};
  WarpCursor block = in_block(cursor, cursor.position);
  block.position = cursor.position % length_;
  ++cursor.position;
  return blocks_.next(block);
}

void TaskSource::lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const {
  blocks_.lines(in_block(cursor, position), position % length_, lines);
}

KernelDescriptor in_tasks(KernelDescriptor kernel, std::uint32_t task_size) {
  kernel.grid_ctas = slate_tasks(kernel.grid_ctas, task_size);
  kernel.behaviour.warp_instructions *= task_size;
  if (kernel.flops_per_thread) *kernel.flops_per_thread *= task_size;
  return kernel;
}

}  // namespace sluice
