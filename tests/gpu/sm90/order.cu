// SPDX-License-Identifier: Apache-2.0
// Whom a scheduler prefers: warps of one scheduler that together want more than a pipeline or the issue slot gives, and when each
// is done. Oldest first, the first ones end as if alone and the last one late; in turn, all end together. One JSON line a
// measurement. build: nvcc -arch=sm_90 -O3 -o order order.cu
#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int kRounds = 64, kSteps = 64, kSchedulers = 4;

enum Op { kShift, kFma };
template <Op O>
__device__ void step(unsigned& v, unsigned a, unsigned b) {
  if (O == kShift) asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(v) : "r"(a), "r"(b));
  if (O == kFma)
    asm volatile("{.reg .f32 x, y, z; mov.b32 x, %0; mov.b32 y, %1; mov.b32 z, %2; fma.rn.f32 x, x, y, z; mov.b32 %0, x;}"
                 : "+r"(v)
                 : "r"(a), "r"(b));
}

/// Every warp makes the same number of steps, in `Chains` chains.
template <Op O, int Chains>
__global__ void __launch_bounds__(1024) race(long long* begins, long long* ends, unsigned a, unsigned b, unsigned* sink) {
  unsigned v[Chains];
  for (int c = 0; c < Chains; ++c) v[c] = threadIdx.x + c;
  long long begin = 0, end = 0;
  for (int warm = 0; warm < 2; ++warm) {
    __syncthreads();
    begin = clock64();
#pragma unroll 1
    for (int r = 0; r < kRounds; ++r)
#pragma unroll
      for (int s = 0; s < kSteps; ++s)
#pragma unroll
        for (int c = 0; c < Chains; ++c) step<O>(v[c], a, b);
    unsigned sum = 0;
    for (int c = 0; c < Chains; ++c) sum ^= v[c];
    if (sum == 0x12345678) *sink = sum;
    end = clock64();
  }
  if (threadIdx.x % 32 == 0) begins[threadIdx.x / 32] = begin, ends[threadIdx.x / 32] = end;
}

template <Op O, int Chains>
void measure(const char* name, long long* clocks, unsigned* sink) {
  for (const int warps : {1, 2, 3, 4, 5, 6, 8}) {  // of a scheduler
    const int all = warps * kSchedulers;
    race<O, Chains><<<1, all * 32>>>(clocks, clocks + 32, 3, 5, sink);
    std::vector<long long> at(64);
    const cudaError_t error = cudaMemcpy(at.data(), clocks, 64 * 8, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) std::fprintf(stderr, "%s: %s\n", name, cudaGetErrorString(error));
    const long long first = *std::min_element(at.begin(), at.begin() + all);
    std::printf("{\"race\":\"%s\",\"chains\":%d,\"warps_a_scheduler\":%d,\"steps\":%d,\"ends_of_the_warps_of_scheduler_0\":[",
                name, Chains, warps, kRounds * kSteps * Chains);
    for (int w = 0; w < warps; ++w) std::printf("%s%lld", w == 0 ? "" : ",", at[32 + w * kSchedulers] - first);
    std::printf("]}\n");
  }
}

int main() {
  long long* clocks;
  unsigned* sink;
  cudaMalloc(&clocks, 64 * 8), cudaMalloc(&sink, 4);
  measure<kShift, 1>("shift", clocks, sink);  // half the pipeline each
  measure<kShift, 2>("shift", clocks, sink);
  measure<kFma, 1>("ffma", clocks, sink);  // a quarter of the issue slots each
  measure<kFma, 2>("ffma", clocks, sink);
  measure<kFma, 4>("ffma", clocks, sink);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
