// SPDX-License-Identifier: Apache-2.0
// Graphs: where executables are made and changed, the program's kernels become ours.
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
CUresult set_exec_kernel(CUgraphExec exec, CUgraphNode node, const Params* params) {
  const auto driver = real<CUresult(CUgraphExec, CUgraphNode, const Params*)>(Own);
  if (params == nullptr) return driver(exec, node, params);
  return graphs().set_kernel(exec, node, converted<V2>(*params), [&](const V2& p) {
    const auto set = converted<Params>(p);
    return driver(exec, node, &set);
  });
}
CUresult set_exec_node(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
  const auto driver = SLUICE_REAL(cuGraphExecNodeSetParams);
  if (params != nullptr && params->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return graphs().set_child(exec, node, params->graph.graph, [&] { return driver(exec, node, params); });
  if (params == nullptr || params->type != CU_GRAPH_NODE_TYPE_KERNEL) return driver(exec, node, params);
  return graphs().set_kernel(exec, node, converted<V2>(params->kernel), [&](const V2& p) {
    CUgraphNodeParams set = *params;
    set.kernel = converted<CUDA_KERNEL_NODE_PARAMS_v3>(p);
    return driver(exec, node, &set);
  });
}

CUresult set_exec_child(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  return graphs().set_child(exec, node, child,
                            [&] { return SLUICE_REAL(cuGraphExecChildGraphNodeSetParams)(exec, node, child); });
}

constexpr unsigned long long kByDevice = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
CUresult instantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log, std::size_t bytes) {
  using Old = CUresult(CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t);
  return graphs().instantiate(graph, exec, false, [&] { return real<Old>(kcuGraphInstantiate)(exec, graph, error, log, bytes); });
}
CUresult instantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log, std::size_t bytes) {
  using Old = CUresult(CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t);
  return graphs().instantiate(graph, exec, false,
                              [&] { return real<Old>(kcuGraphInstantiate_v2)(exec, graph, error, log, bytes); });
}
CUresult instantiate_with_flags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return graphs().instantiate(graph, exec, (flags & kByDevice) != 0,
                              [&] { return SLUICE_REAL(cuGraphInstantiateWithFlags)(exec, graph, flags); });
}
template <Symbol Own>
CUresult instantiate_with_params(CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return graphs().instantiate(graph, exec, params != nullptr && (params->flags & kByDevice) != 0,
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
  const CUstream in = stream == nullptr && PerThread ? CU_STREAM_PER_THREAD : stream;
  Program::instance().meets(in);
  return graphs().launch(exec, in, [&] { return real<decltype(cuGraphLaunch)>(Own)(exec, stream); });
}

}  // namespace

void* graph_hook(Symbol symbol) {
  switch (symbol) {
    case kcuGraphExecNodeSetParams: return address(set_exec_node);
    case kcuGraphExecKernelNodeSetParams: return address(set_exec_kernel<kcuGraphExecKernelNodeSetParams, V1>);
    case kcuGraphExecKernelNodeSetParams_v2: return address(set_exec_kernel<kcuGraphExecKernelNodeSetParams_v2, V2>);
    case kcuGraphExecChildGraphNodeSetParams: return address(set_exec_child);
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
