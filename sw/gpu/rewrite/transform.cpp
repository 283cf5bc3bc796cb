// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/transform.h"

#include <fmt/format.h>

#include <cstddef>
#include <regex>

#include "sw/core/errors.h"
#include "sw/gpu/rewrite/join.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/rewrite/template.h"
#include "sw/gpu/rewrite/warps_apart.h"
#include "sw/gpu/runtime/control.h"
#include "sw/gpu/runtime/embedded.h"

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

static_assert(offsetof(SluiceJob, grid_y) == offsetof(SluiceJob, grid_x) + 4 &&
              offsetof(SluiceJob, grid_z) == offsetof(SluiceJob, grid_x) + 8);
/// In the kernel itself: registers that the loop's head loads, and parameters.
std::string in_kernel(const std::string& body) {
  return read_block_index(
      body, [](int axis) { return fmt::format("mov.u32 {{}}, %sluice_block{};", axis); },
      [](int axis) { return fmt::format("ld.param.u32 {{}}, [sluice_job+{}];", offsetof(SluiceJob, grid_x) + 4UL * axis); });
}
/// In functions, which see neither.
std::string in_function(const std::string& ptx) {
  return read_block_index(
      ptx, [](int axis) { return fmt::format("ld.volatile.shared.u32 {{}}, [sluice_current+{}];", 4 * axis); },
      [](int axis) {
        return fmt::format("ld.volatile.shared.u32 {{}}, [sluice_rt_state+{}];", offsetof(SluiceState, grid) + 4UL * axis);
      });
}

/// The loop around the body where a block's warps begin together.
std::string block_loop(const std::string& body, const TransformSpec& spec, bool stands_in, bool functions_read) {
  const std::uint32_t threads = spec.block[0] * spec.block[1] * spec.block[2], warps = (threads + 31) / 32;
  return fill(embedded_file("rewrite/block_loop.ptx"), {{"inverse_warps", (65536 + warps - 1) / warps},
                                                        {"find_leader", find_leader(spec.block)},
                                                        {"whole_warps", threads % 32 == 0},
                                                        {"reads_x", reads_block(body, 0)},
                                                        {"reads_y", reads_block(body, 1)},
                                                        {"reads_z", reads_block(body, 2)},
                                                        {"functions_read", functions_read},
                                                        {"body", body + "\n"},
                                                        {"grid_has_y", spec.grid_axes > 1},
                                                        {"grid_has_z", spec.grid_axes > 2},
                                                        {"stands_in", stands_in},
                                                        {"counterweight", counterweight()}});
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
  const std::uint32_t warps = (spec.block[0] * spec.block[1] * spec.block[2] + 31) / 32;
  const std::array<std::uint32_t, 3> threads = spec.warps_apart ? std::array{warps * 32, 1U, 1U} : spec.block;
  const std::string loop = spec.warps_apart ? warps_apart_loop(with_thread_index(body, spec.block), spec)
                                            : block_loop(body, spec, stands_in, functions_read);

  std::string out = header(ptx) + "\n" + declarations(runtime, spec.warps_apart);
  if (functions_read) out += ".shared .align 16 .b8 sluice_current[16];\n";
  out += before;
  out += fill(embedded_file("rewrite/entry.ptx"), {{"kernel", spec.symbol},
                                                   {"parameters", alone ? "" : parameters + ",\n"},
                                                   {"threads_x", threads[0]},
                                                   {"threads_y", threads[1]},
                                                   {"threads_z", threads[2]},
                                                   {"limit", limit + "\n"},
                                                   {"loop", with_runtime(loop, runtime)}});
  return out + behind;
}

}  // namespace sluice::gpu
