// SPDX-License-Identifier: Apache-2.0
#include "sw/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "sw/report/style.h"
#include "sw/report/svg.h"

namespace sluice::report {

namespace {

using svg::Drawing;

/// About as wide as 12 px sans serif.
double width_of(std::string_view text, bool strong = false) {
  double width = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) continue;  // of a code point that was counted
    const bool wide = std::isupper(static_cast<unsigned char>(c)) != 0 || c == 'm' || c == 'w' || c == '%' || c == '_';
    const bool slim = c == 'i' || c == 'l' || c == 'j' || c == '.' || c == ',' || c == ':' || c == '\'' || c == ' ';
    width += wide ? 9.2 : (slim ? 4.2 : 7.2);
  }
  return strong ? 1.1 * width : width;
}

/// An axis in pixels over just the values: linear or logarithmic, with ticks at round values inside.
class Axis {
 public:
  /// @param whole  ticks at whole numbers only
  Axis(double low, double high, double from, double to, bool log, double room, bool whole = false)
      : from_(from), to_(to), log_(log) {
    if (!(low <= high)) low = 0, high = 1;
    if (log_) low = std::max(low, 1e-12), high = std::max(high, low);
    low_ = log_ ? std::log10(low) : low;
    high_ = log_ ? std::log10(high) : high;
    if (high_ - low_ < 1e-12)
      low_ -= log_ ? 0.3 : std::max(std::abs(low) / 10, 1e-9), high_ += log_ ? 0.3 : std::max(std::abs(low) / 10, 1e-9);
    const auto wanted = static_cast<unsigned>(std::clamp(std::abs(to - from) / room, 1.0, 8.0));
    if (log_) {
      log_ticks(wanted);
      return;
    }
    double step = svg::ticks(high_ - low_, wanted)[1];
    if (whole) step = std::max(1.0, std::round(step));
    for (double i = std::ceil(low_ / step - 1e-9); i * step <= high_ + step * 1e-9; ++i) ticks_.push_back(i * step);
  }
  [[nodiscard]] double at(double value) const {
    const double v = log_ ? std::log10(std::max(value, 1e-12)) : value;
    return from_ + (to_ - from_) * std::clamp((v - low_) / (high_ - low_), 0.0, 1.0);
  }
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }
  [[nodiscard]] double first() const { return log_ ? std::pow(10, low_) : low_; }

 private:
  /// Powers of ten; between them 2 and 5 where there are few.
  void log_ticks(unsigned wanted) {
    const bool dense = high_ - low_ < 2;
    for (double power = std::floor(low_); power <= std::ceil(high_); ++power)
      for (const double digit : {1.0, 2.0, 5.0}) {
        const double value = digit * std::pow(10, power);
        if ((digit == 1 || dense) && std::log10(value) >= low_ - 1e-9 && std::log10(value) <= high_ + 1e-9)
          ticks_.push_back(value);
      }
    while (ticks_.size() > wanted + 1) {
      std::vector<double> fewer;
      for (std::size_t i = 0; i < ticks_.size(); i += 2) fewer.push_back(ticks_[i]);
      ticks_ = fewer;
    }
  }

  double from_, to_, low_ = 0, high_ = 1;
  bool log_;
  std::vector<double> ticks_;
};

/// A tick's label: as many digits as the step needs.
std::string tick_text(double value, Notation notation) {
  if (std::abs(value) < 1e-12) value = 0;
  if (notation == Notation::Gain) {
    const double percent = 100 * (value - 1);
    return std::abs(percent) < 1e-9 ? "0" : fmt::format("{:+.4g} %", percent);
  }
  if (notation == Notation::Share) return fmt::format("{:.4g} %", 100 * value);
  return std::abs(value) >= 1e6 ? fmt::format("{:.3g} M", value / 1e6) : svg::tick_label(value);
}

class Rows {
 public:
  Rows(const RowChart& chart, double width) : chart_(chart), width_(width), rows_(chart.rows) {
    if (chart.sorted) sort();
    one_ = chart.series.size() < 2 && chart.kind != RowChart::Kind::Stack;
    published_ = has_published(chart);
    double longest = 0, digits = 0, paper = width_of("paper");
    for (const auto& row : rows_) {
      longest = std::max(longest, width_of(row.label, row.strong));
      for (const Point& p : row.points) {
        digits = std::max(digits, width_of(written(p.value, chart.notation, chart.digits), row.strong));
        if (std::isfinite(p.published)) paper = std::max(paper, width_of(text_of_published(p)));
      }
    }
    above_ = longest > 0.34 * width;  // labels on a line of their own, rather than cut
    left_ = above_ ? 10 : 12 + longest;
    right_ = one_ ? 12 + digits : 14;
    if (one_ && published_) paper_ = 12 + paper;
    bar_ = chart.kind == RowChart::Kind::Bars && !one_ ? 9 : 14;
    step_ = chart.kind == RowChart::Kind::Bars && !one_ ? bar_ * static_cast<double>(chart.series.size()) + 9 : 23;
    if (above_) step_ += 15;
    top_ = one_ && published_ ? 20 : 6;
  }

  [[nodiscard]] std::string str() const {
    const double foot = top_ + step_ * static_cast<double>(rows_.size());
    Drawing drawing(width_, foot + (chart_.x_label.empty() ? 24 : 42), chart_.title);
    const Axis axis = make_axis();
    for (const double tick : axis.ticks()) {
      drawing.line(axis.at(tick), top_, axis.at(tick), foot, "grid");
      drawing.text(axis.at(tick), foot + 15, "middle", tick_text(tick, chart_.notation), "muted");
    }
    if (chart_.baseline) drawing.line(axis.at(*chart_.baseline), top_, axis.at(*chart_.baseline), foot, "baseline");
    if (!chart_.x_label.empty())
      drawing.text((left_ + width_ - right_ - paper_) / 2, foot + 34, "middle", chart_.x_label, "muted");
    if (one_ && published_) {
      drawing.text(width_ - paper_ - 4, 12, "end", "here", "muted");
      drawing.text(width_ - 4, 12, "end", "paper", "muted");
    }
    double y = top_;
    for (const auto& row : rows_) {
      draw_row(drawing, axis, row, y);
      y += step_;
    }
    return drawing.str();
  }

 private:
  [[nodiscard]] std::string text_of_published(const Point& p) const {
    return written(p.published, chart_.notation, chart_.digits);
  }

  void sort() {
    std::vector<RowChart::Row> plain;
    for (const auto& row : rows_)
      if (!row.strong) plain.push_back(row);
    std::ranges::stable_sort(plain, [](const auto& a, const auto& b) {
      const auto value = [](const auto& row) {
        return row.points.empty() || !std::isfinite(row.points[0].value) ? -INFINITY : row.points[0].value;
      };
      return value(a) > value(b);
    });
    auto next = plain.begin();
    for (auto& row : rows_)
      if (!row.strong) row = *next++;
  }

  [[nodiscard]] Axis make_axis() const {
    double low = chart_.baseline.value_or(chart_.kind == RowChart::Kind::Bars && !chart_.log ? 0 : INFINITY);
    double high = std::isfinite(low) ? low : -INFINITY;
    const auto take = [&](double v) {
      if (!std::isfinite(v) || (chart_.log && v <= 0)) return;
      low = std::min(low, v);
      high = std::max(high, v);
    };
    for (const auto& row : rows_)
      for (const Point& p : row.points)
        for (const double v : {p.value, p.low, p.high, p.published}) take(v);
    if (chart_.kind == RowChart::Kind::Stack) low = 0, high = 1;
    const double margin = chart_.kind == RowChart::Kind::Stack || !(low < high) ? 0 : (high - low) * 0.03;
    if (low != chart_.baseline.value_or(chart_.kind == RowChart::Kind::Bars ? 0 : kNone) && !chart_.log) low -= margin;
    if (!chart_.log) high += margin;
    const double to = width_ - right_ - paper_ - 12;
    return {low, high, left_ + 4, to, chart_.log, 56};
  }

  [[nodiscard]] std::string tooltip(const RowChart::Row& row, std::size_t s) const {
    const Point& p = row.points[s];
    std::string out = row.label;
    if (s < chart_.series.size()) out += ", " + chart_.series[s].name;
    out += ": " + written(p.value, chart_.notation, chart_.digits + 1);
    if (std::isfinite(p.low))
      out += fmt::format(" [{}, {}]", written(p.low, chart_.notation, chart_.digits + 1),
                         written(p.high, chart_.notation, chart_.digits + 1));
    if (std::isfinite(p.published)) out += ", published " + text_of_published(p);
    return out + p.note;
  }

  void draw_row(Drawing& drawing, const Axis& axis, const RowChart::Row& row, double y) const {
    const char* css = row.strong ? "strong" : "";
    if (above_)
      drawing.text(0, y + 13, "start", row.label, css);
    else
      drawing.text(left_ - 8, y + step_ / 2 + 4, "end", row.label, css);
    if (above_) y += 15;
    const double middle = y + (above_ ? step_ - 15 : step_) / 2;
    if (chart_.kind == RowChart::Kind::Stack) return draw_stack(drawing, axis, row, y);
    if (chart_.kind == RowChart::Kind::Dots && !one_) connect(drawing, axis, row, middle);
    for (std::size_t s = row.points.size(); s-- > 0;) {  // the first series is on top
      const Point& p = row.points[s];
      const std::size_t colour = s < chart_.series.size() ? chart_.series[s].colour : 4;
      const double at = chart_.kind == RowChart::Kind::Bars && !one_ ? y + 4 + bar_ * (static_cast<double>(s) + 0.5) : middle;
      draw_point(drawing, axis, p, at, colour, tooltip(row, s));
    }
    if (!one_ || row.points.empty()) return;
    drawing.text(width_ - paper_ - 4, middle + 4, "end", written(row.points[0].value, chart_.notation, chart_.digits),
                 row.strong ? "strong" : "");
    if (std::isfinite(row.points[0].published))
      drawing.text(width_ - 4, middle + 4, "end", text_of_published(row.points[0]), "muted");
  }

  /// A thin line from the least to the most of a row's dots.
  static void connect(Drawing& drawing, const Axis& axis, const RowChart::Row& row, double y) {
    double least = INFINITY, most = -INFINITY;
    for (const Point& p : row.points)
      if (std::isfinite(p.value)) least = std::min(least, axis.at(p.value)), most = std::max(most, axis.at(p.value));
    if (least < most) drawing.line(least, y, most, y, "grid");
  }

  void draw_point(Drawing& drawing, const Axis& axis, const Point& p, double y, std::size_t colour,
                  const std::string& note) const {
    const double zero = axis.at(chart_.baseline.value_or(axis.first()));
    if (std::isfinite(p.value)) {
      const double x = axis.at(p.value);
      if (chart_.kind == RowChart::Kind::Bars)
        drawing.rect(std::min(zero, x), y - bar_ / 2, std::max(1.0, std::abs(x - zero)), bar_ - 1, fmt::format("c{}", colour),
                     note);
      else if (one_ && chart_.baseline)
        drawing.line(zero, y, x, y, fmt::format("stem l{}", colour));
    }
    if (std::isfinite(p.low) && std::isfinite(p.high)) {
      drawing.line(axis.at(p.low), y, axis.at(p.high), y, "interval");
      for (const double end : {p.low, p.high}) drawing.line(axis.at(end), y - 3, axis.at(end), y + 3, "interval");
    }
    if (std::isfinite(p.published)) drawing.circle(axis.at(p.published), y, 5, "paper", "published: " + text_of_published(p));
    if (std::isfinite(p.value) && chart_.kind == RowChart::Kind::Dots)
      drawing.circle(axis.at(p.value), y, 4.5, fmt::format("c{} dot", colour), note);
  }

  void draw_stack(Drawing& drawing, const Axis& axis, const RowChart::Row& row, double y) const {
    double at = 0;
    for (std::size_t s = 0; s < row.points.size(); ++s) {
      const double part = std::isfinite(row.points[s].value) ? std::clamp(row.points[s].value, 0.0, 1 - at) : 0;
      if (part <= 0) continue;
      drawing.rect(axis.at(at), y + 4, axis.at(at + part) - axis.at(at), step_ - 8,
                   fmt::format("c{} part", chart_.series[s].colour), tooltip(row, s));
      at += part;
    }
  }

  const RowChart& chart_;
  double width_;
  std::vector<RowChart::Row> rows_;
  bool one_ = true, published_ = false, above_ = false;
  double left_ = 0, right_ = 0, paper_ = 0, bar_ = 14, step_ = 23, top_ = 6;
};

std::string draw_lines(const LineChart& chart, double width) {
  double x_low = INFINITY, x_high = -INFINITY, y_low = chart.from_zero && !chart.log_y ? 0 : INFINITY, y_high = -INFINITY;
  const auto take_x = [&](double v) {
    if (std::isfinite(v)) x_low = std::min(x_low, v), x_high = std::max(x_high, v);
  };
  const auto take_y = [&](double v) {
    if (std::isfinite(v)) y_low = std::min(y_low, v), y_high = std::max(y_high, v);
  };
  for (const auto& line : chart.lines) {
    for (const auto& [x, y] : line.points) take_x(x), take_y(y);
    for (const auto& [low, high] : line.intervals) take_y(low), take_y(high);
  }
  for (const auto& mark : chart.marks) take_x(mark.second);
  const bool whole = std::ranges::all_of(chart.lines, [](const auto& line) {
    return std::ranges::all_of(line.points, [](const auto& point) { return point.first == std::round(point.first); });
  });
  if (chart.diagonal) take_x(y_low), take_x(y_high), y_low = x_low, y_high = x_high;
  const double height = std::clamp(width * 0.62, 190.0, 400.0) + (chart.diagonal ? std::min(width * 0.3, 90.0) : 0);
  const Axis y_axis(y_low, y_high + (chart.log_y ? 0 : (y_high - y_low) * 0.04), height - 42, 12, chart.log_y, 48);
  double left = 0;
  for (const double tick : y_axis.ticks()) left = std::max(left, width_of(tick_text(tick, chart.y_notation)));
  left += chart.y_label.empty() ? 12 : 32;
  const Axis x_axis(x_low, x_high, left + 8, width - 16, chart.log_x, 58, whole);
  Drawing drawing(width, height, chart.title);
  for (const double tick : y_axis.ticks()) {
    drawing.line(left, y_axis.at(tick), width - 10, y_axis.at(tick), "grid");
    drawing.text(left - 6, y_axis.at(tick) + 4, "end", tick_text(tick, chart.y_notation), "muted");
  }
  drawing.line(left, height - 42, width - 10, height - 42, "axis");
  for (const double tick : x_axis.ticks()) {
    drawing.line(x_axis.at(tick), height - 42, x_axis.at(tick), height - 38, "axis");
    drawing.text(x_axis.at(tick), height - 26, "middle", tick_text(tick, chart.x_notation), "muted");
  }
  drawing.text((left + width) / 2, height - 6, "middle", chart.x_label, "muted");
  if (!chart.y_label.empty()) drawing.vertical_text(12, (height - 42) / 2, chart.y_label);
  if (chart.diagonal) drawing.line(x_axis.at(x_low), y_axis.at(x_low), x_axis.at(x_high), y_axis.at(x_high), "baseline");
  double row = 22;
  for (const auto& [name, x] : chart.marks) {
    const bool late = x_axis.at(x) > (left + width) / 2;
    drawing.line(x_axis.at(x), 12, x_axis.at(x), height - 42, "baseline");
    drawing.text(x_axis.at(x) + (late ? -5 : 5), row, late ? "end" : "start", name);
    row += 15;
  }
  for (const auto& line : chart.lines) {
    std::vector<std::pair<double, double>> path;
    for (const auto& [x, y] : line.points)
      if (std::isfinite(x) && std::isfinite(y)) path.emplace_back(x_axis.at(x), y_axis.at(y));
    if (line.joined) drawing.polyline(path, fmt::format("curve l{}", line.series.colour));
    if (path.size() > 60 && line.joined) continue;  // a curve of its own accord
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const auto [x, y] = line.points[i];
      if (!std::isfinite(x) || !std::isfinite(y)) continue;
      if (i < line.intervals.size() && std::isfinite(line.intervals[i].first))
        drawing.line(x_axis.at(x), y_axis.at(line.intervals[i].first), x_axis.at(x), y_axis.at(line.intervals[i].second),
                     "interval");
      const std::string note = i < line.notes.size() ? line.notes[i]
                                                     : fmt::format("{}, {}: {}", line.series.name, tick_text(x, chart.x_notation),
                                                                   written(y, chart.y_notation, 3));
      drawing.circle(x_axis.at(x), y_axis.at(y), 3.2, fmt::format("c{}", line.series.colour), note);
    }
  }
  return drawing.str();
}

std::string draw_timeline(const Timeline& chart, double width) {
  double longest = 10;
  for (const std::string& row : chart.rows) longest = std::max(longest, width_of(row));
  const double left = 12 + longest, top = 26;
  const double step = std::clamp(520.0 / std::max(1.0, static_cast<double>(chart.rows.size())), 12.0, 30.0);
  const double foot = top + step * static_cast<double>(chart.rows.size());
  const Axis axis(0, chart.end, left, width - 14, false, 90);
  const double scale = (width - 14 - left) / std::max(chart.end, 1e-12);  // the axis ends where the runs end
  const auto x_of = [&](double time) { return left + std::clamp(time, 0.0, chart.end) * scale; };
  Drawing drawing(width, foot + 44, chart.title);
  for (std::size_t r = 0; r < chart.rows.size(); ++r) {
    const double y = top + step * static_cast<double>(r);
    drawing.rect(left, y + 1, width - 14 - left, step - 2, "lane");
    drawing.text(left - 6, y + step / 2 + 4, "end", chart.rows[r], "muted");
  }
  for (const Timeline::Span& span : chart.spans) {
    const double foot_of_row = top + step * static_cast<double>(span.row + 1) - 1, room = step - 2;
    drawing.rect(x_of(span.begin), foot_of_row - room * (span.offset + span.height),
                 std::max(0.4, x_of(span.end) - x_of(span.begin)), room * span.height,
                 fmt::format("c{}", chart.series.at(span.series).colour), span.note);
  }
  for (const double tick : axis.ticks()) {
    if (tick > chart.end) continue;
    drawing.line(x_of(tick), foot, x_of(tick), foot + 4, "axis");
    drawing.text(x_of(tick), foot + 16, tick == 0 ? "start" : "middle", tick_text(tick, Notation::Number), "muted");
  }
  drawing.text((left + width) / 2, foot + 36, "middle", chart.x_label, "muted");
  double free_from = 0;
  for (std::size_t i = 0; i < chart.phases.size(); ++i) {
    const auto& [name, time] = chart.phases[i];
    const double x = x_of(time);
    if (i > 0) drawing.line(x, top - 6, x, foot, "phase");
    const double next = i + 1 < chart.phases.size() ? x_of(chart.phases[i + 1].second) : width + width_of(name);
    if (x < free_from || next - x < width_of(name)) continue;  // its line stands, its name has no room
    const bool fits = x + 4 + width_of(name) < width;
    drawing.text(fits ? x + 3 : width - 2, 14, fits ? "start" : "end", name, "strong");
    free_from = x + 10 + width_of(name);
  }
  return drawing.str();
}

}  // namespace

std::string draw(const Chart& chart, double width) {
  if (const auto* rows = std::get_if<RowChart>(&chart)) return Rows(*rows, width).str();
  if (const auto* lines = std::get_if<LineChart>(&chart)) return draw_lines(*lines, width);
  return draw_timeline(std::get<Timeline>(chart), width);
}

std::string legend(const std::vector<Series>& series) {
  std::string out = "<ul class=\"legend\">";
  for (const Series& s : series) out += fmt::format("<li><i class=\"b{}\"></i>{}</li>", s.colour, svg::escape(s.name));
  return out + "</ul>\n";
}

std::vector<Series> series_of(const Chart& chart) {
  if (const auto* lines = std::get_if<LineChart>(&chart)) {
    std::vector<Series> series;
    for (const auto& line : lines->lines)
      if (std::ranges::find(series, line.series.name, &Series::name) == series.end()) series.push_back(line.series);
    return series;
  }
  if (const auto* rows = std::get_if<RowChart>(&chart)) return rows->series;
  return std::get<Timeline>(chart).series;
}

const std::string& title_of(const Chart& chart) {
  return std::visit([](const auto& c) -> const std::string& { return c.title; }, chart);
}

bool has_published(const Chart& chart) {
  const auto* rows = std::get_if<RowChart>(&chart);
  return rows != nullptr && std::ranges::any_of(rows->rows, [](const auto& row) {
           return std::ranges::any_of(row.points, [](const Point& p) { return std::isfinite(p.published); });
         });
}

bool empty(const Chart& chart) {
  if (const auto* rows = std::get_if<RowChart>(&chart))
    return std::ranges::all_of(rows->rows, [](const auto& row) {
      return std::ranges::all_of(row.points, [](const Point& p) { return !std::isfinite(p.value); });
    });
  if (const auto* lines = std::get_if<LineChart>(&chart))
    return std::ranges::all_of(lines->lines, [](const auto& line) { return line.points.empty(); });
  return std::get<Timeline>(chart).spans.empty();
}

std::string picture(const Chart& chart, double width) {
  const std::string drawn = draw(chart, width);
  const double height = std::stod(drawn.substr(drawn.find("height=\"") + 8));
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\">\n<style>{2}</style>\n"
      "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n<text class=\"headline\" x=\"12\" y=\"24\">{3}</text>\n",
      width, height + 64, kChartStyle, svg::escape(title_of(chart)));
  double x = 12;
  for (const Series& series : series_of(chart)) {
    out += fmt::format(
        "<rect class=\"c{}\" x=\"{:.0f}\" y=\"38\" width=\"10\" height=\"10\"/><text x=\"{:.0f}\" y=\"47\">{}</text>\n",
        series.colour, x, x + 15, svg::escape(series.name));
    x += 34 + width_of(series.name);
  }
  return out + "<g transform=\"translate(0 58)\">\n" + drawn + "</g>\n</svg>\n";
}

}  // namespace sluice::report
