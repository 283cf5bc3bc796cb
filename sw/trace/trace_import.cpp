// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/trace_import.h"

#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/trace/kernel_list.h"
#include "sw/workload/workload_file.h"

namespace sluice {

namespace {

/// Mean warp instructions of a warp.
std::uint32_t mean_length(const std::filesystem::path& file) {
  TraceReader reader(file);
  std::uint64_t instructions = 0, warps = 0;
  for (TraceCta cta; reader.next_cta(cta);) {
    for (const TraceWarp& warp : cta) instructions += warp.records.size();
    warps += cta.size();
  }
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(instructions / warps, 1, kMaxWarpInstructions));
}

}  // namespace

Workload import_traces(const std::vector<std::filesystem::path>& folders, const Workload& like, std::uint32_t register_unit,
                       TraceGeometry geometry) {
  Workload workload;
  for (const std::filesystem::path& folder : folders) {
    const std::string name = std::filesystem::path(folder / "x").parent_path().filename().string();
    const auto published = std::ranges::find(like.kernels, name, &KernelDescriptor::name);
    if (published == like.kernels.end())
      throw InputError(fmt::format("{}: no kernel of {} is named {}", folder.string(), like.name, name));
    const std::vector<ListedKernel> listed = read_kernel_list(folder / "kernelslist.g");
    if (listed.size() != 1) throw InputError(fmt::format("{}: {} kernels, must be one", folder.string(), listed.size()));
    KernelDescriptor kernel = *published;
    const KernelDescriptor recorded = describe(listed[0].header, register_unit);
    const bool same_grid = geometry == TraceGeometry::Recorded || kernel.grid_ctas == recorded.grid_ctas;
    if (geometry == TraceGeometry::Recorded) {
      kernel.grid_ctas = recorded.grid_ctas;
      kernel.block_threads = recorded.block_threads;
      kernel.registers_per_cta = recorded.registers_per_cta;
      kernel.shared_bytes_per_cta = recorded.shared_bytes_per_cta;
    } else if (kernel.block_threads != recorded.block_threads) {
      throw InputError(fmt::format("{}: CTAs of {} threads, but {} has CTAs of {}: record code for these", folder.string(),
                                   recorded.block_threads, like.name, kernel.block_threads));
    }
    kernel.behaviour = {};
    kernel.behaviour.warp_instructions = mean_length(listed[0].file);
    kernel.phase.reset();
    kernel.trace = {listed[0].file.string(), listed[0].file, trace_hash(listed[0].file), same_grid ? 0U : recorded.grid_ctas};
    workload.kernels.push_back(std::move(kernel));
  }
  return workload;
}

}  // namespace sluice
