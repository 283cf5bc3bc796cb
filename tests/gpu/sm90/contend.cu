// SPDX-License-Identifier: Apache-2.0
// How warps of two kinds share one SM that either kind would fill: accesses a cycle of each, by their numbers and by which are
// older. One JSON line a measurement; cycles are the SM's. build: nvcc -arch=sm_90 -O3 -o contend contend.cu
#include <cstdio>
#include <vector>

constexpr int kSchedulers = 4, kWarps = 32, kWords = 4096;
constexpr long long kCycles = 200000;

enum Kind { kApart, kOneWord, kShared, kShift };
constexpr const char* kNames[] = {"load, a line each lane", "load, one word", "scratchpad", "shift"};
/// Accesses of a turn, in flight together; pairs of shifts.
__host__ __device__ constexpr int turn_of(Kind kind) { return kind == kApart ? 4 : kind == kShift ? 32 : 16; }

template <Kind K>
__device__ unsigned long long turns(const char* memory, unsigned shared, unsigned zero, unsigned* sink) {
  constexpr int kTurn = turn_of(K);
  const unsigned lane = threadIdx.x % 32;
  memory += K == kApart ? lane * 128 + threadIdx.x / 32 * 64 : 0;
  unsigned sum = lane, other = lane + 1;
  unsigned long long done = 0;
  const long long begin = clock64();
  do {
    unsigned v[kTurn];
#pragma unroll
    for (int i = 0; i < kTurn; ++i) {
      if (K == kApart || K == kOneWord) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[i]) : "l"(memory + i * 4096));
      if (K == kShared) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[i]) : "r"(shared + lane * 4 + i * 128));
      if (K == kShift)
        asm volatile("shf.l.wrap.b32 %0, %0, %2, %2;\n\tshf.l.wrap.b32 %1, %1, %2, %2;" : "+r"(sum), "+r"(other) : "r"(zero));
    }
    if (K != kShift)
#pragma unroll
      for (int i = 0; i < kTurn; ++i) sum ^= v[i];
    memory += zero, shared += zero;
    ++done;
  } while (clock64() - begin < kCycles);
  if (sum + other == 0x12345678) *sink = sum;
  return done * kTurn;
}

/// The first `a` warps of each scheduler are of kind A, the next `b` of kind B.
template <Kind A, Kind B>
__global__ void __launch_bounds__(kWarps * 32)
    share(const char* memory, int a, int b, unsigned zero, unsigned long long* done, unsigned* sink) {
  __shared__ unsigned words[kWords];
  for (int i = (int)threadIdx.x; i < kWords; i += (int)blockDim.x) words[i] = zero;
  __syncthreads();
  const int warp = (int)threadIdx.x / 32, place = warp / kSchedulers;
  const unsigned base = (unsigned)__cvta_generic_to_shared(words);
  unsigned long long mine = 0;
  if (place < a)
    mine = turns<A>(memory, base, zero, sink);
  else if (place < a + b)
    mine = turns<B>(memory, base, zero, sink);
  if (threadIdx.x % 32 == 0) done[warp] = mine;
}

template <Kind A, Kind B>
void measure(const char* memory, unsigned long long* done, unsigned* sink) {
  for (const int a : {0, 1, 2, 4, 6})
    for (const int b : {0, 1, 2, 4, 6}) {
      if (a + b == 0 || a + b > kWarps / kSchedulers) continue;
      share<A, B><<<1, (a + b) * kSchedulers * 32>>>(memory, a, b, 0, done, sink);
      std::vector<unsigned long long> each(kWarps);
      const cudaError_t error = cudaMemcpy(each.data(), done, kWarps * 8, cudaMemcpyDeviceToHost);
      if (error != cudaSuccess) std::fprintf(stderr, "%s: %s\n", kNames[A], cudaGetErrorString(error));
      unsigned long long first = 0, second = 0;
      for (int w = 0; w < (a + b) * kSchedulers; ++w) (w / kSchedulers < a ? first : second) += each[w];
      std::printf(
          "{\"older\":\"%s\",\"warps_a_scheduler\":%d,\"younger\":\"%s\",\"younger_warps_a_scheduler\":%d,"
          "\"older_a_cycle\":%.4f,\"younger_a_cycle\":%.4f}\n",
          kNames[A], a, kNames[B], b, (double)first / kCycles, (double)second / kCycles);
    }
}

int main() {
  char* memory;
  unsigned long long* done;
  unsigned* sink;
  cudaMalloc(&memory, 1 << 20), cudaMalloc(&done, kWarps * 8), cudaMalloc(&sink, 4);
  cudaMemset(memory, 0, 1 << 20);
  measure<kApart, kOneWord>(memory, done, sink), measure<kOneWord, kApart>(memory, done, sink);
  measure<kApart, kShared>(memory, done, sink), measure<kShared, kApart>(memory, done, sink);
  measure<kOneWord, kShared>(memory, done, sink), measure<kShared, kOneWord>(memory, done, sink);
  measure<kShift, kOneWord>(memory, done, sink), measure<kOneWord, kShift>(memory, done, sink);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
