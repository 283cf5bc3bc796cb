// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/warps_apart.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "sw/gpu/rewrite/join.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/runtime/control.h"

namespace sluice::gpu {

namespace {

// SluiceState (runtime/quota_runtime.cuh) and SluiceJob (runtime/control.h).
constexpr int kNextInState = 60, kInversesInJob = 100;

/// A move from %tid or %ntid: register, "n" or nothing, axis.
const std::regex& thread_index() {
  static const std::regex pattern(R"(mov\.u32\s+(%\w+),\s*%(n?)tid\.([xyz]);)");
  return pattern;
}
/// Shared variables of the file, whichever kernel's. Who uses one has instructions that say so.
const std::regex& shared_variable() {
  static const std::regex pattern(R"((\.extern |\.visible )?\.shared \.align[^;]*;)");
  return pattern;
}
std::uint32_t warps_of(const TransformSpec& spec) { return (spec.block[0] * spec.block[1] * spec.block[2] + 31) / 32; }
bool reads(const std::string& body, const char* name, int axis) {
  return body.find(fmt::format("%sluice_{}{}", name, axis)) != std::string::npos;
}

/// "to" and "rest" of `number` (in it, afterwards) by a divisor in the job, with its inverse (quota_runtime.cuh, divide).
std::string divide_by_grid(const char* to, const char* number, int axis) {
  return fmt::format(
      "\tld.param.u32 %sluice_t, [sluice_job+{2}];\n\tmul.hi.u32 {0}, {1}, %sluice_t;\n\tld.param.u32 %sluice_t, "
      "[sluice_job+{3}];\n"
      "\tmul.lo.u32 %sluice_u, {0}, %sluice_t;\n\tsub.u32 {1}, {1}, %sluice_u;\n\tsetp.ge.u32 %sluice_go, {1}, %sluice_t;\n"
      "\t@%sluice_go add.u32 {0}, {0}, 1;\n\t@%sluice_go sub.u32 {1}, {1}, %sluice_t;\n",
      to, number, kInversesInJob + 4 * axis, kGridInJob + 4 * axis);
}
/// %sluice_block0..2 from the block's number.
std::string block_from_number(const std::string& body, int grid_axes) {
  std::string ptx;
  if (!reads(body, "block", 0) && !reads(body, "block", 1) && !reads(body, "block", 2)) return ptx;
  ptx += "\tmov.u32 %sluice_block0, %sluice_b;\n";
  if (grid_axes > 1) ptx += divide_by_grid("%sluice_block1", "%sluice_block0", 0);
  if (grid_axes > 2) ptx += divide_by_grid("%sluice_block2", "%sluice_block1", 1);
  for (int axis = grid_axes; axis < 3; ++axis)
    if (reads(body, "block", axis)) ptx += fmt::format("\tmov.u32 %sluice_block{}, 0;\n", axis);
  return ptx;
}
/// %sluice_thread0..2 from the thread's number in its block, %sluice_t.
std::string thread_from_number(const std::array<std::uint32_t, 3>& block) {
  std::string ptx = "\tmov.u32 %sluice_thread0, %sluice_t;\n";
  const auto divide = [&](int axis, std::uint32_t by) {
    if (by == 1)
      ptx += fmt::format("\tmov.u32 %sluice_thread{}, %sluice_thread{};\n\tmov.u32 %sluice_thread{}, 0;\n", axis + 1, axis, axis);
    else
      ptx += fmt::format(
          "\tmul.lo.u32 %sluice_u, %sluice_thread{0}, {2};\n\tshr.u32 %sluice_thread{1}, %sluice_u, {4};\n"
          "\tmul.lo.u32 %sluice_u, %sluice_thread{1}, {3};\n\tsub.u32 %sluice_thread{0}, %sluice_thread{0}, %sluice_u;\n",
          axis, axis + 1, inverse_of(by), by, kInverseBits);
  };
  if (block[1] * block[2] > 1) divide(0, block[0]);
  if (block[2] > 1) divide(1, block[1]);
  if (block[1] * block[2] == 1) ptx += "\tmov.u32 %sluice_thread1, 0;\n";
  if (block[2] == 1) ptx += "\tmov.u32 %sluice_thread2, 0;\n";
  return ptx;
}

}  // namespace

std::optional<std::string> needs_warps_together(const std::string& module, const TransformSpec& spec, std::uint64_t blocks) {
  const Entry e = find_entry(module, spec.symbol);
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

std::string warps_apart_loop(const std::string& body, const std::string& runtime, const TransformSpec& spec) {
  const std::uint32_t warps = warps_of(spec), threads = spec.block[0] * spec.block[1] * spec.block[2];
  std::string ptx = fmt::format(
      "\t.reg .b32 %sluice_inverse, %sluice_warps, %sluice_thread0, %sluice_thread1, %sluice_thread2, %sluice_w;\n"
      "\tmov.u32 %sluice_inverse, {};\n\tmov.u32 %sluice_warps, {};\n",
      (65536 + warps - 1) / warps, warps);
  ptx += find_leader({warps * 32, 1, 1}) + leader_runs(runtime, "sluice_rt_enter_apart", {"%sluice_inverse", "%sluice_warps"});
  // One lane takes the next warp of the block; the reduction hands it to the others, and tells the assembler that all have one
  // value.
  const auto take = [](const char* to, const char* add) {
    return fmt::format("\tatom.relaxed.cta.shared.add.u32 {0}, [%sluice_hand], {1};\n\tredux.sync.or.b32 {0}, {0}, -1;\n", to,
                       add);
  };
  ptx +=
      "\tbar.sync 0;\n$SLUICE_BLOCK:\n\t{\n\t.reg .b32 %sluice_b, %sluice_lane, %sluice_hand, %sluice_one, %sluice_t, "
      "%sluice_u;\n"
      "\tmov.u32 %sluice_lane, %laneid;\n\tsetp.eq.u32 %sluice_leader, %sluice_lane, 0;\n"
      "\tmov.u32 %sluice_hand, sluice_rt_hand;\n\tmad.lo.u32 %sluice_hand, %sluice_lane, 4, %sluice_hand;\n"
      "\tselp.u32 %sluice_one, 1, 0, %sluice_leader;\n" +
      take("%sluice_b", "%sluice_one");
  ptx += fmt::format(
      "\tand.b32 %sluice_w, %sluice_b, {0};\n\tshr.u32 %sluice_b, %sluice_b, {1};\n"
      "\tsub.u32 %sluice_t, %sluice_w, 1;\n\tsetp.lt.u32 %sluice_go, %sluice_t, {2};\n\t@%sluice_go bra.uni $SLUICE_RUN;\n"
      // The block's first warp, its last, or none is left.
      "\tsetp.eq.u32 %sluice_go, %sluice_b, {3};\n\t@%sluice_go bra.uni $SLUICE_LEAVE;\n"
      "\tsetp.lt.u32 %sluice_go, %sluice_w, {4};\n\t@%sluice_go bra.uni $SLUICE_AHEAD;\n"
      // Whoever took the last warp is about to hand out the next block.
      "$SLUICE_WAIT:\n{5}\tshr.u32 %sluice_u, %sluice_t, {1};\n\tsetp.ne.u32 %sluice_all, %sluice_u, {3};\n"
      "\tand.b32 %sluice_t, %sluice_t, {0};\n\tsetp.ge.and.u32 %sluice_go, %sluice_t, {4}, %sluice_all;\n"
      "\t@%sluice_go bra.uni $SLUICE_WAIT;\n\tbra.uni $SLUICE_BLOCK;\n"
      "$SLUICE_AHEAD:\n\tsetp.ne.u32 %sluice_go, %sluice_w, 0;\n\t@%sluice_go bra.uni $SLUICE_LAST;\n",
      (1 << SLUICE_WARP_BITS) - 1, SLUICE_WARP_BITS, std::max(warps, 2U) - 2, SLUICE_NO_BLOCK, warps, take("%sluice_t", "0"));
  // Rejoined at once: else the lanes that waited stay apart from the leader until the block's end, and all is issued twice.
  const std::string rejoin = "\tbar.warp.sync -1;\n";
  ptx += warp_runs(runtime, "sluice_rt_look_ahead", {"%sluice_b", "%sluice_warps", "%sluice_one"});
  ptx += fmt::format("$SLUICE_LAST:\n\tsetp.ne.u32 %sluice_go, %sluice_w, {};\n\t@%sluice_go bra.uni $SLUICE_RUN;\n", warps - 1);
  ptx += fmt::format(
      "\tmov.u32 %sluice_u, sluice_rt_state;\n\tadd.u32 %sluice_u, %sluice_u, {};\n"
      "\tselp.u32 %sluice_u, %sluice_u, %sluice_hand, %sluice_leader;\n"
      "$SLUICE_UNKNOWN:\n\tatom.relaxed.cta.shared.add.u32 %sluice_t, [%sluice_u], 0;\n\tredux.sync.or.b32 %sluice_t, %sluice_t, "
      "-1;\n"
      "\tsetp.eq.u32 %sluice_go, %sluice_t, -1;\n\t@%sluice_go bra.uni $SLUICE_UNKNOWN;\n",
      kNextInState);
  ptx += warp_runs(runtime, "sluice_rt_hand_out", {"%sluice_t", "%sluice_one"}) + "$SLUICE_RUN:\n";
  ptx += fmt::format(
      "\tld.param.u32 %sluice_t, [sluice_job+{}];\n\tsetp.eq.u32 %sluice_go, %sluice_t, 0;\n"
      "\t@%sluice_go bra.uni $SLUICE_COUNTED;\n",
      kCountsInJob);
  ptx += warp_runs(runtime, "sluice_rt_count_apart", {"%sluice_b", "%sluice_w", "%sluice_warps", "%sluice_one"}) +
         "$SLUICE_COUNTED:\n";
  ptx += block_from_number(body, spec.grid_axes) + "\tmad.lo.u32 %sluice_t, %sluice_w, 32, %sluice_lane;\n" +
         thread_from_number(spec.block);
  // Of lanes that the block does not fill the assembler knows only that some threads branch: it would keep what is one value for
  // a warp in registers of every thread, from there to where they meet. So the last warp has a body of its own, and an end.
  if (threads % 32 != 0)
    ptx += fmt::format(
        "\tsetp.lt.u32 %sluice_go, %sluice_w, {};\n\t@%sluice_go bra.uni $SLUICE_FULL;\n"
        "\tsetp.ge.u32 %sluice_go, %sluice_t, {};\n\t@%sluice_go bra $SLUICE_LAST_END;\n\t}}\n\t{{\n{}\n\t}}\n"
        "$SLUICE_LAST_END:\n{}\tbra.uni $SLUICE_BLOCK;\n$SLUICE_FULL:\n\t{{\n",
        warps - 1, threads, std::regex_replace(body, std::regex(R"(\$SLUICE_END\b)"), "$$SLUICE_LAST_END"), rejoin);
  // A warp has finished when its last lane has: only then may it add one again.
  ptx += (threads % 32 != 0 ? "" : "\t}\n\t{\n") + body + "\n\t}\n$SLUICE_END:\n" + rejoin + "\tbra.uni $SLUICE_BLOCK;\n";
  ptx += fmt::format("$SLUICE_LEAVE:\n\tsetp.ne.u32 %sluice_go, %sluice_w, {};\n\t@%sluice_go bra.uni $SLUICE_GONE;\n",
                     2 * warps - 2);
  return ptx + leader_runs(runtime, "sluice_rt_leave_apart") + counterweight() + "$SLUICE_GONE:\n";
}

}  // namespace sluice::gpu
