// SPDX-License-Identifier: Apache-2.0
#include "sw/io/toml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <utility>

#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"

namespace sluice {

namespace {

std::string text_of(const toml::node& node) {
  std::string text;
  if (const auto* real = node.as_floating_point()) {
    text = fmt::format("{:#}", real->get());  // the stream operator prints 0.98 as 0.97999999999999998, and 16.0 is no 16
  } else {
    std::ostringstream out;
    node.visit([&out](const auto& value) { out << value; });
    text = out.str();
  }
  std::ranges::replace(text, '\n', ' ');
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

/// Letters to put in, take out or change until one word is the other.
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({changed, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

/// "; nearest: KEY" of those that are like a word; nothing when none is.
std::string nearest(std::string_view word, const auto& keys) {
  const std::string* best = nullptr;
  for (const std::string& key : keys)
    if (best == nullptr || edits(word, key) < edits(word, *best)) best = &key;
  return best == nullptr || 2 * edits(word, *best) > word.size() ? "" : "; nearest: " + *best;
}

}  // namespace

toml::table parse_toml(const std::filesystem::path& path) try {
  return toml::parse(read_file(path), path.string());
} catch (const toml::parse_error& e) {
  std::string what(e.description());
  std::ranges::replace(what, '\n', ' ');
  throw InputError(fmt::format("{}:{}: {}", path.string(), e.source().begin.line, what));
}

TomlTable::TomlTable(const std::filesystem::path& path, std::string name, const toml::table& table)
    : path_(path), name_(std::move(name)), table_(&table) {}

std::string TomlTable::full_name(std::string_view key) const {
  return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
}

std::string TomlTable::where(const toml::node* node) const {
  const auto line = node != nullptr ? node->source().begin.line : table_->source().begin.line;
  return line == 0 ? path_.string() : fmt::format("{}:{}", path_.string(), line);
}

void TomlTable::fail(std::string_view key, const std::string& what) const {
  const toml::node* node = table_->get(key);
  if (node == nullptr) throw InputError(fmt::format("{}: {}: {}", where(nullptr), full_name(key), what));
  throw InputError(fmt::format("{}: {} = {}: {}", where(node), full_name(key), text_of(*node), what));
}

const toml::node* TomlTable::find(std::string_view key) {
  known_.emplace(key);
  const toml::node* node = table_->get(key);
  if (node == nullptr && required_) missing_.push_back(full_name(key));
  return node;
}

bool TomlTable::whole(std::string_view key, std::int64_t& value, std::int64_t low, std::int64_t high) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const auto given = node->value_exact<std::int64_t>();
  if (!given) fail(key, fmt::format("must be a whole number, {}..{}", low, high));
  if (*given < low || *given > high) fail(key, fmt::format("must be {}..{}", low, high));
  value = *given;
  return true;
}

double TomlTable::number(std::string_view key, const toml::node& node, double low, double high, const char* what) const {
  const auto given = node.is_number() ? node.value<double>() : std::nullopt;
  if (!given || !std::isfinite(*given) || *given < low || *given > high)
    fail(key, fmt::format("must be {}, {}..{}", what, low, high));
  return *given;
}

void TomlTable::read(std::string_view key, double& value, double low, double high) {
  if (const toml::node* node = find(key)) value = number(key, *node, low, high, "a number");
}

void TomlTable::read(std::string_view key, std::vector<double>& values, double low, double high) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  values.clear();
  const auto take = [&](const toml::node& n) { values.push_back(number(key, n, low, high, "a number or a list of numbers")); };
  const toml::array* list = node->as_array();
  if (list == nullptr) return take(*node);
  for (const toml::node& n : *list) take(n);
  if (values.empty()) fail(key, "must not be empty");
}

void TomlTable::read(std::string_view key, bool& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto given = node->value_exact<bool>();
  if (!given) fail(key, "must be true or false");
  value = *given;
}

void TomlTable::read(std::string_view key, std::string& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto given = node->value_exact<std::string>();
  if (!given || given->empty()) fail(key, "must be a non-empty string");
  value = *given;
}

std::size_t TomlTable::read_choice(std::string_view key, const std::vector<std::string>& choices) {
  if (find(key) == nullptr) return 0;
  std::string given;
  read(key, given);
  const auto found = std::ranges::find(choices, given);
  if (found == choices.end()) fail(key, fmt::format("must be one of {}", fmt::join(choices, ", ")));
  return static_cast<std::size_t>(found - choices.begin());
}

std::string TomlTable::must_be(const std::string& what, const toml::node* node, std::string_view key) const {
  std::vector<std::string> keys;
  for (const auto& [there, value] : *table_) keys.emplace_back(there.str());
  return node != nullptr ? "must be " + what : fmt::format("is missing: must be {}{}", what, nearest(key, keys));
}

TomlTable TomlTable::table(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr || !node->is_table()) fail(key, must_be("a table", node, key));
  return {path_, full_name(key), *node->as_table()};
}

std::optional<TomlTable> TomlTable::optional_table(std::string_view key) {
  known_.emplace(key);
  if (table_->get(key) == nullptr) return std::nullopt;
  return table(key);
}

std::vector<TomlTable> TomlTable::array(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr || !node->is_array_of_tables())
    fail(key, must_be(fmt::format("an array of tables, each [[{}]]", full_name(key)), node, key));
  std::vector<TomlTable> tables;
  for (const toml::node& element : *node->as_array()) tables.emplace_back(path_, full_name(key), *element.as_table());
  return tables;
}

void TomlTable::finish() const {
  const std::string missing =
      missing_.empty() ? "" : fmt::format("{}: {} missing", fmt::join(missing_, ", "), missing_.size() == 1 ? "is" : "are");
  for (const auto& [name, node] : *table_) {
    const std::string_view key = name.str();
    if (known_.contains(key)) continue;
    throw InputError(fmt::format("{}: {}: unknown key{}; allowed: {}{}", where(&node), full_name(key),
                                 missing.empty() ? "" : ", and " + missing, fmt::join(known_, ", "), nearest(key, known_)));
  }
  if (!missing.empty()) throw InputError(fmt::format("{}: {}", where(nullptr), missing));
}

}  // namespace sluice
