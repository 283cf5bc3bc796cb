// SPDX-License-Identifier: Apache-2.0
#include "sw/io/csv_reader.h"

#include <fmt/format.h>

#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"

namespace sluice {

std::string read_csv_text(const std::filesystem::path& path) {
  std::string text = read_file(path);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") || text.substr(0, 2).find('\0') != std::string::npos)
    throw InputError(fmt::format("{}:1: is UTF-16: save it as UTF-8", path.string()));
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  return text;
}

std::vector<CsvRecord> parse_csv(const std::string& text, const std::string& source, std::size_t first_line) {
  std::vector<CsvRecord> records;
  CsvRecord record;
  std::string field;
  std::size_t line = first_line;
  bool quoted = false, was_quoted = false, any = false;
  const auto end_field = [&] {
    record.fields.push_back(std::move(field));
    field.clear();
    was_quoted = false;
  };
  const auto end_record = [&] {
    if (any) {
      end_field();
      records.push_back(std::move(record));
    }
    record = {};
    any = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!any && c != '\n' && c != '\r') {
      any = true;
      record.line = line;
    }
    if (c == '\n') ++line;
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += '"';
        ++i;
      } else {
        quoted = false;
        was_quoted = true;
      }
    } else if (c == '"' && field.empty() && !was_quoted) {
      quoted = true;
    } else if (c == ',') {
      end_field();
    } else if (c == '\n') {
      end_record();
    } else if (c == '\r' && (i + 1 == text.size() || text[i + 1] == '\n')) {
      continue;
    } else if (was_quoted) {
      throw InputError(fmt::format("{}:{}: text after a closing quote", source, line));
    } else {
      field += c;
    }
  }
  if (quoted) throw InputError(fmt::format("{}:{}: a quoted field does not end: is the file cut off?", source, record.line));
  end_record();
  return records;
}

std::string format_csv(const std::vector<std::string>& fields) {
  std::string out;
  for (const std::string& field : fields) {
    out += out.empty() ? "\"" : ",\"";
    for (const char c : field) {
      out += c;
      if (c == '"') out += '"';
    }
    out += '"';
  }
  return out + "\n";
}

std::string shown(std::string_view field) {
  constexpr std::size_t kMost = 80;
  std::string out(field.substr(0, kMost));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return field.size() > kMost ? out + "..." : out;
}

}  // namespace sluice
