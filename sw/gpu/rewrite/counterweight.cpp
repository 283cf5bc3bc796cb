// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/counterweight.h"

#include <fmt/format.h>

#include <algorithm>

#include "sw/gpu/rewrite/machine_code.h"
#include "sw/gpu/rewrite/template.h"
#include "sw/gpu/runtime/embedded.h"

namespace sluice::gpu {

namespace {

constexpr double kWorth = 0.02;  // of the cycles

PipeLoad load_of(std::string_view cubin, const std::string& entry) {
  const auto functions = functions_of(cubin);
  const auto found = functions.find(entry);
  return found == functions.end() ? PipeLoad{} : pipe_load(found->second);
}

}  // namespace

std::string counterweight(unsigned multiply_adds) {
  std::string lines;
  for (unsigned i = 0; i < multiply_adds; ++i)
    lines += fmt::format("\tmad.lo.u32 %sluice_y, %sluice_y, %sluice_x, {};\n", 7 * i + 1);
  return fill(embedded_file("rewrite/counterweight.ptx"), {{"multiply_adds", lines}});
}

std::optional<unsigned> other_counterweight(std::string_view cubin, const std::string& entry) {
  constexpr unsigned kLess = 20, kMore = 260;
  const PipeLoad load = load_of(cubin, entry);
  if (std::max(load.integer, load.multiply) <= kWorth * load.cycles) return std::nullopt;
  return load.integer > load.multiply ? kLess : kMore;
}

bool takes_less(std::string_view cubin, std::string_view than, const std::string& entry) {
  const double cycles = load_of(cubin, entry).cycles, before = load_of(than, entry).cycles;
  return cycles > 0 && cycles < (1 - kWorth) * before;
}

}  // namespace sluice::gpu
