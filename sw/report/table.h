// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::report {

/// How a number is written: 1.234; a ratio as its distance from one (+23.4 %); a fraction as a percentage (12.3 %).
enum class Notation { Number, Gain, Share };
/// @return a dash for a number that is not finite
[[nodiscard]] std::string written(double value, Notation notation, int digits);

/// A column of a table: its heading, and how its numbers are written.
struct Column {
  std::string name;
  Notation notation = Notation::Number;
  int digits = 3;
  bool words = false;                            ///< sentences: to the left, broken over lines
  bool published = false;                        ///< what a paper states, set apart from what was measured
  Column(std::string n) : name(std::move(n)) {}  // NOLINT: a heading is a column of text
  Column(const char* n) : name(n) {}             // NOLINT
  Column(std::string n, Notation how, int d, bool of_a_paper = false)
      : name(std::move(n)), notation(how), digits(d), published(of_a_paper) {}
};
/// A column of sentences.
[[nodiscard]] Column words(std::string name);

/// Text, or a number, with a 95 % interval where there is one. Not a number: not known.
struct Cell {
  std::variant<std::string, double, std::uint64_t> value;
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
  Cell(std::string text) : value(std::move(text)) {}    // NOLINT(google-explicit-constructor): rows are
  Cell(const char* text) : value(std::string(text)) {}  // NOLINT(google-explicit-constructor): lists of
  Cell(double number) : value(number) {}                // NOLINT(google-explicit-constructor): values
  Cell(std::uint64_t count) : value(count) {}           // NOLINT(google-explicit-constructor)
  Cell(double number, double l, double h) : value(number), low(l), high(h) {}
};
using Row = std::vector<Cell>;

/// One description of columns and cells, from which the terminal's text, HTML and CSV are made. A row may be short.
class Table {
 public:
  explicit Table(std::vector<Column> columns, std::string title = {}) : title_(std::move(title)), columns_(std::move(columns)) {}
  Table& row(Row cells) { return add({std::move(cells), Kind::Plain}); }
  Table& mean(Row cells) { return add({std::move(cells), Kind::Mean}); }                ///< of the rows above: set apart
  Table& heading(std::string text) { return add({{std::move(text)}, Kind::Heading}); }  ///< of the rows below
  Table& rule() { return add({{}, Kind::Rule}); }                                       ///< a line in text; nothing elsewhere

  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string text() const;  ///< columns as wide as their widest cell, the first to the left
  [[nodiscard]] std::string html() const;  ///< scrolls where it is wider than the page
  [[nodiscard]] std::string csv() const;   ///< numbers with every digit; an empty field where one is not known

 private:
  enum class Kind { Plain, Mean, Heading, Rule };
  struct Line {
    Row cells;
    Kind kind;
  };
  Table& add(Line line) {
    rows_.push_back(std::move(line));
    return *this;
  }
  [[nodiscard]] std::string shown(const Cell& cell, std::size_t column) const;

  std::string title_;
  std::vector<Column> columns_;
  std::vector<Line> rows_;
};

/// A CSV field, quoted where it has to be.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace sluice::report
