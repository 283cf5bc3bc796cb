// SPDX-License-Identifier: Apache-2.0
#include "sw/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/report/svg.h"

namespace sluice::report {

namespace {

constexpr const char* kUnknown = "–";

/// Code points: what a terminal shows as one column for the text that occurs here.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Thousands apart: 1 234 567.
std::string grouped(std::uint64_t value) {
  std::string digits = fmt::format("{}", value);
  for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, "\u202f");
  return digits;
}

std::string exact(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) return csv_field(*text);
  if (const auto* count = std::get_if<std::uint64_t>(&cell.value)) return fmt::format("{}", *count);
  const double number = std::get<double>(cell.value);
  return std::isfinite(number) ? fmt::format("{}", number) : "";
}

}  // namespace

std::string written(double value, Notation notation, int digits) {
  if (!std::isfinite(value)) return kUnknown;
  const double shown = notation == Notation::Gain ? 100 * (value - 1) : (notation == Notation::Share ? 100 * value : value);
  if (std::abs(shown) < 0.5 * std::pow(10, -digits)) value = notation == Notation::Gain ? 1 : 0;  // no "-0.0"
  switch (notation) {
    case Notation::Gain: return fmt::format("{:+.{}f} %", 100 * (value - 1), digits);
    case Notation::Share: return fmt::format("{:.{}f} %", 100 * value, digits);
    case Notation::Number: break;
  }
  return fmt::format("{:.{}f}", value, digits);
}

Column words(std::string name) {
  Column column(std::move(name));
  column.words = true;
  return column;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string Table::shown(const Cell& cell, std::size_t column) const {
  if (const auto* text = std::get_if<std::string>(&cell.value)) return *text;
  if (const auto* count = std::get_if<std::uint64_t>(&cell.value)) return grouped(*count);
  const Column& how = columns_.at(column);
  std::string out = written(std::get<double>(cell.value), how.notation, how.digits);
  if (std::isfinite(cell.low) && std::isfinite(cell.high))
    out += fmt::format(" [{}, {}]", written(cell.low, how.notation, how.digits), written(cell.high, how.notation, how.digits));
  return out;
}

std::string Table::text() const {
  std::vector<std::vector<std::string>> lines(1);
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) lines.front().push_back(column.name);
  for (const Line& line : rows_) {
    lines.emplace_back();
    for (std::size_t c = 0; c < line.cells.size(); ++c) lines.back().push_back(shown(line.cells[c], c));
  }
  for (const auto& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) {
      if (c == widths.size()) widths.push_back(0);
      widths[c] = std::max(widths[c], display_width(line[c]));
    }
  std::size_t total = 0;
  for (const std::size_t w : widths) total += w + 2;
  const std::string rule(total > 2 ? total - 2 : 0, '-');
  std::string out;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    for (std::size_t c = 0; c < lines[l].size(); ++c) {
      const std::string space(widths[c] - display_width(lines[l][c]), ' ');
      out += (c == 0 ? "" : "  ") + (c == 0 ? lines[l][c] + space : space + lines[l][c]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    if (lines[l].empty()) out += rule;
    out += l == 0 ? '\n' + rule + '\n' : "\n";
  }
  return out;
}

std::string Table::html() const {
  std::string out = "<div class=\"scroll\"><table>";
  if (!title_.empty()) out += fmt::format("<caption>{}</caption>", svg::escape(title_));
  const auto css = [&](std::size_t c) {
    const Column& column = columns_.at(c);
    return column.words ? " class=\"words\"" : (column.published ? " class=\"published\"" : "");
  };
  out += "<thead><tr>";
  for (std::size_t c = 0; c < columns_.size(); ++c) out += fmt::format("<th{}>{}</th>", css(c), svg::escape(columns_[c].name));
  out += "</tr></thead><tbody>\n";
  for (const Line& line : rows_) {
    if (line.kind == Kind::Rule) continue;
    if (line.kind == Kind::Heading) {
      out += fmt::format("<tr class=\"group\"><th colspan=\"{}\">{}</th></tr>\n", columns_.size(),
                         svg::escape(shown(line.cells[0], 0)));
      continue;
    }
    out += line.kind == Kind::Mean ? "<tr class=\"mean\">" : "<tr>";
    for (std::size_t c = 0; c < line.cells.size(); ++c)
      out += fmt::format("<td{}>{}</td>", css(c), svg::escape(shown(line.cells[c], c)));
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string Table::csv() const {
  std::string out;
  const auto field = [&](std::size_t column, const std::string& text) {
    if (column > 0) out += ',';
    out += text;
  };
  for (std::size_t c = 0; c < columns_.size(); ++c) field(c, csv_field(columns_[c].name));
  out += '\n';
  for (const Line& line : rows_) {
    if (line.kind != Kind::Plain) continue;
    for (std::size_t c = 0; c < columns_.size(); ++c) field(c, c < line.cells.size() ? exact(line.cells[c]) : std::string());
    out += '\n';
  }
  return out;
}

}  // namespace sluice::report
