// SPDX-License-Identifier: Apache-2.0
// How long launches of KIND take, waited for one by one: spin KIND BLOCKS BLOCK_US. Kinds differ in what all threads of a block
// do until its time is over: read the timer, read the clock, multiply and add, wait for one thread that reads the timer, sleep.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

constexpr int kThreads = 256;

__device__ unsigned long long timer() {
  unsigned long long ns = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}
__device__ void add(float* out, float x) { out[blockIdx.x * blockDim.x + threadIdx.x] += x; }

__global__ void reads_timer(float* out, unsigned long long ns) {
  for (const unsigned long long begin = timer(); timer() - begin < ns;) {
  }
  add(out, 1);
}
__global__ void reads_clock(float* out, unsigned long long ns) {
  for (const unsigned long long begin = clock64(); clock64() - begin < ns * 17 / 10;) {
  }
  add(out, 1);
}
__global__ void computes(float* out, unsigned long long ns) {
  float x = threadIdx.x;
  for (unsigned long long i = 0; i < ns / 5; ++i) x = x * 1.0001f + 0.5f;
  add(out, x);
}
__global__ void one_thread(float* out, unsigned long long ns) {
  if (threadIdx.x == 0)
    for (const unsigned long long begin = timer(); timer() - begin < ns;) {
    }
  __syncthreads();
  add(out, 1);
}
__global__ void sleeps(float* out, unsigned long long ns) {
  for (const unsigned long long begin = timer(); timer() - begin < ns;) __nanosleep(500);
  add(out, 1);
}

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(float*, unsigned long long)> kinds = {
      {"timer", reads_timer}, {"clock", reads_clock}, {"computes", computes}, {"one_thread", one_thread}, {"sleeps", sleeps}};
  const auto kind = kinds.find(argc == 4 ? argv[1] : "");
  if (kind == kinds.end()) {
    std::fprintf(stderr, "usage: %s timer|clock|computes|one_thread|sleeps BLOCKS BLOCK_US\n", argv[0]);
    return 2;
  }
  const int blocks = std::atoi(argv[2]);
  const auto ns = static_cast<unsigned long long>(std::atof(argv[3]) * 1000);
  float* out = nullptr;
  if (cudaMalloc(&out, sizeof(float) * kThreads * blocks) != cudaSuccess) return 3;
  std::vector<double> us;
  constexpr int kWarm = 20, kTimed = 150;
  for (int k = 0; k < kWarm + kTimed; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    kind->second<<<blocks, kThreads>>>(out, ns);
    if (cudaDeviceSynchronize() != cudaSuccess) return 3;
    if (k >= kWarm) us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::sort(us);
  std::printf("%s: %d blocks of %s us, a launch p10 %.1f p50 %.1f p90 %.1f us\n", argv[1], blocks, argv[3], us[kTimed / 10],
              us[kTimed / 2], us[kTimed * 9 / 10]);
}
