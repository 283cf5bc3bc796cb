// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::gpu {

/// PTX as the rest of this folder reads it: no comments, no debug information (.file, .loc, .section, `debug`), empty strings
/// except in .pragma, no space before a semicolon, and no `exit` behind a `trap`.
/// @throws InputError where a comment, string or bracket is not closed
[[nodiscard]] std::string normalised(std::string_view ptx);

/// What stands at the top of a module: a kernel, a function, a variable, or something else. Positions are in the module's text.
struct Item {
  enum class Kind { Kernel, Function, Variable, Other };
  Kind kind = Kind::Other;
  std::string name;
  std::size_t begin = 0, end = 0;  ///< its first character, and behind its last
  std::size_t parameters = 0, directives = 0,
              body = 0;  ///< of kernels and functions: "(", behind ")", "{"; body 0: declared only
  [[nodiscard]] bool has_body() const { return body != 0; }
};

/// @param ptx  normalised text. @throws InputError when a bracket is not closed
[[nodiscard]] std::vector<Item> items_of(const std::string& ptx);

/// @throws InputError when the module has no such kernel
[[nodiscard]] Item find_entry(const std::string& ptx, const std::string& symbol);

/// Only `symbol` and what is not a kernel: other kernels of the file are dropped.
[[nodiscard]] std::string only_kernel(const std::string& ptx, const std::string& symbol);

/// Parameters of a kernel. @throws InputError when the module has no such kernel
[[nodiscard]] std::size_t parameter_count(const std::string& ptx, const std::string& symbol);

/// A function's text from its "{" to its "}". @throws InputError when the module has no such function
[[nodiscard]] std::string function_body(const std::string& ptx, const std::string& function);

/// The module's lines up to .address_size, and those behind.
[[nodiscard]] std::string header(const std::string& ptx);
[[nodiscard]] std::string without_header(const std::string& ptx);

/// The header of `ptx`, with .version and .target at least those of `least`. A target of one architecture alone (sm_90a) stays.
[[nodiscard]] std::string raised_header(const std::string& ptx, const std::string& least);

/// Identifiers in a text: names, registers (with "%"), opcodes.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

/// What a kernel can reach: itself and functions that it calls or names, variables, both also through each other.
struct Reach {
  std::vector<const Item*> functions;  ///< with bodies, the kernel first
  std::set<std::string> names;         ///< of all items that are reached, declarations included
  bool indirect = false;               ///< it calls through a register: every function of the module is reached
  std::string text;                    ///< of the functions
};
[[nodiscard]] Reach reach_of(const std::string& ptx, const std::vector<Item>& items, const std::string& symbol);

/// `text` with `names` (whole identifiers) followed by `suffix`.
[[nodiscard]] std::string renamed(const std::string& text, const std::set<std::string>& names, const std::string& suffix);

}  // namespace sluice::gpu
