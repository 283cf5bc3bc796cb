// SPDX-License-Identifier: Apache-2.0
// A program for `sluice run` on a GPU: nvcc -O2 -arch=sm_90 -o check tests/interpose/check.cu. It prints fingerprints of what kernels
// wrote, launched in many ways; they are to be the same with and without `sluice run`. A block that ran twice or never shows in
// them, and a launch that began too early.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                    \
  do {                                                                                                 \
    const auto status = (call);                                                                        \
    if (static_cast<int>(status) != 0) {                                                               \
      std::printf("%s:%d: %s = %d\n", __FILE__, __LINE__, #call, static_cast<int>(status));            \
      std::exit(1);                                                                                    \
    }                                                                                                  \
  } while (false)

namespace {

// Every block once: a second run would add again.
__global__ void add(float* out, unsigned n, float a, int steps) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = out[i];
  for (int s = 0; s < steps; ++s) x = x * 0.99f + a;
  out[i] = x + static_cast<float>(blockIdx.x % 7);
}
// Reads what the launch before wrote elsewhere: wrong where it began too early.
__global__ void mix(const float* in, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * out[i] + 0.25f * in[n - 1 - i] + 1.0f;  // stays bounded
}
__global__ void tile(float* out, unsigned n) {
  extern __shared__ float part[];
  __shared__ float sum;
  const unsigned i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (i >= n) return;  // before barriers of the others
  part[threadIdx.x] = out[i];
  __syncthreads();
  atomicAdd(&sum, static_cast<float>(static_cast<int>(part[threadIdx.x]) % 3));
  __syncthreads();
  out[i] = 0.5f * out[i] + sum + 0.1f * part[threadIdx.x ^ 1];
}
// Each block waits for the one before it.
__global__ void chain(volatile unsigned* flags, unsigned* out) {
  __shared__ unsigned before;
  if (threadIdx.x == 0) {
    if (blockIdx.x > 0)
      while (flags[blockIdx.x - 1] == 0) continue;
    before = blockIdx.x == 0 ? 1 : flags[blockIdx.x - 1];
    __threadfence();
    flags[blockIdx.x] = before * 5 + 1 | 1;
  }
  __syncthreads();
  if (threadIdx.x == 1) out[blockIdx.x] += before;
}

void tile_on_host(std::vector<float>& values, unsigned n) {
  const std::vector<float> before = values;
  for (unsigned block = 0; block * 256 < n; ++block) {
    float sum = 0;
    for (unsigned i = block * 256; i < std::min(n, block * 256 + 256); ++i) sum += static_cast<float>(static_cast<int>(before[i]) % 3);
    for (unsigned i = block * 256; i < std::min(n, block * 256 + 256); ++i)
      values[i] = std::fma(before[i ^ 1], 0.1f, std::fma(before[i], 0.5f, sum));
  }
}

std::uint64_t fingerprint(const void* device, std::size_t bytes) {
  std::vector<unsigned char> host(bytes);
  CHECK(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
  std::uint64_t h = 1469598103934665603ULL;
  for (const unsigned char c : host) h = (h ^ c) * 1099511628211ULL;
  return h;
}

struct Check {
  unsigned n = 1U << 20;
  float *a = nullptr, *b = nullptr;
  cudaStream_t s1{}, s2{};
  Check() {
    CHECK(cudaMalloc(&a, n * 4));
    CHECK(cudaMalloc(&b, n * 4));
    CHECK(cudaMemset(a, 0, n * 4));
    CHECK(cudaMemset(b, 0, n * 4));
    CHECK(cudaStreamCreate(&s1));  // waits for the legacy default stream, which waits for it
    CHECK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
  }
  void say(const char* what) {
    CHECK(cudaDeviceSynchronize());
    std::printf("%s %016llx %016llx\n", what, static_cast<unsigned long long>(fingerprint(a, n * 4)),
                static_cast<unsigned long long>(fingerprint(b, n * 4)));
  }
  void work(cudaStream_t s, float v) {
    add<<<n / 128, 128, 0, s>>>(a, n, v, 200);
    mix<<<n / 256, 256, 0, s>>>(a, b, n);
    mix<<<n / 256, 256, 0, s>>>(b, a, n);
    CHECK(cudaGetLastError());
  }
};

void explicit_nodes(Check& c) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first, second;
  float v = 0.25f;
  int steps = 100;
  void* of_add[] = {&c.a, &c.n, &v, &steps};
  cudaKernelNodeParams p{};
  p.func = reinterpret_cast<void*>(add);
  p.gridDim = dim3(c.n / 128);
  p.blockDim = dim3(128);
  p.kernelParams = of_add;
  CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &p));
  void* of_mix[] = {&c.a, &c.b, &c.n};
  p.func = reinterpret_cast<void*>(mix);
  p.gridDim = dim3(c.n / 256);
  p.blockDim = dim3(256);
  p.kernelParams = of_mix;
  CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &p));
  cudaKernelNodeParams seen{};
  CHECK(cudaGraphKernelNodeGetParams(first, &seen));
  std::printf("node: same function %d, grid %u, block %u, shared %u, value %g\n", seen.func == reinterpret_cast<void*>(add),
              seen.gridDim.x, seen.blockDim.x, seen.sharedMemBytes, *static_cast<float*>(seen.kernelParams[2]));
  v = 0.75f;
  seen.kernelParams = of_add;
  CHECK(cudaGraphKernelNodeSetParams(first, &seen));
  cudaGraph_t copy;
  CHECK(cudaGraphClone(&copy, graph));
  cudaGraphExec_t one, two, three;
  CHECK(cudaGraphInstantiate(&one, graph, 0));
  CHECK(cudaGraphInstantiate(&two, graph, 0));
  CHECK(cudaGraphInstantiate(&three, copy, 0));
  for (int i = 0; i < 5; ++i) {
    CHECK(cudaGraphLaunch(one, c.s1));
    CHECK(cudaGraphLaunch(two, c.s1));
    CHECK(cudaGraphLaunch(three, c.s1));
  }
  v = -0.5f;
  seen.kernelParams = of_add;
  CHECK(cudaGraphExecKernelNodeSetParams(one, first, &seen));
  CHECK(cudaGraphLaunch(one, c.s1));
  CHECK(cudaStreamSynchronize(c.s1));
  CHECK(cudaGraphExecDestroy(one));
  CHECK(cudaGraphLaunch(two, c.s1));
  c.say("explicit nodes");
  cudaGraphExecUpdateResultInfo info{};
  CHECK(cudaGraphExecUpdate(two, graph, &info));
  CHECK(cudaGraphLaunch(two, c.s1));
  c.say("updated");
}

}  // namespace

int main() {
  Check c;
  for (int i = 0; i < 20; ++i) c.work(i % 3 == 0 ? nullptr : c.s1, 0.1f * static_cast<float>(i));
  c.say("one after the other");
  cudaEvent_t e;
  CHECK(cudaEventCreate(&e));
  for (int i = 0; i < 40; ++i) {  // two streams, in turns
    cudaStream_t mine = i % 2 == 0 ? c.s1 : c.s2, next = i % 2 == 0 ? c.s2 : c.s1;
    c.work(mine, 0.01f * static_cast<float>(i));
    CHECK(cudaEventRecord(e, mine));
    CHECK(cudaStreamWaitEvent(next, e));
  }
  c.say("two streams and events");
  for (const unsigned less : {0U, 64U, 78U}) {  // all threads; whole warps return early; parts of a warp do
    std::vector<float> expected(c.n), found(c.n);
    CHECK(cudaMemcpy(expected.data(), c.a, c.n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 5; ++i) tile<<<dim3(c.n / 256 / 16, 16), 256, 1024, c.s1>>>(c.a, c.n - less);
    for (int i = 0; i < 5; ++i) tile_on_host(expected, c.n - less);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(found.data(), c.a, c.n * 4, cudaMemcpyDeviceToHost));
    unsigned wrong = 0, first = 0;
    for (unsigned i = 0; i < c.n; ++i)
      if (std::memcmp(&expected[i], &found[i], 4) != 0 && wrong++ == 0) first = i;
    std::printf("tile, %u threads return early: %u wrong, the first is %u\n", less, wrong, first);
    CHECK(cudaMemcpy(c.a, expected.data(), c.n * 4, cudaMemcpyHostToDevice));
  }
  c.say("shared memory");
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(c.s1, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 8; ++i) c.work(c.s1, 0.3f);
  CHECK(cudaStreamEndCapture(c.s1, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 20; ++i) CHECK(cudaGraphLaunch(exec, c.s1));
  c.say("captured");
  explicit_nodes(c);
  unsigned *flags, *out;
  constexpr unsigned kBlocks = 40000;
  CHECK(cudaMalloc(&flags, kBlocks * 4));
  CHECK(cudaMalloc(&out, kBlocks * 4));
  CHECK(cudaMemset(flags, 0, kBlocks * 4));
  CHECK(cudaMemset(out, 0, kBlocks * 4));
  chain<<<kBlocks, 64, 0, c.s2>>>(flags, out);
  CHECK(cudaDeviceSynchronize());
  std::printf("chain %016llx\n", static_cast<unsigned long long>(fingerprint(out, kBlocks * 4)));
  return 0;
}
