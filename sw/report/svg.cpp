// SPDX-License-Identifier: Apache-2.0
#include "sw/report/svg.h"

#include <fmt/format.h>

#include <cmath>

namespace sluice::svg {

namespace {

/// A shape with its tooltip, or without.
std::string closed(std::string_view element, std::string_view name, std::string_view tooltip) {
  if (tooltip.empty()) return fmt::format("{}/>", element);
  return fmt::format("{}><title>{}</title></{}>", element, escape(tooltip), name);
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::vector<double> ticks(double max, unsigned wanted) {
  if (!std::isfinite(max) || max <= 0) max = 1;
  const double rough = max / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double nice : {1.0, 2.0, 5.0})
    if (nice * power >= rough * 0.999) {
      step = nice * power;
      break;
    }
  std::vector<double> out{0};
  while (out.back() < max * 0.999) out.push_back(step * static_cast<double>(out.size()));
  return out;
}

std::string tick_label(double value) { return fmt::format("{:.6g}", value); }

Drawing::Drawing(double width, double height, std::string_view label)
    : body_(fmt::format(
          "<svg width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n", width,
          height, escape(label))) {}

void Drawing::line(double x1, double y1, double x2, double y2, std::string_view css) {
  body_ += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", css, x1, y1, x2, y2);
}

void Drawing::rect(double x, double y, double width, double height, std::string_view css, std::string_view tooltip) {
  body_ += closed(fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"", css, x, y, width,
                              height),
                  "rect", tooltip) +
           '\n';
}

void Drawing::circle(double x, double y, double radius, std::string_view css, std::string_view tooltip) {
  body_ +=
      closed(fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"", css, x, y, radius), "circle", tooltip) +
      '\n';
}

void Drawing::polyline(const std::vector<std::pair<double, double>>& points, std::string_view css) {
  body_ += fmt::format("<polyline class=\"{}\" points=\"", css);
  for (const auto& [x, y] : points) body_ += fmt::format("{:.1f},{:.1f} ", x, y);
  body_ += "\"/>\n";
}

void Drawing::text(double x, double y, std::string_view anchor, std::string_view content, std::string_view css,
                   std::string_view tooltip) {
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}{}</text>\n", x, y, anchor,
                       css.empty() ? "" : fmt::format(" class=\"{}\"", css), escape(content),
                       tooltip.empty() ? "" : fmt::format("<title>{}</title>", escape(tooltip)));
}

void Drawing::vertical_text(double x, double y, std::string_view content) {
  body_ +=
      fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\" class=\"muted\">{}</text>\n",
                  x, y, escape(content));
}

}  // namespace sluice::svg
