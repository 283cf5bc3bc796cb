// SPDX-License-Identifier: Apache-2.0
// Graphs of the driver for tests: kernel nodes one after the other, in the order in which they were added.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/fake_cuda/fake.h"

namespace sluice::fake {

namespace {

struct Graph;
struct Node {
  Grid grid;
  std::vector<void*> seen;  // what GetParams pointed to
  std::shared_ptr<Graph> child{};
  bool updatable = false;            // by the device
  std::vector<std::size_t> after{};  // indices of the nodes that it waits for
};
struct Graph {
  std::vector<std::shared_ptr<Node>> nodes;
};
std::shared_ptr<Graph> copy_of(const Graph& of) {
  auto made = std::make_shared<Graph>();
  for (const auto& n : of.nodes) {
    made->nodes.push_back(std::make_shared<Node>(Node{n->grid, {}}));
    made->nodes.back()->after = n->after;
    if (n->child != nullptr) made->nodes.back()->child = copy_of(*n->child);
  }
  return made;
}
struct Exec {
  std::map<Node*, Grid> grids;
  std::vector<Node*> order;
  std::shared_ptr<std::atomic<int>> under_way = std::make_shared<std::atomic<int>>(0);  // replays
};

std::mutex g_lock;
std::map<CUstream, Graph*>& capturing() {
  static auto* all = new std::map<CUstream, Graph*>;
  return *all;
}

Grid of_params(const CUDA_KERNEL_NODE_PARAMS& p) {
  return grid_of(p.func, {p.gridDimX, p.gridDimY, p.gridDimZ}, {p.blockDimX, p.blockDimY, p.blockDimZ}, p.sharedMemBytes,
                 p.kernelParams);
}
Graph* graph(CUgraph g) { return reinterpret_cast<Graph*>(g); }
Node* node(CUgraphNode n) { return reinterpret_cast<Node*>(n); }
Exec* exec(CUgraphExec e) { return reinterpret_cast<Exec*>(e); }
void add(Exec& e, const Graph& g) {
  for (const auto& n : g.nodes) {
    if (n->child != nullptr) {
      add(e, *n->child);
      continue;
    }
    e.grids[n.get()] = n->grid;
    e.order.push_back(n.get());
  }
}
void fill(Exec& e, const Graph& g) {
  e.order.clear();
  add(e, g);
}

}  // namespace

bool captured(CUstream stream, const Grid& grid) {
  const std::scoped_lock held(g_lock);
  const auto found = capturing().find(stream);
  if (found == capturing().end()) return false;
  auto& nodes = found->second->nodes;
  nodes.push_back(std::make_shared<Node>(Node{grid, {}}));
  if (nodes.size() > 1) nodes.back()->after = {nodes.size() - 2};
  return true;
}

}  // namespace sluice::fake

using namespace sluice::fake;  // NOLINT(google-build-using-namespace): the driver's names are global

extern "C" {
CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus* status) {
  const std::scoped_lock held(g_lock);
  *status = capturing().contains(s) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode) {
  const std::scoped_lock held(g_lock);
  return capturing()[s] = new Graph, CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream s, CUgraph* g) {
  const std::scoped_lock held(g_lock);
  *g = reinterpret_cast<CUgraph>(capturing().at(s));
  return capturing().erase(s), CUDA_SUCCESS;
}
CUresult cuGraphCreate(CUgraph* g, unsigned) { return *g = reinterpret_cast<CUgraph>(new Graph), CUDA_SUCCESS; }
CUresult cuGraphAddKernelNode_v2(CUgraphNode* n, CUgraph g, const CUgraphNode* after, std::size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* p) {
  auto made = std::make_shared<Node>(Node{of_params(*p), {}});
  for (std::size_t i = 0; i < graph(g)->nodes.size(); ++i)
    if (std::ranges::find(after, after + count, reinterpret_cast<CUgraphNode>(graph(g)->nodes[i].get())) != after + count)
      made->after.push_back(i);
  graph(g)->nodes.push_back(made);
  return *n = reinterpret_cast<CUgraphNode>(graph(g)->nodes.back().get()), CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS* p) {
  return node(n)->grid = of_params(*p), CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS* p) {
  Grid& g = node(n)->grid;
  node(n)->seen = pointers(g);
  *p = {};
  p->func = reinterpret_cast<CUfunction>(const_cast<Function*>(g.function));
  p->gridDimX = g.grid[0];
  p->gridDimY = g.grid[1];
  p->gridDimZ = g.grid[2];
  p->blockDimX = g.block[0];
  p->blockDimY = g.block[1];
  p->blockDimZ = g.block[2];
  p->sharedMemBytes = g.shared;
  p->kernelParams = node(n)->seen.data();
  return CUDA_SUCCESS;
}
CUresult cuGraphGetNodes(CUgraph g, CUgraphNode* nodes, std::size_t* count) {
  const std::size_t room = *count;
  *count = graph(g)->nodes.size();
  for (std::size_t i = 0; nodes != nullptr && i < std::min(room, *count); ++i)
    nodes[i] = reinterpret_cast<CUgraphNode>(graph(g)->nodes[i].get());
  return CUDA_SUCCESS;
}
CUresult cuGraphGetEdges_v2(CUgraph g, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, std::size_t* count) {
  const std::size_t room = *count;
  *count = 0;
  for (const auto& n : graph(g)->nodes)
    for (const std::size_t before : n->after) {
      if (from != nullptr && *count < room) {
        from[*count] = reinterpret_cast<CUgraphNode>(graph(g)->nodes[before].get());
        to[*count] = reinterpret_cast<CUgraphNode>(n.get());
        data[*count] = {};
      }
      ++*count;
    }
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetType(CUgraphNode n, CUgraphNodeType* type) {
  return *type = node(n)->child == nullptr ? CU_GRAPH_NODE_TYPE_KERNEL : CU_GRAPH_NODE_TYPE_GRAPH, CUDA_SUCCESS;
}
CUresult cuGraphClone(CUgraph* copy, CUgraph of) {
  return *copy = reinterpret_cast<CUgraph>(new Graph(*copy_of(*graph(of)))), CUDA_SUCCESS;
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* n, CUgraph g, const CUgraphNode*, std::size_t, CUgraph child) {
  graph(g)->nodes.push_back(std::make_shared<Node>());
  graph(g)->nodes.back()->child = copy_of(*graph(child));
  return *n = reinterpret_cast<CUgraphNode>(graph(g)->nodes.back().get()), CUDA_SUCCESS;
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode n, CUgraph* g) {
  return *g = reinterpret_cast<CUgraph>(node(n)->child.get()), CUDA_SUCCESS;
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec e, CUgraphNode n, CUgraph child) {
  for (std::size_t i = 0; i < graph(child)->nodes.size(); ++i)
    exec(e)->grids[node(n)->child->nodes[i].get()] = graph(child)->nodes[i]->grid;
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode n, CUkernelNodeAttrID which, const CUkernelNodeAttrValue* v) {
  if (which != CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) return CUDA_ERROR_NOT_SUPPORTED;
  return node(n)->updatable = v->deviceUpdatableKernelNode.deviceUpdatable != 0, CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode n, CUkernelNodeAttrID which, CUkernelNodeAttrValue* v) {
  *v = {};
  if (which == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
    v->deviceUpdatableKernelNode.deviceUpdatable = node(n)->updatable;
  return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* e, CUgraph g, unsigned long long) {
  auto* made = new Exec;
  fill(*made, *graph(g));
  return *e = reinterpret_cast<CUgraphExec>(made), CUDA_SUCCESS;
}
CUresult cuGraphExecUpdate_v2(CUgraphExec e, CUgraph g, CUgraphExecUpdateResultInfo*) {
  return fill(*exec(e), *graph(g)), CUDA_SUCCESS;
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec e, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS* p) {
  return exec(e)->grids[node(n)] = of_params(*p), CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec e, CUstream s) {
  const auto inside = in_driver();
  wait_for_room(s);
  const auto under_way = exec(e)->under_way;
  ++*under_way;
  for (Node* n : exec(e)->order) {
    const Grid grid = exec(e)->grids[n];
    enqueue(s, [grid] { execute(grid); });
  }
  enqueue(s, [under_way] { --*under_way; });
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec e) {  // as seen on an H200 (driver 580)
  const auto inside = in_driver();
  while (*exec(e)->under_way > 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph) { return CUDA_SUCCESS; }
}
