// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/report/output.h"

#include <fmt/format.h>

#include <map>

#include "sw/io/atomic_file.h"
#include "sw/io/raw_store.h"
#include "sw/report/svg.h"
#include "sw/report/terminal_table.h"

namespace sluice::gpu {

using nlohmann::json;

namespace {
/// Characters of a cell that keeps to one line, to the right like a number; a reason is longer.
constexpr std::size_t kLongestPhrase = 32;
}  // namespace

void Output::table(const std::string& title, const std::vector<std::vector<std::string>>& rows) {
  TextTable text(rows.front());
  html += "<h2>" + svg::escape(title) + "</h2>\n<div class=\"scroll\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (r > 0) text.add_row(rows[r]);
    html += "<tr>";
    for (const std::string& cell : rows[r])
      html += r == 0 ? fmt::format("<th>{}</th>", svg::escape(cell))
                     : fmt::format("<td{}>{}</td>", cell.size() > kLongestPhrase ? " class=\"sentence\"" : "", svg::escape(cell));
    html += "</tr>\n";
  }
  html += "</table></div>\n";
  terminal += title + "\n" + text.str() + "\n";
}

void Output::note(const std::string& text) {
  terminal += text + "\n\n";
  html += "<p>" + svg::escape(text) + "</p>\n";
}

std::vector<json> lines(const std::filesystem::path& file) {
  std::map<std::string, std::size_t> at;
  std::vector<json> out;
  for (json& line : RawStore::read(file)) {
    const auto [place, fresh] = at.emplace(line["key"].get<std::string>(), out.size());
    if (fresh)
      out.push_back(std::move(line));
    else
      out[place->second] = std::move(line);
  }
  return out;
}

namespace {

std::string by_line(const json& array) {
  std::string text = "[";
  for (const json& element : array) text += (text.size() > 1 ? ",\n" : "\n") + element.dump();
  return text + "\n]";
}

}  // namespace

void write_json(const std::filesystem::path& file, const json& value) {
  if (value.is_array()) return write_file_atomically(file, by_line(value) + "\n");
  std::string text = "{";
  for (const auto& [key, member] : value.items())
    text += fmt::format("{}\n\"{}\": {}", text.size() > 1 ? "," : "", key, member.is_array() ? by_line(member) : member.dump());
  write_file_atomically(file, text + "\n}\n");
}

}  // namespace sluice::gpu
