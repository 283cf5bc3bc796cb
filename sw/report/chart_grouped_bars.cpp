// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/report/charts.h"
#include "sw/report/svg.h"

namespace sluice::charts {

namespace {

constexpr double kLeft = 56, kTop = 22, kPlotHeight = 190, kBottom = 34, kGap = 18;
constexpr double kRowWidth = 900;  // groups beyond it go into a row of their own

double bar_width(const GroupedBars& chart) { return chart.series.size() > 5 ? 13 : 15; }

/// Wide enough for its bars and for its label (about 7 px a character, 8 in bold).
double group_width(const GroupedBars& chart) {
  double width = bar_width(chart) * static_cast<double>(chart.series.size());
  for (const auto& group : chart.groups)
    width = std::max(width, (group.emphasised ? 8.0 : 7.0) * static_cast<double>(group.label.size()));
  return width + kGap;
}

double data_max(const GroupedBars& chart) {
  double max = chart.baseline.value_or(0);
  for (const auto& group : chart.groups)
    for (const auto& bar : group.bars)
      if (std::isfinite(bar.value)) max = std::max(max, bar.value);
  return max;
}

class Plot {
 public:
  Plot(const GroupedBars& chart, std::size_t first, std::size_t last, double y_max)
      : chart_(chart),
        ticks_(svg::ticks(y_max)),
        width_(kLeft + group_width(chart) * static_cast<double>(last - first) + 12),
        drawing_(width_, kTop + kPlotHeight + kBottom, chart.title) {
    axes();
    for (std::size_t g = first; g < last; ++g)
      group(chart.groups[g], kLeft + group_width(chart) * static_cast<double>(g - first));
    if (chart.baseline) drawing_.line(kLeft, y(*chart.baseline), width_ - 8, y(*chart.baseline), "baseline");
  }
  [[nodiscard]] std::string str() const { return drawing_.str(); }

 private:
  [[nodiscard]] double y(double value) const { return kTop + kPlotHeight * (1 - value / ticks_.back()); }

  void axes() {
    for (const double tick : ticks_) {
      drawing_.line(kLeft, y(tick), width_ - 8, y(tick), tick == 0 ? "axis" : "grid");
      drawing_.text(kLeft - 7, y(tick) + 4, "end", svg::tick_label(tick), "muted");
    }
    drawing_.vertical_text(14, kTop + kPlotHeight / 2, chart_.y_label);
  }

  void group(const GroupedBars::Group& group, double left) {
    const double bar_w = bar_width(chart_);
    const double span = bar_w * static_cast<double>(chart_.series.size());
    const double centre = left + group_width(chart_) / 2;
    double x = centre - span / 2;
    for (std::size_t b = 0; b < group.bars.size(); ++b, x += bar_w) bar(group, b, x, bar_w);
    drawing_.text(centre, kTop + kPlotHeight + 19, "middle", group.label, group.emphasised ? "strong" : "");
  }

  void bar(const GroupedBars::Group& group, std::size_t b, double x, double bar_w) {
    const GroupedBars::Bar& bar = group.bars[b];
    if (!std::isfinite(bar.value)) return;
    const Series& series = chart_.series[b];
    const double shown = std::clamp(bar.value, 0.0, ticks_.back());
    const std::string css = fmt::format("{} l{}", bar.partial ? "hollow" : fmt::format("c{}", series.colour), series.colour);
    drawing_.rect(x + 1, y(shown), bar_w - 2, kTop + kPlotHeight - y(shown), css,
                  fmt::format("{}, {}: {:.{}f}{}", group.label, series.name, bar.value, chart_.digits, bar.note));
    // Upright digits do not fit into a bar of this width: they are turned. At its foot no reference line crosses them.
    if (group.emphasised)
      drawing_.turned_text(x + bar_w / 2 + 4, kTop + kPlotHeight - 5, fmt::format("{:.2f}", bar.value),
                           bar.partial ? "value-out" : "value");
  }

  const GroupedBars& chart_;
  std::vector<double> ticks_;
  double width_;
  svg::Drawing drawing_;
};

}  // namespace

std::string legend(const std::vector<Series>& series) {
  std::string out = "<ul class=\"legend\">";
  for (const Series& s : series) out += fmt::format("<li><i class=\"b{}\"></i>{}</li>", s.colour, svg::escape(s.name));
  return out + "</ul>\n";
}

std::string grouped_bars(const GroupedBars& chart) {
  const double y_max = chart.y_max > 0 ? chart.y_max : data_max(chart);
  const auto per_row = static_cast<std::size_t>(std::max(1.0, std::floor((kRowWidth - kLeft) / group_width(chart))));
  const std::size_t rows = (chart.groups.size() + per_row - 1) / per_row;
  std::string out;
  for (std::size_t row = 0, first = 0; row < rows; ++row) {  // rows of equal length, rather than one long and one short
    const std::size_t last = first + (chart.groups.size() - first + rows - row - 1) / (rows - row);
    out += "<div class=\"scroll\">" + Plot(chart, first, last, y_max).str() + "</div>\n";
    first = last;
  }
  return out;
}

}  // namespace sluice::charts
