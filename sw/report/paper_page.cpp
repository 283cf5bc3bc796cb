// SPDX-License-Identifier: Apache-2.0
#include "sw/report/paper_page.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::figures {

namespace {
constexpr std::size_t kLongestPhrase = 40;  // characters of a cell that keeps to one line
}  // namespace

std::string gain_text(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }
std::string share_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

report::Table table(const TableRow& head, const std::vector<TableRow>& rows) {
  std::vector<report::Column> columns(head.begin(), head.end());
  for (const TableRow& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) columns.at(c).words |= row[c].size() > kLongestPhrase;
  report::Table out(columns);
  for (const TableRow& row : rows) out.row({row.begin(), row.end()});
  return out;
}

nlohmann::ordered_json page_json(const std::vector<Figure>& figures, const nlohmann::ordered_json& meta) {
  nlohmann::ordered_json json = {{"meta", meta}};
  for (const Figure& f : figures)
    json["figures"][f.id] = {{"title", f.title}, {"published", f.published}, {"measured", f.measured}, {"data", f.data}};
  return json;
}

}  // namespace sluice::figures
