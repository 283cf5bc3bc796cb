// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/warps_apart.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "sw/gpu/rewrite/join.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/rewrite/template.h"
#include "sw/gpu/runtime/control.h"
#include "sw/gpu/runtime/embedded.h"

namespace sluice::gpu {

namespace {

/// A move from %tid or %ntid: register, "n" or nothing, axis.
const std::regex& thread_index() {
  static const std::regex pattern(R"(mov\.[bu]32\s+([%\w$]+),\s*%(n?)tid\.([xyz]);)");
  return pattern;
}
/// Shared variables of the file, whichever kernel's. Who uses one has instructions that say so.
const std::regex& shared_variable() {
  static const std::regex pattern(R"((\.extern |\.visible )?\.shared \.align[^;]*;)");
  return pattern;
}

/// %sluice_thread0..2 from the thread's number in its block, in %sluice_thread0.
std::string thread_index_from_number(const std::array<std::uint32_t, 3>& block) {
  const auto divide = [&](int axis) {
    return fill(embedded_file("rewrite/divide_thread.ptx"), {{"axis", axis},
                                                             {"next", axis + 1},
                                                             {"by_one", block[axis] == 1},
                                                             {"threads", block[axis]},
                                                             {"inverse", inverse_of(block[axis])},
                                                             {"inverse_bits", kInverseBits}});
  };
  const bool has_y = block[1] * block[2] > 1, has_z = block[2] > 1;
  return (has_y ? divide(0) : "") + (has_z ? divide(1) : "") + (has_y ? "" : "\tmov.u32 %sluice_thread1, 0;\n") +
         (has_z ? "" : "\tmov.u32 %sluice_thread2, 0;\n");
}

}  // namespace

std::optional<std::string> needs_warps_together(const std::string& module, const TransformSpec& spec, std::uint64_t blocks) {
  const Item e = find_entry(module, spec.symbol);
  const std::string body = module.substr(e.body, e.end - e.body);
  const bool calls = std::regex_search(body, std::regex(R"(\bcall\b)"));  // else the file's functions are other kernels'
  const std::string functions =
      calls ? std::regex_replace(module.substr(0, e.begin) + module.substr(e.end), shared_variable(), "") : "";
  const std::string all = body + functions;
  if (all.find(".shared") != std::string::npos) return "it has shared memory";
  if (std::regex_search(all, std::regex(R"(\b(bar|barrier)\.(?!warp))"))) return "it has barriers";
  if (std::regex_search(all, std::regex(R"(%n?warpid|\bwgmma\b)"))) return "it asks which warp of the CTA it is";
  if (std::regex_search(std::regex_replace(body, thread_index(), ""), std::regex("%n?tid")))
    return "it reads the thread's index other than by mov.u32";
  if (std::regex_search(functions, std::regex("%n?(cta|t)id"))) return "a function reads the block's or the thread's index";
  if (spec.block[0] * spec.block[1] * spec.block[2] % 32 != 0 &&
      std::regex_search(all, std::regex(R"(\.sync\b|\bactivemask\b|%lanemask|\bvote\b|\bshfl\b|\bmatch\b)")))
    return "lanes of a warp that the block does not fill could be missed";
  if (blocks >= SLUICE_NO_BLOCK) return "its grid is too large";
  return std::nullopt;
}

bool warps_end_apart(const TransformSpec& spec) { return spec.block[0] * spec.block[1] * spec.block[2] % 32 != 0; }

std::string with_thread_index(const std::string& body, const std::array<std::uint32_t, 3>& block) {
  std::string out;
  auto at = body.cbegin();
  for (std::sregex_iterator m(body.begin(), body.end(), thread_index()), none; m != none; ++m) {
    out.append(at, (*m)[0].first);
    const std::size_t axis = (*m)[3].str()[0] - 'x';
    out += (*m)[2].length() > 0 ? fmt::format("mov.u32 {}, {};", (*m)[1].str(), block[axis])
                                : fmt::format("mov.u32 {}, %sluice_thread{};", (*m)[1].str(), axis);
    at = (*m)[0].second;
  }
  return out.append(at, body.cend());
}

std::string warps_apart_loop(const std::string& body, const TransformSpec& spec) {
  const std::uint32_t threads = spec.block[0] * spec.block[1] * spec.block[2], warps = (threads + 31) / 32;
  const bool reads = reads_block(body, 0) || reads_block(body, 1) || reads_block(body, 2);
  const std::string last_body = std::regex_replace(body, std::regex(R"(\$SLUICE_END\b)"), "$$SLUICE_LAST_END");
  return fill(embedded_file("rewrite/warp_loop.ptx"), {{"inverse_warps", (65536 + warps - 1) / warps},
                                                       {"warps", warps},
                                                       {"find_leader", find_leader({warps * 32, 1, 1})},
                                                       {"warp_mask", (1 << SLUICE_WARP_BITS) - 1},
                                                       {"warps_between", std::max(warps, 2U) - 2},
                                                       {"last_warp", warps - 1},
                                                       {"reads_block", reads},
                                                       {"divide_by_x", reads && spec.grid_axes > 1},
                                                       {"divide_by_y", reads && spec.grid_axes > 2},
                                                       {"y_is_zero", spec.grid_axes < 2 && reads_block(body, 1)},
                                                       {"z_is_zero", spec.grid_axes < 3 && reads_block(body, 2)},
                                                       {"thread_index", thread_index_from_number(spec.block)},
                                                       {"ragged", threads % 32 != 0},
                                                       {"threads", threads},
                                                       {"last_body", last_body + "\n"},
                                                       {"body", body + "\n"},
                                                       {"all_have_left", 2 * warps - 2},
                                                       {"counterweight", counterweight(spec.counterweight)}});
}

}  // namespace sluice::gpu
