// SPDX-License-Identifier: Apache-2.0
// Accesses to random sectors: how many a cycle, by their kind, width, active lanes and the memory they fall into. One JSON line a
// measurement; cycles are the SM's.
// build: nvcc -arch=sm_90 -O3 -o scatter scatter.cu
#include <algorithm>
#include <cstdio>
#include <vector>

enum Access { kLoad, kStore, kRed };
constexpr const char* kNames[] = {"load", "store", "red"};

/// Every lane of the first `lanes` makes `turns` turns of `U` accesses to random sectors of `bytes` (a power of two). Those of a
/// turn do not wait for each other; with `Chained` the next turn's addresses come from the loads.
template <Access A, int U, int Width, bool Chained>
__global__ void __launch_bounds__(1024)
    scatter(char* memory, std::size_t bytes, int lanes, int turns, long long* cycles, unsigned* sink) {
  if ((int)(threadIdx.x % 32) >= lanes) return;
  const unsigned mask = (unsigned)(bytes / 32 - 1);
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761U + 12345U, sum = 0;
  const long long begin = clock64();
  for (int t = 0; t < turns; ++t) {
    unsigned v[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      state = state * 1664525U + 1013904223U;
      char* at = memory + (std::size_t)((state >> 5 ^ state << 13) & mask) * 32;
      if (A == kLoad && Width == 4) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[u]) : "l"(at));
      if (A == kLoad && Width == 1) asm volatile("ld.global.cg.u8 %0, [%1];" : "=r"(v[u]) : "l"(at));
      if (A == kStore && Width == 4) asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(0));
      if (A == kStore && Width == 1) asm volatile("st.global.u8 [%0], %1;" ::"l"(at), "r"(0));
      if (A == kRed) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(at), "r"(0));
    }
    if (A == kLoad)
#pragma unroll
      for (int u = 0; u < U; ++u) sum += v[u];
    if (Chained) state += sum;  // memory is zero: the way is the same
  }
  if (sum == 0x12345678) *sink = sum;
  if (threadIdx.x % 32 == 0) atomicMax((unsigned long long*)&cycles[blockIdx.x], (unsigned long long)(clock64() - begin));
}

template <Access A, int U, int Width, bool Chained = false>
void measure(char* memory, std::size_t bytes, int lanes, int ctas, int threads, int turns, long long* cycles, unsigned* sink) {
  std::vector<long long> each(ctas);
  for (int warm = 0; warm < 2; ++warm) {
    cudaMemset(cycles, 0, ctas * 8);
    scatter<A, U, Width, Chained><<<ctas, threads>>>(memory, bytes, lanes, turns, cycles, sink);
    const cudaError_t error = cudaMemcpy(each.data(), cycles, ctas * 8, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) std::fprintf(stderr, "%s: %s\n", kNames[A], cudaGetErrorString(error));
  }
  const double longest = (double)*std::max_element(each.begin(), each.end());
  const double accesses = (double)ctas * (threads / 32) * lanes * turns * U;
  std::printf(
      "{\"scatter\":\"%s\",\"bytes\":%zu,\"width\":%d,\"lanes\":%d,\"in_flight\":%d,\"chained\":%s,\"ctas\":%d,\"threads\":%d,"
      "\"cycles\":%.0f,\"sectors_a_cycle\":%.3f,\"cycles_a_turn\":%.1f}\n",
      kNames[A], bytes, Width, lanes, U, Chained ? "true" : "false", ctas, threads, longest, accesses / longest, longest / turns);
}

int main() {
  constexpr std::size_t kBytes = 4ULL << 30, kMega = 1 << 20;
  char* memory;
  long long* cycles;
  unsigned* sink;
  cudaMalloc(&memory, kBytes), cudaMalloc(&cycles, 1 << 16), cudaMalloc(&sink, 4);
  cudaMemset(memory, 0, kBytes);
  for (const std::size_t mb : {1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}) {  // all SMs
    measure<kLoad, 8, 4>(memory, mb * kMega, 32, 264, 1024, 32, cycles, sink);
    measure<kLoad, 8, 1>(memory, mb * kMega, 8, 264, 1024, 32, cycles, sink);
    measure<kStore, 8, 4>(memory, mb * kMega, 32, 264, 1024, 32, cycles, sink);
    measure<kStore, 8, 4>(memory, mb * kMega, 8, 264, 1024, 32, cycles, sink);
    measure<kStore, 8, 1>(memory, mb * kMega, 8, 264, 1024, 32, cycles, sink);
    measure<kRed, 8, 4>(memory, mb * kMega, 32, 264, 1024, 32, cycles, sink);
  }
  for (const int lanes : {1, 2, 4, 8, 16, 32}) {  // one SM, data in L2
    measure<kLoad, 8, 4>(memory, 4 * kMega, lanes, 1, 1024, 64, cycles, sink);
    measure<kStore, 8, 4>(memory, 4 * kMega, lanes, 1, 1024, 64, cycles, sink);
    measure<kStore, 8, 1>(memory, 4 * kMega, lanes, 1, 1024, 64, cycles, sink);
    measure<kRed, 8, 4>(memory, 4 * kMega, lanes, 1, 1024, 64, cycles, sink);
    for (const int threads : {32, 256, 1024}) {  // latency of a load whose lanes go apart
      measure<kLoad, 1, 4, true>(memory, 4 * kMega, lanes, 1, threads, 256, cycles, sink);
      measure<kLoad, 1, 4, true>(memory, 2048 * kMega, lanes, 1, threads, 256, cycles, sink);
    }
  }
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
