// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/tracez.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "sw/core/errors.h"

namespace sluice {

namespace {

constexpr std::size_t kBlock = 64UL * 1024, kMostHeader = 1UL << 20, kMostDictionary = 16UL << 20;
constexpr int kWindow = 26;  ///< bits: a frame may look back 64 MiB

}  // namespace

struct Tracez::Decoder {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  std::vector<char> input = std::vector<char>(kBlock);
  ZSTD_inBuffer in{input.data(), 0, 0};
  ~Decoder() { ZSTD_freeDCtx(context); }
};

Tracez::Tracez(std::FILE* file) : file_(file), decoder_(std::make_unique<Decoder>()) {
  if (decoder_->context == nullptr) throw SystemError("no memory for the zstd decoder");
  ZSTD_DCtx_setParameter(decoder_->context, ZSTD_d_windowLogMax, kWindow);
  if (fseeko(file_, 0, SEEK_END) != 0) throw Damage{"can't be read from any place, as a .tracez file must be"};
  size_ = static_cast<std::uint64_t>(ftello(file_));
  constexpr std::uint64_t kTail = 8;
  if (size_ < kTail + 13) throw Damage{"too short for a .tracez file: is it cut off?"};
  seek(size_ - kTail);
  get(&index_, sizeof index_);
  seek(0);
  while (text_.find('\0') == std::string::npos) {
    if (text_.size() > kMostHeader || at_ == size_) throw Damage{"the header does not end with a zero"};
    const std::size_t before = text_.size(), more = std::min<std::uint64_t>(4096, size_ - at_);
    text_.resize(before + more);
    get(text_.data() + before, more);
  }
  text_.resize(text_.find('\0'));
  seek(text_.size() + 1);
  const std::uint32_t dictionary = number();
  (void)number();  // instructions of a piece: each has its own number
  if (dictionary > kMostDictionary || dictionary > size_ - at_) throw Damage{fmt::format("a dictionary of {} bytes", dictionary)};
  std::vector<char> bytes(dictionary);
  get(bytes.data(), bytes.size());
  if (dictionary != 0 && ZSTD_isError(ZSTD_DCtx_loadDictionary(decoder_->context, bytes.data(), bytes.size())) != 0)
    throw Damage{"the zstd dictionary is damaged"};
  if (index_ < at_ || index_ > size_ - kTail - 4) throw Damage{"the index is outside the file: is it cut off?"};
  seek(index_);
  ctas_ = number();
  next_ = at_;
  if (!text_.ends_with('\n')) text_ += '\n';
  if (text_.find("#traces format") == std::string::npos) text_ += "#traces format\n";
}

Tracez::~Tracez() = default;

void Tracez::seek(std::uint64_t place) {
  at_ = place;
  if (place > size_ || fseeko(file_, static_cast<off_t>(place), SEEK_SET) != 0)
    throw Damage{"a place outside the file: is it cut off?"};
}

void Tracez::get(void* to, std::size_t bytes) {
  if (bytes > size_ - at_ || std::fread(to, 1, bytes, file_) != bytes) throw Damage{"the file ends too early"};
  at_ += bytes;
}

std::uint32_t Tracez::number() {
  std::uint32_t value = 0;
  get(&value, sizeof value);
  return value;
}

void Tracez::begin_cta() {
  --ctas_;
  seek(next_);
  std::array<std::uint32_t, 11> of{};
  get(of.data(), sizeof of);
  next_ = at_;
  warps_ = of[10];
  warp_ = 0;
  cta_open_ = true;
  text_ = fmt::format("#BEGIN_TB\nthread block = {},{},{}\n", of[0], of[1], of[2]);
}

void Tracez::begin_warp() {
  --warps_;
  seek(next_);
  const std::uint32_t instructions = number();
  pieces_ = number();
  get(&data_, sizeof data_);
  if (pieces_ > (size_ - at_) / 4) throw Damage{fmt::format("warp {} has {} pieces: the index is damaged", warp_, pieces_)};
  next_ = at_ + std::uint64_t{pieces_} * 4;
  seek(data_);
  if (number() != instructions || number() != pieces_)
    throw Damage{fmt::format("warp {}: the index says something else than the warp", warp_)};
  data_ = at_;
  text_ = fmt::format("warp = {}\ninsts = {}\n", warp_, instructions);
  ++warp_;
}

void Tracez::begin_piece() {
  --pieces_;
  seek(data_);
  left_ = number();
  if (left_ > size_ - at_) throw Damage{fmt::format("a piece of {} bytes: is the file cut off?", left_)};
  data_ = at_ + left_;
  inside_ = true;
  decoder_->in.pos = decoder_->in.size = 0;
  ZSTD_DCtx_reset(decoder_->context, ZSTD_reset_session_only);
}

void Tracez::inflate() {
  Decoder& d = *decoder_;
  if (d.in.pos == d.in.size) {
    d.in.size = std::min<std::size_t>(left_, d.input.size());
    d.in.pos = 0;
    if (d.in.size == 0) throw Damage{"a piece is cut off"};
    get(d.input.data(), d.in.size);
    left_ -= static_cast<std::uint32_t>(d.in.size);
  }
  text_.resize(kBlock);
  ZSTD_outBuffer out{text_.data(), text_.size(), 0};
  const std::size_t more = ZSTD_decompressStream(d.context, &out, &d.in);
  if (ZSTD_isError(more) != 0) throw Damage{fmt::format("the compressed data are damaged ({})", ZSTD_getErrorName(more))};
  text_.resize(out.pos);
  if (more != 0) return;
  if (left_ != 0 || d.in.pos != d.in.size) throw Damage{"a piece holds more than its frame"};
  inside_ = false;
  text_ += '\n';
}

void Tracez::next_text() {
  text_.clear();
  taken_ = 0;
  while (text_.empty()) {
    if (inside_) {
      inflate();
    } else if (pieces_ > 0) {
      begin_piece();
    } else if (warps_ > 0) {
      begin_warp();
    } else if (cta_open_) {
      cta_open_ = false;
      text_ = "#END_TB\n";
    } else if (ctas_ > 0) {
      begin_cta();
    } else {
      return;
    }
  }
}

std::size_t Tracez::read(char* to, std::size_t room) {
  if (taken_ == text_.size()) next_text();
  const std::size_t count = std::min(room, text_.size() - taken_);
  std::memcpy(to, text_.data() + taken_, count);
  taken_ += count;
  return count;
}

}  // namespace sluice
