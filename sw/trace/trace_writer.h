// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sw/trace/trace_reader.h"

namespace sluice {

/// Writes one kernel's trace in Accel-Sim's form (tracer version 5), as text or, where the name ends in .xz, compressed. The file
/// has its name when finish() is done; without it, nothing is left.
class TraceWriter {
 public:
  /// @param notes  more header lines, "-key = value\n" each
  /// @throws InputError, SystemError when the file cannot be written
  TraceWriter(std::filesystem::path path, const TraceHeader& header, std::string_view tracer, std::string_view notes = {});
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void begin_cta(const std::array<std::uint32_t, 3>& index);
  /// @param addresses  one for each set bit of the mask; empty: it has no memory operand
  void instruction(std::uint32_t pc, std::uint32_t mask, std::optional<std::uint8_t> destination, std::string_view opcode,
                   std::span<const std::uint8_t> sources, std::uint32_t width, std::span<const std::uint64_t> addresses,
                   std::uint32_t immediate = 0);
  void end_warp(std::uint32_t warp);
  void end_cta();
  /// @return the file's bytes
  std::uint64_t finish();

 private:
  struct Encoder;
  void write(std::string_view text);
  void encode(bool last);

  std::filesystem::path path_, temporary_;
  std::FILE* file_ = nullptr;
  std::unique_ptr<Encoder> encoder_;
  std::string lines_, out_;
  std::uint64_t instructions_ = 0, bytes_ = 0;
};

/// The addresses of the set lanes as the last fields of a line: base and stride, base and differences, or as they are.
[[nodiscard]] std::string address_fields(std::uint32_t mask, std::span<const std::uint64_t> addresses);

}  // namespace sluice
