// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/report/charts.h"
#include "sw/report/svg.h"

namespace sluice::charts {

namespace {

constexpr double kWidth = 420, kHeight = 380, kLeft = 60, kTop = 34, kRight = 20, kBottom = 48;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;

double y_of(double value) { return kTop + kPlotHeight * (1 - std::clamp(value, 0.0, 1.0)); }

/// Frame, 0..1 upwards and what stands below.
svg::Drawing frame(const std::string& title, const std::string& x_label, const std::string& y_label) {
  svg::Drawing drawing(kWidth, kHeight, title);
  for (const double tick : {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}) {
    drawing.line(kLeft, y_of(tick), kWidth - kRight, y_of(tick), tick == 0 ? "axis" : "grid");
    drawing.text(kLeft - 7, y_of(tick) + 4, "end", svg::tick_label(tick), "muted");
  }
  drawing.line(kLeft, kTop, kLeft, kTop + kPlotHeight, "axis");
  drawing.text(kLeft + kPlotWidth / 2, kHeight - 8, "middle", x_label, "muted");
  drawing.vertical_text(14, kTop + kPlotHeight / 2, y_label);
  drawing.text(kLeft, 18, "start", title, "strong");
  return drawing;
}

}  // namespace

std::string scatter(const Scatter& chart) {
  svg::Drawing drawing = frame(chart.title, chart.x_label, chart.y_label);
  const auto x_of = [](double value) { return kLeft + kPlotWidth * std::clamp(value, 0.0, 1.0); };
  for (const double tick : {0.0, 0.2, 0.4, 0.6, 0.8, 1.0})
    drawing.text(x_of(tick), kTop + kPlotHeight + 17, "middle", svg::tick_label(tick), "muted");
  drawing.line(x_of(0), y_of(0), x_of(1), y_of(1), "axis");
  drawing.line(x_of(0), y_of(chart.band), x_of(1 - chart.band), y_of(1), "grid");
  drawing.line(x_of(chart.band), y_of(0), x_of(1), y_of(1 - chart.band), "grid");
  for (const Scatter::Point& p : chart.points)
    if (std::isfinite(p.x) && std::isfinite(p.y)) drawing.circle(x_of(p.x), y_of(p.y), 3.5, fmt::format("c{}", p.colour), p.note);
  return "<div class=\"multiple\">" + drawing.str() + "</div>\n";
}

std::string distribution(const Distribution& chart) {
  std::vector<double> sorted = chart.values;
  std::ranges::sort(sorted);
  double low = sorted.empty() ? 0 : sorted.front(), high = sorted.empty() ? 1 : sorted.back();
  for (const auto& [name, x] : chart.marks) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  const double margin = std::max(1e-9, 0.05 * (high - low));
  low -= margin;
  high += margin;
  svg::Drawing drawing = frame(chart.title, chart.x_label, "share of the schedules");
  const auto x_of = [&](double value) { return kLeft + kPlotWidth * (value - low) / (high - low); };
  constexpr int kTicks = 5;
  for (int i = 0; i <= kTicks; ++i) {
    const double at = low + (high - low) * i / kTicks;
    drawing.text(x_of(at), kTop + kPlotHeight + 17, "middle", fmt::format("{:.1f}", at), "muted");
  }
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    points.emplace_back(x_of(sorted[i]), y_of(static_cast<double>(i + 1) / static_cast<double>(sorted.size())));
  drawing.polyline(points, "curve l0");
  double row = kTop + 14;
  for (const auto& [name, x] : chart.marks) {
    drawing.line(x_of(x), kTop, x_of(x), kTop + kPlotHeight, "axis");
    drawing.text(x_of(x) + (x_of(x) > kLeft + kPlotWidth / 2 ? -5 : 5), row, x_of(x) > kLeft + kPlotWidth / 2 ? "end" : "start",
                 fmt::format("{} {:.1f}", name, x));
    row += 16;
  }
  return "<div class=\"multiple\">" + drawing.str() + "</div>\n";
}

}  // namespace sluice::charts
