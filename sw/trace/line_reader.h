// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace sluice {

class Tracez;

/// Lines of a text file, or of an .xz or a .tracez one, decompressed as they are read: never more than a block of the file in
/// memory.
class LineReader {
 public:
  /// The longest instruction line of a trace has some 900 characters; with the values of all registers, some 2,500.
  static constexpr std::size_t kMaxLine = 8192;

  /// @throws InputError when the file can't be opened
  explicit LineReader(const std::filesystem::path& path);
  /// Lines of a text in memory; `name` is for messages.
  LineReader(std::string_view text, std::string name);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its end (LF or CRLF) and byte order mark; valid until the next call. False at the end of the file.
  /// @throws InputError `file:line: why` on UTF-16, a line that is too long or holds a NUL, and on damaged compressed data
  bool next(std::string_view& line);
  [[nodiscard]] std::uint64_t line_number() const { return line_number_; }  ///< of the line last returned, from 1
  [[nodiscard]] const std::string& name() const { return name_; }
  [[noreturn]] void fail(const std::string& why) const;  ///< InputError at the line last returned

 private:
  struct Decoder;  // liblzma's state
  void fill();
  std::size_t read_file(char* to, std::size_t size);

  std::string name_;
  std::FILE* file_ = nullptr;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Tracez> tracez_;
  std::string block_;  ///< unread text is block_[begin_, end_)
  std::size_t begin_ = 0, end_ = 0;
  bool at_end_ = false;
  std::uint64_t line_number_ = 0;
};

}  // namespace sluice
