// SPDX-License-Identifier: Apache-2.0
// Reductions at L2 by how many words they share. One JSON line a measurement; cycles are the SM's.
// build: nvcc -arch=sm_90 -O3 -o atomics atomics.cu
#include <algorithm>
#include <cstdio>
#include <vector>

__device__ unsigned hashed(unsigned x) {
  x ^= x >> 16, x *= 0x7feb352dU, x ^= x >> 15, x *= 0x846ca68bU;
  return x ^ x >> 16;
}
/// Each thread adds to `turns` words. `share` neighbouring lanes have the same word, the others different random ones of `words`,
/// which lie `stride` words apart.
__global__ void __launch_bounds__(1024)
    reduce(unsigned* memory, unsigned words, unsigned share, unsigned stride, int turns, long long* cycles) {
  const unsigned me = (blockIdx.x * blockDim.x + threadIdx.x) / share;
  const long long begin = clock64();
#pragma unroll 4
  for (int t = 0; t < turns; ++t) {
    const unsigned at = hashed(me * 977 + t) % words * stride;
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(memory + at), "r"(1) : "memory");
  }
  __threadfence();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
}

/// Random words of two lines: twice the rate of one where they are in different units.
__global__ void __launch_bounds__(1024) two_lines(unsigned* memory, unsigned apart, int turns, long long* cycles) {
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  const long long begin = clock64();
#pragma unroll 4
  for (int t = 0; t < turns; ++t) {
    const int at = (int)((me / 32 + t) % 2) * (int)apart + (int)(hashed(me * 977 + t) % 32);
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(memory + at), "r"(1) : "memory");
  }
  __threadfence();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
}
void pairs(unsigned* memory, unsigned line, long long* cycles) {
  constexpr int kCtas = 32, kThreads = 256, kTurns = 32;
  std::printf("{\"reduce\":\"two_lines\",\"line\":%u,\"lanes_a_cycle\":[", line);
  for (unsigned other = 0; other < 64; ++other) {
    const unsigned apart = (other - line) * 32;  // words; wraps
    two_lines<<<kCtas, kThreads>>>(memory + line * 32, apart, kTurns, cycles);
    std::vector<long long> each(kCtas);
    cudaMemcpy(each.data(), cycles, kCtas * 8, cudaMemcpyDeviceToHost);
    std::printf("%s%.2f", other == 0 ? "" : ",",
                (double)kCtas * kThreads * kTurns / (double)*std::max_element(each.begin(), each.end()));
  }
  std::printf("]}\n");
}

void measure(unsigned* memory, unsigned words, unsigned share, unsigned stride, int ctas, int threads, long long* cycles) {
  const int turns = 64;
  for (int warm = 0; warm < 2; ++warm) reduce<<<ctas, threads>>>(memory, words, share, stride, turns, cycles);
  std::vector<long long> each(ctas);
  cudaMemcpy(each.data(), cycles, ctas * 8, cudaMemcpyDeviceToHost);
  const double longest = (double)*std::max_element(each.begin(), each.end()), lanes = (double)ctas * threads * turns;
  std::printf(
      "{\"reduce\":\"random\",\"words\":%u,\"share\":%u,\"stride\":%u,\"ctas\":%d,\"threads\":%d,\"cycles\":%.0f,"
      "\"lanes_a_cycle\":%.2f}\n",
      words, share, stride, ctas, threads, longest, lanes / longest);
}

int main() {
  unsigned* memory;
  long long* cycles;
  cudaMalloc(&memory, 64 << 20), cudaMalloc(&cycles, 1 << 16);
  cudaMemset(memory, 0, 64 << 20);
  for (const unsigned words : {1U, 8U, 32U, 64U, 256U, 1024U, 4096U, 65536U, 1U << 20})
    measure(memory, words, 1, 1, 132, 256, cycles);
  for (const unsigned words : {256U, 4096U, 1U << 20}) {
    for (const unsigned share : {2U, 4U, 8U, 16U, 32U}) measure(memory, words, share, 1, 132, 256, cycles);
    measure(memory, words, 1, 8, 132, 256, cycles);  // a word a sector
  }
  for (const int ctas : {1, 4, 16, 66}) measure(memory, 256, 1, 1, ctas, 256, cycles);
  for (const unsigned line : {0U, 1U, 2U, 4U, 8U, 16U, 33U}) pairs(memory, line, cycles);
  for (const unsigned offset : {128U, 256U, 512U, 1024U, 2048U, 8192U, 1U << 20})  // 256 words elsewhere
    measure(memory + offset, 256, 1, 1, 132, 256, cycles);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
