// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the programs share: `PROGRAM CASE` runs one case, PROGRAM alone lists them. A case prints what is the same in every run,
// and "right" at its end; with what it found wrong it ends with 1. Included once by each program, since main() is here.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <source_location>
#include <string>
#include <thread>
#include <vector>

using Place = std::source_location;

/// Large enough to be put under a quota: three rounds and more of what a GPU holds, of blocks that take 4 us.
constexpr unsigned kBlocks = 6000, kThreads = 128, kWords = kBlocks * kThreads;

struct Case {
  const char *name, *way;  ///< way: of its launches some are under a `quota`, all are `native`, or `either` may be
  void (*run)();
};
inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}
struct Listed {
  Listed(const char* name, const char* way, void (*run)()) { cases().push_back({name, way, run}); }
};
#define CASE(NAME, WAY)                                 \
  static void NAME();                                   \
  static const Listed listed_##NAME{#NAME, #WAY, NAME}; \
  static void NAME()

[[noreturn]] inline void wrong(const std::string& what, Place at = Place::current()) {
  std::printf("wrong at line %u: %s\n", at.line(), what.c_str());
  std::fflush(stdout);
  std::exit(1);
}
inline void ck(cudaError_t e, Place at = Place::current()) {
  if (e != cudaSuccess) wrong(cudaGetErrorName(e), at);
}
inline void ck(CUresult e, Place at = Place::current()) {
  if (e != CUDA_SUCCESS) wrong("CUresult " + std::to_string(e), at);
}
inline void expect(bool holds, Place at = Place::current()) {
  if (!holds) wrong("it does not hold", at);
}
inline void say(const char* what, cudaError_t e) {
  std::printf("%s: %s, %s\n", what, cudaGetErrorName(e), cudaGetErrorString(e));
}
inline void nap(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
/// Behind a fault the driver may have no GPU for the process, for a moment or for good, natively as well.
inline bool has_gpu() {
  for (int k = 0; k < 100 && cudaFree(nullptr) == cudaErrorDevicesUnavailable; ++k) nap(50);
  const bool there = cudaFree(nullptr) == cudaSuccess;
  static_cast<void>(cudaGetLastError());
  if (!there) std::printf("no GPU behind the fault\n");
  return there;
}
inline void finish(Place at = Place::current()) { ck(cudaDeviceSynchronize(), at); }

/// Words of device memory, zero at first; they last as long as the process.
template <class T>
struct Array {
  explicit Array(std::size_t n = kWords, Place at = Place::current()) : words(n) {
    ck(cudaMalloc(&p, n * sizeof(T)), at);
    ck(cudaMemset(p, 0, n * sizeof(T)), at);
    finish(at);
  }
  operator T*() const { return p; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] std::vector<T> back(Place at = Place::current()) const {
    std::vector<T> v(words);
    finish(at);
    ck(cudaMemcpy(v.data(), p, words * sizeof(T), cudaMemcpyDeviceToHost), at);
    return v;
  }
  void all(T value, Place at = Place::current()) const { upto(words, value, at); }
  /// The first n are that.
  void upto(std::size_t n, T value, Place at = Place::current()) const {
    const std::vector<T> v = back(at);
    std::size_t bad = 0, first = 0;
    for (std::size_t i = n; i-- > 0;)
      if (v[i] != value) ++bad, first = i;
    if (bad != 0)
      wrong(std::to_string(bad) + " words of " + std::to_string(n) + ", word " + std::to_string(first) + " is " +
                std::to_string(v[first]) + ", not " + std::to_string(value),
            at);
  }
  T* p = nullptr;
  std::size_t words;
};
using Words = Array<unsigned>;

struct Stream {
  explicit Stream(unsigned flags = cudaStreamDefault, int priority = 0) { ck(cudaStreamCreateWithPriority(&s, flags, priority)); }
  operator cudaStream_t() const { return s; }  // NOLINT(google-explicit-constructor)
  cudaStream_t s{};
};
struct Event {
  explicit Event(unsigned flags = cudaEventDisableTiming) { ck(cudaEventCreateWithFlags(&e, flags)); }
  operator cudaEvent_t() const { return e; }  // NOLINT(google-explicit-constructor)
  cudaEvent_t e{};
};

__device__ inline unsigned number() {
  return ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline void spend(unsigned ns) {
  if (threadIdx.x == 0) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begin < ns);
  }
  __syncthreads();
}
/// Steps that are not made in the order of the program, twice or never show in every word.
__global__ void step(unsigned* v, unsigned a) {
  spend(4000);
  v[number()] = v[number()] * 5 + a;
}
/// Reads what the launch before wrote elsewhere: wrong where it began too early.
__global__ void cross(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned i = number();
  if (i < n) out[i] = out[i] * 3 + in[n - 1 - i];
}
inline unsigned step_on_host(unsigned v, unsigned a) { return v * 5 + a; }
inline void launch_step(const Words& v, unsigned a, cudaStream_t s = nullptr, Place at = Place::current()) {
  step<<<kBlocks, kThreads, 0, s>>>(v, a);
  ck(cudaGetLastError(), at);
}

int main(int argc, char** argv) {
  for (const Case& c : cases()) {
    if (argc < 2) std::printf("%s %s\n", c.name, c.way);
    if (argc < 2 || std::strcmp(argv[1], c.name) != 0) continue;
    c.run();
    std::printf("right\n");
    return 0;
  }
  return argc < 2 ? 0 : 2;
}
