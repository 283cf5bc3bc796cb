// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which kernels and launches run transformed and which as they are, with the reason. Needs neither CUDA nor a GPU.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sw/gpu/rewrite/assemble.h"

namespace sluice::gpu {

/// One reason to run natively each; the order is the order in which they are looked at.
enum class GateRule : std::uint8_t {
  Refused,
  Cooperative,
  ClusterLaunch,
  ProgrammaticLaunch,
  NoPtx,
  Unreadable,
  GridSync,
  Clusters,
  DynamicParallelism,
  DependentLaunch,
  SetMaxRegisters,
  Collective,
  GridIdentity,
  Assert,
  BoundTexture,
  BarrierArrive,
  BarrierCount,
  BarrierName,
  ThreadExit,
  BlockIndex,
  SharedSize,
  RemoteAsync,
  CopyWithoutWait,
  FunctionPointer,
  OwnVariable,
  BypassedBarrier,
  PartialMatrix,
  Assembles,
  SharedRoom,
  GridSize,
  WaitsForAll,
  SmallNode  ///< the interposer says so, who knows how long launches of the kernel take
};
struct GateRow {
  GateRule rule;
  std::string_view name;    ///< in reports
  std::string_view native;  ///< why such a kernel or launch runs as it is, in words for a user
};
/// docs/reference/how_sharing_works.md has the same table; a test holds the two together.
[[nodiscard]] std::span<const GateRow> gate_table();
[[nodiscard]] const GateRow& gate_row(GateRule rule);

struct Refusal {
  GateRule rule;
  std::string reason;  ///< the row's words, and what is special to this case
};
[[nodiscard]] Refusal refusal(GateRule rule, const std::string& special = "");

/// What the text of a kernel says.
struct KernelStudy {
  std::optional<Refusal> refusal;
  bool threads_leave = false;  ///< threads may return before barriers of the others
  bool waits = false;          ///< its blocks may wait for other blocks: claimed one by one, begun when claimed
};
/// @param ptx  normalised
[[nodiscard]] KernelStudy study_kernel(const std::string& ptx, const std::string& symbol);

/// A kernel of a module that the service loads in place of the program's.
struct ModuleKernel {
  std::optional<Refusal> refusal;   ///< it has no transformed form
  std::string entry;                ///< name of the transformed form: the kernel's parameters and, behind them, a SluiceJob
  std::uint32_t shared_behind = 0;  ///< bytes of dynamic shared memory that its launches need more
  bool waits = false;               ///< launch with JobOptions::group 1
};
struct RewrittenModule {
  std::string text;  ///< the kernels as they are, with the transformed ones beside them; the program's own if there are none
  std::vector<char> cubin;                      ///< the same as machine code; empty if there are none
  std::map<std::string, ModuleKernel> kernels;  ///< by their names in the module
};
/// All kernels of a module, for blocks of any shape and grids of three axes. Nothing is thrown: what fails is a refusal.
/// @param runtime    PTX of runtime/quota_runtime.cuh for the device
/// @param registers  of a thread of the kernel, where the program's own machine code says so; 0: as `assemble` makes it
[[nodiscard]] RewrittenModule rewrite_module(const std::string& ptx, const std::string& runtime, const Assemble& assemble,
                                             std::uint32_t registers = 0);

/// What a program asks for when it launches. A launch that is captured into a graph is like any other.
struct LaunchFacts {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t dynamic_shared = 0;  ///< bytes
  bool cooperative = false, cluster = false, programmatic = false;
  bool operator==(const LaunchFacts&) const = default;
};
struct DeviceFacts {
  std::uint32_t sms = 0;
  std::uint32_t occupancy = 0;    ///< CTAs of the untransformed kernel on an SM, for this launch
  std::uint32_t shared_left = 0;  ///< bytes that a CTA may have more than this launch's static and dynamic shared memory
};
[[nodiscard]] std::optional<Refusal> refuse_launch(const ModuleKernel& kernel, const LaunchFacts& launch,
                                                   const DeviceFacts& device);

}  // namespace sluice::gpu
