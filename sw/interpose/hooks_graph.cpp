// SPDX-License-Identifier: Apache-2.0
// Graphs: the program's kernels become ours in their nodes, and ours become the program's where it asks.
#include <type_traits>

#include "sw/interpose/hooks.h"
#include "sw/interpose/program.h"

namespace sluice::interpose {

namespace {

using V1 = CUDA_KERNEL_NODE_PARAMS_v1;
using V2 = CUDA_KERNEL_NODE_PARAMS_v2;

Graphs& graphs() { return Program::instance().graphs(); }

template <class To, class From>
To converted(const From& from) {
  To to{};
  to.func = from.func;
  to.gridDimX = from.gridDimX;
  to.gridDimY = from.gridDimY;
  to.gridDimZ = from.gridDimZ;
  to.blockDimX = from.blockDimX;
  to.blockDimY = from.blockDimY;
  to.blockDimZ = from.blockDimZ;
  to.sharedMemBytes = from.sharedMemBytes;
  to.kernelParams = from.kernelParams;
  to.extra = from.extra;
  if constexpr (!std::is_same_v<To, V1> && !std::is_same_v<From, V1>) {
    to.kern = from.kern;
    to.ctx = from.ctx;
  }
  return to;
}

template <Symbol Own, class Params>
CUresult add_kernel(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count, const Params* params) {
  const auto driver = real<CUresult(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const Params*)>(Own);
  if (params == nullptr) return driver(node, graph, after, count, params);
  return graphs().set_params(graph, converted<V2>(*params), [&](const V2& p) {
    const auto set = converted<Params>(p);
    return driver(node, graph, after, count, &set);
  });
}
template <Symbol Own, class Params>
CUresult set_kernel(CUgraphNode node, const Params* params) {
  const auto driver = real<CUresult(CUgraphNode, const Params*)>(Own);
  if (params == nullptr) return driver(node, params);
  return graphs().set_params(nullptr, converted<V2>(*params), [&](const V2& p) {
    const auto set = converted<Params>(p);
    return driver(node, &set);
  });
}
template <Symbol Own, class Params>
CUresult set_exec_kernel(CUgraphExec exec, CUgraphNode node, const Params* params) {
  const auto driver = real<CUresult(CUgraphExec, CUgraphNode, const Params*)>(Own);
  if (params == nullptr) return driver(exec, node, params);
  return graphs().set_exec_params(exec, node, converted<V2>(*params), [&](const V2& p) {
    const auto set = converted<Params>(p);
    return driver(exec, node, &set);
  });
}
template <Symbol Own, class Params>
CUresult get_kernel(CUgraphNode node, Params* params) {
  const CUresult result = real<CUresult(CUgraphNode, Params*)>(Own)(node, params);
  if (result != CUDA_SUCCESS || params == nullptr) return result;
  V2 p = converted<V2>(*params);
  graphs().to_original(p);
  *params = converted<Params>(p);
  return result;
}
/// A node that is to be cooperative, or in clusters, becomes the program's kernel again.
CUresult set_attribute(CUgraphNode node, CUkernelNodeAttrID which, const CUkernelNodeAttrValue* value) {
  if (value != nullptr &&
      ((which == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && value->cooperative != 0) || which == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)) {
    V2 p{};
    if (SLUICE_REAL(cuGraphKernelNodeGetParams_v2)(node, &p) == CUDA_SUCCESS) {
      const CUfunction before = p.func;
      graphs().to_original(p);
      if (p.func != before) static_cast<void>(SLUICE_REAL(cuGraphKernelNodeSetParams_v2)(node, &p));
    }
  }
  return SLUICE_REAL(cuGraphKernelNodeSetAttribute)(node, which, value);
}

/// Any kind of node. @param driver  takes the parameters
template <class Driver>
CUresult any_node(CUgraph graph, CUgraphNodeParams* params, const Driver& driver) {
  if (params == nullptr || (params->type != CU_GRAPH_NODE_TYPE_KERNEL && params->type != CU_GRAPH_NODE_TYPE_CONDITIONAL))
    return driver(params);
  if (params->type == CU_GRAPH_NODE_TYPE_KERNEL)
    return graphs().set_params(graph, converted<V2>(params->kernel), [&](const V2& p) {
      CUgraphNodeParams set = *params;
      set.kernel = converted<CUDA_KERNEL_NODE_PARAMS_v3>(p);
      return driver(&set);
    });
  const CUresult result = driver(params);
  for (unsigned i = 0; result == CUDA_SUCCESS && params->conditional.phGraph_out != nullptr && i < params->conditional.size; ++i)
    graphs().body(params->conditional.phGraph_out[i]);
  return result;
}
CUresult add_node(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count, CUgraphNodeParams* params) {
  using V1Add = CUresult(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUgraphNodeParams*);
  return any_node(graph, params,
                  [&](CUgraphNodeParams* p) { return real<V1Add>(kcuGraphAddNode)(node, graph, after, count, p); });
}
CUresult add_node_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, const CUgraphEdgeData* edges, std::size_t count,
                     CUgraphNodeParams* params) {
  using V2Add = CUresult(CUgraphNode*, CUgraph, const CUgraphNode*, const CUgraphEdgeData*, std::size_t, CUgraphNodeParams*);
  return any_node(graph, params,
                  [&](CUgraphNodeParams* p) { return real<V2Add>(kcuGraphAddNode_v2)(node, graph, after, edges, count, p); });
}
CUresult set_node(CUgraphNode node, CUgraphNodeParams* params) {
  return any_node(nullptr, params, [&](CUgraphNodeParams* p) { return SLUICE_REAL(cuGraphNodeSetParams)(node, p); });
}
CUresult set_exec_node(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
  const auto driver = SLUICE_REAL(cuGraphExecNodeSetParams);
  if (params == nullptr || params->type != CU_GRAPH_NODE_TYPE_KERNEL) return driver(exec, node, params);
  return graphs().set_exec_params(exec, node, converted<V2>(params->kernel), [&](const V2& p) {
    CUgraphNodeParams set = *params;
    set.kernel = converted<CUDA_KERNEL_NODE_PARAMS_v3>(p);
    return driver(exec, node, &set);
  });
}

CUresult instantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log, std::size_t bytes) {
  using Old = CUresult(CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t);
  return graphs().instantiate(graph, exec, [&] { return real<Old>(kcuGraphInstantiate)(exec, graph, error, log, bytes); });
}
CUresult instantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log, std::size_t bytes) {
  using Old = CUresult(CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t);
  return graphs().instantiate(graph, exec, [&] { return real<Old>(kcuGraphInstantiate_v2)(exec, graph, error, log, bytes); });
}
CUresult instantiate_with_flags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return graphs().instantiate(graph, exec, [&] { return SLUICE_REAL(cuGraphInstantiateWithFlags)(exec, graph, flags); });
}
template <Symbol Own>
CUresult instantiate_with_params(CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return graphs().instantiate(graph, exec,
                              [&] { return real<decltype(cuGraphInstantiateWithParams)>(Own)(exec, graph, params); });
}
CUresult update(CUgraphExec exec, CUgraph graph, CUgraphNode* error, CUgraphExecUpdateResult* why) {
  using Old = CUresult(CUgraphExec, CUgraph, CUgraphNode*, CUgraphExecUpdateResult*);
  return graphs().update(exec, graph, [&] { return real<Old>(kcuGraphExecUpdate)(exec, graph, error, why); });
}
CUresult update_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* why) {
  return graphs().update(exec, graph, [&] { return SLUICE_REAL(cuGraphExecUpdate_v2)(exec, graph, why); });
}
CUresult exec_destroy(CUgraphExec exec) {
  return graphs().destroy(exec, [&] { return SLUICE_REAL(cuGraphExecDestroy)(exec); });
}
template <Symbol Own, bool PerThread>
CUresult graph_launch(CUgraphExec exec, CUstream stream) {
  return graphs().launch(exec, stream == nullptr && PerThread ? CU_STREAM_PER_THREAD : stream,
                         [&] { return real<decltype(cuGraphLaunch)>(Own)(exec, stream); });
}

}  // namespace

void* graph_hook(Symbol symbol) {
  switch (symbol) {
    case kcuGraphAddKernelNode: return address(add_kernel<kcuGraphAddKernelNode, V1>);
    case kcuGraphAddKernelNode_v2: return address(add_kernel<kcuGraphAddKernelNode_v2, V2>);
    case kcuGraphAddNode: return address(add_node);
    case kcuGraphAddNode_v2: return address(add_node_v2);
    case kcuGraphNodeSetParams: return address(set_node);
    case kcuGraphExecNodeSetParams: return address(set_exec_node);
    case kcuGraphKernelNodeSetParams: return address(set_kernel<kcuGraphKernelNodeSetParams, V1>);
    case kcuGraphKernelNodeSetParams_v2: return address(set_kernel<kcuGraphKernelNodeSetParams_v2, V2>);
    case kcuGraphKernelNodeGetParams: return address(get_kernel<kcuGraphKernelNodeGetParams, V1>);
    case kcuGraphKernelNodeGetParams_v2: return address(get_kernel<kcuGraphKernelNodeGetParams_v2, V2>);
    case kcuGraphKernelNodeSetAttribute: return address(set_attribute);
    case kcuGraphExecKernelNodeSetParams: return address(set_exec_kernel<kcuGraphExecKernelNodeSetParams, V1>);
    case kcuGraphExecKernelNodeSetParams_v2: return address(set_exec_kernel<kcuGraphExecKernelNodeSetParams_v2, V2>);
    case kcuGraphInstantiate: return address(instantiate);
    case kcuGraphInstantiate_v2: return address(instantiate_v2);
    case kcuGraphInstantiateWithFlags: return address(instantiate_with_flags);
    case kcuGraphInstantiateWithParams: return address(instantiate_with_params<kcuGraphInstantiateWithParams>);
    case kcuGraphInstantiateWithParams_ptsz: return address(instantiate_with_params<kcuGraphInstantiateWithParams_ptsz>);
    case kcuGraphExecUpdate: return address(update);
    case kcuGraphExecUpdate_v2: return address(update_v2);
    case kcuGraphExecDestroy: return address(exec_destroy);
    case kcuGraphLaunch: return address(graph_launch<kcuGraphLaunch, false>);
    case kcuGraphLaunch_ptsz: return address(graph_launch<kcuGraphLaunch_ptsz, true>);
    default: return nullptr;
  }
}

}  // namespace sluice::interpose
