// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/report/charts.h"
#include "sw/report/svg.h"

namespace sluice::charts {

namespace {

constexpr double kRowHeight = 30, kTop = 6, kBottom = 40, kPlotWidth = 640, kRight = 22;

double label_width(const StackedBars& chart) {
  std::size_t longest = 0;
  for (const auto& row : chart.rows) longest = std::max(longest, row.label.size());
  return 20 + 7.2 * static_cast<double>(longest);
}

void draw_row(svg::Drawing& drawing, const StackedBars& chart, const StackedBars::Row& row, double left, double top) {
  drawing.text(left - 8, top + 16, "end", row.label);
  double at = 0;
  for (std::size_t p = 0; p < row.parts.size(); ++p) {
    const double part = std::isfinite(row.parts[p]) ? std::clamp(row.parts[p], 0.0, 1 - at) : 0;
    if (part <= 0) continue;
    drawing.rect(left + at * kPlotWidth, top, part * kPlotWidth, kRowHeight - 9, fmt::format("c{} part", chart.series[p].colour),
                 fmt::format("{}, {}: {:.1f} %", row.label, chart.series[p].name, 100 * part));
    if (part > 0.06)
      drawing.text(left + (at + part / 2) * kPlotWidth, top + 15, "middle", fmt::format("{:.0f} %", 100 * part), "on-bar");
    at += part;
  }
}

}  // namespace

std::string stacked_bars(const StackedBars& chart) {
  const double left = label_width(chart);
  const double bottom = kTop + kRowHeight * static_cast<double>(chart.rows.size());
  svg::Drawing drawing(left + kPlotWidth + kRight, bottom + kBottom, chart.title);
  for (const double tick : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    drawing.line(left + tick * kPlotWidth, kTop, left + tick * kPlotWidth, bottom, "grid");
    drawing.text(left + tick * kPlotWidth, bottom + 15, "middle", fmt::format("{:.0f} %", 100 * tick), "muted");
  }
  drawing.text(left + kPlotWidth / 2, bottom + 34, "middle", chart.x_label, "muted");
  for (std::size_t r = 0; r < chart.rows.size(); ++r)
    draw_row(drawing, chart, chart.rows[r], left, kTop + kRowHeight * static_cast<double>(r) + 3);
  return "<div class=\"scroll\">" + drawing.str() + "</div>\n";
}

}  // namespace sluice::charts
