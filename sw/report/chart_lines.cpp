// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/report/charts.h"
#include "sw/report/svg.h"

namespace sluice::charts {

namespace {

constexpr double kWidth = 292, kHeight = 250, kLeft = 54, kTop = 30, kRight = 14, kBottom = 44;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;

/// Where the lines of one chart lie: x = 1..longest, y = 0..1.
struct Scale {
  std::size_t longest;
  [[nodiscard]] double x(std::size_t index) const {
    return longest < 2 ? kLeft + kPlotWidth / 2
                       : kLeft + 8 + (kPlotWidth - 16) * static_cast<double>(index) / static_cast<double>(longest - 1);
  }
  [[nodiscard]] static double y(double value) { return kTop + kPlotHeight * (1 - value); }
};

void draw_axes(svg::Drawing& drawing, const Lines& chart, const Scale& scale) {
  for (const double tick : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    drawing.line(kLeft, Scale::y(tick), kWidth - kRight, Scale::y(tick), tick == 0 ? "axis" : "grid");
    drawing.text(kLeft - 7, Scale::y(tick) + 4, "end", svg::tick_label(tick), "muted");
  }
  const std::size_t every = scale.longest > 16 ? 4 : (scale.longest > 8 ? 2 : 1);
  for (std::size_t i = 0; i < scale.longest; ++i)
    if ((i + 1) % every == 0 || i == 0)
      drawing.text(scale.x(i), kTop + kPlotHeight + 17, "middle", fmt::format("{}", i + 1), "muted");
  drawing.text(kLeft + kPlotWidth / 2, kHeight - 8, "middle", chart.x_label, "muted");
  drawing.vertical_text(12, kTop + kPlotHeight / 2, chart.y_label);
  drawing.text(kLeft, 16, "start", chart.title, "strong");
}

void draw_line(svg::Drawing& drawing, const Lines::Line& line, const Scale& scale) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < line.values.size(); ++i)
    if (std::isfinite(line.values[i])) points.emplace_back(scale.x(i), Scale::y(std::clamp(line.values[i], 0.0, 1.0)));
  drawing.polyline(points, fmt::format("curve l{}", line.series.colour));
  for (std::size_t i = 0; i < line.values.size(); ++i) {
    if (!std::isfinite(line.values[i])) continue;
    drawing.circle(scale.x(i), Scale::y(std::clamp(line.values[i], 0.0, 1.0)), 3.5, fmt::format("c{}", line.series.colour),
                   fmt::format("{}, {} CTAs: {:.3f}{}", line.series.name, i + 1, line.values[i], line.unit_note));
  }
}

}  // namespace

std::string line_chart(const Lines& chart) {
  Scale scale{0};
  std::vector<Series> names;
  for (const auto& line : chart.lines) {
    scale.longest = std::max(scale.longest, line.values.size());
    names.push_back(line.series);
  }
  svg::Drawing drawing(kWidth, kHeight, chart.title);
  draw_axes(drawing, chart, scale);
  for (const auto& line : chart.lines) draw_line(drawing, line, scale);
  return "<div class=\"multiple\">" + drawing.str() + legend(names) + "</div>\n";
}

}  // namespace sluice::charts
