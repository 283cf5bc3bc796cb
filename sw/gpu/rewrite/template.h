// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace sluice::gpu {

/// What a placeholder of a template stands for: text, a number, or for a condition true or false.
struct Value {
  template <typename T>
  Value(std::string_view of, const T& value) : name(of), text(fmt::format("{}", value)) {}
  std::string_view name;
  std::string text;
};

/// A template of PTX (rewrite/*.ptx), filled: each `<name>` by the value of that name. Where a placeholder is all of a line, its
/// value is whole lines, or none. Lines between `<if name>`, `<else>` and `<end>` are there when the value is "true" or "false".
/// Names of the runtime's structs and constants are known: `<SluiceJob.grid_x>` is an offset, `<SluiceJob>` a size.
/// @throws std::logic_error for a placeholder without a value, a value without a placeholder, and conditions that do not match
[[nodiscard]] std::string fill(std::string_view ptx, const std::vector<Value>& values = {});

}  // namespace sluice::gpu
