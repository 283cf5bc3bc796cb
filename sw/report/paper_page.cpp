// SPDX-License-Identifier: Apache-2.0
#include "sw/report/paper_page.h"

#include <fmt/format.h>

#include "sw/report/html_style.h"
#include "sw/report/svg.h"

namespace sluice::figures {

std::string gain_text(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }
std::string share_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string table(const TableRow& head, const std::vector<TableRow>& rows, std::string_view css) {
  const auto line = [](const TableRow& cells, std::string_view tag) {
    std::string out = "<tr>";
    for (const std::string& cell : cells) out += fmt::format("<{0}>{1}</{0}>", tag, svg::escape(cell));
    return out + "</tr>";
  };
  std::string out = fmt::format("<div class=\"scroll\"><table{}><thead>{}</thead><tbody>\n",
                                css.empty() ? "" : fmt::format(" class=\"{}\"", css), line(head, "th"));
  for (const TableRow& row : rows) out += line(row, "td") + "\n";
  return out + "</tbody></table></div>\n";
}

namespace {

/// "X", "3", "commit X, date Y".
std::string plain(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object()) return value.dump();
  std::string out;
  for (const auto& [key, part] : value.items()) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", key, plain(part));
  return out;
}

}  // namespace

std::string page(std::string_view title, const std::vector<Figure>& figures, const nlohmann::ordered_json& meta,
                 std::string_view where) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, "
      "initial-scale=1\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p class=\"muted\">",
      svg::escape(title), kReportStyle);
  for (const auto& [key, value] : meta.items()) out += fmt::format("{}: {}. ", svg::escape(key), svg::escape(plain(value)));
  out += fmt::format(
      "</p>\n<div class=\"scroll\"><table class=\"words\"><thead><tr><th>figure</th><th>published</th><th>{}</th></tr></thead>"
      "<tbody>\n",
      svg::escape(where));
  for (const Figure& f : figures)
    out += fmt::format("<tr><td><a href=\"#{0}\">{0}</a></td><td>{1}</td><td>{2}</td></tr>\n", f.id, svg::escape(f.published),
                       svg::escape(f.measured));
  out += "</tbody></table></div>\n";
  for (const Figure& f : figures)
    out += fmt::format("<h2 id=\"{}\">{}: {}</h2>\n<p><b>Published:</b> {}</p>\n<p><b>{}:</b> {}</p>\n{}\n", f.id,
                       f.id[0] >= '0' && f.id[0] <= '9' ? "Figure " + f.id : f.id, svg::escape(f.title), svg::escape(f.published),
                       svg::escape(where), svg::escape(f.measured), f.html);
  return out + "</body>\n</html>\n";
}

nlohmann::ordered_json page_json(const std::vector<Figure>& figures, const nlohmann::ordered_json& meta) {
  nlohmann::ordered_json json = {{"meta", meta}};
  for (const Figure& f : figures)
    json["figures"][f.id] = {{"title", f.title}, {"published", f.published}, {"measured", f.measured}, {"data", f.data}};
  return json;
}

}  // namespace sluice::figures
