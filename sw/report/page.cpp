// SPDX-License-Identifier: Apache-2.0
#include "sw/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "sw/report/style.h"
#include "sw/report/svg.h"

namespace sluice::report {

namespace {

using svg::escape;

constexpr double kWide = 1130, kNarrow = 360, kSmall = 340;

/// Legend, with what the ring of a published figure and the bar of an interval mean.
std::string key_of(const Chart& chart) {
  std::vector<Series> series = series_of(chart);
  std::string out = series.size() > 1 ? legend(series) : "";
  if (!has_published(chart)) return out;
  const std::string ring = "<li><i class=\"ring\"></i>published by the paper</li>";
  return out.empty() ? "<ul class=\"legend\">" + ring + "</ul>\n" : out.insert(out.rfind("</ul>"), ring);
}

std::string heading(const Chart& chart) {
  return title_of(chart).empty() ? "" : fmt::format("<h3>{}</h3>\n", escape(title_of(chart)));
}

std::string block(const Large& large) {
  if (empty(large.chart)) return "";
  return heading(large.chart) + key_of(large.chart) + "<div class=\"wide\">" + draw(large.chart, kWide) +
         "</div><div class=\"narrow\">" + draw(large.chart, kNarrow) + "</div>\n";
}

std::string block(const Multiples& multiples) {
  if (std::ranges::count_if(multiples.charts, [](const Chart& chart) { return !empty(chart); }) == 1)
    return block(Large{*std::ranges::find_if(multiples.charts, [](const Chart& chart) { return !empty(chart); })});
  std::string shared, out;
  for (const Chart& chart : multiples.charts) {
    if (empty(chart)) continue;
    const std::string key = key_of(chart);
    out += "<div class=\"multiple\">" + heading(chart);
    if (key != shared) out += key;  // charts of the same series have one legend
    shared = key;
    out += draw(chart, kSmall) + "</div>\n";
  }
  return "<div class=\"multiples\">\n" + out + "</div>\n";
}

std::string block(const Table& table) { return table.empty() ? "" : table.html(); }
std::string block(const Folded& folded) {
  if (folded.table.empty()) return "";
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escape(folded.summary), folded.table.html());
}
std::string block(const Paragraph& paragraph) { return paragraph.text.empty() ? "" : "<p>" + escape(paragraph.text) + "</p>\n"; }
std::string block(const Said& said) {
  std::string out = "<dl class=\"said\">";
  for (const auto& [who, what] : said.lines)
    if (!what.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>", escape(who), escape(what));
  return out + "</dl>\n";
}

std::string blocks(const std::vector<Block>& all) {
  std::string out;
  for (const Block& b : all) out += std::visit([](const auto& one) { return block(one); }, b);
  return out;
}

/// "X", "3", "a, b"; of an object its members with their names.
std::string plain(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  std::string out;
  if (value.is_array())
    for (const auto& part : value) out += (out.empty() ? "" : ", ") + plain(part);
  else if (value.is_object())
    for (const auto& [key, part] : value.items()) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", key, plain(part));
  else
    out = value.dump();
  return out;
}

std::string footer(const nlohmann::ordered_json& provenance) {
  std::string out;
  for (const auto& [key, value] : provenance.items()) {
    if (value.is_null() || key == "schema_version" || key == "host_cpu_seconds") continue;
    std::string name = key;
    std::ranges::replace(name, '_', ' ');
    out += fmt::format("{}{} {}", out.empty() ? "" : " · ", escape(name),
                       key == "command" ? "<code>" + escape(plain(value)) + "</code>" : escape(plain(value)));
  }
  return out.empty() ? "" : "<footer>Made from: " + out + "</footer>\n";
}

}  // namespace

std::string html(const Page& page) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, "
      "initial-scale=1\">\n<title>{0}</title>\n<style>{1}{2}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      escape(page.title), kChartStyle, kPageStyle);
  if (!page.lead.empty()) out += "<p class=\"lead\">" + escape(page.lead) + "</p>\n";
  out += blocks(page.opening);
  if (page.sections.size() > 3) {
    out += "<nav>";
    for (const Section& s : page.sections)
      out += fmt::format("<a href=\"#{}\">{}</a> ", escape(s.id), escape(s.name.empty() ? s.heading : s.name));
    out += "</nav>\n";
  }
  for (const Section& s : page.sections)
    out += fmt::format("<h2 id=\"{}\">{}</h2>\n", escape(s.id), escape(s.heading)) + blocks(s.blocks);
  return out + footer(page.provenance) + "</body>\n</html>\n";
}

}  // namespace sluice::report
