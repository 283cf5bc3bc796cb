// SPDX-License-Identifier: Apache-2.0
// Graphs: captured and made by hand, changed, cloned, replayed at once, with all kinds of nodes.
#include <algorithm>

#include "program.h"

namespace {

constexpr unsigned kN = kWords;

cudaGraphExec_t made(cudaGraph_t g, unsigned flags = 0) {
  cudaGraphExec_t exec{};
  ck(cudaGraphInstantiate(&exec, g, flags));
  return exec;
}
template <class Work>
cudaGraph_t captured(cudaStream_t s, const Work& work, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  cudaGraph_t g{};
  ck(cudaStreamBeginCapture(s, mode));
  work();
  ck(cudaStreamEndCapture(s, &g));
  return g;
}
void replay(cudaGraphExec_t exec, cudaStream_t s, int times = 1) {
  for (int k = 0; k < times; ++k) ck(cudaGraphLaunch(exec, s));
}
void crossed(const Words& in, const Words& out, cudaStream_t s) { cross<<<kBlocks, kThreads, 0, s>>>(in, out, kN); }

/// step and cross on two arrays as the host would do it.
struct OnHost {
  std::vector<unsigned> a = std::vector<unsigned>(kN), b = std::vector<unsigned>(kN);
  void step(unsigned by) {
    for (unsigned& w : a) w = step_on_host(w, by);
  }
  static void cross(const std::vector<unsigned>& in, std::vector<unsigned>& out) {
    for (unsigned i = 0; i < kN; ++i) out[i] = out[i] * 3 + in[kN - 1 - i];
  }
};
/// A kernel node of `step`; its arguments outlive the calls that read them.
struct StepNode {
  StepNode(const Words& of, unsigned by, unsigned blocks = kBlocks) : v(of.p), a(by) {
    p.func = reinterpret_cast<void*>(step);
    p.gridDim = dim3(blocks);
    p.blockDim = dim3(kThreads);
    p.kernelParams = arguments;
  }
  StepNode(const StepNode&) = delete;
  cudaGraphNode_t into(cudaGraph_t g, std::vector<cudaGraphNode_t> behind = {}) {
    ck(cudaGraphAddKernelNode(&node, g, behind.data(), behind.size(), &p));
    return node;
  }
  unsigned* v;
  unsigned a;
  void* arguments[2] = {&v, &a};
  cudaKernelNodeParams p{};
  cudaGraphNode_t node{};
};

CASE(captured_fork, quota) {
  Words a, b, c;
  Stream s, t;
  Event fork, join;
  const auto g = captured(s, [&] {
    launch_step(a, 1, s);
    ck(cudaEventRecord(fork, s));
    ck(cudaStreamWaitEvent(t, fork));
    crossed(a, b, t);
    crossed(a, c, s);
    ck(cudaEventRecord(join, t));
    ck(cudaStreamWaitEvent(s, join));
    crossed(b, a, s);
  });
  replay(made(g), s, 12);
  OnHost h;
  std::vector<unsigned> third(kN);
  for (int k = 0; k < 12; ++k) {
    h.step(1);
    OnHost::cross(h.a, h.b);
    OnHost::cross(h.a, third);
    OnHost::cross(h.b, h.a);
  }
  expect(a.back() == h.a && b.back() == h.b && c.back() == third);
}
CASE(captured_relaxed, quota) {
  Words v, u;
  Stream s(cudaStreamNonBlocking), t(cudaStreamNonBlocking);
  void* inside = nullptr;
  const auto g = captured(
      s,
      [&] {
        launch_step(v, 1, s);
        ck(cudaMalloc(&inside, 1U << 20));  // what only this mode allows
        std::thread([&] {
          launch_step(u, 3, t);
          ck(cudaStreamSynchronize(t));
        }).join();
        launch_step(v, 2, s);
        cudaStreamCaptureStatus status{};
        ck(cudaStreamIsCapturing(s, &status));
        expect(status == cudaStreamCaptureStatusActive);
      },
      cudaStreamCaptureModeRelaxed);
  ck(cudaGraphDebugDotPrint(g, "/dev/null", 0));
  replay(made(g), s, 3);
  unsigned x = 0;
  for (int k = 0; k < 3; ++k) x = step_on_host(step_on_host(x, 1), 2);
  v.all(x);
  u.all(3);
}
CASE(capture_that_fails, quota) {
  Words v;
  Stream s;
  ck(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  launch_step(v, 9, s);
  say("a wait in a capture", cudaStreamSynchronize(s));
  cudaGraph_t g{};
  say("its end", cudaStreamEndCapture(s, &g));
  say("what stays", cudaGetLastError());
  launch_step(v, 1, s);
  v.all(1);
}
CASE(nodes_by_hand, quota) {
  Words v;
  Stream s;
  cudaGraph_t g{}, copy{};
  ck(cudaGraphCreate(&g, 0));
  StepNode one(v, 1), two(v, 2);
  one.into(g);
  two.into(g, {one.node});
  cudaKernelNodeParams seen{};
  ck(cudaGraphKernelNodeGetParams(two.node, &seen));
  expect(seen.func == one.p.func && seen.gridDim.x == kBlocks && seen.blockDim.x == kThreads && seen.sharedMemBytes == 0 &&
         *static_cast<unsigned*>(seen.kernelParams[1]) == 2);
  ck(cudaGraphClone(&copy, g));
  two.a = 3;
  ck(cudaGraphKernelNodeSetParams(two.node, &two.p));
  const auto first = made(g), second = made(g), third = made(copy);
  unsigned x = 0;
  const auto both = [&](unsigned a, unsigned b) { x = step_on_host(step_on_host(x, a), b); };
  replay(first, s), both(1, 3);
  replay(third, s), both(1, 2);
  one.a = 7;
  ck(cudaGraphExecKernelNodeSetParams(first, one.node, &one.p));
  replay(first, s), both(7, 3);
  replay(second, s), both(1, 3);
  ck(cudaGraphExecDestroy(first));
  cudaGraphExecUpdateResultInfo info{};
  ck(cudaGraphKernelNodeSetParams(one.node, &one.p));
  ck(cudaGraphExecUpdate(second, g, &info));
  replay(second, s), both(7, 3);
  ck(cudaGraphNodeSetEnabled(second, two.node, 0));
  replay(second, s), x = step_on_host(x, 7);
  ck(cudaGraphNodeSetEnabled(second, two.node, 1));
  replay(second, s), both(7, 3);
  v.all(x);
}
CASE(another_topology, quota) {
  Words v;
  Stream s;
  const auto of = [&](unsigned n) {
    return captured(s, [&] {
      for (unsigned k = 1; k <= n; ++k) launch_step(v, k, s);
    });
  };
  auto exec = made(of(2));
  replay(exec, s);
  for (const unsigned n : {3U, 1U, 2U}) {
    cudaGraphExecUpdateResultInfo info{};
    const auto g = of(n);
    const auto said = cudaGraphExecUpdate(exec, g, &info);
    std::printf("%u nodes: %s, result %d\n", n, cudaGetErrorName(said), static_cast<int>(info.result));
    static_cast<void>(cudaGetLastError());
    if (said != cudaSuccess) {
      replay(exec, s);  // as it was
      ck(cudaGraphExecDestroy(exec));
      exec = made(g);
    }
    ck(cudaGraphDestroy(g));
    replay(exec, s);
  }
  unsigned x = 0;
  for (const unsigned n : {2U, 2U, 3U, 3U, 1U, 1U, 2U})
    for (unsigned k = 1; k <= n; ++k) x = step_on_host(x, k);
  v.all(x);
}
CASE(other_function_in_a_node, quota) {
  Words v, u;
  Stream s;
  cudaGraph_t g{};
  ck(cudaGraphCreate(&g, 0));
  StepNode one(v, 1);
  one.into(g);
  const auto exec = made(g);
  replay(exec, s);
  unsigned n = kN;
  void* of_cross[] = {&v.p, &u.p, &n};
  auto p = one.p;
  p.func = reinterpret_cast<void*>(cross);
  p.kernelParams = of_cross;
  ck(cudaGraphExecKernelNodeSetParams(exec, one.node, &p));
  replay(exec, s, 2);
  one.a = 5;
  one.p.gridDim = dim3(kBlocks / 2);
  ck(cudaGraphExecKernelNodeSetParams(exec, one.node, &one.p));
  replay(exec, s);
  u.all(4);
  v.upto(kN / 2, 10);
}
CASE(child_graphs, quota) {
  Words v;
  Stream s;
  const auto of = [&](unsigned a) { return captured(s, [&] { launch_step(v, a, s), launch_step(v, a + 1, s); }); };
  cudaGraph_t g{};
  cudaGraphNode_t child{};
  ck(cudaGraphCreate(&g, 0));
  StepNode first(v, 1);
  first.into(g);
  ck(cudaGraphAddChildGraphNode(&child, g, &first.node, 1, of(2)));
  const auto exec = made(g);
  replay(exec, s, 2);
  ck(cudaGraphExecChildGraphNodeSetParams(exec, child, of(5)));
  replay(exec, s);
  unsigned x = 0;
  for (const unsigned a : {2U, 2U, 5U}) x = step_on_host(step_on_host(step_on_host(x, 1), a), a + 1);
  v.all(x);
}
CASE(all_kinds_of_nodes, quota) {
  static unsigned heard;
  static unsigned* host;
  ck(cudaMallocHost(&host, 4));
  heard = *host = 0;
  Words v;
  Stream s, other(cudaStreamNonBlocking);
  Event e;
  const auto g = captured(s, [&] {
    ck(cudaMemsetAsync(v, 1, kN * 4, s));
    launch_step(v, 1, s);
    ck(cudaMemcpyAsync(host, v.p + kN - 1, 4, cudaMemcpyDeviceToHost, s));
    ck(cudaLaunchHostFunc(
        s, [](void*) { heard = heard * 2 + (*host == 0x01010101U * 5 + 1 ? 1 : 0); }, nullptr));
    ck(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
    void* mine = nullptr;
    ck(cudaMallocAsync(&mine, kN * 4, s));
    ck(cudaMemcpyAsync(mine, v, kN * 4, cudaMemcpyDeviceToDevice, s));
    step<<<kBlocks, kThreads, 0, s>>>(static_cast<unsigned*>(mine), 2);
    ck(cudaMemcpyAsync(v, mine, kN * 4, cudaMemcpyDeviceToDevice, s));
    ck(cudaFreeAsync(mine, s));
  });
  const auto exec = made(g);
  for (int k = 0; k < 4; ++k) {
    replay(exec, s);
    ck(cudaStreamWaitEvent(other, e));
    ck(cudaStreamSynchronize(other));
    expect(heard == (2U << k) - 1);
    ck(cudaStreamSynchronize(s));
  }
  v.all(step_on_host(step_on_host(0x01010101, 1), 2));
}
CASE(executables_at_once, quota) {
  constexpr unsigned kGraphs = 5;
  std::vector<Words> v;
  std::vector<Stream> streams;
  std::vector<cudaGraphExec_t> execs;
  for (unsigned k = 0; k < kGraphs; ++k) {
    v.emplace_back();
    streams.emplace_back(cudaStreamNonBlocking);
    const auto g = captured(streams[k], [&] { launch_step(v[k], k, streams[k]), launch_step(v[k], k + 1, streams[k]); });
    execs.push_back(made(g));
    ck(cudaGraphDestroy(g));
  }
  for (int round = 0; round < 8; ++round)
    for (unsigned k = 0; k < kGraphs; ++k) replay(execs[k], streams[(k + static_cast<unsigned>(round)) % kGraphs]);
  for (const auto exec : execs) ck(cudaGraphExecDestroy(exec));  // while they run
  for (unsigned k = 0; k < kGraphs; ++k) {
    unsigned x = 0;
    for (int round = 0; round < 8; ++round) x = step_on_host(step_on_host(x, k), k + 1);
    v[k].all(x);
  }
}
CASE(graph_among_launches, quota) {
  Words a, b;
  Stream s;
  const auto exec = made(captured(s, [&] {
    launch_step(a, 3, s);
    crossed(a, b, s);
  }));
  OnHost h;
  for (unsigned k = 0; k < 10; ++k) {
    launch_step(a, k, s);
    replay(exec, s, 2);
    crossed(b, a, s);
    h.step(k);
    for (int r = 0; r < 2; ++r) h.step(3), OnHost::cross(h.a, h.b);
    OnHost::cross(h.b, h.a);
  }
  expect(a.back() == h.a && b.back() == h.b);
}
CASE(wide_graph, either) {
  constexpr unsigned kWide = 24;
  std::vector<Words> v;
  for (unsigned k = 0; k < kWide; ++k) v.emplace_back(2400 * kThreads);
  Stream s;
  cudaGraph_t g{};
  ck(cudaGraphCreate(&g, 0));
  std::vector<cudaGraphNode_t> last;
  for (unsigned level = 1; level <= 3; ++level) {
    std::vector<cudaGraphNode_t> now;
    for (unsigned k = 0; k < kWide; ++k) now.push_back(StepNode(v[k], level, 2400).into(g, last));
    last = now;
  }
  replay(made(g), s, 3);
  unsigned x = 0;
  for (unsigned k = 0; k < 9; ++k) x = step_on_host(x, k % 3 + 1);
  for (const Words& w : v) w.all(x);
}
CASE(graph_that_was_destroyed, quota) {
  Words v;
  Stream s;
  unsigned x = 0;
  for (unsigned k = 0; k < 40; ++k, x = step_on_host(x, k - 1)) {  // handles come again
    const auto g = captured(s, [&] { launch_step(v, k, s); });
    const auto exec = made(g);
    if (k % 2 == 0) ck(cudaGraphDestroy(g));
    replay(exec, s);
    if (k % 3 == 0) ck(cudaStreamSynchronize(s));
    ck(cudaGraphExecDestroy(exec));
    if (k % 2 == 1) ck(cudaGraphDestroy(g));
  }
  v.all(x);
}
CASE(captured_into_a_graph, quota) {
  Words v;
  Stream s;
  cudaGraph_t g{}, same{};
  ck(cudaGraphCreate(&g, 0));
  StepNode first(v, 1);
  first.into(g);
  ck(cudaStreamBeginCaptureToGraph(s, g, &first.node, nullptr, 1, cudaStreamCaptureModeThreadLocal));
  launch_step(v, 2, s);
  ck(cudaStreamEndCapture(s, &same));
  expect(same == g);
  replay(made(g), s, 2);
  v.all(step_on_host(step_on_host(step_on_host(step_on_host(0, 1), 2), 1), 2));
}

}  // namespace
