// SPDX-License-Identifier: Apache-2.0
// What the pipeline of loads and scratchpad accesses of one SM takes of each kind, and of two kinds in turn. Addresses differ by
// constants only: what is measured is no address arithmetic. One JSON line a measurement; cycles are the SM's.
// build: nvcc -arch=sm_90 -O3 -o l1 l1.cu
#include <cstdint>
#include <cstdio>

constexpr int kTurns = 256, kAccesses = 16, kThreads = 1024, kWords = 4096,
              kApart = 128;  // accesses are whole lines apart: a pattern stays the same

enum Kind { kNone, kLoad, kShared };

template <Kind K, int Width, int Offset>
__device__ void access(unsigned& sum, const char* global, unsigned shared) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (K == kLoad && Width == 4) asm volatile("ld.global.ca.u32 %0, [%1+%2];" : "=r"(a) : "l"(global), "n"(Offset));
  if (K == kLoad && Width == 8)
    asm volatile("ld.global.ca.v2.u32 {%0,%1}, [%2+%3];" : "=r"(a), "=r"(b) : "l"(global), "n"(Offset));
  if (K == kLoad && Width == 16)
    asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4+%5];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(global), "n"(Offset));
  if (K == kShared && Width == 4) asm volatile("ld.shared.u32 %0, [%1+%2];" : "=r"(a) : "r"(shared), "n"(Offset));
  if (K == kShared && Width == 8)
    asm volatile("ld.shared.v2.u32 {%0,%1}, [%2+%3];" : "=r"(a), "=r"(b) : "r"(shared), "n"(Offset));
  if (K == kShared && Width == 16)
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4+%5];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(shared), "n"(Offset));
  sum ^= a ^ b ^ c ^ d;
}

/// `All` accesses a turn, of the first and the second kind in turn; all hit.
template <Kind A, int WidthA, Kind B, int WidthB, int N = 0, int All = kAccesses>
struct Turn {
  static __device__ void run(unsigned& sum, const char* global, const char* other, unsigned shared) {
    if (N % 2 == 0 || B == kNone)
      access<A, WidthA, N * kApart>(sum, global, shared);
    else
      access<B, WidthB, N * kApart>(sum, other, shared);
    Turn<A, WidthA, B, WidthB, N + 1, All>::run(sum, global, other, shared);
  }
};
template <Kind A, int WidthA, Kind B, int WidthB, int All>
struct Turn<A, WidthA, B, WidthB, All, All> {
  static __device__ void run(unsigned&, const char*, const char*, unsigned) {}
};

/// Lane l goes to l / `share` * `stride` (first and second kind); lanes from `active` on are off. `zero` is 0, which the compiler
/// does not know.
template <Kind A, int WidthA, Kind B, int WidthB>
__global__ void __launch_bounds__(kThreads)
    pass(const char* memory, unsigned share, unsigned stride, unsigned share_b, unsigned stride_b, unsigned active, unsigned zero,
         long long* cycles, unsigned* sink) {
  __shared__ unsigned words[kWords];
  for (unsigned i = threadIdx.x; i < kWords; i += kThreads) words[i] = zero;
  const unsigned lane = threadIdx.x % 32;
  const char* global = memory + (A == kLoad ? lane / share * stride : 0);
  const char* other = memory + lane / share_b * stride_b;
  unsigned shared =
      (unsigned)__cvta_generic_to_shared(words) + (A == kShared ? lane / share * stride : lane / share_b * stride_b);
  unsigned sum = 0;
  long long begin = 0;
  for (int warm = 0; warm < 2; ++warm) {
    __syncthreads();
    begin = clock64();
    if (lane < active)
#pragma unroll 1
      for (int t = 0; t < kTurns; ++t) {
        Turn<A, WidthA, B, WidthB>::run(sum, global, other, shared);
        global += zero, other += zero, shared += zero;
      }
    if (sum == 0x12345678) *sink = sum;  // the clock is read when the last load has come
    __syncthreads();
  }
  if (threadIdx.x == 0) *cycles = clock64() - begin;
}

struct Lanes {
  const char* name;
  unsigned share, stride;
};

template <Kind A, int WidthA, Kind B = kNone, int WidthB = 4>
void measure(const char* memory, Lanes first, Lanes second, unsigned active, long long* cycles, unsigned* sink) {
  static const char* const names[] = {"none", "load", "shared"};
  pass<A, WidthA, B, WidthB>
      <<<1, kThreads>>>(memory, first.share, first.stride, second.share, second.stride, active, 0, cycles, sink);
  long long each = 0;
  const cudaError_t error = cudaMemcpy(&each, cycles, 8, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) std::fprintf(stderr, "%s: %s\n", first.name, cudaGetErrorString(error));
  std::printf(
      "{\"first\":\"%s\",\"width\":%d,\"lanes\":\"%s\",\"second\":\"%s\",\"second_width\":%d,\"second_lanes\":\"%s\","
      "\"active\":%u,\"cycles_an_access\":%.3f}\n",
      names[A], WidthA, first.name, names[B], WidthB, B == kNone ? "" : second.name, active,
      (double)each / (kTurns * kAccesses * (kThreads / 32)));
}

int main() {
  char* memory;
  long long* cycles;
  unsigned* sink;
  cudaMalloc(&memory, 1 << 20), cudaMalloc(&cycles, 8), cudaMalloc(&sink, 4);
  cudaMemset(memory, 0, 1 << 20);
  const Lanes one{"one word", 32, 4}, eight{"8 words", 4, 4}, sixteen{"16 words", 2, 4}, all{"32 words", 1, 4},
      two{"every 2nd word", 1, 8}, apart{"a line each", 1, 128}, sectors{"a sector each", 1, 32};
  for (const Lanes& lanes : {one, eight, sixteen, all, two, sectors, apart})
    measure<kLoad, 4>(memory, lanes, one, 32, cycles, sink);
  for (const unsigned active : {1U, 8U, 9U, 16U, 17U, 24U}) measure<kLoad, 4>(memory, all, one, active, cycles, sink);
  for (const Lanes& lanes : {one, all, two, apart}) measure<kShared, 4>(memory, lanes, one, 32, cycles, sink);
  measure<kLoad, 8>(memory, {"32 pairs", 1, 8}, one, 32, cycles, sink),
      measure<kLoad, 8>(memory, {"one pair", 32, 8}, one, 32, cycles, sink);
  measure<kLoad, 16>(memory, {"32 fours", 1, 16}, one, 32, cycles, sink),
      measure<kLoad, 16>(memory, {"one four", 32, 16}, one, 32, cycles, sink);
  measure<kShared, 8>(memory, {"32 pairs", 1, 8}, one, 32, cycles, sink),
      measure<kShared, 16>(memory, {"32 fours", 1, 16}, one, 32, cycles, sink);
  for (const Lanes& lanes :
       {one, all, sectors, apart})  // the scratchpad's banks are those of the L1: do they wait for each other?
    for (const Lanes& others : {one, all, two}) measure<kLoad, 4, kShared, 4>(memory, lanes, others, 32, cycles, sink);
  for (const Lanes& others : {all, apart}) measure<kLoad, 4, kLoad, 4>(memory, one, others, 32, cycles, sink);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
