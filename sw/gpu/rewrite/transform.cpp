// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "sw/gpu/rewrite/barriers.h"
#include "sw/gpu/rewrite/counterweight.h"
#include "sw/gpu/rewrite/join.h"
#include "sw/gpu/rewrite/template.h"
#include "sw/gpu/runtime/control.h"
#include "sw/gpu/runtime/embedded.h"

namespace sluice::gpu {

namespace {

static_assert(offsetof(SluiceJob, grid_y) == offsetof(SluiceJob, grid_x) + 4 &&
              offsetof(SluiceJob, grid_z) == offsetof(SluiceJob, grid_x) + 8);
/// In the kernel itself: registers that the loop's head loads, and parameters.
std::string in_kernel(const std::string& body) {
  return read_block_index(
      body, [](int axis) { return fmt::format("mov.u32 {{}}, %sluice_block{};", axis); },
      [](int axis) { return fmt::format("ld.param.u32 {{}}, [sluice_job+{}];", offsetof(SluiceJob, grid_x) + 4UL * axis); });
}
/// Where the state lies for functions, which see nothing of the kernel's. Behind dynamic shared memory, each use computes it.
struct StateAddress {
  std::string begin;  ///< instructions before
  std::string base;
};
StateAddress state_address(const std::string& dynamic) {
  if (dynamic.empty()) return {"", "sluice_rt_state"};
  return {fmt::format(".reg .b32 %sluice_s, %sluice_d; mov.u32 %sluice_s, {}; mov.u32 %sluice_d, %dynamic_smem_size; add.u32 "
                      "%sluice_s, %sluice_s, %sluice_d; sub.u32 %sluice_s, %sluice_s, {}; and.b32 %sluice_s, %sluice_s, -{}; ",
                      dynamic, sizeof(SluiceState), sizeof(SluiceState)),
          "%sluice_s"};
}
std::string in_function(const std::string& ptx, const StateAddress& state) {
  const auto read = [&](std::size_t offset) {
    const std::string load = fmt::format("{}ld.volatile.shared.u32 {{}}, [{}+{}];", state.begin, state.base, offset);
    return state.begin.empty() ? load : "{{ " + load + " }}";
  };
  return read_block_index(
      ptx, [&](int axis) { return read(offsetof(SluiceState, current) + 4UL * axis); },
      [&](int axis) { return read(offsetof(SluiceState, grid) + 4UL * axis); });
}

/// __syncthreads() of the threads that have not returned. The hardware's barrier counts those that have, as they do not exit. A
/// vote over it fails: of a warp whose parts come apart, not every part's is counted.
std::string of_threads_left(const std::string& text, const StateAddress& state, bool sleeps) {
  const std::string at = fmt::format("[{}+{}]", state.base, offsetof(SluiceState, threads));
  return std::regex_replace(text, plain_barrier(),
                            fmt::format("{{ {}.reg .b64 %sluice_phase; .reg .pred %sluice_all; mbarrier.arrive.shared.b64 "
                                        "%sluice_phase, {}; $$SLUICE_WAIT: mbarrier.{}_wait.shared.b64 %sluice_all, {}, "
                                        "%sluice_phase; @!%sluice_all bra $$SLUICE_WAIT; }}",
                                        state.begin, at, sleeps ? "try" : "test", at));
}

const std::regex& register_limit() {
  static const std::regex pattern(R"(\.(maxnreg|minnctapersm)\b)");
  return pattern;
}

/// The loop around the body.
/// @param limited  the kernel's registers say how many CTAs fit
std::string block_loop(const std::string& body, const TransformSpec& spec, const Reach& reach, bool threads_leave,
                       bool functions_read, bool limited) {
  const bool stack = std::regex_search(body, std::regex(R"(\balloca\b)"));
  return fill(embedded_file("rewrite/block_loop.ptx"),
              {{"find_leader", fill(embedded_file("rewrite/find_leader.ptx"))},
               {"stage_in_register", !limited},
               {"later_axes", functions_read || reads_block(body, 1) || reads_block(body, 2)},
               {"reads_y", reads_block(body, 1)},
               {"reads_z", reads_block(body, 2)},
               {"functions_read", functions_read},
               {"body", body + "\n"},
               {"stack", stack},
               {"drain", drain_of(reach.text)},
               {"barrier", free_barrier(reach.text).value_or(0)},
               {"waits", spec.waits},
               {"threads_leave", threads_leave},
               {"count_threads", fill(embedded_file("rewrite/count_threads.ptx"), {})},
               {"counterweight", counterweight(spec.counterweight)}});
}

/// Limits to registers and threads: the kernel's own, and to registers ours where it has none.
std::string directives_of(const std::string& directives, const TransformSpec& spec) {
  constexpr std::uint32_t kMost = 255;
  const bool limited = std::regex_search(directives, register_limit()) || spec.registers == 0;
  const std::uint32_t told = spec.registers > kOfFullSm ? std::min(spec.registers + spec.slack, kMost) : spec.registers;
  return std::regex_replace(directives, std::regex(R"(\.reqntid\b)"), ".maxntid") +
         (limited ? "\n" : fmt::format("\n.maxnreg {}\n", told));
}

}  // namespace

std::set<std::string> functions_changed(const std::string& ptx, const Reach& reach, bool threads_leave) {
  std::set<std::string> changed;
  for (std::size_t before = ~std::size_t{0}; before != changed.size();) {
    before = changed.size();
    for (const Item* f : reach.functions) {
      if (f->kind != Item::Kind::Function || changed.contains(f->name)) continue;
      const std::string text = ptx.substr(f->body, f->end - f->body);
      const std::vector<std::string_view> words = words_of(text);
      if (std::regex_search(text, block_index()) || (threads_leave && std::regex_search(text, plain_barrier())) ||
          std::ranges::any_of(words, [&](std::string_view w) { return changed.contains(std::string(w)); }))
        changed.insert(f->name);
    }
  }
  return changed;
}

Transformed transform(const std::string& ptx, const std::string& runtime, const TransformSpec& spec) {
  const Item e = find_entry(ptx, spec.symbol);
  const std::vector<Item> items = items_of(ptx);
  const Reach reach = reach_of(ptx, items, spec.symbol);
  const bool threads_leave = spec.threads_leave && std::regex_search(reach.text, plain_barrier());
  const std::set<std::string> changed = functions_changed(ptx, reach, threads_leave);
  const std::string suffix = "__sluice_" + spec.symbol;
  Transformed out;
  out.spec = spec;
  out.entry = spec.symbol + "__sluice";

  const std::string dynamic = dynamic_shared(ptx, items, reach);
  if (dynamic == kOwnDynamic)
    out.declarations.push_back(fmt::format(".extern .shared .align 16 .b8 {}[];\n", kOwnDynamic));
  else if (dynamic.empty())
    out.declarations = declarations(runtime);
  out.shared_behind = dynamic.empty() ? 0 : kSharedBehind;

  static const std::regex hopper(R"(\.target\s+sm_(9|\d{3}))");
  const bool sleeps = std::regex_search(runtime, hopper);  // a thread that waits may be put to sleep
  const StateAddress state_there = state_address(dynamic);
  const auto function = [&](const Item* f, std::size_t to) {
    std::string text = in_function(ptx.substr(f->begin, to - f->begin), state_there);
    return renamed(threads_leave ? of_threads_left(text, state_there, sleeps) : text, changed, suffix);
  };
  bool functions_read = false;
  std::string bodies;
  for (const Item* f : reach.functions)
    if (changed.contains(f->name)) {
      out.text += function(f, f->body) + ";\n";  // declared first: they may call each other
      bodies += function(f, f->end) + "\n";
      functions_read = functions_read || std::regex_search(ptx.cbegin() + static_cast<std::ptrdiff_t>(f->body),
                                                           ptx.cbegin() + static_cast<std::ptrdiff_t>(f->end), block_index());
    }
  out.text += bodies;

  std::string parameters = ptx.substr(e.parameters, e.directives - e.parameters);
  if (parameters.size() > 1) parameters = parameters.substr(1, parameters.size() - 2);
  const bool alone = parameters.find(".param") == std::string::npos;
  std::string body = in_kernel(ptx.substr(e.body + 1, e.end - e.body - 2));
  if (threads_leave) body = of_threads_left(body, state_address(""), sleeps);
  body = std::regex_replace(renamed(body, changed, suffix), std::regex(R"(\bret(\.uni)?;)"), "bra $$SLUICE_END;");
  const std::string directives = ptx.substr(e.directives, e.body - e.directives);
  // With more the SM has not all the threads it takes. Kernels with these seldom lack one register.
  const bool limited = spec.registers > kOfFullSm || std::regex_search(directives, register_limit());
  std::string loop = with_runtime(block_loop(body, spec, reach, threads_leave, functions_read, limited), runtime);
  std::string state;
  if (!dynamic.empty()) {
    loop = std::regex_replace(loop, std::regex(R"(\bsluice_rt_state\b)"), "%sluice_state");
    state = fmt::format(
        "\t.reg .b32 %sluice_state, %sluice_behind;\n\tmov.u32 %sluice_state, {};\n\tld.param.u32 %sluice_behind, "
        "[sluice_job+{}];\n\tadd.u32 %sluice_state, %sluice_state, %sluice_behind;\n\tand.b32 %sluice_state, %sluice_state, "
        "-{};\n",
        dynamic, offsetof(SluiceJob, shared_at), sizeof(SluiceState));
  }
  out.text += fill(embedded_file("rewrite/entry.ptx"), {{"kernel", out.entry},
                                                        {"parameters", alone ? "" : parameters + ",\n"},
                                                        {"directives", directives_of(directives, spec)},
                                                        {"state", state},
                                                        {"loop", loop}});
  return out;
}

std::string combined(const std::string& ptx, const std::string& runtime, const std::vector<Transformed>& kernels) {
  std::string out = raised_header(ptx, runtime) + "\n";
  std::set<std::string> declared;
  for (const Transformed& kernel : kernels)
    for (const std::string& line : kernel.declarations)
      if (declared.insert(line).second) out += line;
  out += without_header(ptx) + "\n";
  for (const Transformed& kernel : kernels) out += kernel.text;
  return out;
}

}  // namespace sluice::gpu
