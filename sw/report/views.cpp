// SPDX-License-Identifier: Apache-2.0
#include "sw/report/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "sw/report/summary.h"

namespace sluice::figures {

using namespace report;

std::string gained(double ratio, int digits) {
  const std::string text = written(ratio, Notation::Gain, digits);
  return text.starts_with('+') ? text.substr(1) : text;
}

double number(const Json& data, const std::string& pointer) {
  const Json::json_pointer at(pointer);
  return data.contains(at) && data.at(at).is_number() ? data.at(at).get<double>() : kNone;
}

const Json& member(const Json& data, const char* key) {
  static const Json none = Json::object();
  return data.contains(key) ? data.at(key) : none;
}

namespace {

bool left_out(const std::vector<std::string>& skip, const std::string& key) { return std::ranges::find(skip, key) != skip.end(); }

/// "Warped-Slicer" for warped_slicer, "Left-Over" for left_over; a scheduler's name as it is.
std::string shown(const std::string& key) {
  std::string label = policy_label(key);
  const bool name = std::ranges::any_of(label, [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; });
  if (!name) std::ranges::replace(label, '_', ' ');
  return label;
}

/// A policy's own colour; of other names by position, as different as can be.
std::size_t colour_of(const Field& field, std::size_t position) {
  constexpr std::size_t kOrder[] = {5, 4, 3, 1, 6, 2, 9, 7, 8, 0};
  const std::string key = field.at.substr(field.at.find('/') + 1);
  return policy_label(key) == key ? kOrder[position % std::size(kOrder)] : policy_colour(key, position);
}

/// "Figure 7a", "Table 3", "energy": a section in the list of them.
std::string name_of(std::string id) {
  std::ranges::replace(id, '_', ' ');
  if (std::isdigit(static_cast<unsigned char>(id.front())) != 0) return "Figure " + id;
  return id.starts_with("table") ? "Table " + id.substr(5) : id;
}

std::size_t shared(const PageView& view, const Json& figures) {
  return static_cast<std::size_t>(
      std::ranges::count_if(view.figures, [&](const FigureView& f) { return figures.contains(f.id); }));
}

}  // namespace

RowChart rows_of(RowChart look, const Json& data, const std::vector<Field>& fields, const std::vector<std::string>& skip) {
  for (std::size_t f = 0; f < fields.size(); ++f)
    look.series.push_back({fields[f].name, fields.size() == 1 ? 4 : colour_of(fields[f], f)});
  if (!fields.empty()) look.notation = fields.front().notation, look.digits = fields.front().digits;
  for (const auto& [key, item] : data.items()) {
    if (left_out(skip, key)) continue;
    RowChart::Row row{shown(key), {}, key == "mean" || key == "all" || key == "geometric mean"};
    for (const Field& f : fields)
      row.points.push_back({number(item, f.at), kNone, kNone, f.published_at.empty() ? kNone : number(item, f.published_at)});
    look.rows.push_back(std::move(row));
  }
  return look;
}

Table table_of(const std::string& first, const Json& data, const std::vector<Field>& fields,
               const std::vector<std::string>& skip) {
  std::vector<Column> columns{first};
  for (const Field& f : fields) columns.emplace_back(f.name, f.notation, f.digits);
  Table table(columns);
  for (const auto& [key, item] : data.items()) {
    if (left_out(skip, key)) continue;
    Row row{shown(key)};
    for (const Field& f : fields) {
      const Json::json_pointer at(f.at);
      if (item.contains(at) && item.at(at).is_string())
        row.emplace_back(item.at(at).get<std::string>());
      else if (item.contains(at) && item.at(at).is_number_unsigned())
        row.emplace_back(item.at(at).get<std::uint64_t>());
      else
        row.emplace_back(number(item, f.at));
    }
    key == "mean" ? table.mean(std::move(row)) : table.row(std::move(row));
  }
  return table;
}

std::vector<Field> fields_of(const Json& data, Notation notation, int digits, const std::string& below) {
  std::vector<Field> fields;
  if (!data.is_object() || data.empty()) return fields;
  const Json& first = data.begin().value();
  for (const auto& [key, value] : first.items()) fields.push_back({shown(key), "/" + key + below, notation, digits});
  return fields;
}

Json keyed(const Json& list, const std::vector<std::string>& names) {
  Json out = Json::object();
  for (const Json& item : list) {
    std::string key;
    for (const std::string& name : names) {
      const Json& part = item.at(name);
      key += (key.empty() ? "" : ", ") + (part.is_string() ? part.get<std::string>() : fmt::format("{:g}", part.get<double>()));
    }
    out[key] = item;
  }
  return out;
}

RowChart beside(std::string title, const std::vector<Beside>& rows, Notation notation, int digits) {
  RowChart chart{.title = std::move(title), .notation = notation, .digits = digits};
  if (notation == Notation::Gain) chart.baseline = 1.0;
  for (const Beside& row : rows)
    if (std::isfinite(row.value)) chart.rows.push_back({row.label, {{row.value, kNone, kNone, row.published}}});
  return chart;
}

Multiples curves(const Json& data, const std::string& at, const std::string& x_label, const std::string& y_label) {
  std::vector<std::pair<double, LineChart>> charts;
  for (const auto& [key, item] : data.items()) {
    LineChart chart{.title = key, .x_label = x_label, .y_label = y_label};
    LineChart::Line line{{key, 4}, {}};
    const Json& values = item.at(Json::json_pointer(at));
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i].is_number()) line.points.emplace_back(static_cast<double>(i + 1), values[i].get<double>());
    if (line.points.empty()) continue;
    const double last = line.points.back().second;
    double best = 0;
    for (const auto& point : line.points) best = std::max(best, point.second);
    chart.lines.push_back(std::move(line));
    charts.emplace_back(last / best, std::move(chart));
  }
  // First what loses most once the SM is full.
  std::ranges::stable_sort(charts, {}, [](const auto& entry) { return entry.first; });
  Multiples out;
  for (auto& entry : charts) out.charts.emplace_back(std::move(entry.second));
  return out;
}

Page page_of(const Json& json) {
  const Json& figures = json.at("figures");
  const PageView* view = &warped_slicer_view();
  for (const PageView* other : {&effisha_view(), &five_view(), &sim_view(), &slate_view(), &kernelet_view()})
    if (shared(*other, figures) > shared(*view, figures)) view = other;
  Page page{view->title(figures, json.at("meta").value("workload", "")),
            std::string(view->lead),
            view->opening(figures),
            {},
            json.at("meta")};
  for (const auto& [id, figure] : figures.items()) {
    const std::string name = name_of(id);
    Section& section = page.sections.emplace_back(Section{id, figure.at("title").get<std::string>(), {}, name});
    if (name != id && !section.heading.starts_with(name)) section.heading = name + ": " + section.heading;
    section.blocks.push_back(Said{
        {{"Published", figure.at("published").get<std::string>()}, {"This model", figure.at("measured").get<std::string>()}}});
    const auto found = std::ranges::find(view->figures, std::string_view(id), &FigureView::id);
    if (found == view->figures.end() || (figure.at("data").empty() && !found->without_data)) continue;
    Blocks blocks = found->blocks(figure.at("data"));
    section.blocks.insert(section.blocks.end(), std::make_move_iterator(blocks.begin()), std::make_move_iterator(blocks.end()));
  }
  return page;
}

}  // namespace sluice::figures
