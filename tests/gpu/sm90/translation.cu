// SPDX-License-Identifier: Apache-2.0
// What the translation of addresses costs: few lines, which stay in L2, spread over many pages. One JSON line a measurement;
// cycles are the SM's.
// build: nvcc -arch=sm_90 -O3 -o translation translation.cu
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

using u64 = unsigned long long;
constexpr std::size_t kSpan = 2ULL << 20;  // a large page

__global__ void chase(u64 start, int warm, int hops, long long* out) {
  u64 at = start;
  for (int i = 0; i < warm; ++i) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
  const long long begin = clock64();
#pragma unroll 16
  for (int i = 0; i < hops; ++i) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
  if (at == 0) out[1] = 1;
  out[0] = clock64() - begin;
}
__global__ void link(char* memory, const std::uint32_t* order, int count, std::size_t apart) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const auto place = [&](std::uint32_t p) { return memory + p * apart + p * 256 % apart; };
    *reinterpret_cast<u64*>(place(order[i])) = (u64)place(order[(i + 1) % count]);
  }
}
void latency(char* memory, std::size_t apart, int pages, std::uint32_t* order, long long* out) {
  std::vector<std::uint32_t> shuffled(pages);
  std::iota(shuffled.begin(), shuffled.end(), 0U);
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
  cudaMemcpy(order, shuffled.data(), pages * 4, cudaMemcpyHostToDevice);
  link<<<1, 256>>>(memory, order, pages, apart);
  const int hops = std::max(pages, 2048);
  chase<<<1, 1>>>((u64)memory, 2 * pages, hops, out);
  long long cycles = 0;
  cudaMemcpy(&cycles, out, 8, cudaMemcpyDeviceToHost);
  std::printf("{\"translation\":\"latency\",\"apart\":%zu,\"places\":%d,\"cycles\":%.1f}\n", apart, pages, (double)cycles / hops);
}

/// Every lane loads words of random lines: `lines` of each of `pages` pages.
__global__ void __launch_bounds__(1024) gather(const char* memory, unsigned pages, unsigned lines, int turns, long long* cycles) {
  unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761U + 12345, sum = 0;
  const long long begin = clock64();
#pragma unroll 8
  for (int t = 0; t < turns; ++t) {
    x = x * 1664525 + 1013904223;
    const unsigned r = x >> 4;
    const std::size_t at = (std::size_t)(r % pages) * kSpan + (r / pages % lines) * 128 % kSpan;
    unsigned v;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(memory + at));
    sum ^= v;
  }
  if (sum == 0x12345678) cycles[4096] = sum;
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
}
void throughput(const char* memory, unsigned pages, int ctas, int threads, long long* cycles) {
  constexpr unsigned kLines = 65536;  // 8 MiB of lines in all
  const int turns = 64;
  for (int warm = 0; warm < 2; ++warm) gather<<<ctas, threads>>>(memory, pages, std::max(1U, kLines / pages), turns, cycles);
  std::vector<long long> each(ctas);
  cudaMemcpy(each.data(), cycles, ctas * 8, cudaMemcpyDeviceToHost);
  const double longest = (double)*std::max_element(each.begin(), each.end());
  std::printf("{\"translation\":\"gather\",\"pages\":%u,\"ctas\":%d,\"threads\":%d,\"cycles\":%.0f,\"lanes_a_cycle\":%.3f}\n",
              pages, ctas, threads, longest, (double)ctas * threads * turns / longest);
}

int main() {
  constexpr std::size_t kBytes = 48ULL << 30;
  char* memory;
  long long* cycles;
  std::uint32_t* order;
  if (cudaMalloc(&memory, kBytes) != cudaSuccess) return 1;
  cudaMalloc(&cycles, 1 << 16), cudaMalloc(&order, 1 << 20);
  for (const std::size_t apart : {kSpan, 16 * kSpan})
    for (int pages = 8; pages <= 16384 && pages * apart <= kBytes; pages *= 2) {
      latency(memory, apart, pages, order, cycles);
      if (pages * 3 / 2 * apart <= kBytes && pages * 3 / 2 <= 16384) latency(memory, apart, pages * 3 / 2, order, cycles);
    }
  for (const int ctas : {1, 132})
    for (const int threads : {32, 1024})
      for (unsigned pages = 4; pages <= 16384; pages *= 2) throughput(memory, pages, ctas, threads, cycles);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
