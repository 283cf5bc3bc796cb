// SPDX-License-Identifier: Apache-2.0
// What it costs a kernel that its CTAs stay: the network layer (sw/gpu/apps/neural_network.cu) launched as usual, and as loops
// by hand with nothing of the quota runtime in them. nvcc -arch=sm_90 -O3 persistence.cu && ./a.out
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define ARGUMENTS                                                                                                              \
  const float *__restrict__ pictures, const float *__restrict__ weights, float *__restrict__ out, int maps, unsigned *claimed, \
      int blocks
__device__ __forceinline__ void layer(const float* __restrict__ pictures, const float* __restrict__ weights,
                                      float* __restrict__ out, int maps, int block, int x, int y) {
  const float* picture = pictures + (size_t)block * 29 * 29;
  const int neuron = y * 13 + x;
  for (int map = 0; map < maps; ++map) {
    const float* w = weights + map * 26;
    float sum = w[0];
#pragma unroll
    for (int dy = 0; dy < 5; ++dy)
#pragma unroll
      for (int dx = 0; dx < 5; ++dx) sum += w[1 + dy * 5 + dx] * picture[(2 * y + dy) * 29 + 2 * x + dx];
    out[((size_t)block * maps + map) * 169 + neuron] = 1.7159f * tanhf(0.66666667f * sum);
  }
}
#define LAYER(BLOCK) layer(pictures, weights, out, maps, BLOCK, threadIdx.x, threadIdx.y)
__global__ void __launch_bounds__(169) usual(ARGUMENTS) { LAYER(blockIdx.x); }
__global__ void __launch_bounds__(169) loop(ARGUMENTS) {
  for (int b = blockIdx.x; b < blocks; b += gridDim.x) LAYER(b);
}
__global__ void __launch_bounds__(169) loop_barrier(ARGUMENTS) {
  for (int b = blockIdx.x; b < blocks; b += gridDim.x) {
    LAYER(b);
    __syncthreads();
  }
}
__global__ void __launch_bounds__(192) loop_warps_claim(ARGUMENTS) {  // a warp takes the next warp of the next block
  const int lane = threadIdx.x & 31;
  for (;;) {
    unsigned task = lane == 0 ? atomicAdd(claimed, 1) : 0;
    task = __shfl_sync(~0u, task, 0);
    const int block = task / 6, thread = task % 6 * 32 + lane;
    if (block >= blocks) return;
    if (thread < 169) layer(pictures, weights, out, maps, block, thread % 13, thread / 13);
    __syncwarp();
  }
}
template <int Blocks>
__global__ void __launch_bounds__(169) cta_does(ARGUMENTS) {  // and a fresh one comes
  for (int k = 0; k < Blocks; ++k)
    if (const int b = blockIdx.x + k * gridDim.x; b < blocks) LAYER(b);
}
__device__ unsigned taken_slots[256];  // of each SM, as a bitmap
// A fresh CTA for every few blocks that keeps a quota: it takes a slot of its SM and a block of the queue, both asked for at
// once, and its last warp gives the slot back.
template <int Blocks>
__global__ void __launch_bounds__(169) fresh_with_slot(ARGUMENTS) {
  __shared__ unsigned block, on_sm, slot, gone;
  const int thread = threadIdx.y * 13 + threadIdx.x;
  if (thread == 0) {
    unsigned sm, warp;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    asm("mov.u32 %0, %%warpid;" : "=r"(warp));
    unsigned bit = 1U << warp / 6;  // free, as a rule
    unsigned old = atomicOr(&taken_slots[sm], bit);
    block = atomicAdd(claimed, 1);
    for (; (old & bit) != 0; old = atomicOr(&taken_slots[sm], bit)) bit = ~old & (0U - ~old);
    on_sm = sm;
    slot = bit;
    gone = 0;
  }
  __syncthreads();
  for (int k = 0; k < Blocks; ++k)
    if (const int b = block + k * gridDim.x; b < blocks) LAYER(b);
  __syncwarp();
  if (thread % 32 == 0 && atomicAdd(&gone, 1) == 5) atomicAnd(&taken_slots[on_sm], ~slot);
}
template <int Rounds>
__global__ void __launch_bounds__(169)
    usual_more(ARGUMENTS) {  // nine instructions a round before each block, as a runtime has them
  unsigned u = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < Rounds; ++i)
    asm volatile(
        "xor.b32 %0, %0, %1; xor.b32 %0, %0, 5; add.u32 %0, %0, 3; xor.b32 %0, %0, %1; xor.b32 %0, %0, 5; add.u32 %0, %0, 3; "
        "xor.b32 %0, %0, %1; xor.b32 %0, %0, 5; add.u32 %0, %0, 3;"
        : "+r"(u)
        : "r"(maps));
  if (u == 0x7fffffff) return;
  LAYER(blockIdx.x);
}

__global__ void count_differences(const unsigned* a, const unsigned* b, size_t words, unsigned* different) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x)
    if (a[i] != b[i]) atomicAdd(different, 1);
}

void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  fprintf(stderr, "persistence: %s\n", cudaGetErrorString(e));
  exit(1);
}
struct Buffers {
  float *pictures, *weights, *out, *wanted;  // wanted: what the first kernel wrote
  unsigned *claimed, *different;
};
constexpr int kBlocks = 131072, kRuns = 31;
constexpr size_t kWords = (size_t)kBlocks * 8 * 169;
float usual_us = 0;

// The last run's output, bit by bit.
void expect_same_output(const char* name, const Buffers& b) {
  if (usual_us == 0) check(cudaMemcpy(b.wanted, b.out, kWords * 4, cudaMemcpyDeviceToDevice));
  check(cudaMemset(b.different, 0, 4));
  count_differences<<<1024, 256>>>((unsigned*)b.out, (unsigned*)b.wanted, kWords, b.different);
  unsigned different = 0;
  check(cudaMemcpy(&different, b.different, 4, cudaMemcpyDeviceToHost));
  if (different == 0) return;
  fprintf(stderr, "persistence: %s: %u of %zu words of the output differ\n", name, different, kWords);
  exit(1);
}

template <class Kernel>
void time(const char* name, Kernel kernel, const Buffers& b, int grid, int threads = 169) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 4));
  int ctas = 0, device = 0, sms = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel, threads, 0));
  cudaEvent_t first, last;
  check(cudaEventCreate(&first));
  check(cudaEventCreate(&last));
  std::vector<float> us;
  for (int r = 0; r < kRuns; ++r) {
    check(cudaMemsetAsync(b.claimed, 0, 4));
    if (r == kRuns - 1) check(cudaMemsetAsync(b.out, 0xff, kWords * 4));  // poison: NaN
    check(cudaEventRecord(first));
    const dim3 block = threads == 169 ? dim3(13, 13) : dim3(threads), all(grid > 0 ? grid : ctas * sms);
    kernel<<<all, block>>>(b.pictures, b.weights, b.out, 8, b.claimed, kBlocks);  // clang-format knows no launches
    check(cudaEventRecord(last));
    check(cudaEventSynchronize(last));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, first, last));
    us.push_back(ms * 1e3f);
  }
  expect_same_output(name, b);
  std::sort(us.begin(), us.end());
  if (usual_us == 0) usual_us = us[kRuns / 2];
  printf("%-34s %2d CTAs an SM  %7.1f us  (%.1f .. %.1f)  %+5.1f %%\n", name, ctas, us[kRuns / 2], us[kRuns / 20],
         us[kRuns - 1 - kRuns / 20], 100 * (us[kRuns / 2] / usual_us - 1));
}

int main() {
  Buffers b;
  const size_t in = (size_t)kBlocks * 841;
  check(cudaMalloc(&b.pictures, in * 4));
  check(cudaMalloc(&b.weights, 8 * 26 * 4));
  check(cudaMalloc(&b.out, kWords * 4));
  check(cudaMalloc(&b.wanted, kWords * 4));
  check(cudaMalloc(&b.different, 4));
  check(cudaMalloc(&b.claimed, 4));
  std::vector<float> h(in);
  for (size_t i = 0; i < in; ++i) h[i] = (float)((i * 2654435761u) >> 8 & 0xffff) / 32768.f - 1;
  check(cudaMemcpy(b.pictures, h.data(), in * 4, cudaMemcpyHostToDevice));
  check(cudaMemcpy(b.weights, h.data(), 8 * 26 * 4, cudaMemcpyHostToDevice));
  time("launched as usual", usual, b, kBlocks);
  time("27 instructions more a thread", usual_more<3>, b, kBlocks);
  time("108 instructions more a thread", usual_more<12>, b, kBlocks);
  time("a CTA does 2 blocks", cta_does<2>, b, kBlocks / 2);
  time("a CTA does 4 blocks", cta_does<4>, b, kBlocks / 4);
  time("a CTA does 16 blocks", cta_does<16>, b, kBlocks / 16);
  time("as usual, slot and block claimed", fresh_with_slot<1>, b, kBlocks);
  time("a CTA does 2, slot, block claimed", fresh_with_slot<2>, b, kBlocks / 2);
  time("CTAs stay, no barrier", loop, b, 0);
  time("CTAs stay, a barrier a block", loop_barrier, b, 0);
  time("CTAs stay, warps claim", loop_warps_claim, b, 0, 192);
}
