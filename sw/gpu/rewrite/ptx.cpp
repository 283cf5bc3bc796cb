// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/ptx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

#include "sw/core/errors.h"

namespace sluice::gpu {

namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%'; }

/// Index behind the bracket that closes the one at `open`.
std::size_t behind_match(const std::string& text, std::size_t open) {
  const char opens = text[open], closes = opens == '{' ? '}' : ')';
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == opens) ++depth;
    if (text[i] == closes && --depth == 0) return i + 1;
  }
  throw InputError("PTX: a bracket is not closed");
}

/// Without comments; strings are empty but those of .pragma, which hold no brackets or semicolons.
std::string without_comments(std::string_view ptx) {
  std::string out;
  out.reserve(ptx.size());
  for (std::size_t i = 0; i < ptx.size();) {
    if (ptx.substr(i, 2) == "//") {
      i = std::min(ptx.find('\n', i), ptx.size());
    } else if (ptx.substr(i, 2) == "/*") {
      const std::size_t end = ptx.find("*/", i + 2);
      if (end == std::string_view::npos) throw InputError("PTX: a comment is not closed");
      out += ' ';
      i = end + 2;
    } else if (ptx[i] == '"') {
      std::size_t end = i + 1;
      while (end < ptx.size() && ptx[end] != '"') end += ptx[end] == '\\' ? 2 : 1;
      if (end >= ptx.size()) throw InputError("PTX: a string is not closed");
      std::size_t before = out.size();
      while (before > 0 && is_space(out[before - 1])) --before;
      const std::string_view text = ptx.substr(i + 1, end - i - 1);
      const bool kept = out.compare(before - std::min<std::size_t>(before, 7), 7, ".pragma") == 0 &&
                        text.find_first_of("{}();") == std::string_view::npos;
      out += fmt::format("\"{}\"", kept ? text : "");
      i = end + 1;
    } else {
      out += ptx[i++];
    }
  }
  return out;
}

/// Without lines that begin with a debug directive, and without .section blocks.
std::string without_debug(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0, next = 0; at < text.size(); at = next) {
    next = std::min(text.find('\n', at), text.size() - 1) + 1;
    std::size_t first = at;
    while (first < next && is_space(text[first])) ++first;
    const std::string_view line(text.data() + first, next - first);
    const auto is = [&](std::string_view word) {
      return line.starts_with(word) && (line.size() == word.size() || !in_word(line[word.size()]));
    };
    if (is(".section")) {
      next = behind_match(text, std::min(text.find('{', at), text.size() - 1));
    } else if (!is(".loc") && !is(".file") && !line.starts_with("@@DWARF")) {
      out.append(text, at, next - at);
    }
  }
  return out;
}

/// Name of a variable: the last word before "[", "=" or the end.
std::string variable_name(std::string_view head) {
  head = head.substr(0, head.find_first_of("[="));
  const std::vector<std::string_view> words = words_of(head);
  return words.empty() ? "" : std::string(words.back());
}

Item function_item(const std::string& ptx, std::size_t at, std::size_t stop, std::size_t word, bool kernel) {
  Item item;
  item.kind = kernel ? Item::Kind::Kernel : Item::Kind::Function;
  item.begin = at;
  std::size_t name = word + (kernel ? 6 : 5);
  while (is_space(ptx[name])) ++name;
  if (ptx[name] == '(') name = behind_match(ptx, name);  // what a function returns
  while (is_space(ptx[name])) ++name;
  std::size_t behind = name;
  while (behind < stop && in_word(ptx[behind])) ++behind;
  item.name = ptx.substr(name, behind - name);
  item.parameters = ptx.find('(', behind);
  if (item.parameters >= stop)
    item.parameters = item.directives = behind;
  else
    item.directives = behind_match(ptx, item.parameters);
  const bool body = ptx[stop] == '{';
  item.body = body ? stop : 0;
  item.end = body ? behind_match(ptx, stop) : stop + 1;
  return item;
}

}  // namespace

std::string normalised(std::string_view ptx) {
  const std::string text = without_debug(without_comments(ptx));
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == ';')
      while (!out.empty() && is_space(out.back())) out.pop_back();
    out += c;
  }
  out = std::regex_replace(out, std::regex(R"((\.target[^\n]*),\s*debug\b)"), "$1");
  return std::regex_replace(out, std::regex(R"(\b(trap;)\s*exit;)"), "$1");
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end > i && std::isdigit(static_cast<unsigned char>(text[i])) == 0) words.push_back(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return words;
}

std::vector<Item> items_of(const std::string& ptx) {
  std::vector<Item> items;
  for (std::size_t at = ptx.size() - without_header(ptx).size(); at < ptx.size();) {
    if (is_space(ptx[at])) {
      ++at;
      continue;
    }
    const std::size_t stop = ptx.find_first_of(";{", at);
    if (stop == std::string::npos) throw InputError("PTX: something behind the last item");
    const std::string_view head(ptx.data() + at, stop - at);
    Item item;
    if (const std::size_t entry = head.find(".entry"); entry != std::string_view::npos) {
      item = function_item(ptx, at, stop, at + entry, true);
    } else if (const std::size_t function = head.find(".func"); function != std::string_view::npos) {
      item = function_item(ptx, at, stop, at + function, false);
    } else {
      item.begin = at;
      item.end = stop;
      while (item.end < ptx.size() && ptx[item.end] != ';')
        item.end = ptx[item.end] == '{' ? behind_match(ptx, item.end) : item.end + 1;
      if (item.end == ptx.size()) throw InputError("PTX: a declaration does not end");
      ++item.end;
      const bool variable = head.find(".pragma") == std::string_view::npos && head.find(".alias") == std::string_view::npos;
      item.kind = variable ? Item::Kind::Variable : Item::Kind::Other;
      item.name = variable_name(head);
    }
    at = item.end;
    items.push_back(std::move(item));
  }
  return items;
}

Item find_entry(const std::string& ptx, const std::string& symbol) {
  for (Item& item : items_of(ptx))
    if (item.kind == Item::Kind::Kernel && item.name == symbol && item.has_body()) return item;
  throw InputError(fmt::format("PTX: no kernel {}", symbol));
}

std::string only_kernel(const std::string& ptx, const std::string& symbol) {
  std::string out;
  std::size_t at = 0;
  for (const Item& item : items_of(ptx))
    if (item.kind == Item::Kind::Kernel && item.name != symbol) {
      out.append(ptx, at, item.begin - at);
      at = item.end;
    }
  return out.append(ptx, at);
}

std::size_t parameter_count(const std::string& ptx, const std::string& symbol) {
  const Item e = find_entry(ptx, symbol);
  std::size_t count = 0;
  for (std::size_t at = ptx.find(".param", e.parameters); at < e.directives; at = ptx.find(".param", at + 1)) ++count;
  return count;
}

std::string function_body(const std::string& ptx, const std::string& function) {
  for (const Item& item : items_of(ptx))
    if (item.name == function && item.has_body()) return ptx.substr(item.body, item.end - item.body);
  throw InputError(fmt::format("PTX: no function {}", function));
}

std::string without_header(const std::string& ptx) {
  const std::size_t last = ptx.find(".address_size");
  if (last == std::string::npos) return ptx;
  return ptx.substr(std::min(ptx.find('\n', last), ptx.size()));
}
std::string header(const std::string& ptx) { return ptx.substr(0, ptx.size() - without_header(ptx).size()); }

std::string raised_header(const std::string& ptx, const std::string& least) {
  static const std::regex version(R"(\.version\s+(\d+)\.(\d+))"), target(R"(\.target\s+sm_(\d+)([a-z]?))");
  std::string out = header(ptx);
  std::smatch mine, theirs;
  const std::string other = header(least);
  if (std::regex_search(out, mine, version) && std::regex_search(other, theirs, version) &&
      std::pair(std::stoi(mine[1]), std::stoi(mine[2])) < std::pair(std::stoi(theirs[1]), std::stoi(theirs[2])))
    out.replace(static_cast<std::size_t>(mine.position()), static_cast<std::size_t>(mine.length()), theirs[0].str());
  if (std::regex_search(out, mine, target) && std::regex_search(other, theirs, target) && mine[2].length() == 0 &&
      std::stoi(mine[1]) < std::stoi(theirs[1]))
    out.replace(static_cast<std::size_t>(mine.position()), static_cast<std::size_t>(mine.length()), theirs[0].str());
  return out;
}

Reach reach_of(const std::string& ptx, const std::vector<Item>& items, const std::string& symbol) {
  static const std::regex through_register(R"(\bcall(\.uni)?\s+(\([^)]*\)\s*,\s*)?%)");
  std::map<std::string_view, std::vector<const Item*>> by_name;  // a function may be declared before its body
  for (const Item& item : items) by_name[item.name].push_back(&item);
  Reach reach;
  std::vector<const Item*> open;
  const auto add = [&](const Item* item) {
    if (reach.names.insert(item->name).second)
      for (const Item* same : by_name[item->name]) open.push_back(same);
  };
  for (const Item* item : by_name[symbol])
    if (item->kind == Item::Kind::Kernel) add(item);
  while (!open.empty()) {
    const Item* item = open.back();
    open.pop_back();
    const std::string text = ptx.substr(item->begin, item->end - item->begin);
    for (const std::string_view word : words_of(text))
      if (const auto at = by_name.find(word); at != by_name.end() && at->second.front()->kind != Item::Kind::Kernel)
        add(at->second.front());
    if (!item->has_body()) continue;
    reach.functions.push_back(item);
    reach.text += text + "\n";
    if (!reach.indirect && std::regex_search(text, through_register)) {
      reach.indirect = true;
      for (const Item& other : items)
        if (other.kind == Item::Kind::Function) add(&other);
    }
  }
  return reach;
}

std::string renamed(const std::string& text, const std::set<std::string>& names, const std::string& suffix) {
  if (names.empty()) return text;
  std::string out;
  std::size_t at = 0;
  for (const std::string_view word : words_of(text)) {
    if (!names.contains(std::string(word))) continue;
    const std::size_t end = static_cast<std::size_t>(word.data() - text.data()) + word.size();
    out.append(text, at, end - at).append(suffix);
    at = end;
  }
  return out.append(text, at);
}

}  // namespace sluice::gpu
