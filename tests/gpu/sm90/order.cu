// SPDX-License-Identifier: Apache-2.0
// Whom a scheduler prefers: warps of one scheduler that together want more than a pipeline or the issue slot gives, and when each
// is done. Oldest first, the first ones end as if alone and the last one late; in turn, all end together. One JSON line a
// measurement. build: nvcc -arch=sm_90 -O3 -o order order.cu
#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int kRounds = 128, kSteps = 64, kSchedulers = 4;

enum Op { kShift, kFma };
template <Op O>
__device__ void step(unsigned& v, unsigned a, unsigned b) {
  if (O == kShift) asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(v) : "r"(a), "r"(b));
  if (O == kFma)
    asm volatile("{.reg .f32 x, y, z; mov.b32 x, %0; mov.b32 y, %1; mov.b32 z, %2; fma.rn.f32 x, x, y, z; mov.b32 %0, x;}"
                 : "+r"(v)
                 : "r"(a), "r"(b));
}

struct Race {
  long long begin, end;
  unsigned sm, warp;
};

/// Every warp makes the same number of steps, in `Chains` chains.
template <Op O, int Chains>
__global__ void __launch_bounds__(1024) race(Race* races, unsigned a, unsigned b, unsigned* sink) {
  unsigned v[Chains], sm;
  for (int c = 0; c < Chains; ++c) v[c] = threadIdx.x + c;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int r = 0; r < kRounds; ++r)
#pragma unroll
    for (int s = 0; s < kSteps; ++s)
#pragma unroll
      for (int c = 0; c < Chains; ++c) step<O>(v[c], a, b);
  unsigned sum = 0;
  for (int c = 0; c < Chains; ++c) sum ^= v[c];
  if (sum == 0x12345678) *sink = sum;
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) races[blockIdx.x * (blockDim.x / 32) + warp] = {begin, clock64(), sm, warp};
}

/// On one SM: when the warps of scheduler 0 begin and end, in the order of their beginning.
template <Op O, int Chains>
void measure(const char* name, int ctas_an_sm, int warps, Race* races, unsigned* sink) {
  int sms = 0;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  const int ctas = ctas_an_sm * sms, all = warps * kSchedulers;  // CTAs are dealt out to the SMs in turn
  for (int warm = 0; warm < 2; ++warm) race<O, Chains><<<ctas, all * 32>>>(races, 3, 5, sink);
  std::vector<Race> at(ctas * all);
  const cudaError_t error = cudaMemcpy(at.data(), races, at.size() * sizeof(Race), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) std::fprintf(stderr, "%s: %s\n", name, cudaGetErrorString(error));
  std::vector<Race> here;
  for (const Race& r : at)
    if (r.sm == 0 && r.warp % kSchedulers == 0) here.push_back(r);
  std::stable_sort(here.begin(), here.end(), [](const Race& x, const Race& y) { return x.begin < y.begin; });
  std::printf("{\"race\":\"%s\",\"chains\":%d,\"ctas\":%d,\"warps_of_a_cta_and_scheduler\":%d,\"steps\":%d,\"begin_end\":[", name,
              Chains, ctas_an_sm, warps, kRounds * kSteps * Chains);
  for (const Race& r : here)
    std::printf("%s[%lld,%lld]", &r == here.data() ? "" : ",", r.begin - here.front().begin, r.end - here.front().begin);
  std::printf("]}\n");
}

template <Op O, int Chains>
void measure_all(const char* name, Race* races, unsigned* sink) {
  for (const int warps : {1, 2, 3, 4, 6, 8}) measure<O, Chains>(name, 1, warps, races, sink);
  for (const int ctas : {2, 3, 4, 6}) measure<O, Chains>(name, ctas, 1, races, sink);
}

int main() {
  Race* races;
  unsigned* sink;
  cudaMalloc(&races, sizeof(Race) << 16), cudaMalloc(&sink, 4);
  measure_all<kShift, 1>("shift", races, sink);  // half the pipeline each
  measure_all<kShift, 2>("shift", races, sink);
  measure_all<kFma, 1>("ffma", races, sink);  // a quarter of the issue slots each
  measure_all<kFma, 2>("ffma", races, sink);
  measure_all<kFma, 4>("ffma", races, sink);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
