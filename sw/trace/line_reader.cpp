// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/line_reader.h"

#include <fmt/format.h>
#include <lzma.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "sw/core/errors.h"
#include "sw/trace/tracez.h"

namespace sluice {

namespace {

constexpr std::size_t kReadBytes = 256UL * 1024;
constexpr std::size_t kInput = 64UL * 1024;
constexpr std::uint64_t kDecoderMemory = 128ULL << 20;  ///< xz -9 needs 65 MiB

}  // namespace

struct LineReader::Decoder {
  lzma_stream stream = LZMA_STREAM_INIT;
  std::uint8_t input[kInput];
  bool finished = false;
  ~Decoder() { lzma_end(&stream); }
};

LineReader::LineReader(const std::filesystem::path& path) : name_(path.string()) {
  if (std::filesystem::is_directory(path)) throw InputError(fmt::format("{}: is a folder", name_));
  file_ = std::fopen(name_.c_str(), "rb");
  if (file_ == nullptr) throw_errno(fmt::format("{}: can't be read", name_), errno);
  if (path.extension() == ".xz") {
    decoder_ = std::make_unique<Decoder>();
    if (lzma_stream_decoder(&decoder_->stream, kDecoderMemory, LZMA_CONCATENATED) != LZMA_OK)
      throw SystemError(fmt::format("{}: no memory for the xz decoder", name_));
  }
  if (path.extension() == ".tracez") {
    try {
      tracez_ = std::make_unique<Tracez>(file_);
    } catch (const Tracez::Damage& damage) {
      std::fclose(file_);
      throw InputError(fmt::format("{}:1: {}", name_, damage.why));
    }
  }
  block_.resize(kReadBytes + kMaxLine);
}

LineReader::LineReader(std::string_view text, std::string name)
    : name_(std::move(name)), block_(text), end_(text.size()), at_end_(true) {}

LineReader::~LineReader() {
  if (file_ != nullptr) std::fclose(file_);
}

void LineReader::fail(const std::string& why) const { throw InputError(fmt::format("{}:{}: {}", name_, line_number_, why)); }

std::size_t LineReader::read_file(char* to, std::size_t size) {
  const std::size_t n = std::fread(to, 1, size, file_);
  if (n == 0 && std::ferror(file_) != 0) throw_errno(fmt::format("{}: can't be read", name_), errno);
  return n;
}

void LineReader::fill() {
  std::memmove(block_.data(), block_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const std::size_t room = block_.size() - end_;
  if (tracez_) {
    std::size_t n = 0;
    try {
      n = tracez_->read(block_.data() + end_, room);
    } catch (const Tracez::Damage& damage) {
      ++line_number_;  // behind the last line that came through
      fail(damage.why);
    }
    end_ += n;
    at_end_ = n == 0;
    return;
  }
  if (!decoder_) {
    const std::size_t n = read_file(block_.data() + end_, room);
    end_ += n;
    at_end_ = n == 0;
    return;
  }
  lzma_stream& stream = decoder_->stream;
  stream.next_out = reinterpret_cast<std::uint8_t*>(block_.data() + end_);
  stream.avail_out = room;
  while (stream.avail_out == room && !decoder_->finished) {
    lzma_action action = LZMA_RUN;
    if (stream.avail_in == 0) {
      stream.avail_in = read_file(reinterpret_cast<char*>(decoder_->input), kInput);
      stream.next_in = decoder_->input;
      if (stream.avail_in == 0) action = LZMA_FINISH;
    }
    const lzma_ret result = lzma_code(&stream, action);
    if (result == LZMA_STREAM_END) {
      decoder_->finished = true;
    } else if (result != LZMA_OK) {
      ++line_number_;  // the damage is behind the last line that came through
      fail(result == LZMA_BUF_ERROR        ? "the compressed file is cut off"
           : result == LZMA_FORMAT_ERROR   ? "not an xz file"
           : result == LZMA_MEMLIMIT_ERROR ? "needs more than 128 MiB to decompress"
                                           : "the compressed data are damaged");
    }
  }
  end_ += room - stream.avail_out;
  at_end_ = decoder_->finished;
}

bool LineReader::next(std::string_view& line) {
  for (;;) {
    const void* found = end_ == begin_ ? nullptr : std::memchr(block_.data() + begin_, '\n', end_ - begin_);
    if (found != nullptr) {
      const std::size_t stop = static_cast<std::size_t>(static_cast<const char*>(found) - block_.data());
      line = {block_.data() + begin_, stop - begin_};
      begin_ = stop + 1;
      break;
    }
    if (at_end_) {
      if (begin_ == end_) return false;
      line = {block_.data() + begin_, end_ - begin_};
      begin_ = end_;
      break;
    }
    if (end_ - begin_ > kMaxLine) {
      ++line_number_;
      fail(fmt::format("line longer than {} characters", kMaxLine));
    }
    fill();
  }
  ++line_number_;
  if (line_number_ == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);  // editors put it before UTF-8
  if (line_number_ == 1 && (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff"))) fail("is UTF-16: save it as UTF-8");
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.size() > kMaxLine) fail(fmt::format("line longer than {} characters", kMaxLine));
  if (line.find('\0') != std::string_view::npos) fail("holds a NUL: not text");
  return true;
}

}  // namespace sluice
