// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/workload/i_instruction_source.h"

namespace sluice {

/// Instructions of a kernel that is known by its behaviour only (KernelBehaviour): one loop body of random but fixed order
/// with exactly the stated mix, walked by every warp, and addresses drawn by hashing (kernel, CTA, warp, access).
class SyntheticSource : public IInstructionSource {
 public:
  /// @param address_space index of the kernel in its mix: kernels share no data
  /// @param most_ctas     CTAs that the machine holds at a time: those whose indices differ by as many share a working set
  SyntheticSource(const KernelDescriptor& kernel, std::uint32_t address_space, std::uint32_t most_ctas, std::uint64_t seed);

  [[nodiscard]] std::uint32_t num_registers() const override { return kRegisters; }
  Instruction next(WarpCursor& cursor) const override;
  void lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const override;

 private:
  /// Where in the loop body a CTA begins: short CTAs must see the whole mix too. The same for its warps, so barriers meet.
  [[nodiscard]] std::uint32_t body_offset(const WarpCursor& cursor) const;

  static constexpr std::uint32_t kRegisters = 64;
  static constexpr std::uint32_t kBody = 1024;  ///< instructions of the loop body

  KernelBehaviour behaviour_;
  std::uint32_t phase_from_ = 0xffffffff;  ///< CTAs from here on come from `phase_`
  std::unique_ptr<SyntheticSource> phase_;
  std::uint32_t warps_per_cta_, last_warp_lanes_;
  std::uint64_t seed_;
  std::uint32_t reuse_regions_;
  std::uint64_t base_;
  std::vector<Instruction> body_;
  std::vector<std::uint32_t> global_rank_;  ///< global accesses of the body before each position
  std::uint32_t globals_per_body_ = 0;
};

}  // namespace sluice
