// SPDX-License-Identifier: Apache-2.0
#include "sw/report/html_report.h"

#include <fmt/format.h>

#include "sw/report/html_page.h"
#include "sw/report/html_style.h"
#include "sw/report/results_json.h"
#include "sw/report/svg.h"

namespace sluice {

std::string html_report(const EvalResults& results) {
  const html::Page page(results);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      svg::escape(html::title(page)), kReportStyle);
  out += html::head_section(page);
  if (results.runs.empty())
    out += "<p>No mix ran.</p>\n";
  else
    out += html::gains_section(page) + html::figure6_section(page) + html::table_section(page) + html::partition_section(page) +
           html::figure9_section(page) + html::counters_section(page);
  out += html::figure3_section(page) + html::solo_section(page);
  return out + "</body>\n</html>\n";
}

std::string html_report(const nlohmann::json& results) { return html_report(results_from_json(results, "results")); }

}  // namespace sluice
