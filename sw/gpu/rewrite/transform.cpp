// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <vector>

#include "sw/core/errors.h"
#include "sw/gpu/rewrite/join.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/rewrite/warps_apart.h"

namespace sluice::gpu {

namespace {

struct Refusal {
  const char* mark;
  const char* reason;
};
constexpr Refusal kRefusals[] = {
    {"%envreg", "cooperative grid synchronisation: all blocks would have to be resident at once"},
    {"cudaCGSynchronize", "cooperative grid synchronisation: all blocks would have to be resident at once"},
    {"cudaCGGetIntrinsicHandle", "cooperative grid synchronisation: all blocks would have to be resident at once"},
    {"%cluster", "thread block clusters: the hardware places the blocks of a cluster together"},
    {"%nclusterid", "thread block clusters: the hardware places the blocks of a cluster together"},
    {".reqnctapercluster", "thread block clusters: the hardware places the blocks of a cluster together"},
    {".explicitcluster", "thread block clusters: the hardware places the blocks of a cluster together"},
    {"barrier.cluster", "thread block clusters: the hardware places the blocks of a cluster together"},
    {"cudaGetParameterBuffer", "dynamic parallelism: a child grid belongs to the CTA that launched it"},
    {"cudaLaunchDevice", "dynamic parallelism: a child grid belongs to the CTA that launched it"},
    {"griddepcontrol", "programmatic dependent launch: the next grid waits for CTAs, not for blocks"},
    {"setmaxnreg", "setmaxnreg: registers that one block gave away would be missing in the next"},
};

/// __syncthreads(), whatever the source called it.
const std::regex& plain_barrier() {
  static const std::regex pattern(R"((bar|barrier)(\.cta)?\.sync(\.aligned)?\s+0;)");
  return pattern;
}

// SluiceState (runtime/quota_runtime.cuh), SluiceJob and SluiceControl (runtime/control.h); more in join.h.
constexpr int kLeaderInState = 32, kGridInState = 48, kStepInJob = 84, kQuotaInControl = 8, kDoneInControl = 4620;

/// In the kernel itself: registers that the loop's head loads, and parameters.
std::string in_kernel(const std::string& body) {
  return read_block_index(
      body, [](int axis) { return fmt::format("mov.u32 {{}}, %sluice_block{};", axis); },
      [](int axis) { return fmt::format("ld.param.u32 {{}}, [sluice_job+{}];", kGridInJob + 4 * axis); });
}
/// In functions, which see neither.
std::string in_function(const std::string& ptx) {
  return read_block_index(
      ptx, [](int axis) { return fmt::format("ld.volatile.shared.u32 {{}}, [sluice_current+{}];", 4 * axis); },
      [](int axis) { return fmt::format("ld.volatile.shared.u32 {{}}, [sluice_rt_state+{}];", kGridInState + 4 * axis); });
}

/// What the loop begins with. Which stage it is stays in a predicate: registers are what kernels lack. Reads the stage, leaves
/// when told to. All threads read one value. The reduction changes nothing but tells the assembler so, which keeps the index in a
/// register of the warp, as it would the special register.
std::string head(const std::string& body, bool whole_warps, bool functions_read) {
  std::string ptx =
      "$SLUICE_BLOCK:\n\t{\n\t.reg .b32 %sluice_lanes, %sluice_x, %sluice_y, %sluice_z, %sluice_stage;\n"
      "\tmov.u32 %sluice_stage, sluice_rt_state;\n\t@%sluice_odd add.u32 %sluice_stage, %sluice_stage, 16;\n"
      "\tld.volatile.shared.v4.u32 {%sluice_run, %sluice_x, %sluice_y, %sluice_z}, [%sluice_stage];\n"
      "\tsetp.eq.u32 %sluice_go, %sluice_run, 0;\n\t@%sluice_go bra.uni $SLUICE_LEAVE;\n";
  ptx += whole_warps ? "\tmov.u32 %sluice_lanes, -1;\n" : "\tactivemask.b32 %sluice_lanes;\n";
  for (int axis = 0; axis < 3; ++axis)
    if (body.find(fmt::format("%sluice_block{}", axis)) != std::string::npos)
      ptx += fmt::format("\tredux.sync.or.b32 %sluice_block{}, %sluice_{}, %sluice_lanes;\n", axis, "xyz"[axis]);
  if (functions_read)  // every thread writes what it needs: nobody is in an earlier block any more
    ptx +=
        "\tst.volatile.shared.u32 [sluice_current], %sluice_x;\n\tst.volatile.shared.u32 [sluice_current+4], %sluice_y;\n"
        "\tst.volatile.shared.u32 [sluice_current+8], %sluice_z;\n";
  return ptx + "\t}\n";
}

/// Block index (%sluice_x, y, z) of the task `width` further on.
std::string step_block(int axes) {
  std::string ptx;
  for (int axis = 0; axis < axes; ++axis) {
    const char name = "xyz"[axis];
    ptx += fmt::format("\tld.param.u32 %sluice_t, [sluice_job+{}];\n\tadd.u32 %sluice_{}, %sluice_{}, %sluice_t;\n",
                       kStepInJob + 4 * axis, name, name);
    if (axis > 0) ptx += fmt::format("\t@%sluice_go add.u32 %sluice_{}, %sluice_{}, 1;\n", name, name);
    ptx += fmt::format(
        "\tld.param.u32 %sluice_t, [sluice_job+{0}];\n\tsetp.ge.u32 %sluice_go, %sluice_{1}, %sluice_t;\n"
        "\t@%sluice_go sub.u32 %sluice_{1}, %sluice_{1}, %sluice_t;\n",
        kGridInJob + 4 * axis, name);
  }
  return ptx;
}

/// The end of a block: the leader counts it, reads the SM's quota, and stages what follows; its whole warp goes along, as a part
/// of a warp would be rejoined at a price. No thread may see the next block before all have left this one. A thread that has
/// returned early stands in at the barriers of those that have not, until all have (CUDA lets exited threads off; here nobody
/// exits).
std::string tail(const std::string& runtime, bool stands_in, int grid_axes) {
  std::string ptx =
      "$SLUICE_END:\n\t@!%sluice_first bra.uni $SLUICE_STAGED;\n\t{\n"
      "\t.reg .b32 %sluice_stage, %sluice_sm, %sluice_slot, %sluice_left, %sluice_x, %sluice_y, %sluice_z, %sluice_t, "
      "%sluice_quota, %sluice_next;\n\t.reg .b64 %sluice_at;\n\t.reg .pred %sluice_leader;\n"
      "\tmov.u32 %sluice_t, %laneid;\n\tsetp.eq.u32 %sluice_leader, %sluice_t, 0;\n\t@!%sluice_leader bra $SLUICE_JOINED;\n"
      "\tmov.u32 %sluice_stage, sluice_rt_state;\n\tadd.u32 %sluice_next, %sluice_stage, 16;\n"
      "\t@%sluice_odd mov.u32 %sluice_next, %sluice_stage;\n\t@%sluice_odd add.u32 %sluice_stage, %sluice_stage, 16;\n";
  ptx += fmt::format(
      "\tld.volatile.shared.v4.u32 {{%sluice_sm, %sluice_slot, %sluice_left, %sluice_t}}, [sluice_rt_state+{}];\n"
      "\tld.volatile.shared.v4.u32 {{%sluice_t, %sluice_x, %sluice_y, %sluice_z}}, [%sluice_stage];\n"
      "\tld.param.u64 %sluice_at, [sluice_job];\n\tmad.wide.u32 %sluice_at, %sluice_sm, 4, %sluice_at;\n"
      "\tld.relaxed.gpu.global.u32 %sluice_quota, [%sluice_at+{}];\n"
      "\tred.relaxed.gpu.global.add.u32 [%sluice_at+{}], 1;\n",
      kLeaderInState, kQuotaInControl, kDoneInControl);
  ptx += fmt::format(
      "\tld.param.u32 %sluice_t, [sluice_job+{}];\n\tsetp.eq.u32 %sluice_go, %sluice_t, 0;\n"
      "\t@%sluice_go bra $SLUICE_COUNTED;\n",
      kCountsInJob);
  ptx += leader_runs(runtime, "sluice_rt_count", {"%sluice_x", "%sluice_y", "%sluice_z"});
  ptx += "$SLUICE_COUNTED:\n\tsetp.eq.u32 %sluice_go, %sluice_left, 0;\n\t@%sluice_go bra $SLUICE_CLAIM;\n";
  ptx += step_block(grid_axes);
  ptx += fmt::format(
      "\tsetp.lt.u32 %sluice_go, %sluice_slot, %sluice_quota;\n\tselp.u32 %sluice_t, 1, 0, %sluice_go;\n"
      "\tsub.u32 %sluice_left, %sluice_left, %sluice_t;\n"
      "\tst.volatile.shared.v4.u32 [%sluice_next], {{%sluice_t, %sluice_x, %sluice_y, %sluice_z}};\n"
      "\tst.volatile.shared.u32 [sluice_rt_state+{}], %sluice_left;\n\tbra $SLUICE_JOINED;\n"
      "$SLUICE_CLAIM:\n",
      kLeaderInState + 8);
  ptx += leader_runs(runtime, "sluice_rt_next", {"%sluice_next", "%sluice_quota"}) + "$SLUICE_JOINED:\n\t}\n$SLUICE_STAGED:\n";
  return ptx +
         (stands_in ? "\tsetp.eq.u32 %sluice_go, 0, 0;\n$SLUICE_STAND:\n\tbarrier.cta.red.and.pred %sluice_all, 0, %sluice_go;\n"
                      "\t@!%sluice_all bra $SLUICE_STAND;\n"
                    : "\tbar.sync 0;\n") +
         "\tnot.pred %sluice_odd, %sluice_odd;\n\tbra.uni $SLUICE_BLOCK;\n";
}

}  // namespace

std::optional<std::string> ineligible(const std::string& ptx, bool stand_in) {
  for (const Refusal& refusal : kRefusals)
    if (ptx.find(refusal.mark) != std::string::npos) return refusal.reason;
  if (std::regex_search(std::regex_replace(ptx, block_index(), ""), std::regex("%n?ctaid")))
    return "the block index is read other than by mov.u32 (inline assembly): it cannot be replaced";
  if (std::regex_search(ptx, std::regex(R"(\bexit;)")))
    return "inline assembly ends a thread (exit): threads of a persistent CTA outlive the block";
  if (stand_in) {
    const std::string rest = std::regex_replace(ptx, plain_barrier(), "");
    if (std::regex_search(rest, std::regex(R"(\b(bar|barrier)(\.cta)?\.(sync|red|arrive))")))
      return "a barrier other than __syncthreads() together with an early return: threads that have returned can only stand in "
             "at __syncthreads()";
  }
  return std::nullopt;
}

std::string transform(const std::string& ptx, const std::string& runtime, const TransformSpec& spec) {
  std::string module = only_kernel(ptx, spec.symbol);
  bool stands_in = false;
  if (spec.stand_in && std::regex_search(module, plain_barrier())) {
    stands_in = true;
    module = std::regex_replace(module, plain_barrier(),
                                "{ .reg .pred %sluice_all, %sluice_not; setp.ne.u32 %sluice_not, 0, 0; "
                                "barrier.cta.red.and.pred %sluice_all, 0, %sluice_not; }");
  }
  const Entry e = find_entry(module, spec.symbol);
  std::string parameters = module.substr(e.parameters, e.directives - e.parameters);
  if (parameters.size() > 1) parameters = parameters.substr(1, parameters.size() - 2);
  const bool alone = parameters.find(".param") == std::string::npos;
  const std::string directives = module.substr(e.directives, e.body - e.directives);
  std::smatch registers;
  std::string limit = spec.ctas_per_sm > 0 ? fmt::format(".minnctapersm {}", spec.ctas_per_sm) : "";
  if (std::regex_search(directives, registers, std::regex(R"(\.maxnreg\s+\d+)")) ||
      (limit.empty() && std::regex_search(directives, registers, std::regex(R"(\.minnctapersm\s+\d+)"))))
    limit = registers[0].str();
  std::string body = in_kernel(module.substr(e.body + 1, e.end - e.body - 2));
  body = std::regex_replace(body, std::regex(R"(\bret(\.uni)?;)"), "bra $$SLUICE_END;");
  const std::string before = in_function(without_header(module.substr(0, e.begin))), behind = in_function(module.substr(e.end));
  const bool functions_read = (before + behind).find("sluice_current") != std::string::npos;
  const std::uint32_t threads = spec.block[0] * spec.block[1] * spec.block[2], warps = (threads + 31) / 32;

  std::string out = header(ptx) + "\n" + declarations(runtime, spec.warps_apart);
  if (functions_read) out += ".shared .align 16 .b8 sluice_current[16];\n";
  out += before;
  out += fmt::format(".visible .entry {}({}{}.param .align 8 .b8 sluice_job[{}])\n", spec.symbol, alone ? "" : parameters,
                     alone ? "" : ",\n", kJobBytes);
  out += fmt::format(".maxntid {}, {}, {}\n{}\n{{\n", spec.warps_apart ? warps * 32 : spec.block[0],
                     spec.warps_apart ? 1 : spec.block[1], spec.warps_apart ? 1 : spec.block[2], limit);
  out +=
      "\t.reg .b32 %sluice_run, %sluice_block0, %sluice_block1, %sluice_block2;\n"
      "\t.reg .pred %sluice_go, %sluice_all, %sluice_leader, %sluice_first, %sluice_odd;\n";
  if (spec.warps_apart)
    return out + warps_apart_loop(with_thread_index(body, spec.block), runtime, spec) + "\tret;\n}\n" + behind;
  out += fmt::format("\t.reg .b32 %sluice_inverse;\n\tmov.u32 %sluice_inverse, {};\n", (65536 + warps - 1) / warps);
  out += find_leader(spec.block) + leader_runs(runtime, "sluice_rt_enter", {"%sluice_inverse"}) +
         "\tbar.sync 0;\n\tsetp.ne.u32 %sluice_odd, 0, 0;\n";
  out += head(body, threads % 32 == 0, functions_read) + body + "\n" + tail(runtime, stands_in, spec.grid_axes);
  return out + "$SLUICE_LEAVE:\n" + find_leader(spec.block) + leader_runs(runtime, "sluice_rt_leave") + counterweight() +
         "\tret;\n}\n" + behind;
}

}  // namespace sluice::gpu
