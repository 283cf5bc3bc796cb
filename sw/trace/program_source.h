// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/trace/program_walk.h"
#include "sw/workload/i_instruction_source.h"

namespace sluice {

/// Warps of a kernel that a profiler counted instruction by instruction: they go the ways of ProgramWalk. Lanes, lines, sectors
/// and passes of each execution add up to what was counted; no address was, so a load finds new lines, those that the L2 keeps,
/// or those of a neighbour, as often as measured (docs/user/workloads.md). Only the CTAs that live are in memory.
class ProgramSource : public IInstructionSource {
 public:
  /// @param address_space index of the launch: launches share no memory
  ProgramSource(const KernelDescriptor& kernel, std::uint32_t address_space);

  [[nodiscard]] std::uint32_t num_registers() const override { return 255; }
  std::uint32_t begin_cta(std::uint32_t cta) override;
  void end_cta(std::uint32_t handle) override { free_.push_back(handle); }
  Instruction next(WarpCursor& cursor) const override;
  void lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const override;
  [[nodiscard]] std::map<std::string, std::uint64_t> unknown_opcodes() const override { return unknown_; }

 private:
  using Way = std::vector<ProgramWalk::Visit>;

  void decode(std::uint32_t index);

  std::shared_ptr<const KernelProgram> program_;
  ProgramWalk walk_;
  std::vector<Instruction> instructions_;  ///< by index, less what differs between executions
  std::vector<bool> even_;                 ///< every execution has the same lanes and passes
  std::map<std::string, std::uint64_t> unknown_;
  std::uint32_t grid_ctas_, warps_per_cta_, block_threads_;
  std::uint64_t base_;
  std::vector<std::vector<Way>> ctas_;  ///< by handle, a way for each warp
  std::vector<std::uint32_t> free_;
};

}  // namespace sluice
