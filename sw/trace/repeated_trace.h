// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sw/trace/trace_reader.h"
#include "sw/workload/i_instruction_source.h"

namespace sluice {

/// Warps of a kernel whose trace holds a block of its grid and says how the addresses go on (docs/user/traces.md): CTA (x, y, z)
/// runs the instructions of the CTA that lies in the block where it lies in its own, and each block further in a dimension adds
/// a step to the addresses of an access. The block stays in memory from the first CTA on.
class RepeatedTrace : public IInstructionSource {
 public:
  RepeatedTrace(std::filesystem::path path, std::uint32_t launch, std::uint32_t process = 0)
      : path_(std::move(path)), launch_(launch), process_(process) {}

  [[nodiscard]] std::uint32_t num_registers() const override { return 256; }
  /// @throws InputError `file:line: why`
  std::uint32_t begin_cta(std::uint32_t cta) override;
  void end_cta(std::uint32_t handle) override { free_.push_back(handle); }
  Instruction next(WarpCursor& cursor) const override;
  void lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const override;
  [[nodiscard]] std::map<std::string, std::uint64_t> unknown_opcodes() const override { return unknown_; }

 private:
  void read();

  std::filesystem::path path_;
  std::uint32_t launch_, process_;
  TraceHeader header_;
  std::vector<TraceCta> block_;
  std::vector<Instruction> instructions_;
  std::unordered_map<std::uint32_t, std::array<std::int64_t, 3>> steps_;  ///< by PC
  struct Live {
    std::uint32_t in_block = 0;
    std::array<std::int64_t, 3> blocks{};  ///< between the recorded block and this one's
  };
  std::vector<Live> live_;  ///< by handle
  std::vector<std::uint32_t> free_;
  std::map<std::string, std::uint64_t> unknown_;
};

/// What runs a trace: its CTAs in turn, or those of its whole grid where the trace says how that goes on.
[[nodiscard]] std::unique_ptr<IInstructionSource> trace_source(const std::filesystem::path& path, std::uint32_t launch,
                                                               std::uint32_t process = 0);
/// The same of a workload's kernel. @throws InputError naming the file where it has another grid, or other CTAs
[[nodiscard]] std::unique_ptr<IInstructionSource> trace_source(const KernelDescriptor& kernel, std::uint32_t launch);

}  // namespace sluice
