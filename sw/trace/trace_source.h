// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sw/trace/trace_reader.h"
#include "sw/workload/i_instruction_source.h"

namespace sluice {

/// Warps of a traced kernel. Its file is opened when its first CTA begins and closed after its last, and opened again when the
/// kernel is launched again; only the CTAs that live are in memory. The CTAs come in file order, as the traced device started
/// them. A grid with more CTAs than the trace runs the trace again; one with fewer goes on in it at its next launch.
class TraceSource : public IInstructionSource {
 public:
  /// @param launch   its index in the run: launches share no local memory
  /// @param process  nor do processes any memory
  TraceSource(std::filesystem::path path, std::uint32_t launch, std::uint32_t process = 0)
      : path_(std::move(path)), launch_(launch), process_(process) {}

  [[nodiscard]] std::uint32_t num_registers() const override { return 256; }
  /// @throws InputError `file:line: why`
  std::uint32_t begin_cta(std::uint32_t cta) override;
  void end_cta(std::uint32_t handle) override { free_.push_back(handle); }
  Instruction next(WarpCursor& cursor) const override;
  void lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const override;
  [[nodiscard]] std::map<std::string, std::uint64_t> unknown_opcodes() const override { return unknown_; }

 private:
  std::filesystem::path path_;
  std::uint32_t launch_, process_;
  std::unique_ptr<TraceReader> reader_;
  std::vector<Instruction> instructions_;  ///< all of them, once the file was read to its end
  const Instruction* table_ = nullptr;
  std::uint32_t ctas_begun_ = 0;
  std::vector<TraceCta> ctas_;  ///< by handle
  std::vector<std::uint32_t> free_;
  std::map<std::string, std::uint64_t> unknown_;
};

}  // namespace sluice
