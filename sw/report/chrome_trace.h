// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

/// Timeline in the Chrome trace event format (JSON array), for chrome://tracing or Perfetto: one process an SM, one thread a CTA
/// slot, one slice a CTA; markers and counters belong to a process of their own, "GPU". The viewers know microseconds only, so
/// one microsecond on their axis is one core cycle, or another unit. Streams to disk; after every write the file is a complete
/// JSON array, so an interrupt loses the last events and nothing else.
class ChromeTrace {
 public:
  /// @throws InputError or SystemError when the file can't be written
  /// @param unit  what one microsecond on the axis is
  ChromeTrace(const std::filesystem::path& path, std::uint32_t num_sms, std::string_view unit = "core cycle");
  ~ChromeTrace();  ///< writes what is buffered; an error goes to the log. Call close() to get it as an exception
  ChromeTrace(const ChromeTrace&) = delete;
  ChromeTrace& operator=(const ChromeTrace&) = delete;

  /// A CTA that held `slot` of `sm` in [begin_cycle, end_cycle). @throws SystemError when the disk is full
  void cta(std::uint32_t sm, std::uint32_t slot, std::string_view kernel, std::uint64_t cta_index, std::uint64_t begin_cycle,
           std::uint64_t end_cycle);
  /// An instant across the whole GPU: a decision, a kernel's end.
  void marker(std::string_view name, std::uint64_t cycle);
  void close();  ///< @throws SystemError when the last events can't be written

 private:
  void event(std::string_view body);
  void name_slot(std::uint32_t sm, std::uint32_t slot);
  void flush();

  std::string path_, buffer_;
  std::uint32_t num_sms_;
  int fd_ = -1;
  std::uint64_t size_ = 0;  ///< bytes before the closing bracket
  bool first_ = true, seekable_ = true;
  std::set<std::pair<std::uint32_t, std::uint32_t>> named_slots_;
};

}  // namespace sluice
