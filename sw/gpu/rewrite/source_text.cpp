// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/source_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace sluice::gpu {

namespace {

bool word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// `word` occurs as a whole word.
bool has_word(const std::string& code, const std::string& word) {
  for (std::size_t at = code.find(word); at != std::string::npos; at = code.find(word, at + 1)) {
    const bool starts = at == 0 || !word_character(code[at - 1]);
    const std::size_t end = at + word.size();
    if (starts && (end == code.size() || !word_character(code[end]))) return true;
  }
  return false;
}

/// Length of a comment or literal that begins at `at`; 0 when none does.
std::size_t skipped(const std::string& text, std::size_t at) {
  const auto until = [&](const std::string& end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == std::string::npos ? text.size() - at : found + end.size() - at;
  };
  if (text.compare(at, 2, "//") == 0) return std::min(text.find('\n', at), text.size()) - at;
  if (text.compare(at, 2, "/*") == 0) return until("*/", at + 2);
  if (text.compare(at, 2, "R\"") == 0 && (at == 0 || !word_character(text[at - 1]))) {
    const std::size_t open = text.find('(', at);
    if (open == std::string::npos) return 0;
    return until(fmt::format("){}\"", text.substr(at + 2, open - at - 2)), open);
  }
  const char quote = text[at];
  const bool digit_separator = quote == '\'' && at > 0 && word_character(text[at - 1]);
  if ((quote != '"' && quote != '\'') || digit_separator) return 0;
  for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == quote)
      return i + 1 - at;
  }
  return 1;
}

}  // namespace

std::string code_only(const std::string& text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = skipped(text, at);
    if (length == 0) {
      code += text[at++];
      continue;
    }
    code += ' ';
    code.append(static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                    text.begin() + static_cast<std::ptrdiff_t>(at + length), '\n')),
                '\n');
    at += length;
  }
  return code;
}

bool has_early_return(const std::string& text, const std::string& kernel) {
  const std::string code = code_only(text);
  std::string name = kernel.substr(0, kernel.find('<'));
  if (const std::size_t scope = name.rfind("::"); scope != std::string::npos) name = name.substr(scope + 2);
  bool found = false, named_returns = false, any_returns = false;
  for (std::size_t at = code.find("__global__"); at != std::string::npos; at = code.find("__global__", at + 1)) {
    int parentheses = 0, braces = 0;
    std::size_t i = at;
    for (; i < code.size(); ++i) {
      if (code[i] == '(') ++parentheses;
      if (code[i] == ')') --parentheses;
      if (parentheses == 0 && (code[i] == '{' || code[i] == ';')) break;
    }
    if (i == code.size() || code[i] == ';') continue;
    const std::size_t body = i;
    for (; i < code.size(); ++i) {
      if (code[i] == '{') ++braces;
      if (code[i] == '}' && --braces == 0) break;
    }
    const bool returns = has_word(code.substr(body, i - body), "return");
    any_returns = any_returns || returns;
    if (!has_word(code.substr(at, body - at), name)) continue;
    found = true;
    named_returns = named_returns || returns;
  }
  if (found ? named_returns : any_returns) return true;
  for (std::size_t at = code.find("#define"); at != std::string::npos; at = code.find("#define", at + 1)) {
    std::size_t end = code.find('\n', at);
    while (end != std::string::npos && code[end - 1] == '\\') end = code.find('\n', end + 1);
    if (has_word(code.substr(at, end - at), "return")) return true;
  }
  return false;
}

}  // namespace sluice::gpu
