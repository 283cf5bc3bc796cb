// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/ptx.h"

#include <fmt/format.h>

#include <cctype>
#include <optional>

#include "sw/core/errors.h"

namespace sluice::gpu {

namespace {

/// Index behind the bracket that closes the one at `open`. PTX strings do not hold brackets that would matter here.
std::size_t behind_match(const std::string& text, std::size_t open) {
  const char opens = text[open], closes = opens == '{' ? '}' : ')';
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == opens) ++depth;
    if (text[i] == closes && --depth == 0) return i + 1;
  }
  throw InputError("PTX: a bracket is not closed");
}

std::optional<Entry> next_entry(const std::string& ptx, std::size_t from) {
  const std::size_t word = ptx.find(".entry", from);
  if (word == std::string::npos) return std::nullopt;
  Entry e;
  e.begin = ptx.rfind('\n', word) + 1;
  std::size_t name = word + 6;
  while (std::isspace(static_cast<unsigned char>(ptx[name])) != 0) ++name;
  e.parameters = ptx.find('(', name);
  const std::size_t brace = ptx.find('{', name);
  if (e.parameters == std::string::npos || brace < e.parameters) {  // no parameter list
    e.parameters = e.directives = ptx.find_first_of(" \t\n", name);
  } else {
    e.directives = behind_match(ptx, e.parameters);
  }
  e.symbol = ptx.substr(name, e.parameters - name);
  while (!e.symbol.empty() && std::isspace(static_cast<unsigned char>(e.symbol.back())) != 0) e.symbol.pop_back();
  e.body = ptx.find('{', e.directives);
  e.end = behind_match(ptx, e.body);
  return e;
}

}  // namespace

Entry find_entry(const std::string& ptx, const std::string& symbol) {
  for (std::optional<Entry> e = next_entry(ptx, 0); e; e = next_entry(ptx, e->end))
    if (e->symbol == symbol) return *e;
  throw InputError(fmt::format("PTX: no kernel {}", symbol));
}

std::string only_kernel(const std::string& ptx, const std::string& symbol) {
  std::string out;
  std::size_t at = 0;
  for (std::optional<Entry> e = next_entry(ptx, 0); e; e = next_entry(ptx, e->end)) {
    if (e->symbol != symbol) {
      out.append(ptx, at, e->begin - at);
      at = e->end;
    }
  }
  return out.append(ptx, at);
}

std::size_t parameter_count(const std::string& ptx, const std::string& symbol) {
  const Entry e = find_entry(ptx, symbol);
  std::size_t count = 0;
  for (std::size_t at = ptx.find(".param", e.parameters); at < e.directives; at = ptx.find(".param", at + 1)) ++count;
  return count;
}

std::string function_body(const std::string& ptx, const std::string& function) {
  const std::size_t name = ptx.find(fmt::format(".func {}(", function));
  const std::size_t body = name == std::string::npos ? name : ptx.find('{', name);
  if (body == std::string::npos) throw InputError(fmt::format("PTX: no function {}", function));
  return ptx.substr(body, behind_match(ptx, body) - body);
}

std::string without_header(const std::string& ptx) {
  const std::size_t last = ptx.find(".address_size");
  return last == std::string::npos ? ptx : ptx.substr(ptx.find('\n', last));
}
std::string header(const std::string& ptx) { return ptx.substr(0, ptx.size() - without_header(ptx).size()); }

}  // namespace sluice::gpu
