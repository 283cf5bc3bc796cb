// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sw/gpu/apps/apps.h"
#include "sw/gpu/runtime/embedded.h"

// What the files that list applications share.
namespace sluice::gpu {

struct AppRow {
  const char* name;
  App (*make)(std::uint32_t blocks);
  std::uint32_t small, full;  ///< blocks at these scales; of some makers only whether it is the full one: 0 or 1
  [[nodiscard]] bool sized() const { return full > 1; }  ///< takes any number of blocks
};

[[nodiscard]] std::span<const AppRow> table2_rows();     ///< Warped-Slicer's ten, then six micro kernels
[[nodiscard]] std::span<const AppRow> shoc_rows();       ///< EffiSha's
[[nodiscard]] std::span<const AppRow> sim_rows();        ///< SiM's
[[nodiscard]] std::span<const AppRow> task_pair_rows();  ///< Kernelet's and Slate's

namespace app_parts {

using Kind = ArgumentSpec::Kind;
using Type = ElementType;
using Extent = std::array<std::uint32_t, 3>;

[[nodiscard]] inline LaunchSpec launch(const std::string& label, const std::string& file, const std::string& kernel, Extent grid,
                                       Extent block, std::vector<ArgumentSpec> arguments, std::uint32_t shared_bytes = 0) {
  LaunchSpec spec;
  spec.label = label;
  spec.file = "apps/" + file;
  spec.text = embedded_file(spec.file);
  spec.kernel = kernel;
  spec.grid = grid;
  spec.block = block;
  spec.shared_bytes = shared_bytes;
  spec.arguments = std::move(arguments);
  return spec;
}
[[nodiscard]] inline ArgumentSpec out(Type type, std::size_t count) { return buffer(Kind::Out, type, count, SLUICE_FILL_POISON); }
[[nodiscard]] inline ArgumentSpec uniform(Type type, std::size_t count, float a, float b, std::uint32_t seed = 1) {
  return buffer(Kind::In, type, count, SLUICE_FILL_UNIFORM, seed, a, b);
}

/// Every element within `relative` of the reference's, or within `absolute`.
template <class T, class F>
[[nodiscard]] std::string near(const char* what, const std::vector<T>& got, double relative, double absolute, const F& want) {
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

struct Tiles {
  std::uint32_t columns, rows;
};
/// A grid about as wide as high, of at most so many blocks: rows are a power of two.
[[nodiscard]] inline Tiles tiles(std::uint32_t blocks) {
  const std::uint32_t rows = 1U << (std::bit_width(std::max(blocks, 1U)) - 1) / 2;
  return {blocks / rows, rows};
}

}  // namespace app_parts
}  // namespace sluice::gpu
