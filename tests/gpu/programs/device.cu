// SPDX-License-Identifier: Apache-2.0
// What kernels start or change themselves: children, graphs, nodes, conditions. Built with -rdc=true.
#include <functional>

#include "program.h"

namespace {

__global__ void child(unsigned* v, unsigned parent) { v[parent * blockDim.x + threadIdx.x] += 1; }
__global__ void behind_all(unsigned* v, unsigned n) {
  if (v[number() % n] == 0) atomicAdd(&v[n], 1);
}
__global__ void parents(unsigned* v, unsigned n) {
  if (threadIdx.x != 0) return;
  child<<<1, kThreads, 0, cudaStreamFireAndForget>>>(v, blockIdx.x);
  if (blockIdx.x == 0) behind_all<<<1, kThreads, 0, cudaStreamTailLaunch>>>(v, n);
}
__global__ void starts(cudaGraphExec_t exec) { cudaGraphLaunch(exec, cudaStreamGraphFireAndForget); }
__global__ void starts_behind(cudaGraphExec_t exec) { cudaGraphLaunch(exec, cudaStreamGraphTailLaunch); }
__global__ void changes(cudaGraphDeviceNode_t node, unsigned a, unsigned blocks, bool on) {
  cudaGraphKernelNodeSetParam(node, 8, &a, 4);
  cudaGraphKernelNodeSetGridDim(node, dim3(blocks));
  cudaGraphKernelNodeSetEnabled(node, on);
}
__global__ void counts_down(unsigned* left, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, --*left == 0 ? 0 : 1);
}
__global__ void says(unsigned which, cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, which); }

cudaGraphExec_t made(cudaGraph_t g, unsigned flags = 0) {
  cudaGraphExec_t exec{};
  ck(cudaGraphInstantiate(&exec, g, flags));
  return exec;
}
template <class Work>
cudaGraph_t captured(cudaStream_t s, const Work& work) {
  cudaGraph_t g{};
  ck(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  work();
  ck(cudaStreamEndCapture(s, &g));
  return g;
}
cudaGraph_t body_of(cudaGraph_t g, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, cudaGraphNode_t behind) {
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = 1;
  cudaGraphNode_t node{};
  ck(cudaGraphAddNode(&node, g, &behind, nullptr, behind == nullptr ? 0 : 1, &p));
  return p.conditional.phGraph_out[0];
}
void capture_into(cudaStream_t s, cudaGraph_t g, const std::function<void()>& work) {
  ck(cudaStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  work();
  ck(cudaStreamEndCapture(s, &g));
}
unsigned steps(int times, unsigned a) {
  unsigned x = 0;
  for (int k = 0; k < times; ++k) x = step_on_host(x, a);
  return x;
}

CASE(children, either) {
  constexpr unsigned kParents = 1500;
  Words v(kParents * kThreads + 1), u;
  for (int k = 0; k < 2; ++k) {
    parents<<<kParents, kThreads>>>(v, kParents * kThreads);
    launch_step(u, 1);
  }
  v.upto(kParents * kThreads, 2);
  u.all(6);
}
CASE(graph_from_the_device, either) {
  Words v, u;
  Stream s(cudaStreamNonBlocking);
  const auto one = made(captured(s, [&] { launch_step(v, 1, s); }), cudaGraphInstantiateFlagDeviceLaunch);
  const auto two = made(captured(s, [&] { launch_step(u, 2, s); }), cudaGraphInstantiateFlagDeviceLaunch);
  ck(cudaGraphUpload(one, s));
  ck(cudaGraphUpload(two, s));
  const auto both = made(captured(s, [&] {
    starts<<<1, 1, 0, s>>>(one);
    starts_behind<<<1, 1, 0, s>>>(two);
  }));
  for (int k = 0; k < 5; ++k) {
    ck(cudaGraphLaunch(both, s));
    ck(cudaStreamSynchronize(s));
  }
  v.all(steps(5, 1));
  u.all(steps(5, 2));
}
CASE(node_from_the_device, either) {
  Words v;
  Stream s(cudaStreamNonBlocking);
  cudaGraph_t g{};
  cudaGraphNode_t first{}, last{};
  ck(cudaGraphCreate(&g, 0));
  auto* p = v.p;
  unsigned a = 1, blocks = kBlocks;
  bool on = true;
  void* of_step[] = {&p, &a};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(step);
  params.gridDim = dim3(kBlocks);
  params.blockDim = dim3(kThreads);
  params.kernelParams = of_step;
  ck(cudaGraphAddKernelNode(&last, g, nullptr, 0, &params));
  cudaLaunchAttributeValue updatable{};
  updatable.deviceUpdatableKernelNode.deviceUpdatable = 1;
  ck(cudaGraphKernelNodeSetAttribute(last, cudaLaunchAttributeDeviceUpdatableKernelNode, &updatable));
  ck(cudaGraphKernelNodeGetAttribute(last, cudaLaunchAttributeDeviceUpdatableKernelNode, &updatable));
  cudaGraphDeviceNode_t node = updatable.deviceUpdatableKernelNode.devNode;
  void* of_changes[] = {&node, &a, &blocks, &on};
  auto changing = params;
  changing.func = reinterpret_cast<void*>(changes);
  changing.gridDim = changing.blockDim = dim3(1);
  changing.kernelParams = of_changes;
  ck(cudaGraphAddKernelNode(&first, g, nullptr, 0, &changing));
  ck(cudaGraphAddDependencies(g, &first, &last, nullptr, 1));
  const auto exec = made(g);
  const auto with = [&](unsigned by, unsigned of, bool enabled) {
    a = by, blocks = of, on = enabled;
    ck(cudaGraphExecKernelNodeSetParams(exec, first, &changing));
    ck(cudaGraphUpload(exec, s));
    ck(cudaGraphLaunch(exec, s));
    ck(cudaStreamSynchronize(s));
  };
  with(1, kBlocks, true);
  with(2, kBlocks / 2, true);
  with(3, kBlocks, false);
  with(4, kBlocks, true);
  v.upto(kWords / 2, step_on_host(step_on_host(1, 2), 4));
  expect(v.back().back() == step_on_host(1, 4));
}
CASE(while_node, either) {
  Words v, left(1);
  Stream s(cudaStreamNonBlocking);
  cudaGraph_t g{};
  cudaGraphConditionalHandle handle{};
  ck(cudaGraphCreate(&g, 0));
  ck(cudaGraphConditionalHandleCreate(&handle, g, 1, cudaGraphCondAssignDefault));
  const auto body = body_of(g, handle, cudaGraphCondTypeWhile, nullptr);
  capture_into(s, body, [&] {
    launch_step(v, 3, s);
    counts_down<<<1, 1, 0, s>>>(left, handle);
  });
  const auto exec = made(g);
  int all = 0;
  for (const unsigned times : {7U, 1U, 4U}) {
    all += static_cast<int>(times);
    ck(cudaMemcpy(left, &times, 4, cudaMemcpyHostToDevice));
    ck(cudaGraphLaunch(exec, s));
    ck(cudaStreamSynchronize(s));
  }
  v.all(steps(all, 3));
}
CASE(child_graph_in_a_while_node, either) {
  Words v, left(1);
  Stream s(cudaStreamNonBlocking);
  cudaGraph_t g{};
  cudaGraphConditionalHandle handle{};
  ck(cudaGraphCreate(&g, 0));
  ck(cudaGraphConditionalHandleCreate(&handle, g, 1, cudaGraphCondAssignDefault));
  const auto body = body_of(g, handle, cudaGraphCondTypeWhile, nullptr);
  const auto inner = captured(s, [&] { launch_step(v, 2, s), launch_step(v, 2, s); });
  cudaGraphNode_t node{}, counter{};
  ck(cudaGraphAddChildGraphNode(&node, body, nullptr, 0, inner));
  void* arguments[] = {&left.p, &handle};
  cudaKernelNodeParams p{};
  p.func = reinterpret_cast<void*>(counts_down);
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = arguments;
  ck(cudaGraphAddKernelNode(&counter, body, &node, 1, &p));
  const unsigned times = 5;
  ck(cudaMemcpy(left, &times, 4, cudaMemcpyHostToDevice));
  ck(cudaGraphLaunch(made(g), s));
  ck(cudaStreamSynchronize(s));
  v.all(steps(10, 2));
}
CASE(if_nodes, either) {
  Words v;
  Stream s(cudaStreamNonBlocking);
  cudaGraph_t g{};
  cudaGraphConditionalHandle handles[2] = {};
  ck(cudaGraphCreate(&g, 0));
  cudaGraphNode_t behind = nullptr;
  for (unsigned k = 0; k < 2; ++k) {  // one is taken, one is not
    ck(cudaGraphConditionalHandleCreate(&handles[k], g, 0, 0));
    void* arguments[] = {&k, &handles[k]};
    cudaKernelNodeParams p{};
    p.func = reinterpret_cast<void*>(says);
    p.gridDim = p.blockDim = dim3(1);
    p.kernelParams = arguments;
    ck(cudaGraphAddKernelNode(&behind, g, k == 0 ? nullptr : &behind, k == 0 ? 0 : 1, &p));
  }
  for (unsigned k = 0; k < 2; ++k)
    capture_into(s, body_of(g, handles[k], cudaGraphCondTypeIf, behind), [&] { launch_step(v, 5 + k, s); });
  const auto exec = made(g);
  for (int k = 0; k < 3; ++k) ck(cudaGraphLaunch(exec, s));
  ck(cudaStreamSynchronize(s));
  v.all(steps(3, 6));
}

}  // namespace
