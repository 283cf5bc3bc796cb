// SPDX-License-Identifier: Apache-2.0
#include "sw/report/chrome_trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "sw/core/errors.h"

namespace sluice {

namespace {

constexpr std::size_t kFlushBytes = 1U << 18;
constexpr std::string_view kEnd = "\n]\n";

std::string quoted(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

[[noreturn]] void fail(const std::string& path) { throw_errno(fmt::format("{}: cannot write", path), errno); }

/// Of a file that was begun: nothing stays of it.
[[noreturn]] void fail_begun(const std::string& path) {
  const int error = errno;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
  errno = error;
  fail(path);
}

}  // namespace

ChromeTrace::ChromeTrace(const std::filesystem::path& path, std::uint32_t num_sms, std::string_view unit)
    : path_(path.string()), num_sms_(num_sms) {
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail(path_);
  for (std::uint32_t sm = 0; sm <= num_sms; ++sm) {
    const std::string name = sm == num_sms ? "GPU" : fmt::format("SM {}", sm);
    event(fmt::format(R"("ph":"M","pid":{},"name":"process_name","args":{{"name":"{}"}})", sm, name));
    event(fmt::format(R"("ph":"M","pid":{},"name":"process_labels","args":{{"labels":"1 us = 1 {}"}})", sm, unit));
    event(fmt::format(R"("ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}})", sm,
                      sm == num_sms ? -1 : static_cast<std::int64_t>(sm)));
  }
  try {
    flush();  // refuse a full disk now, not after the simulation
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

ChromeTrace::~ChromeTrace() {
  try {
    close();
  } catch (const std::exception& e) {
    spdlog::error("{}", e.what());
  }
}

void ChromeTrace::cta(std::uint32_t sm, std::uint32_t slot, std::string_view kernel, std::uint64_t cta_index,
                      std::uint64_t begin_cycle, std::uint64_t end_cycle) {
  name_slot(sm, slot);
  event(fmt::format(R"("ph":"X","pid":{},"tid":{},"name":{},"ts":{},"dur":{},"args":{{"cta":{}}})", sm, slot, quoted(kernel),
                    begin_cycle, end_cycle - std::min(begin_cycle, end_cycle), cta_index));
}

void ChromeTrace::marker(std::string_view name, std::uint64_t cycle) {
  event(fmt::format(R"("ph":"i","s":"g","pid":{},"tid":0,"name":{},"ts":{})", num_sms_, quoted(name), cycle));
}

void ChromeTrace::close() {
  if (fd_ < 0) return;
  try {
    flush();
  } catch (...) {
    ::close(fd_);
    fd_ = -1;
    throw;
  }
  if (!seekable_ && ::write(fd_, kEnd.data(), kEnd.size()) < 0) spdlog::error("{}: cannot write the end", path_);
  if (::close(std::exchange(fd_, -1)) != 0) fail_begun(path_);
}

void ChromeTrace::name_slot(std::uint32_t sm, std::uint32_t slot) {
  if (!named_slots_.emplace(sm, slot).second) return;
  event(fmt::format(R"("ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"slot {}"}})", sm, slot, slot));
}

void ChromeTrace::event(std::string_view body) {
  buffer_ += first_ ? "[\n{" : ",\n{";
  first_ = false;
  buffer_ += body;
  buffer_ += '}';
  if (buffer_.size() >= kFlushBytes) flush();
}

/// Writes the buffer and the closing bracket behind it; the next flush overwrites the bracket.
void ChromeTrace::flush() {
  const std::size_t kept = buffer_.size();
  if (seekable_) buffer_ += kEnd;
  std::string_view rest = buffer_;
  auto offset = static_cast<off_t>(size_);
  while (!rest.empty()) {
    ssize_t n = seekable_ ? ::pwrite(fd_, rest.data(), rest.size(), offset) : ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == ESPIPE && seekable_) {  // a pipe: the bracket can only come at the very end
      seekable_ = false;
      rest.remove_suffix(kEnd.size());
      continue;
    }
    if (n < 0) fail_begun(path_);
    rest.remove_prefix(static_cast<std::size_t>(n));
    offset += n;
  }
  size_ += kept;
  buffer_.clear();
}

}  // namespace sluice
