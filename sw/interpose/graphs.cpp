// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/graphs.h"

#include <algorithm>
#include <cstring>

#include "sw/interpose/program.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

CUfunction function_of(const Graphs::Params& p) { return p.func != nullptr ? p.func : reinterpret_cast<CUfunction>(p.kern); }

ProgramLaunch launch_of(const Graphs::Params& p) {
  ProgramLaunch launch{function_of(p), nullptr, {}, p.kernelParams, p.extra};
  launch.facts.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  launch.facts.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  launch.facts.dynamic_shared = p.sharedMemBytes;
  return launch;
}

Graphs::Params params_of(const Graphs::Params& asked, const Transformed& ours) {
  Graphs::Params p = asked;
  p.func = ours.function;
  p.kern = nullptr;
  p.gridDimX = ours.grid[0];
  p.gridDimY = ours.grid[1];
  p.gridDimZ = 1;
  p.sharedMemBytes = ours.shared;
  p.kernelParams = const_cast<void**>(ours.parameters.data());  // the driver only reads
  p.extra = nullptr;
  return p;
}

/// What the node's parameters were before we changed them.
void restore(Graphs::Params& params, const Program::Original& original) {
  SluiceJob job;
  std::memcpy(&job, params.kernelParams[original.bytes.size()], sizeof job);
  params.func = original.function;
  params.kern = original.kernel;  // the CUDA runtime knows its kernels by it
  params.gridDimX = job.grid_x;
  params.gridDimY = job.grid_y;
  params.gridDimZ = job.grid_z;
  params.sharedMemBytes -= original.shared_behind;
}

/// Calls `each` for the kernel nodes of a graph and of its child graphs.
void kernel_nodes(CUgraph graph, const std::function<void(CUgraphNode, Graphs::Params&)>& each) {
  std::size_t count = 0;
  if (SLUICE_REAL(cuGraphGetNodes)(graph, nullptr, &count) != CUDA_SUCCESS) return;
  std::vector<CUgraphNode> nodes(count);
  if (count > 0 && SLUICE_REAL(cuGraphGetNodes)(graph, nodes.data(), &count) != CUDA_SUCCESS) return;
  for (CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    if (SLUICE_REAL(cuGraphNodeGetType)(node, &type) != CUDA_SUCCESS) continue;
    CUgraph child = nullptr;
    if (type == CU_GRAPH_NODE_TYPE_GRAPH && SLUICE_REAL(cuGraphChildGraphNodeGetGraph)(node, &child) == CUDA_SUCCESS)
      kernel_nodes(child, each);
    Graphs::Params params{};
    if (type == CU_GRAPH_NODE_TYPE_KERNEL && SLUICE_REAL(cuGraphKernelNodeGetParams_v2)(node, &params) == CUDA_SUCCESS)
      each(node, params);
  }
}

}  // namespace

CUresult Graphs::set_params(CUgraph graph, const Params& params, const WithParams& driver) {
  std::string name, reason;
  std::unique_lock held(program_.lock());
  std::optional<Transformed> ours;
  if (graph == nullptr || !bodies_.contains(graph)) ours = program_.transformed(held, launch_of(params), true, name, reason);
  held.unlock();
  return ours ? driver(params_of(params, *ours)) : driver(params);
}

CUresult Graphs::set_exec_params(CUgraphExec exec, CUgraphNode node, const Params& params, const WithParams& driver) {
  Exec fresh;  // with the node alone: a replay with what it had may be under way
  Node& now = fresh.nodes[node];
  std::unique_lock held(program_.lock());
  std::optional<Transformed> ours;
  if (execs_.contains(exec)) ours = program_.transformed(held, launch_of(params), true, now.kernel, now.reason);
  Params set = ours ? params_of(params, *ours) : params;
  if (ours && !give_block(held, set, now, fresh)) {
    set = params;
    now.reason = "no memory for the job's state";
  }
  held.unlock();
  const CUresult result = driver(set);
  held.lock();
  const auto known = execs_.find(exec);
  if (result == CUDA_SUCCESS && known != execs_.end()) {
    count(known->second);
    std::swap(known->second.nodes[node], now);
    if (known->second.lane == nullptr) known->second.lane = fresh.lane;
    fresh.lane = known->second.lane;
    fresh.last = known->second.last;
    sum_up(known->second);
  }
  drop(fresh);
  return result;
}

void Graphs::to_original(Params& params) const {
  const std::scoped_lock held(program_.lock());
  if (const auto original = program_.original(params.func); original && params.kernelParams != nullptr)
    restore(params, *original);
}

std::shared_ptr<Slot> Graphs::block(std::unique_lock<std::mutex>& held, Lane& lane, unsigned ctas) {
  for (auto spare = spare_.begin(); spare != spare_.end(); ++spare) {
    if (spare->context_state != lane.context_state || spare->slot->ctas < ctas ||
        (spare->slot->told.word == nullptr) == lane.watched)
      continue;
    if (spare->free != nullptr && SLUICE_REAL(cuEventQuery)(spare->free) != CUDA_SUCCESS) continue;
    std::shared_ptr<Slot> slot = std::move(spare->slot);
    spare_.erase(spare);
    std::erase(lane.slots, slot);
    return slot;
  }
  held.unlock();  // memory may have to wait for the GPU, and the GPU for the lanes' thread
  std::shared_ptr<Slot> slot = Lanes::slot(*lane.context_state, ctas, lane.watched);
  held.lock();
  return slot;
}

bool Graphs::give_block(std::unique_lock<std::mutex>& held, Params& params, Node& node, Exec& exec) {
  const auto original = program_.original(params.func);
  if (!original) return false;
  if (exec.lane == nullptr) exec.lane = program_.lanes().of_graphs(held);
  if (exec.lane == nullptr) return false;
  Lane& lane = *exec.lane;
  if (original->waits) program_.lanes().watch(lane);
  if (node.slot == nullptr || node.slot->ctas < params.gridDimY) {
    node.slot = block(held, lane, params.gridDimY);
    if (node.slot == nullptr) return false;
    lane.slots.push_back(node.slot);
  }
  Transformed ours;
  ours.function = params.func;
  ours.grid[0] = params.gridDimX;
  ours.grid[1] = params.gridDimY;
  ours.shared = params.sharedMemBytes;
  ours.bytes = original->bytes;
  ours.waits = original->waits;
  ours.demand.name = original->name;
  ours.job = std::make_shared<SluiceJob>();
  std::memcpy(ours.job.get(), params.kernelParams[original->bytes.size()], sizeof(SluiceJob));
  ours.job->control = reinterpret_cast<SluiceControl*>(node.slot->control);
  ours.job->orders = reinterpret_cast<SluiceOrders*>(lane.orders);
  ours.blocks = ours.job->blocks;
  ours.parameters.assign(params.kernelParams, params.kernelParams + original->bytes.size());
  ours.parameters.push_back(ours.job.get());
  node.slot->node = true;
  node.slot->pending.assign(1, ours.pending({{}, {params.blockDimX, params.blockDimY, params.blockDimZ}}));
  node.kernel = original->name;
  node.reason.clear();
  node.blocks = ours.blocks;
  node.demand = program_.demand(original->function, params.blockDimX * params.blockDimY * params.blockDimZ,
                                params.sharedMemBytes - original->shared_behind);
  // The caller's parameters become the copies, which live as long as the node has its launch.
  Pending& kept = node.slot->pending.front();
  node.pointers.clear();
  for (const std::size_t at : kept.at) node.pointers.push_back(kept.arguments.data() + at);
  params.kernelParams = node.pointers.data();
  params.extra = nullptr;
  return true;
}

void Graphs::give_blocks(std::unique_lock<std::mutex>& held, CUgraph graph, Exec& exec) {
  kernel_nodes(graph, [&](CUgraphNode at, Params& params) {
    Node& node = exec.nodes[at];
    const auto original = program_.original(params.func);
    if (!original) {
      std::tie(node.kernel, node.reason) = program_.name_and_reason(function_of(params));
      std::string reason;
      if (program_.transformed(held, launch_of(params), false, node.kernel, reason)) reason = "in the body of a conditional node";
      node.reason = reason;
      return;
    }
    if (give_block(held, params, node, exec) && SLUICE_REAL(cuGraphKernelNodeSetParams_v2)(at, &params) == CUDA_SUCCESS) return;
    // As the program had it: without a control block ours cannot run.
    restore(params, *original);
    node.kernel = original->name;
    node.reason = "no memory for the job's state";
    node.slot = nullptr;
    static_cast<void>(SLUICE_REAL(cuGraphKernelNodeSetParams_v2)(at, &params));
  });
}

void Graphs::sum_up(Exec& exec) {
  exec.blocks = 0;
  exec.largest = {};
  for (const auto& [at, node] : exec.nodes) {
    if (!node.reason.empty()) continue;
    exec.blocks += node.blocks;
    if (node.demand.threads >= exec.largest.threads) exec.largest = node.demand;
  }
}

CUresult Graphs::instantiate(CUgraph graph, CUgraphExec* exec, const std::function<CUresult()>& driver) {
  Exec made;
  std::unique_lock held(program_.lock());
  if (graph != nullptr) give_blocks(held, graph, made);
  held.unlock();
  const CUresult result = driver();
  held.lock();
  sum_up(made);
  if (result == CUDA_SUCCESS && exec != nullptr)
    execs_[*exec] = std::move(made);
  else
    drop(made);
  return result;
}

CUresult Graphs::update(CUgraphExec exec, CUgraph graph, const std::function<CUresult()>& driver) {
  Exec made;
  std::unique_lock held(program_.lock());
  if (graph != nullptr) give_blocks(held, graph, made);
  held.unlock();
  const CUresult result = driver();
  held.lock();
  const auto known = execs_.find(exec);
  if (result != CUDA_SUCCESS || known == execs_.end()) {
    drop(made);
    return result;
  }
  count(known->second);
  sum_up(made);
  std::swap(made.nodes, known->second.nodes);
  std::swap(made.largest, known->second.largest);
  std::swap(made.blocks, known->second.blocks);
  if (known->second.lane == nullptr) known->second.lane = made.lane;
  made.last = known->second.last;  // a replay with the old blocks may be under way
  drop(made);
  return result;
}

CUresult Graphs::destroy(CUgraphExec exec, const std::function<CUresult()>& driver) {
  const CUresult result = driver();
  const std::scoped_lock held(program_.lock());
  const auto known = execs_.find(exec);
  if (result != CUDA_SUCCESS || known == execs_.end()) return result;
  count(known->second);
  drop(known->second);
  execs_.erase(known);
  return result;
}

void Graphs::drop(Exec& exec) {
  const bool over = exec.last == nullptr || SLUICE_REAL(cuEventQuery)(exec.last) != CUDA_ERROR_NOT_READY;
  for (auto& [at, node] : exec.nodes)
    if (node.slot != nullptr) {
      if (over) std::erase(exec.lane->slots, node.slot);  // else its last replay may need later grids
      spare_.push_back({node.slot, exec.lane->context_state, exec.last});
    }
}

void Graphs::body(CUgraph graph) {
  const std::scoped_lock held(program_.lock());
  bodies_.insert(graph);
}

bool Graphs::captured_into_body(CUstream stream) const {
  if (bodies_.empty()) return false;
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  using V2 = CUresult(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**, std::size_t*);
  const auto info = real<V2>(kcuStreamGetCaptureInfo_v2);
  return info(stream, &status, &id, &graph, nullptr, nullptr) == CUDA_SUCCESS && bodies_.contains(graph);
}

void Graphs::forget() {
  execs_.clear();
  bodies_.clear();
  open_.clear();
  spare_.clear();
}

}  // namespace sluice::interpose
