// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "sw/gpu/apps/launch_spec.h"

// What the CPU references are made from.
namespace sluice::gpu {

template <class T>
[[nodiscard]] std::vector<T> as(const std::vector<std::byte>& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}
template <class T>
[[nodiscard]] T value(const ArgumentSpec& a) {
  T v;
  std::memcpy(&v, a.value.data(), sizeof(T));
  return v;
}

/// Every element within `relative` of the reference's, or within `absolute`.
template <class T, class F>
[[nodiscard]] std::string near(const char* what, const std::vector<T>& got, const F& want, double relative, double absolute = 0) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto expected = static_cast<double>(want(i));
    const auto actual = static_cast<double>(got[i]);
    if (!(std::abs(actual - expected) <= std::max(relative * std::abs(expected), absolute)))
      return fmt::format("{}[{}] = {}, CPU {}", what, i, actual, expected);
  }
  return "";
}
template <class T, class F>
[[nodiscard]] std::string same(const char* what, const std::vector<T>& got, const F& want) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != want(i)) return fmt::format("{}[{}] = {}, CPU {}", what, i, got[i], want(i));
  return "";
}

}  // namespace sluice::gpu
