// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/kernel_name.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "sw/core/errors.h"
#include "sw/gpu/rewrite/ptx.h"

namespace sluice::gpu {

namespace {

constexpr std::size_t kForms = 5;

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

/// Position of the first `wanted` outside <...>, or the end.
std::size_t outside_angles(const std::string& text, char wanted) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (depth == 0 && text[i] == wanted) return i;
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
  }
  return text.size();
}

/// "add<float>(...)" of "void add<float>(...)": templates name what they return.
std::string without_result(const std::string& name) {
  const std::size_t blank = outside_angles(name, ' ');
  return blank < outside_angles(name, '(') ? name.substr(blank + 1) : name;
}

/// What a person may call the symbol, the most exact first.
std::array<std::string, kForms> forms_of(const std::string& symbol) {
  std::string full = demangled(symbol);
  static constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = full.find(kAnonymous)) != std::string::npos;) full.erase(at, kAnonymous.size());
  full = without_result(full);
  const std::string name = full.substr(0, outside_angles(full, '('));
  const std::string plain = name.substr(0, name.find('<'));
  const std::size_t scope = plain.rfind("::");
  return {symbol, without_blanks(full), without_blanks(name), plain,
          scope == std::string::npos ? plain : plain.substr(scope + 2)};
}

}  // namespace

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return symbol.starts_with("_Z") && status == 0 ? text.get() : symbol;
}

std::string find_kernel(std::span<const std::string> symbols, const std::string& name, const std::string& where) {
  std::vector<std::array<std::string, kForms>> forms;
  forms.reserve(symbols.size());
  for (const std::string& symbol : symbols) forms.push_back(forms_of(symbol));
  const auto listed = [](const std::vector<std::string>& of) {
    std::vector<std::string> names;
    constexpr std::size_t kMost = 12;
    for (std::size_t i = 0; i < std::min(of.size(), kMost); ++i) names.push_back(demangled(of[i]));
    return fmt::format("{}{}", fmt::join(names, "; "), of.size() > kMost ? fmt::format("; {} more", of.size() - kMost) : "");
  };
  const std::string wanted = without_blanks(without_result(name));
  for (std::size_t form = 0; form < kForms; ++form) {
    std::vector<std::string> fit;
    for (std::size_t k = 0; k < symbols.size(); ++k)
      if (forms[k][form] == wanted && std::ranges::find(fit, symbols[k]) == fit.end()) fit.push_back(symbols[k]);
    if (fit.size() == 1) return fit.front();
    if (fit.size() > 1) throw InputError(fmt::format("{}: kernel {} may be {}", where, name, listed(fit)));
  }
  if (symbols.empty()) throw InputError(fmt::format("{}: no kernel {}: it has no kernels", where, name));
  throw InputError(fmt::format("{}: no kernel {}: must be one of {}", where, name, listed({symbols.begin(), symbols.end()})));
}

std::vector<std::string> kernels_of(const std::string& ptx) {
  std::vector<std::string> symbols;
  for (const Item& item : items_of(ptx))
    if (item.kind == Item::Kind::Kernel && item.has_body()) symbols.push_back(item.name);
  return symbols;
}

}  // namespace sluice::gpu
