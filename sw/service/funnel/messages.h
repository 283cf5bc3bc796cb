// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a funnelled program and its worker say to each other: docs/reference/funnel.md. Packets of one size; no other header of
// the project.
#include <cstddef>
#include <cstdint>

namespace sluice::service::funnel {

enum class Op : std::uint32_t { Malloc = 1, Free, ToDevice, ToHost, Stream, Load, Launch, Synchronize };
[[nodiscard]] constexpr bool is_answered(Op op) {
  return op == Op::Malloc || op == Op::Stream || op == Op::Load || op == Op::Synchronize;
}

inline constexpr std::uint32_t kArguments = 32, kStreams = 64, kBuffers = 4096, kModules = 256;
inline constexpr std::uint32_t kAllStreams = 0xffffffff;

struct Argument {
  std::uint32_t bytes;  ///< of `value`; 0: value[0] is a buffer, value[1] an offset into it
  std::uint32_t reserved;
  std::uint64_t value[2];
};
struct Command {
  std::uint32_t op, stream;
  std::uint64_t buffer, offset, bytes;  ///< Load: bytes of the image, whose descriptor comes along, as a Malloc's does
  std::uint32_t module, grid[3], block[3], shared_bytes, count, reserved;
  char kernel[256];
  Argument arguments[kArguments];
};
struct Answer {
  std::uint32_t failed, reserved;
  std::uint64_t value;  ///< of the buffer, stream or module
  char text[240];       ///< of the first failure since the last answer
};
static_assert(sizeof(Argument) == 24 && sizeof(Command) == 328 + 24 * kArguments && sizeof(Answer) == 256);

}  // namespace sluice::service::funnel
