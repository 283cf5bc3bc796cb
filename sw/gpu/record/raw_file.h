// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "sw/gpu/record/log.h"

namespace sluice::gpu {

/// A launch of a program as the interposer recorded it, before it is joined with machine code.
struct RawRecording {
  std::string ptx, symbol;  ///< normalised, with this kernel alone
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t registers = 0, shared_bytes = 0, sm = 90;  ///< of the program's kernel; shared memory static and dynamic
  std::uint64_t shared_window = 0, local_window = 0;       ///< generic addresses where they begin
  std::string gpu;
  int driver_version = 0;    ///< 13000
  std::uint32_t launch = 1;  ///< of this kernel in this process, from 1
  double recorded_ms = 0;
  RecordedLog log;
};

/// @throws SystemError when the file cannot be written
void write_raw(const std::filesystem::path& file, const RawRecording& recording);
/// @throws InputError for what is no such file, or is cut off
[[nodiscard]] RawRecording read_raw(const std::filesystem::path& file);

}  // namespace sluice::gpu
