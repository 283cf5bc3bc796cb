// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/gate.h"

#include <fmt/format.h>

#include <exception>
#include <tuple>

#include "sw/gpu/rewrite/ptx.h"

namespace sluice::gpu {

namespace {

/// Assembles these kernels into `out`. @return why they do not assemble
std::optional<std::string> fails(Assembled& out, const std::string& text, const std::string& runtime,
                                 const TransformedKernels& kernels, const Assemble& assemble) {
  try {
    out = assembled(text, runtime, kernels, assemble);
  } catch (const std::exception& e) {
    return e.what();
  }
  return std::nullopt;
}

}  // namespace

RewrittenModule rewrite_module(const std::string& ptx, const std::string& runtime, const Assemble& assemble,
                               std::uint32_t registers) {
  RewrittenModule module{ptx, {}, {}};
  std::string text, own;
  std::vector<Item> items;
  try {
    text = normalised(ptx);
    own = normalised(runtime);
    items = items_of(text);
  } catch (const std::exception&) {
    return module;  // not even the kernels' names are known: refuse_launch says so
  }
  TransformedKernels transformed;
  for (const Item& item : items) {
    if (item.kind != Item::Kind::Kernel || !item.has_body()) continue;
    ModuleKernel& kernel = module.kernels[item.name];
    try {
      const KernelStudy study = study_kernel(text, item.name);
      kernel.refusal = study.refusal;
      if (kernel.refusal) continue;
      kernel.waits = study.waits;
      const TransformSpec spec{item.name, study.threads_leave, study.waits, registers == 0 ? 0 : allotted(registers)};
      const Transformed& made = transformed[item.name] = transform(text, own, spec);
      kernel.entry = made.entry;
      kernel.shared_behind = made.shared_behind;
    } catch (const std::exception& e) {
      kernel.refusal = refusal(GateRule::Unreadable, e.what());
      transformed.erase(item.name);
    }
  }
  const auto give_up = [&](const std::string& name, const std::string& why) {
    module.kernels[name].refusal = refusal(GateRule::Assembles, why);
    transformed.erase(name);
  };
  Assembled done;
  if (!transformed.empty() && fails(done, text, own, transformed, assemble)) {  // which of them is it?
    for (auto& [name, kernel] : module.kernels)
      if (const auto found = transformed.find(name); found != transformed.end())
        if (const auto why = fails(done, text, own, {*found}, assemble)) give_up(name, *why);
    if (!transformed.empty())
      if (const auto why = fails(done, text, own, transformed, assemble))
        while (!transformed.empty()) give_up(std::string(transformed.begin()->first), *why);
  }
  if (!transformed.empty()) {
    module.text = std::move(done.text);
    module.cubin = std::move(done.cubin);
  }
  return module;
}

std::optional<Refusal> refuse_launch(const ModuleKernel& kernel, const LaunchFacts& launch, const DeviceFacts& device) {
  constexpr std::uint32_t kMostX = 0x7fffffff, kMost = 65535, kThreads = 1024, kThreadsZ = 64;
  const auto inside = [](std::uint32_t n, std::uint32_t most) { return n >= 1 && n <= most; };
  const auto& [grid, block] = std::tie(launch.grid, launch.block);
  if (!inside(grid[0], kMostX) || !inside(grid[1], kMost) || !inside(grid[2], kMost) || !inside(block[0], kThreads) ||
      !inside(block[1], kThreads) || !inside(block[2], kThreadsZ) || block[0] * block[1] * block[2] > kThreads)
    return refusal(GateRule::Refused);
  if (launch.cooperative) return refusal(GateRule::Cooperative);
  if (launch.cluster) return refusal(GateRule::ClusterLaunch);
  if (launch.programmatic) return refusal(GateRule::ProgrammaticLaunch);
  if (kernel.refusal) return kernel.refusal;
  if (device.shared_left < kernel.shared_behind) return refusal(GateRule::SharedRoom);
  const std::uint64_t blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];  // CUDA's limits: below 2^63
  if (blocks >> 32 != 0) return refusal(GateRule::GridSize);
  const std::uint64_t together = std::uint64_t{device.sms} * device.occupancy;
  if (kernel.waits && blocks <= together) return refusal(GateRule::WaitsForAll);
  return std::nullopt;
}

}  // namespace sluice::gpu
