// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "sw/gpu/record/log.h"

namespace sluice::gpu {

/// A launch of a program as the interposer recorded it, before it is joined with machine code.
struct RawRecording : RecordedLaunch {
  std::string ptx;  ///< normalised, with this kernel alone
  std::string gpu;
  int driver_version = 0;    ///< 13000
  std::uint32_t launch = 1;  ///< of this kernel in this process, from 1
  double recorded_ms = 0;
};

/// @throws SystemError when the file cannot be written
void write_raw(const std::filesystem::path& file, const RawRecording& recording);
/// @throws InputError for what is no such file, or is cut off
[[nodiscard]] RawRecording read_raw(const std::filesystem::path& file);

}  // namespace sluice::gpu
