#include "sw/gpu/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <regex>
#include <vector>

#include "sw/core/errors.h"
#include "sw/gpu/ptx.h"

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

const std::regex& block_index() {
  static const std::regex pattern(R"(mov\.u32\s+(%\w+),\s*%(n?)ctaid\.([xyz]);)");
  return pattern;
}
/// __syncthreads(), whatever the source called it.
const std::regex& plain_barrier() {
  static const std::regex pattern(R"((bar|barrier)(\.cta)?\.sync(\.aligned)?\s+0;)");
  return pattern;
}

// SluiceState (runtime/quota_runtime.cuh), SluiceJob and SluiceControl (runtime/control.h).
constexpr int kLeaderInState = 32, kGridInState = 48, kJobBytes = 128, kGridInJob = 56, kStepInJob = 84, kCountsInJob = 96,
              kQuotaInControl = 8, kDoneInControl = 4620;

/// Block index and grid size from `block(axis)` and `grid(axis)`, PTX that assigns to "{}", instead of from special registers.
std::string read_block_index(const std::string& ptx, const std::function<std::string(int)>& block,
                             const std::function<std::string(int)>& grid) {
  std::string out;
  auto at = ptx.cbegin();
  for (std::sregex_iterator m(ptx.begin(), ptx.end(), block_index()), none; m != none; ++m) {
    out.append(at, (*m)[0].first);
    const int axis = (*m)[3].str()[0] - 'x';
    out += fmt::format(fmt::runtime((*m)[2].length() > 0 ? grid(axis) : block(axis)), (*m)[1].str());
    at = (*m)[0].second;
  }
  return out.append(at, ptx.cend());
}

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

/// The body of a runtime function, as a block in the kernel's text that the leader alone runs. Joined here, not by the
/// assembler's calls: after a call from a branch of its own, the hardware runs the leader apart from the rest of its warp, and
/// every instruction of the kernel twice. The function's first parameter is the job, the kernel's own last one.
/// @param arguments  registers for the other parameters
std::string leader_runs(const std::string& runtime, const std::string& function, const std::vector<std::string>& arguments = {}) {
  std::string text = function_body(runtime, function);
  text = std::regex_replace(text, std::regex(function + R"(_param_0\b)"), "sluice_job");
  for (std::size_t i = 0; i < arguments.size(); ++i) {  // 32 bits each; the compiler may read one into 64
    const auto read = [&](const char* to) {
      return std::regex(fmt::format(R"(ld\.param\.[bu]32(\s+{}\d+),\s*\[{}_param_{}\];)", to, function, i + 1));
    };
    text = std::regex_replace(text, read("%rd"), fmt::format("cvt.u64.u32$1, {};", arguments[i]));
    text = std::regex_replace(text, read("%r"), fmt::format("mov.b32$1, {};", arguments[i]));
  }
  text = std::regex_replace(text, std::regex(R"(\bret(\.uni)?;)"), fmt::format("bra {}_done;", function));
  if (text.find(".local") != std::string::npos) throw InputError(fmt::format("PTX: {} keeps an argument in memory", function));
  return fmt::format("\t@!%sluice_leader bra {0}_done;\n{1}\n{0}_done:\n", function, text);
}
/// The shared memory of the runtime.
std::string declarations(const std::string& runtime) {
  const std::string text = without_header(runtime);
  std::string out;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.starts_with(".visible .shared") || line.starts_with(".shared")) out += line + "\n";
  }
  return out;
}
/// The CTA's leader, and its warp. CTAs of few warps lead by another one each, so that the SM's four sub-cores, which the
/// hardware deals warps out to in turns, share the work. (For CTAs of four and more, measured, the first does as well or better.)
std::string find_leader(const std::array<std::uint32_t, 3>& block) {
  const std::uint32_t warps = (block[0] * block[1] * block[2] + 31) / 32;
  std::string ptx = fmt::format(
      "\t{{\n\t.reg .b32 %sluice_x, %sluice_y;\n\tmov.u32 %sluice_x, %tid.z;\n\tmov.u32 %sluice_y, %tid.y;\n"
      "\tmad.lo.u32 %sluice_y, %sluice_x, {}, %sluice_y;\n\tmov.u32 %sluice_x, %tid.x;\n"
      "\tmad.lo.u32 %sluice_x, %sluice_y, {}, %sluice_x;\n",
      block[1], block[0]);
  if (warps < 4)  // CTA r begins at sub-core r * warps; round by round its leader is one further
    ptx += fmt::format(
        "\tmov.u32 %sluice_y, %ctaid.y;\n\tmul.lo.u32 %sluice_y, %sluice_y, {};\n\tshr.u32 %sluice_y, %sluice_y, 2;\n"
        "\trem.u32 %sluice_y, %sluice_y, {};\n\tshl.b32 %sluice_y, %sluice_y, 5;\n"
        "\tsub.u32 %sluice_x, %sluice_x, %sluice_y;\n",
        warps + 4, warps);
  return ptx + "\tsetp.eq.u32 %sluice_leader, %sluice_x, 0;\n\tsetp.lt.u32 %sluice_first, %sluice_x, 32;\n\t}\n";
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

/// Multiply-adds that never run. The assembler (ptxas 13.0) spreads what either could do, moves and additions, over the integer
/// and the multiply-add pipe so that a function has as many instructions for one as for the other, wherever they stand. The
/// runtime has the more integer instructions by about these; without them the kernel's own additions are moved to the
/// multiply-add pipe (docs/gpu.md).
constexpr int kCounterweight = 100;
std::string counterweight() {
  std::string ptx = fmt::format(
      "\t{{\n\t.reg .b32 %sluice_x, %sluice_y;\n\tld.param.u32 %sluice_x, [sluice_job+{}];\n"
      "\tsetp.le.u32 %sluice_go, %sluice_x, 1;\n\t@%sluice_go bra $SLUICE_ENDS;\n\tmov.u32 %sluice_y, %tid.y;\n",
      kCountsInJob);  // 0 or 1, which the assembler does not know
  for (int i = 0; i < kCounterweight; ++i) ptx += fmt::format("\tmad.lo.u32 %sluice_y, %sluice_y, %sluice_x, {};\n", 7 * i + 1);
  return ptx + "\tst.volatile.shared.u32 [sluice_rt_state], %sluice_y;\n$SLUICE_ENDS:\n\t}\n";
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

  std::string out = header(ptx) + "\n" + declarations(runtime);
  if (functions_read) out += ".shared .align 16 .b8 sluice_current[16];\n";
  out += before;
  out += fmt::format(".visible .entry {}({}{}.param .align 8 .b8 sluice_job[{}])\n", spec.symbol, alone ? "" : parameters,
                     alone ? "" : ",\n", kJobBytes);
  out += fmt::format(".maxntid {}, {}, {}\n{}\n{{\n", spec.block[0], spec.block[1], spec.block[2], limit);
  out +=
      "\t.reg .b32 %sluice_run, %sluice_block0, %sluice_block1, %sluice_block2;\n"
      "\t.reg .pred %sluice_go, %sluice_all, %sluice_leader, %sluice_first, %sluice_odd;\n";
  const std::uint32_t threads = spec.block[0] * spec.block[1] * spec.block[2], warps = (threads + 31) / 32;
  out += fmt::format("\t.reg .b32 %sluice_inverse;\n\tmov.u32 %sluice_inverse, {};\n", (65536 + warps - 1) / warps);
  out += find_leader(spec.block) + leader_runs(runtime, "sluice_rt_enter", {"%sluice_inverse"}) +
         "\tbar.sync 0;\n\tsetp.ne.u32 %sluice_odd, 0, 0;\n";
  out += head(body, threads % 32 == 0, functions_read) + body + "\n" + tail(runtime, stands_in, spec.grid_axes);
  return out + "$SLUICE_LEAVE:\n" + find_leader(spec.block) + leader_runs(runtime, "sluice_rt_leave") + counterweight() +
         "\tret;\n}\n" + behind;
}

}  // namespace sluice::gpu
