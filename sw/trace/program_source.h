// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/trace/cta_source.h"
#include "sw/trace/program_walk.h"

namespace sluice {

/// Warps of a kernel whose SASS and executions of each instruction are known (KernelDescriptor::program). Their ways are those of
/// ProgramWalk. Threads, lines and sectors of an access are the instruction's means; where it goes is not on the page, so each
/// instruction has an array of its own: the share of lines that neither the behaviour's reuse_fraction (L1) nor its
/// footprint_fraction (L2) claims is new, in the order of the grid; reuse reads the array's newest lines again, footprint one of
/// its last 65,536. Stores always write new lines. Registers and predicates, not control bits, say what waits for what.
class ProgramSource : public CtaSource {
 public:
  ProgramSource(const KernelDescriptor& kernel, std::uint32_t address_space);

  [[nodiscard]] std::map<std::string, std::uint64_t> unknown_opcodes() const override { return unknown_; }

 private:
  /// Lines of one global access.
  struct Access {
    std::uint64_t array = 0;       ///< address of the instruction's lines; 0: no global access
    std::uint64_t lines_each = 0;  ///< at most, of an execution
    std::uint64_t rounds = 0;      ///< executions of a warp, at most
    bool only_new = false;
  };

  const Instruction* fill(std::uint32_t cta, TraceCta& warps) override;
  void add_instruction(const ProgramInstruction& counted, const SassText& text, std::uint32_t predicates);
  std::uint32_t add_lines(std::uint32_t instruction, std::uint64_t ordinal, std::uint64_t slot, TraceWarp& warp) const;

  KernelDescriptor kernel_;
  const KernelProgram& program_;
  ProgramWalk walk_;
  double fresh_, reused_;  ///< of all lines; of those that are not new
  std::uint64_t base_;
  std::vector<Instruction> instructions_;
  std::vector<Access> accesses_;
  std::map<std::string, std::uint64_t> unknown_;
};

}  // namespace sluice
