// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// One record of a CSV file and the line it begins on.
struct CsvRecord {
  std::size_t line = 0;
  std::vector<std::string> fields;
};

/// The text of a file of CSV, without a byte order mark.
/// @throws InputError or SystemError naming the file: it is UTF-16, or can't be read
[[nodiscard]] std::string read_csv_text(const std::filesystem::path& path);

/// Reads RFC 4180 text: quoted fields may hold commas, doubled quotes and line breaks; LF or CRLF. Empty lines are skipped.
/// @param source      file name for messages
/// @param first_line  number of the first line of `text` in that file
/// @throws InputError `source:line: why` on a quote that does not end or text after a closing quote
[[nodiscard]] std::vector<CsvRecord> parse_csv(const std::string& text, const std::string& source, std::size_t first_line = 1);

/// A record as one line of text, every field quoted.
[[nodiscard]] std::string format_csv(const std::vector<std::string>& fields);

/// A field as a message shows it: on one line, what is not printable as '?', cut behind 80 characters.
[[nodiscard]] std::string shown(std::string_view field);

}  // namespace sluice
