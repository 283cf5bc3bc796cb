// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/slice.h"

#include <fmt/format.h>

#include "sw/core/errors.h"
#include "sw/gpu/rewrite/join.h"
#include "sw/gpu/rewrite/ptx.h"

namespace sluice::gpu {

std::string sliced(const std::string& ptx, const std::string& symbol, const std::array<std::uint32_t, 3>& grid) {
  if (std::uint64_t{grid[0]} * grid[1] * grid[2] > UINT32_MAX)
    throw InputError(symbol + ": a grid of 2^32 blocks or more has no slices");
  std::string text = only_kernel(ptx, symbol);
  const Item kernel = find_entry(text, symbol);
  const bool flat = grid[1] == 1 && grid[2] == 1;
  std::string index =
      "\n\t.reg .b32 %slice_x, %slice_y, %slice_z, %slice_first;\n\tld.param.u32 %slice_first, [slice_first];\n"
      "\tmov.u32 %slice_x, %slice_ctaid;\n\tadd.u32 %slice_x, %slice_x, %slice_first;\n";
  if (!flat)
    index += fmt::format(
        "\tdiv.u32 %slice_y, %slice_x, {0};\n\trem.u32 %slice_x, %slice_x, {0};\n\tdiv.u32 %slice_z, %slice_y, {1};\n"
        "\trem.u32 %slice_y, %slice_y, {1};\n",
        grid[0], grid[1]);
  else
    index += "\tmov.u32 %slice_y, 0;\n\tmov.u32 %slice_z, 0;\n";
  const std::string body = read_block_index(
      text.substr(kernel.body, kernel.end - kernel.body),
      [](int axis) { return fmt::format("mov.u32 {{}}, %slice_{};", "xyz"[axis]); },
      [&](int axis) { return fmt::format("mov.u32 {{}}, {};", grid[static_cast<std::size_t>(axis)]); });
  index.replace(index.find("%slice_ctaid"), std::string("%slice_ctaid").size(), "%ctaid.x");  // the launch's own, not read above
  const std::size_t close = text.rfind(')', kernel.directives - 1);
  const std::string before = text.substr(0, close), between = text.substr(close, kernel.body - close),
                    rest = text.substr(kernel.end);
  const char* comma = before.find_last_not_of(" \t\n") == before.rfind('(') ? "" : ",";
  return before + comma + "\n\t.param .u32 slice_first\n" + between + "{" + index + body.substr(1) + rest;
}

}  // namespace sluice::gpu
