// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::svg {

/// Text as HTML and SVG want it, in elements and in quoted attributes.
[[nodiscard]] std::string escape(std::string_view text);

/// Tick positions 0, step, 2 step, ... up to and including the first that is not below `max`; step is 1, 2 or 5 times a power of
/// ten. Always at least two. A maximum that is not positive and finite counts as 1.
[[nodiscard]] std::vector<double> ticks(double max, unsigned wanted = 5);

/// "1.5", "200": no more digits than it needs.
[[nodiscard]] std::string tick_label(double value);

/// A drawing under construction, in pixels. Colours and fonts come from the page's style sheet through class names, so that light
/// and dark need one drawing: c0..c9 fill, l0..l9 stroke with the palette; "grid", "axis", "muted", "strong" as they say.
class Drawing {
 public:
  /// @param label  what a screen reader says
  Drawing(double width, double height, std::string_view label);
  void line(double x1, double y1, double x2, double y2, std::string_view css);
  void rect(double x, double y, double width, double height, std::string_view css, std::string_view tooltip = {});
  void circle(double x, double y, double radius, std::string_view css, std::string_view tooltip = {});
  void polyline(const std::vector<std::pair<double, double>>& points, std::string_view css);
  /// @param anchor  "start", "middle" or "end"
  void text(double x, double y, std::string_view anchor, std::string_view content, std::string_view css = {},
            std::string_view tooltip = {});
  /// Rotated to read upwards, centred on the point: the title of a vertical axis.
  void vertical_text(double x, double y, std::string_view content);
  [[nodiscard]] std::string str() const { return body_ + "</svg>\n"; }

 private:
  std::string body_;
};

}  // namespace sluice::svg
