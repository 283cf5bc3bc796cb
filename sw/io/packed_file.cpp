// SPDX-License-Identifier: Apache-2.0
#include "sw/io/packed_file.h"

#include <fmt/format.h>
#include <lzma.h>

#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"

namespace sluice {

namespace {

std::filesystem::path packed(std::filesystem::path file) { return file += ".xz"; }

}  // namespace

bool has_packed(const std::filesystem::path& file) {
  return std::filesystem::exists(file) || std::filesystem::exists(packed(file));
}

std::string read_packed(const std::filesystem::path& file) {
  if (file.extension() != ".xz")
    return std::filesystem::exists(file) || !has_packed(file) ? read_file(file) : read_packed(packed(file));
  const std::string bytes = read_file(file);
  constexpr std::uint64_t kMemory = 128ULL << 20;  // xz -9 needs 65 MiB
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMemory, LZMA_CONCATENATED) != LZMA_OK)
    throw SystemError(fmt::format("{}: no memory for the xz decoder", file.string()));
  stream.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  stream.avail_in = bytes.size();
  std::string text;
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK) {
    constexpr std::size_t kMore = 1UL << 20;
    text.resize(text.size() + kMore);
    stream.next_out = reinterpret_cast<std::uint8_t*>(text.data() + text.size() - kMore);
    stream.avail_out = kMore;
    result = lzma_code(&stream, LZMA_FINISH);
    text.resize(text.size() - stream.avail_out);
  }
  lzma_end(&stream);
  if (result != LZMA_STREAM_END)
    throw InputError(fmt::format("{}: {}", file.string(),
                                 result == LZMA_FORMAT_ERROR ? "not an xz file" : "the compressed data are damaged or cut off"));
  return text;
}

}  // namespace sluice
