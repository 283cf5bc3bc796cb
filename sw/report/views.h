// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sw/report/page.h"

// How figures.json is shown: a page is drawn from the file alone, so that what was measured once can be drawn anew.
namespace sluice::figures {

using Json = nlohmann::ordered_json;
using Blocks = std::vector<report::Block>;
using report::Notation;

/// A figure's data as charts and tables.
struct FigureView {
  std::string_view id;
  Blocks (*blocks)(const Json& data);
  bool without_data = false;  ///< it is not made from data
};
/// A page: its finding and its large chart from all figures (`figures.json`'s member of that name).
struct PageView {
  std::string_view name;
  std::string (*title)(const Json& figures, const std::string& workload);
  std::string_view lead;
  Blocks (*opening)(const Json& figures);
  std::vector<FigureView> figures;
};
[[nodiscard]] const PageView& warped_slicer_view();
[[nodiscard]] const PageView& effisha_view();
[[nodiscard]] const PageView& five_view();
[[nodiscard]] const PageView& sim_view();
[[nodiscard]] const PageView& slate_view();
[[nodiscard]] const PageView& kernelet_view();

/// The page of a `figures.json`: that of the paper with which it shares most figures. A figure without a view has its sentences.
[[nodiscard]] report::Page page_of(const Json& json);

/// Area and clock: of each `standard_*.json` of synth/run.sh, and over the parameters of `sweep_*.json`.
[[nodiscard]] report::Page synth_page(const std::vector<Json>& standards, const Json& sweep);

// What the views are made of.

/// Where in the data a figure stands ("/mean/slate"), what a paper states for it, and how it is written.
struct Field {
  std::string name;
  std::string at{};  ///< JSON pointer into each item; the item itself where empty
  Notation notation = Notation::Number;
  int digits = 3;
  std::string published_at{};
};
/// "26.7 %" of 1.267, in a sentence that says "gains".
[[nodiscard]] std::string gained(double ratio, int digits = 1);
/// Not a number where it is missing.
[[nodiscard]] double number(const Json& data, const std::string& pointer = "");
/// An object's member; an empty object where it is missing. Unlike `value()` it is no temporary.
[[nodiscard]] const Json& member(const Json& data, const char* key);
/// A row for each item of an object, with a point for each field.
/// @param skip  items that are no rows
[[nodiscard]] report::RowChart rows_of(report::RowChart look, const Json& data, const std::vector<Field>& fields,
                                       const std::vector<std::string>& skip = {});
/// The same as a table.
[[nodiscard]] report::Table table_of(const std::string& first, const Json& data, const std::vector<Field>& fields,
                                     const std::vector<std::string>& skip = {});
/// One field for every key of the data's first item: schedulers, policies, sizes of tasks.
[[nodiscard]] std::vector<Field> fields_of(const Json& data, Notation notation = Notation::Number, int digits = 3,
                                           const std::string& below = "");
/// A list of objects as one object, named by these members.
[[nodiscard]] Json keyed(const Json& list, const std::vector<std::string>& names);
/// Rows of single figures, each beside what the paper states; a row whose figure is missing is left out.
struct Beside {
  std::string label;
  double value, published = report::kNone;
};
[[nodiscard]] report::RowChart beside(std::string title, const std::vector<Beside>& rows, Notation notation = Notation::Gain,
                                      int digits = 1);
/// A small line chart for each item, of a list of values over 1, 2, ...
[[nodiscard]] report::Multiples curves(const Json& data, const std::string& at, const std::string& x_label,
                                       const std::string& y_label);

}  // namespace sluice::figures
