// SPDX-License-Identifier: Apache-2.0
#include "sw/report/paper_page.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>

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

std::string page(std::string title, const std::vector<Figure>& figures, const nlohmann::ordered_json& meta,
                 std::string_view where, std::vector<report::Block> opening, std::string lead) {
  report::Page page{std::move(title), std::move(lead), std::move(opening), {}, meta};
  for (const Figure& f : figures) {
    const std::string name = std::isdigit(static_cast<unsigned char>(f.id.front())) != 0 ? "Figure " + f.id : f.id;
    report::Section& section = page.sections.emplace_back(report::Section{f.id, name + ": " + f.title, {}, name});
    section.blocks.push_back(report::Said{{{"Published", f.published}, {std::string(where), f.measured}}});
    section.blocks.insert(section.blocks.end(), f.blocks.begin(), f.blocks.end());
    if (!f.html.empty()) section.blocks.push_back(report::Raw{f.html});
  }
  return report::html(page);
}

nlohmann::ordered_json page_json(const std::vector<Figure>& figures, const nlohmann::ordered_json& meta) {
  nlohmann::ordered_json json = {{"meta", meta}};
  for (const Figure& f : figures)
    json["figures"][f.id] = {{"title", f.title}, {"published", f.published}, {"measured", f.measured}, {"data", f.data}};
  return json;
}

}  // namespace sluice::figures
