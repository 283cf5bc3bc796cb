// SPDX-License-Identifier: Apache-2.0
// The gate's table, and what of it a kernel's text decides.
#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "sw/gpu/rewrite/barriers.h"
#include "sw/gpu/rewrite/behaviour.h"
#include "sw/gpu/rewrite/gate.h"
#include "sw/gpu/rewrite/join.h"

namespace sluice::gpu {

namespace {

using R = GateRule;
constexpr GateRow kTable[] = {
    {R::Refused, "refused", "CUDA refuses a grid or a block of this shape"},
    {R::Cooperative, "cooperative", "launched cooperatively: all blocks would have to be resident at once"},
    {R::ClusterLaunch, "cluster launch", "launched in clusters: the hardware places the blocks of a cluster together"},
    {R::ProgrammaticLaunch, "programmatic launch", "programmatic dependent launch: the next grid waits for CTAs, not for blocks"},
    {R::NoPtx, "no PTX", "the module has no PTX of this kernel"},
    {R::Unreadable, "unreadable", "the PTX cannot be read"},
    {R::GridSync, "grid sync", "cooperative grid synchronisation: all blocks would have to be resident at once"},
    {R::Clusters, "clusters", "thread block clusters: the hardware places the blocks of a cluster together"},
    {R::DynamicParallelism, "dynamic parallelism", "dynamic parallelism: what a CTA launches, or sets in a graph, belongs to it"},
    {R::DependentLaunch, "dependent launch", "programmatic dependent launch: the next grid waits for CTAs, not for blocks"},
    {R::SetMaxRegisters, "setmaxnreg", "setmaxnreg: registers that one block gave away would be missing in the next"},
    {R::Collective, "collective", "a collective of several GPUs by its name: it waits for its peers"},
    {R::GridIdentity, "grid identity", "it reads %gridid: one job is several grids"},
    {R::Assert, "assert", "assert: its message would name the persistent CTA, not the block"},
    {R::BoundTexture, "bound texture", "textures or surfaces that are bound by the module's name"},
    {R::BarrierArrive, "barrier arrive", "barrier.arrive: what one block leaves over would count in the next"},
    {R::BarrierCount, "barrier count", "barrier 0 with a count of threads"},
    {R::BarrierName, "barrier name", "barriers named by a register, or all sixteen in use: none is left for a block's end"},
    {R::ThreadExit, "thread exit", "inline assembly ends a thread (exit): threads of a persistent CTA outlive the block"},
    {R::BlockIndex, "block index", "the block index is read other than by a 32-bit mov (inline assembly): it cannot be replaced"},
    {R::SharedSize, "shared size", "it reads how much shared memory it has: the runtime has some beside it"},
    {R::RemoteAsync, "remote asynchronous",
     "asynchronous work that a block's end cannot wait for (st.async, red.async, tcgen05)"},
    {R::CopyWithoutWait, "copy without wait", "bulk copies into shared memory for which nobody waits"},
    {R::FunctionPointer, "function pointer",
     "it calls through pointers, and functions of the module read the block index or have barriers"},
    {R::OwnVariable, "own variable", "a global variable declared inside a function would exist twice"},
    {R::BypassedBarrier, "bypassed barrier",
     "a barrier other than __syncthreads() that threads may pass by, as after an early return: they are only counted off at "
     "__syncthreads()"},
    {R::PartialMatrix, "partial matrix", "warp-group matrix instructions where warps may not be whole at a block's end"},
    {R::Assembles, "assembles", "the transformed PTX does not assemble"},
    {R::SharedRoom, "shared room", "no room for the runtime's state behind the kernel's shared memory"},
    {R::GridSize, "grid size", "a grid of 2^32 blocks or more: the task queue takes fewer"},
    {R::WaitsForAll, "waits for all",
     "its blocks wait for others, and all of them fit on the GPU: they may count on running together"},
    {R::SmallNode, "small node", "a graph's node of less than two rounds that is not known to last: a node cannot change later"},
};

struct Mark {
  R rule;
  const char* pattern;
};
/// What the text of a kernel, and of what it reaches, must not have.
constexpr Mark kMarks[] = {
    {R::GridSync, R"(%envreg|cudaCGSynchronize|cudaCGGetIntrinsicHandle)"},
    {R::Clusters,
     R"(%n?cluster|%is_explicit_cluster|\.reqnctapercluster|\.explicitcluster|\.blocksareclusters|\bbarrier\.cluster|\bmapa\b|\bclusterlaunchcontrol|\b(ld|st|atom|red)\.[\w.:]*shared::cluster|multicast::cluster)"},
    {R::DynamicParallelism, R"(cudaGetParameterBuffer|cudaLaunchDevice|__cudaCDP2|\bcudaGraph[A-Z]|\bcudaGetCurrentGraph)"},
    {R::DependentLaunch, R"(\bgriddepcontrol\b)"},
    {R::SetMaxRegisters, R"(\bsetmaxnreg\b)"},
    {R::GridIdentity, R"(%gridid\b)"},
    {R::Assert, R"(\b__assertfail\b)"},
    {R::BoundTexture, R"(\.(texref|surfref|samplerref)\b)"},
    {R::BarrierArrive, R"(\b(bar|barrier)(\.cta)?\.arrive\b)"},
    {R::BarrierCount, R"(\b(bar|barrier)(\.cta)?(\.sync(\.aligned)?\s+0\s*,|\.red[.\w]*\s+[^,;]+,\s*0\s*,[^,;]+,[^;]+;))"},
    {R::ThreadExit, R"(\bexit;)"},
    {R::SharedSize, R"(%(total|dynamic|aggr)_smem_size)"},
    {R::RemoteAsync, R"(\bst\.async\b|\bred\.async\b|\btcgen05\b)"},
};

bool found(const std::string& text, const char* pattern) { return std::regex_search(text, std::regex(pattern)); }

}  // namespace

std::span<const GateRow> gate_table() { return kTable; }
const GateRow& gate_row(GateRule rule) { return *std::ranges::find(kTable, rule, &GateRow::rule); }
Refusal refusal(GateRule rule, const std::string& special) {
  return {rule, fmt::format("{}{}{}", gate_row(rule).native, special.empty() ? "" : ": ", special)};
}

KernelStudy study_kernel(const std::string& ptx, const std::string& symbol) {
  KernelStudy study;
  const auto refuse = [&](R rule) {
    study.refusal = refusal(rule);
    return study;
  };
  const std::vector<Item> items = items_of(ptx);
  static_cast<void>(find_entry(ptx, symbol));
  const Reach reach = reach_of(ptx, items, symbol);
  std::string variables;
  for (const Item& item : items)
    if (item.kind == Item::Kind::Variable && reach.names.contains(item.name))
      variables += ptx.substr(item.begin, std::min<std::size_t>(item.end - item.begin, 200)) + "\n";
  const std::string text = reach.text + variables;
  const Behaviour behaviour = behaviour_of(ptx, reach);
  study.waits = behaviour.waits;
  study.threads_leave = behaviour.bypassed_barrier;

  for (const Mark& mark : kMarks) {
    if (mark.rule == R::GridIdentity && found(symbol, "nccl|nvshmem")) return refuse(R::Collective);
    if (mark.rule == R::ThreadExit && !free_barrier(text)) return refuse(R::BarrierName);
    if (found(text, mark.pattern)) return refuse(mark.rule);
    if (mark.rule == R::ThreadExit && found(std::regex_replace(text, block_index(), ""), "%n?ctaid"))
      return refuse(R::BlockIndex);
  }
  if (found(text, R"(\bcp\.async\.bulk[\w.:]*mbarrier)") && !found(text, R"(\bmbarrier\.(test|try)_wait)"))
    return refuse(R::CopyWithoutWait);
  if (reach.indirect && !functions_changed(ptx, reach, study.threads_leave).empty()) return refuse(R::FunctionPointer);
  static const std::regex pointer(R"(\.ptr\s+\.(global|const)\b)");  // of a parameter: where it points to
  if (found(std::regex_replace(reach.text, pointer, ""), R"((^|[;{}\s])\.(global|const)\s+\.)")) return refuse(R::OwnVariable);
  // A barrier with a count of threads waits for these, whoever is done; one for all threads needs them.
  if (study.threads_leave && (found(std::regex_replace(text, plain_barrier(), ""), R"(\b(bar|barrier)(\.cta)?\.(sync|red))")))
    return refuse(R::BypassedBarrier);
  if (found(text, R"(\bwgmma\b)") && study.threads_leave) return refuse(R::PartialMatrix);
  return study;
}

}  // namespace sluice::gpu
