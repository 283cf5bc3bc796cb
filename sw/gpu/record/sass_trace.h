// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "sw/gpu/record/log.h"
#include "sw/gpu/rewrite/instrument.h"

namespace sluice::gpu {

/// All that the recording of one launch leaves.
struct RecordedKernel : RecordedLaunch {
  std::string listing;  ///< the kernel's disassembly (nvdisasm -g -c -hex)
  std::string origin;   ///< GPU and driver, for the trace's header
  RecordPlan plan;
};

/// Global accesses of one opcode: warp instructions, and the different sectors of 32 bytes that each of them touches.
struct SectorCount {
  std::uint64_t requests = 0, sectors = 0;
};

struct JoinResult {
  std::uint64_t warp_instructions = 0;            ///< in the trace
  std::map<std::string, std::uint64_t> unjoined;  ///< warp instructions of which something is not known, by what
  std::map<std::string, std::uint64_t> opcodes;   ///< warp instructions by mnemonic, up to the first dot
  std::map<std::string, SectorCount> sectors;     ///< by the same
  std::uint64_t bytes = 0;                        ///< of the trace's file
  [[nodiscard]] double joined_pct() const;
  [[nodiscard]] double missing_pct() const;  ///< statements of threads that are not in the trace
};

/// Writes the SASS trace of the recorded CTAs. @throws InputError when listing and log do not fit together, or the file fails
[[nodiscard]] JoinResult write_trace(const RecordedKernel& kernel, std::uint32_t id, const std::filesystem::path& file);

}  // namespace sluice::gpu
