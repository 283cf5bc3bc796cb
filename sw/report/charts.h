// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// The chart kinds of the report, one .cpp each; every function returns HTML with inline SVG. Values that are not finite leave a
// gap.
namespace sluice::charts {

/// One entry of a legend: a name and its place in the page's palette.
struct Series {
  std::string name;
  std::size_t colour = 0;
};

[[nodiscard]] std::string legend(const std::vector<Series>& series);

/// Bars side by side, one group a label.
struct GroupedBars {
  struct Bar {
    double value = 0;
    bool partial = false;  ///< a mean over fewer mixes than its neighbours: drawn hollow
    std::string note;      ///< added to the tooltip
  };
  struct Group {
    std::string label;
    bool emphasised = false;  ///< a mean: bold, and its values are written above the bars
    std::vector<Bar> bars;    ///< one a series
  };
  std::string title, y_label;
  std::vector<Series> series;
  std::vector<Group> groups;
  double y_max = 0;                ///< 0: from the data
  std::optional<double> baseline;  ///< reference line, e.g. 1 = Left-Over
  int digits = 3;                  ///< of values in tooltips
};
[[nodiscard]] std::string grouped_bars(const GroupedBars& chart);

/// Lines over 1..N, marked at each point.
struct Lines {
  struct Line {
    Series series;
    std::vector<double> values;  ///< element i belongs to x = i + 1
    std::string unit_note;       ///< tooltip of a value 1.0
  };
  std::string title, x_label, y_label;
  std::vector<Line> lines;
};
[[nodiscard]] std::string line_chart(const Lines& chart);

/// Points over a square of 0..1 by 0..1, with lines y = x and y = x +- band.
struct Scatter {
  struct Point {
    double x = 0, y = 0;
    std::size_t colour = 0;
    std::string note;  ///< tooltip
  };
  std::string title, x_label, y_label;
  double band = 0.2;
  std::vector<Point> points;
};
[[nodiscard]] std::string scatter(const Scatter& chart);

/// A curve that rises from 0 to 1: the share of values at or below x; marks at other values of x.
struct Distribution {
  std::string title, x_label;
  std::vector<double> values;                         ///< in any order
  std::vector<std::pair<std::string, double>> marks;  ///< name, x
};
[[nodiscard]] std::string distribution(const Distribution& chart);

/// Horizontal bars of fractions that add up to 1.
struct StackedBars {
  struct Row {
    std::string label;
    std::vector<double> parts;  ///< one a series
  };
  std::string title, x_label;
  std::vector<Series> series;
  std::vector<Row> rows;
};
[[nodiscard]] std::string stacked_bars(const StackedBars& chart);

}  // namespace sluice::charts
