// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/trace_writer.h"

#include <fmt/format.h>
#include <lzma.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>

#include "sw/core/errors.h"

namespace sluice {

namespace {
constexpr std::size_t kPackedBytes = 1UL << 20;
constexpr std::uint32_t kPreset = 3;  // traces repeat themselves: higher ones take longer for little
}  // namespace

struct TraceWriter::Encoder {
  lzma_stream stream = LZMA_STREAM_INIT;
  ~Encoder() { lzma_end(&stream); }
};

TraceWriter::TraceWriter(std::filesystem::path path, const TraceHeader& h, std::string_view tracer, std::string_view notes)
    : path_(std::move(path)), temporary_(path_.string() + fmt::format(".{}", ::getpid())) {
  file_ = std::fopen(temporary_.c_str(), "wb");
  if (file_ == nullptr) throw_errno(fmt::format("{}: can't be written", path_.string()), errno);
  if (path_.extension() == ".xz") {
    encoder_ = std::make_unique<Encoder>();
    if (lzma_easy_encoder(&encoder_->stream, kPreset, LZMA_CHECK_CRC64) != LZMA_OK)
      throw SystemError(fmt::format("{}: no memory for the xz encoder", path_.string()));
  }
  write(fmt::format(
      "-kernel name = {}\n-kernel id = {}\n-grid dim = ({},{},{})\n-block dim = ({},{},{})\n-shmem = {}\n-nregs = {}\n"
      "-binary version = {}\n-cuda stream id = {}\n-shmem base_addr = 0x{:016x}\n-local mem base_addr = 0x{:016x}\n"
      "-nvbit version = none\n-tracer = {}\n{}-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
      "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
      "[mem_addresses] immediate\n\n",
      h.kernel_name, h.kernel_id, h.grid[0], h.grid[1], h.grid[2], h.block[0], h.block[1], h.block[2], h.shared_bytes,
      h.registers_per_thread, h.binary_version, h.stream, h.shared_base, h.local_base, tracer, notes));
}

TraceWriter::~TraceWriter() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  ::unlink(temporary_.c_str());
}

void TraceWriter::begin_cta(const std::array<std::uint32_t, 3>& index) {
  write(fmt::format("#BEGIN_TB\n\nthread block = {},{},{}\n\n", index[0], index[1], index[2]));
}

void TraceWriter::instruction(std::uint32_t pc, std::uint32_t mask, std::optional<std::uint8_t> destination,
                              std::string_view opcode, std::span<const std::uint8_t> sources, std::uint32_t width,
                              std::span<const std::uint64_t> addresses, std::uint32_t immediate) {
  auto out = std::back_inserter(lines_);
  fmt::format_to(out, "{:04x} {:08x} ", pc, mask);
  if (destination)
    fmt::format_to(out, "1 R{} ", *destination);
  else
    lines_ += "0 ";
  fmt::format_to(out, "{} {} ", opcode, sources.size());
  for (const std::uint8_t r : sources) fmt::format_to(out, "R{} ", r);
  if (addresses.empty())
    lines_ += "0 ";
  else
    fmt::format_to(out, "{} {}", width, address_fields(mask, addresses));
  fmt::format_to(out, "{}\n", immediate);
  ++instructions_;
}

void TraceWriter::end_warp(std::uint32_t warp) {
  write(fmt::format("warp = {}\ninsts = {}\n", warp, instructions_));
  write(lines_);
  write("\n");
  lines_.clear();
  instructions_ = 0;
}

void TraceWriter::end_cta() { write("#END_TB\n\n"); }

void TraceWriter::write(std::string_view text) {
  out_ += text;
  if (out_.size() >= kPackedBytes) encode(false);
}

void TraceWriter::encode(bool last) {
  const auto put = [&](const void* data, std::size_t size) {
    if (size > 0 && std::fwrite(data, 1, size, file_) != size)
      throw_errno(fmt::format("{}: can't be written", path_.string()), errno);
    bytes_ += size;
  };
  if (!encoder_) {
    put(out_.data(), out_.size());
  } else {
    std::string packed(kPackedBytes, '\0');
    lzma_stream& stream = encoder_->stream;
    stream.next_in = reinterpret_cast<const std::uint8_t*>(out_.data());
    stream.avail_in = out_.size();
    for (lzma_ret result = LZMA_OK; result != LZMA_STREAM_END && (last || stream.avail_in > 0);) {
      stream.next_out = reinterpret_cast<std::uint8_t*>(packed.data());
      stream.avail_out = packed.size();
      result = lzma_code(&stream, last ? LZMA_FINISH : LZMA_RUN);
      if (result != LZMA_OK && result != LZMA_STREAM_END)
        throw SystemError(fmt::format("{}: cannot be compressed", path_.string()));
      put(packed.data(), packed.size() - stream.avail_out);
    }
  }
  out_.clear();
}

std::uint64_t TraceWriter::finish() {
  encode(true);
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (!closed || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    throw_errno(fmt::format("{}: can't be written", path_.string()), error);
  }
  return bytes_;
}

std::string address_fields(std::uint32_t mask, std::span<const std::uint64_t> addresses) {
  const std::uint32_t run = mask >> (mask == 0 ? 0 : std::countr_zero(mask));
  bool strided = (run & (run + 1)) == 0 && addresses.size() > 1;
  for (std::size_t i = 2; i < addresses.size(); ++i)
    strided = strided && addresses[i] - addresses[i - 1] == addresses[1] - addresses[0];
  if (strided) return fmt::format("1 0x{:x} {} ", addresses[0], static_cast<std::int64_t>(addresses[1] - addresses[0]));
  std::string out = addresses.size() > 1 ? fmt::format("2 0x{:x} ", addresses[0]) : fmt::format("0 0x{:x} ", addresses[0]);
  for (std::size_t i = 1; i < addresses.size(); ++i)
    out += fmt::format("{} ", static_cast<std::int64_t>(addresses[i] - addresses[i - 1]));
  return out;
}

}  // namespace sluice
