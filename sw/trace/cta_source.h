// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "sw/trace/trace_reader.h"
#include "sw/workload/i_instruction_source.h"

namespace sluice {

/// Warps whose instructions lie in memory, of the CTAs that live: what a trace and a program's graph have in common.
class CtaSource : public IInstructionSource {
 public:
  [[nodiscard]] std::uint32_t num_registers() const override { return 256; }
  std::uint32_t begin_cta(std::uint32_t cta) override;
  void end_cta(std::uint32_t handle) override { free_.push_back(handle); }
  Instruction next(WarpCursor& cursor) const override;
  void lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const override;

 protected:
  /// Writes the warps of the next CTA, with memory of an earlier one's. @return what their records index, until the next call
  virtual const Instruction* fill(std::uint32_t cta, TraceCta& warps) = 0;

 private:
  const Instruction* table_ = nullptr;
  std::vector<TraceCta> ctas_;  ///< by handle
  std::vector<std::uint32_t> free_;
};

}  // namespace sluice
