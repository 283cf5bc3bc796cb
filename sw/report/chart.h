// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sw/report/table.h"

// The charts of every page: static SVG, with colours from the page's style sheet. Values that are not finite leave a gap.
namespace sluice::report {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// A name in the legend and its place in the page's palette.
struct Series {
  std::string name;
  std::size_t colour = 0;
};

/// What was measured, its 95 % interval, and what a paper states for it; each may be missing.
struct Point {
  double value = kNone, low = kNone, high = kNone, published = kNone;
  std::string note{};  ///< added to the tooltip
};

/// Rows of a label and its values on one horizontal axis. With one series every value is written beside its row, and so is what
/// was published.
struct RowChart {
  enum class Kind { Dots, Bars, Stack };  ///< Stack: parts of a whole, 0..1
  struct Row {
    std::string label;
    std::vector<Point> points;  ///< one a series
    bool strong = false;        ///< a mean
  };
  std::string title;
  std::string x_label{};
  std::vector<Series> series{};  ///< may be left empty when there is one
  std::vector<Row> rows{};
  Kind kind = Kind::Dots;
  Notation notation = Notation::Number;
  int digits = 2;
  std::optional<double> baseline{};  ///< reference line; bars and stems begin there
  bool sorted = false;               ///< by the first series, largest on top; strong rows stay where they are
  bool log = false;                  ///< logarithmic axis
};

/// Lines and points over two axes.
struct LineChart {
  struct Line {
    Series series;
    std::vector<std::pair<double, double>> points;
    bool joined = true;                                  ///< false: points alone
    std::vector<std::pair<double, double>> intervals{};  ///< low and high of each point, or nothing
    std::vector<std::string> notes{};                    ///< tooltips of the points, or nothing
  };
  std::string title;
  std::string x_label{}, y_label{};
  std::vector<Line> lines{};
  Notation x_notation = Notation::Number, y_notation = Notation::Number;
  bool from_zero = true;  ///< the vertical axis begins at 0
  bool diagonal = false;  ///< y = x: one figure against another of the same kind
  bool log_x = false, log_y = false;
  std::vector<std::pair<std::string, double>> marks{};  ///< vertical lines with a name
};

/// What ran where and when: rows of spans over time.
struct Timeline {
  struct Span {
    std::size_t row = 0;
    double begin = 0, end = 0;
    std::size_t series = 0;
    double height = 1;   ///< share of the row: CTAs over what fits
    double offset = 0;   ///< from the row's foot
    std::string note{};  ///< tooltip; none where empty
  };
  std::string title;
  std::string x_label{};
  std::vector<Series> series{};
  std::vector<std::string> rows{};
  std::vector<Span> spans{};
  std::vector<std::pair<std::string, double>> phases{};  ///< a name from its time on
  double end = 0;
};

using Chart = std::variant<RowChart, LineChart, Timeline>;

/// @param width  pixels
/// @return an <svg> element
[[nodiscard]] std::string draw(const Chart& chart, double width);
/// A picture that stands alone: with its title, legend and style sheet.
[[nodiscard]] std::string picture(const Chart& chart, double width);
[[nodiscard]] std::string legend(const std::vector<Series>& series);
[[nodiscard]] std::vector<Series> series_of(const Chart& chart);
[[nodiscard]] const std::string& title_of(const Chart& chart);
[[nodiscard]] bool has_published(const Chart& chart);
/// Nothing to draw.
[[nodiscard]] bool empty(const Chart& chart);

}  // namespace sluice::report
