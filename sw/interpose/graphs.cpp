// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/graphs.h"

#include <algorithm>
#include <set>
#include <utility>

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

/// Why the node keeps the program's kernel; empty: nothing of it says so.
std::string keeps_its_own(CUgraphNode node) {
  const auto has = [&](CUkernelNodeAttrID which) {
    CUkernelNodeAttrValue value{};
    return SLUICE_REAL(cuGraphKernelNodeGetAttribute)(node, which, &value) == CUDA_SUCCESS ? value : CUkernelNodeAttrValue{};
  };
  const auto clusters = has(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
  if (has(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative != 0) return std::string(gpu::gate_row(gpu::GateRule::Cooperative).native);
  if (clusters.x * clusters.y * clusters.z > 1) return std::string(gpu::gate_row(gpu::GateRule::ClusterLaunch).native);
  if (has(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE).deviceUpdatableKernelNode.deviceUpdatable != 0)
    return "a node of a graph that the device may change";
  return "";
}

template <class T, class Get>
std::vector<T> all_of(const Get& get) {
  std::size_t count = 0;
  std::vector<T> all;
  if (get(nullptr, &count) == CUDA_SUCCESS && count > 0) all.resize(count);
  if (count == 0 || get(all.data(), &count) != CUDA_SUCCESS) all.clear();
  return all;
}

struct Edges {
  std::vector<CUgraphNode> from, to;
  std::vector<CUgraphEdgeData> data;
};
Edges edges_of(CUgraph graph) {
  const auto first = real<CUresult(CUgraph, CUgraphNode*, CUgraphNode*, std::size_t*)>(kcuGraphGetEdges);  // before CUDA 12.3
  const auto with = real<CUresult(CUgraph, CUgraphNode*, CUgraphNode*, CUgraphEdgeData*, std::size_t*)>(kcuGraphGetEdges_v2);
  const auto get = [&](Edges& e, std::size_t& count) {
    return with != nullptr ? with(graph, e.from.data(), e.to.data(), e.data.data(), &count)
                           : first(graph, e.from.data(), e.to.data(), &count);
  };
  Edges edges;
  std::size_t count = 0;
  if (get(edges, count) != CUDA_SUCCESS || count == 0) return edges;
  edges.from.resize(count);
  edges.to.resize(count);
  edges.data.resize(count);
  return get(edges, count) == CUDA_SUCCESS ? edges : Edges{};
}

/// Nodes that wait for something other than another's end, and those that they wait for.
std::set<CUgraphNode> dependent(CUgraph graph) {
  std::set<CUgraphNode> found;
  const Edges edges = edges_of(graph);
  for (std::size_t i = 0; i < edges.from.size(); ++i)
    if (edges.data[i].type != CU_GRAPH_DEPENDENCY_TYPE_DEFAULT || edges.data[i].from_port != 0)
      found.insert({edges.from[i], edges.to[i]});
  return found;
}

std::vector<CUgraphNode> nodes_of(CUgraph graph) {
  return all_of<CUgraphNode>([&](CUgraphNode* to, std::size_t* count) { return SLUICE_REAL(cuGraphGetNodes)(graph, to, count); });
}

/// Nodes that may run side by side, at most: as many as chains that all of them are divided into.
std::size_t branches(CUgraph graph) {
  const std::vector<CUgraphNode> nodes = nodes_of(graph);
  std::size_t chains = nodes.size();
  std::set<CUgraphNode> has_next, has_previous;
  const Edges edges = edges_of(graph);
  for (std::size_t i = 0; i < edges.from.size(); ++i) {
    if (has_next.contains(edges.from[i]) || has_previous.contains(edges.to[i])) continue;
    has_next.insert(edges.from[i]);
    has_previous.insert(edges.to[i]);
    --chains;
  }
  for (CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    CUgraph inner = nullptr;
    if (SLUICE_REAL(cuGraphNodeGetType)(node, &type) == CUDA_SUCCESS && type == CU_GRAPH_NODE_TYPE_GRAPH &&
        SLUICE_REAL(cuGraphChildGraphNodeGetGraph)(node, &inner) == CUDA_SUCCESS)
      chains += std::max<std::size_t>(branches(inner), 1) - 1;
  }
  return chains;
}

void put_back(const std::vector<std::pair<CUgraphNode, Graphs::Params>>& own) {
  for (const auto& [node, params] : own) static_cast<void>(SLUICE_REAL(cuGraphKernelNodeSetParams_v2)(node, &params));
}

}  // namespace

CUresult Graphs::set_kernel(CUgraphExec exec, CUgraphNode node, const Params& params,
                            const std::function<CUresult(const Params&)>& driver) {
  Exec fresh;  // with the node alone: a replay with what it had may be under way
  Node& now = fresh.nodes[node];
  Params set = params;
  std::unique_lock held(program_.lock());
  if (const auto known = execs_.find(exec); known != execs_.end()) {
    fresh.native = known->second.native;
    static_cast<void>(give_block(held, set, keeps_its_own(node), now, fresh));
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

std::shared_ptr<Slot> Graphs::block(std::unique_lock<std::mutex>& held, Lane& lane) {
  for (auto spare = spare_.begin(); spare != spare_.end(); ++spare) {
    if (spare->context_state != lane.context_state || (spare->slot->told.word == nullptr) == lane.watched) continue;
    if (spare->free != nullptr && SLUICE_REAL(cuEventQuery)(spare->free.get()) != CUDA_SUCCESS) continue;
    std::shared_ptr<Slot> slot = std::move(spare->slot);
    spare_.erase(spare);
    std::erase(lane.slots, slot);
    return slot;
  }
  held.unlock();  // memory may have to wait for the GPU, and the GPU for the lanes' thread
  std::shared_ptr<Slot> slot = Lanes::slot(*lane.context_state, lane.watched);
  held.lock();
  return slot;
}

/// Makes `params` ours. @param native  why they stay the program's; empty: perhaps they need not
bool Graphs::give_block(std::unique_lock<std::mutex>& held, Params& params, const std::string& native, Node& node, Exec& exec) {
  const ProgramLaunch launch = launch_of(params);
  CUcontext here = nullptr;
  SLUICE_REAL(cuCtxGetCurrent)(&here);
  node.kernel = program_.name_of(launch.function);
  node.reason = exec.native.empty() ? native : exec.native;
  if (params.ctx != nullptr && params.ctx != here) node.reason = "a kernel of another context than the graph's";
  if (!node.reason.empty()) return false;
  const std::optional<Transformed> ours = program_.transformed(held, launch, true, node.kernel, node.reason);
  if (ours) node.reason = program_.not_worth_it(node.kernel, *ours, true);
  if (!node.reason.empty()) return false;
  node.reason = "no memory for the job's state";
  if (exec.lane == nullptr) exec.lane = program_.lanes().of_graphs(held);
  if (exec.lane == nullptr) return false;
  Lane& lane = *exec.lane;
  if (ours->waits) program_.lanes().watch(lane);
  if (lane.watched) program_.make_spares(held, *lane.context_state);
  node.slot = block(held, lane);
  if (node.slot == nullptr) return false;
  lane.slots.push_back(node.slot);
  ours->job->control = reinterpret_cast<SluiceControl*>(node.slot->control);
  ours->job->orders = reinterpret_cast<SluiceOrders*>(lane.orders);
  node.slot->node = true;
  node.slot->pending.assign(1, ours->pending(launch.facts));
  node.reason.clear();
  node.blocks = ours->blocks;
  node.demand = ours->demand;
  Pending& kept = node.slot->pending.front();  // its copies live as long as the node has the launch
  node.pointers.clear();
  for (const std::size_t at : kept.at) node.pointers.push_back(kept.arguments.data() + at);
  params.func = ours->function;
  params.kern = nullptr;
  params.gridDimX = ours->grid[0];
  params.gridDimY = ours->grid[1];
  params.gridDimZ = 1;
  params.sharedMemBytes = ours->shared;
  params.kernelParams = node.pointers.data();
  params.extra = nullptr;
  return true;
}

/// Each branch may sleep in a channel of the driver's choice, and orders need others.
void Graphs::restrict_to_channels(CUgraph graph, Exec& exec) {
  if (graph != nullptr && exec.native.empty() && program_.lanes().shares().changes() &&
      branches(graph) > channels_of_process() / 2)
    exec.native = "a graph with more branches than half of the process's channels to the GPU";
}

/// @param child  of the executable's graph, which `graph` is the child graph of; null: it is that graph
Graphs::Own Graphs::give_blocks(std::unique_lock<std::mutex>& held, CUgraph graph, CUgraphNode child, Exec& exec) {
  Own own;
  const std::set<CUgraphNode> tied = dependent(graph);
  for (CUgraphNode at : nodes_of(graph)) {
    CUgraphNodeType type{};
    CUgraph inner = nullptr;
    Params params{};
    if (SLUICE_REAL(cuGraphNodeGetType)(at, &type) != CUDA_SUCCESS) continue;
    if (type == CU_GRAPH_NODE_TYPE_GRAPH && SLUICE_REAL(cuGraphChildGraphNodeGetGraph)(at, &inner) == CUDA_SUCCESS) {
      const Own more = give_blocks(held, inner, child == nullptr ? at : child, exec);
      own.insert(own.end(), more.begin(), more.end());
    }
    if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      exec.nodes[at].kernel = std::string("?");  // GCC 12 warns of nothing where it is assigned
      exec.nodes[at].reason = "in the body of a conditional node";
    }
    if (type != CU_GRAPH_NODE_TYPE_KERNEL || SLUICE_REAL(cuGraphKernelNodeGetParams_v2)(at, &params) != CUDA_SUCCESS) continue;
    Node& node = exec.nodes[at];
    node.child = child;
    Params set = params;
    const std::string native =
        tied.contains(at) ? std::string(gpu::gate_row(gpu::GateRule::ProgrammaticLaunch).native) : keeps_its_own(at);
    if (!give_block(held, set, native, node, exec)) continue;
    params.kernelParams = set.kernelParams;  // the job is behind what the program's kernel takes
    params.extra = nullptr;
    own.emplace_back(at, params);
    if (SLUICE_REAL(cuGraphKernelNodeSetParams_v2)(at, &set) != CUDA_SUCCESS) node.reason = "the driver does not take ours";
  }
  return own;
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

CUresult Graphs::instantiate(CUgraph graph, CUgraphExec* exec, bool by_device, const Driver& driver) {
  Exec made;
  if (by_device) made.native = "a graph that the device may launch";
  std::unique_lock held(program_.lock());
  restrict_to_channels(graph, made);
  const Own own = graph == nullptr ? Own{} : give_blocks(held, graph, nullptr, made);
  held.unlock();
  const CUresult result = driver();
  put_back(own);
  held.lock();
  sum_up(made);
  if (result == CUDA_SUCCESS && exec != nullptr)
    execs_[*exec] = std::move(made);
  else
    drop(made);
  return result;
}

CUresult Graphs::update(CUgraphExec exec, CUgraph graph, const Driver& driver) { return replace(exec, graph, nullptr, driver); }
CUresult Graphs::set_child(CUgraphExec exec, CUgraphNode node, CUgraph child, const Driver& driver) {
  return replace(exec, child, node, driver);
}

/// @param child  what is replaced; null: all
CUresult Graphs::replace(CUgraphExec exec, CUgraph graph, CUgraphNode child, const Driver& driver) {
  Exec made;
  std::unique_lock held(program_.lock());
  if (const auto known = execs_.find(exec); known != execs_.end()) made.native = known->second.native;
  restrict_to_channels(graph, made);
  const Own own = graph == nullptr ? Own{} : give_blocks(held, graph, child, made);
  held.unlock();
  const CUresult result = driver();
  put_back(own);
  held.lock();
  const auto known = execs_.find(exec);
  if (result == CUDA_SUCCESS && known != execs_.end()) {
    Exec& now = known->second;
    count(now);
    std::swap(made.nodes, now.nodes);
    for (auto& [at, node] : made.nodes)
      if (child != nullptr && node.child != child && at != child) now.nodes.insert({at, std::exchange(node, {})});
    if (now.lane == nullptr) now.lane = made.lane;
    made.lane = now.lane;
    made.last = now.last;  // a replay with the old blocks may be under way
    sum_up(now);
  }
  drop(made);
  return result;
}

CUresult Graphs::destroy(CUgraphExec exec, const std::function<CUresult()>& driver) {
  std::unique_lock held(program_.lock());
  auto known = execs_.extract(exec);  // before the driver, which may give the handle to another
  held.unlock();
  if (!known.empty() && known.mapped().last != nullptr) {  // the driver would wait for it under a lock that orders need
    const Relaxed relaxed;
    SLUICE_REAL(cuEventSynchronize)(known.mapped().last.get());
  }
  const CUresult result = driver();
  held.lock();
  if (known.empty()) return result;
  if (result != CUDA_SUCCESS) {
    execs_.insert(std::move(known));
    return result;
  }
  count(known.mapped());
  drop(known.mapped());
  return result;
}

void Graphs::drop(Exec& exec) {
  const bool over = exec.last == nullptr || SLUICE_REAL(cuEventQuery)(exec.last.get()) != CUDA_ERROR_NOT_READY;
  for (auto& [at, node] : exec.nodes)
    if (node.slot != nullptr) {
      if (over) std::erase(exec.lane->slots, node.slot);  // else its last replay may need later grids
      spare_.push_back({node.slot, exec.lane->context_state, exec.last});
    }
}

void Graphs::context_ends(ContextId context) {
  const auto of = [&](const auto& state) { return state != nullptr && state->id() == context; };
  count_all();
  std::erase_if(execs_, [&](const auto& e) { return e.second.lane != nullptr && of(e.second.lane->context_state); });
  std::erase_if(spare_, [&](const Spare& s) { return of(s.context_state); });
  std::erase_if(open_, [&](const Timed& t) { return t.context == context; });
}

void Graphs::forget() {
  execs_.clear();
  open_.clear();
  spare_.clear();
}

}  // namespace sluice::interpose
