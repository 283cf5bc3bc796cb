// SPDX-License-Identifier: Apache-2.0
// Latency and bandwidth of the memory hierarchy. One JSON line a measurement; cycles are the SM's.
// build: nvcc -arch=sm_90 -O3 -o memory memory.cu
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

using u64 = unsigned long long;

enum Level { kCa, kCg, kAtomic };
template <Level L>
__device__ u64 hop(u64 at) {
  if (L == kCa) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory");
  if (L == kCg) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
  if (L == kAtomic) asm volatile("atom.global.or.b64 %0, [%0], 0;" : "+l"(at)::"memory");
  return at;
}
template <Level L>
__global__ void chase(u64 start, int warm, int hops, long long* out) {
  u64 at = start;
  for (int i = 0; i < warm; ++i) at = hop<L>(at);
  const long long begin = clock64();
#pragma unroll 16
  for (int i = 0; i < hops; ++i) at = hop<L>(at);
  if (at == 0) out[1] = 1;
  out[0] = clock64() - begin;
}

__global__ void shared_chase(long long* out) {
  __shared__ unsigned words[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += 32) words[i] = (unsigned)__cvta_generic_to_shared(words) + (i + 33) % 1024 * 4;
  __syncthreads();
  unsigned at = (unsigned)__cvta_generic_to_shared(words);
  const long long begin = clock64();
#pragma unroll 64
  for (int i = 0; i < 1024; ++i) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
  if (at == 0) out[1] = 1;
  out[0] = clock64() - begin;
}

/// A ring of pointers, one a line of `stride` bytes, in random order.
void ring(char* memory, std::size_t bytes, std::size_t stride) {
  std::vector<std::uint32_t> order(bytes / stride);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  std::vector<char> image(bytes);
  for (std::size_t i = 0; i < order.size(); ++i)
    *reinterpret_cast<u64*>(&image[order[i] * stride]) = (u64)(memory + order[(i + 1) % order.size()] * stride);
  cudaMemcpy(memory, image.data(), bytes, cudaMemcpyHostToDevice);
}

template <Level L>
void latency(const char* name, char* memory, std::size_t bytes, long long* out) {
  ring(memory, bytes, 256);
  const int lines = (int)(bytes / 256), warm = std::min(lines, 1 << 19), hops = std::min(std::max(lines, 2048), 1 << 14);
  chase<L><<<1, 1>>>((u64)memory, warm, hops, out);
  long long cycles = 0;
  cudaMemcpy(&cycles, out, 8, cudaMemcpyDeviceToHost);
  std::printf("{\"latency\":\"%s\",\"bytes\":%zu,\"cycles\":%.1f}\n", name, bytes, (double)cycles / hops);
}

enum Access { kLoadCa, kLoadCg, kStore, kCopy, kRed };
/// Every warp makes `turns` turns: `U` accesses of 16 (or 4) bytes a lane in flight, lanes `lane_stride` bytes apart. All warps
/// together go round and round in `bytes`.
template <Access A, int U, int Width>
__global__ void __launch_bounds__(1024)
    pass(char* memory, std::size_t bytes, unsigned lane_stride, std::size_t turns, long long* cycles, unsigned* sink) {
  const std::size_t chunk = (std::size_t)lane_stride * 32;
  const std::size_t warps = (std::size_t)gridDim.x * (blockDim.x / 32),
                    me = (std::size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  unsigned sum = 0;
  const long long begin = clock64();
  {
    const std::size_t all = bytes / (chunk * U), step = warps % all;
    std::size_t c = me % all;
    for (std::size_t turn = 0; turn < turns; ++turn, c = c + step >= all ? c + step - all : c + step) {
      char* base = memory + c * chunk * U + (threadIdx.x % 32) * lane_stride;
      uint4 v[U];
#pragma unroll
      for (int u = 0; u < U; ++u) {
        char* at = base + u * chunk;
        if (A == kLoadCa && Width == 16)
          asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];"
                       : "=r"(v[u].x), "=r"(v[u].y), "=r"(v[u].z), "=r"(v[u].w)
                       : "l"(at));
        if (A == kLoadCa && Width == 4) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[u].x) : "l"(at));
        if ((A == kLoadCg || A == kCopy) && Width == 16)
          asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                       : "=r"(v[u].x), "=r"(v[u].y), "=r"(v[u].z), "=r"(v[u].w)
                       : "l"(at));
        if (A == kLoadCg && Width == 4) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[u].x) : "l"(at));
        if (A == kStore && Width == 16) asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(at), "r"(sum + u));
        if (A == kStore && Width == 4) asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(sum + u));
        if (A == kRed) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(at), "r"(1));
      }
      if (A == kLoadCa || A == kLoadCg)
#pragma unroll
        for (int u = 0; u < U; ++u) sum ^= Width == 16 ? v[u].x ^ v[u].y ^ v[u].z ^ v[u].w : v[u].x;
      if (A == kCopy)
#pragma unroll
        for (int u = 0; u < U; ++u)
          asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(base + bytes + u * chunk), "r"(v[u].x), "r"(v[u].y),
                       "r"(v[u].z), "r"(v[u].w));
    }
  }
  if (sum == 0x12345678) *sink = sum;
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
}

template <Access A, int U, int Width>
void bandwidth(const char* name, char* memory, std::size_t bytes, unsigned lane_stride, int ctas, int threads, int rounds,
               long long* cycles, unsigned* sink) {
  cudaEvent_t a, b;
  cudaEventCreate(&a), cudaEventCreate(&b);
  float ms = 0;
  const std::size_t warps = (std::size_t)ctas * threads / 32, chunk = (std::size_t)lane_stride * 32 * U;
  const std::size_t turns = std::max<std::size_t>(1, bytes / chunk * rounds / warps);
  for (int warm = 0; warm < 2; ++warm) {
    cudaEventRecord(a);
    pass<A, U, Width><<<ctas, threads>>>(memory, bytes, lane_stride, turns, cycles, sink);
    cudaEventRecord(b);
    cudaEventSynchronize(b);
    cudaEventElapsedTime(&ms, a, b);
  }
  std::vector<long long> each(ctas);
  const cudaError_t error = cudaMemcpy(each.data(), cycles, ctas * 8, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) std::fprintf(stderr, "%s: %s\n", name, cudaGetErrorString(error));
  const double longest = (double)*std::max_element(each.begin(), each.end());
  const double accesses = (double)(warps * turns) * U * 32, moved = accesses * Width;
  const double sectors = accesses * (lane_stride >= 32 ? 1 : lane_stride / 32.0);
  std::printf(
      "{\"bandwidth\":\"%s\",\"bytes\":%zu,\"lane_stride\":%u,\"width\":%d,\"in_flight\":%d,\"ctas\":%d,\"threads\":%d,"
      "\"cycles\":%.0f,\"ms\":%.4f,"
      "\"bytes_a_cycle\":%.1f,\"sectors_a_cycle\":%.2f,\"gb_a_second\":%.1f}\n",
      name, bytes, lane_stride, Width, U, ctas, threads, longest, ms, moved / longest, sectors / longest, moved / ms / 1e6);
}

int main() {
  constexpr std::size_t kBytes = 4ULL << 30, kMega = 1 << 20;
  char* memory;
  long long* cycles;
  unsigned* sink;
  cudaMalloc(&memory, kBytes), cudaMalloc(&cycles, 1 << 16), cudaMalloc(&sink, 4);
  cudaMemset(memory, 0, kBytes);
  shared_chase<<<1, 32>>>(cycles);
  long long shared = 0;
  cudaMemcpy(&shared, cycles, 8, cudaMemcpyDeviceToHost);
  std::printf("{\"latency\":\"shared\",\"bytes\":4096,\"cycles\":%.1f}\n", (double)shared / 1024);
  for (const std::size_t kb : {8, 32, 64, 96, 128, 160, 192, 208, 224, 240, 256, 320, 512})
    latency<kCa>("ca", memory, kb << 10, cycles);
  for (const std::size_t mb : {1, 2, 4, 8, 16, 20, 24, 28, 32, 40, 48, 56, 64, 96, 128, 256})
    latency<kCg>("cg", memory, mb * kMega, cycles);
  latency<kAtomic>("atomic", memory, kMega, cycles);
  for (const std::size_t mb : {1, 16}) {  // one SM, then all
    bandwidth<kLoadCg, 8, 16>("l2_load", memory, mb * kMega, 16, 1, 1024, 20, cycles, sink);
    bandwidth<kLoadCg, 8, 16>("l2_load", memory, mb * kMega, 16, 132, 1024, 400, cycles, sink);
    bandwidth<kLoadCg, 8, 16>("l2_load", memory, mb * kMega, 16, 264, 1024, 400, cycles, sink);
    bandwidth<kLoadCg, 8, 4>("l2_load", memory, mb * kMega, 4, 264, 1024, 400, cycles, sink);
    bandwidth<kLoadCg, 8, 4>("l2_load", memory, mb * kMega, 32, 1, 1024, 20, cycles, sink);
    bandwidth<kLoadCg, 8, 4>("l2_load", memory, mb * kMega, 32, 264, 1024, 400, cycles, sink);
    bandwidth<kLoadCg, 8, 4>("l2_load", memory, mb * kMega, 128, 1, 1024, 20, cycles, sink);
    bandwidth<kLoadCg, 8, 4>("l2_load", memory, mb * kMega, 128, 264, 1024, 400, cycles, sink);
    bandwidth<kStore, 8, 16>("l2_store", memory, mb * kMega, 16, 1, 1024, 20, cycles, sink);
    bandwidth<kStore, 8, 16>("l2_store", memory, mb * kMega, 16, 264, 1024, 400, cycles, sink);
    bandwidth<kStore, 8, 4>("l2_store", memory, mb * kMega, 4, 264, 1024, 400, cycles, sink);
    bandwidth<kStore, 8, 4>("l2_store", memory, mb * kMega, 128, 264, 1024, 400, cycles, sink);
    bandwidth<kRed, 8, 4>("l2_red", memory, mb * kMega, 4, 264, 1024, 100, cycles, sink);
    bandwidth<kRed, 8, 4>("l2_red", memory, mb * kMega, 128, 264, 1024, 100, cycles, sink);
  }
  for (const int threads : {32, 64, 128, 256, 512, 1024}) {  // one SM, data in L2: what it can have in flight
    bandwidth<kLoadCg, 1, 4>("l2_one_sm", memory, 2 * kMega, 4, 1, threads, 4, cycles, sink);
    bandwidth<kLoadCg, 8, 4>("l2_one_sm", memory, 2 * kMega, 4, 1, threads, 4, cycles, sink);
    bandwidth<kLoadCg, 8, 16>("l2_one_sm", memory, 2 * kMega, 16, 1, threads, 4, cycles, sink);
    bandwidth<kStore, 8, 4>("l2_one_sm_store", memory, 2 * kMega, 4, 1, threads, 4, cycles, sink);
    bandwidth<kLoadCa, 8, 4>("l1_one_sm", memory, 64 << 10, 4, 1, threads, 400, cycles, sink);
    bandwidth<kLoadCa, 8, 16>("l1_one_sm", memory, 64 << 10, 16, 1, threads, 400, cycles, sink);
    bandwidth<kLoadCa, 8, 4>("l1_one_sm", memory, 64 << 10, 32, 1, threads, 400, cycles, sink);
    bandwidth<kLoadCa, 8, 4>("l1_one_sm", memory, 64 << 10, 128, 1, threads, 400, cycles, sink);
    bandwidth<kLoadCg, 8, 4>("dram_one_sm", memory, 512 * kMega, 4, 1, threads, 1, cycles, sink);
    bandwidth<kLoadCg, 8, 4>("dram_one_sm", memory, 2048 * kMega, 128, 1, threads, 1, cycles, sink);
    bandwidth<kLoadCg, 1, 4>("dram_load", memory, 1024 * kMega, 4, 132, threads, 1, cycles, sink);
    bandwidth<kLoadCg, 4, 4>("dram_load", memory, 2048 * kMega, 4, 132, threads, 1, cycles, sink);
    bandwidth<kLoadCg, 4, 16>("dram_load", memory, 2048 * kMega, 16, 132, threads, 1, cycles, sink);
  }
  bandwidth<kLoadCg, 8, 16>("dram_load", memory, 2048 * kMega, 16, 264, 1024, 1, cycles, sink);
  bandwidth<kLoadCg, 4, 4>("dram_load", memory, 2048 * kMega, 32, 264, 1024, 1, cycles, sink);
  bandwidth<kLoadCg, 4, 4>("dram_load", memory, 2048 * kMega, 64, 264, 1024, 1, cycles, sink);
  bandwidth<kLoadCg, 4, 4>("dram_load", memory, 2048 * kMega, 128, 264, 1024, 1, cycles, sink);
  bandwidth<kStore, 4, 16>("dram_store", memory, 2048 * kMega, 16, 264, 1024, 1, cycles, sink);
  bandwidth<kStore, 4, 4>("dram_store", memory, 2048 * kMega, 32, 264, 1024, 1, cycles, sink);
  bandwidth<kCopy, 4, 16>("dram_copy", memory, 2048 * kMega, 16, 264, 1024, 1, cycles, sink);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
