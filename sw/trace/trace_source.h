// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sw/trace/cta_source.h"
#include "sw/trace/trace_reader.h"

namespace sluice {

/// Warps of a traced kernel. Its file is opened when its first CTA begins and closed after its last; only the CTAs that live are
/// in memory. The CTAs come in file order, as the traced device started them.
class TraceSource : public CtaSource {
 public:
  /// @param launch its index in the list: launches share no local memory
  TraceSource(std::filesystem::path path, std::uint32_t launch) : path_(std::move(path)), launch_(launch) {}

  [[nodiscard]] std::map<std::string, std::uint64_t> unknown_opcodes() const override { return unknown_; }

 private:
  /// @throws InputError `file:line: why`
  const Instruction* fill(std::uint32_t cta, TraceCta& warps) override;

  std::filesystem::path path_;
  std::uint32_t launch_;
  std::unique_ptr<TraceReader> reader_;
  std::vector<Instruction> instructions_;  ///< of the closed reader
  std::uint32_t ctas_begun_ = 0;
  std::map<std::string, std::uint64_t> unknown_;
};

}  // namespace sluice
