// SPDX-License-Identifier: Apache-2.0
#pragma once
// Enough of CUDA to run a kernel's text on the host, block after block: each thread of a block has a stack of its own, and they
// take turns at barriers. Atomics are plain, as one thread runs at a time.
#include <ucontext.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

// NOLINTBEGIN: CUDA's names
#define __global__ static
#define __device__ static
#define __constant__ static
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)

struct float2 {
  float x, y;
};
struct float3 {
  float x, y, z;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct uint2 {
  unsigned x, y;
};
struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

inline uint3 threadIdx, blockIdx;

inline void sincospif(float x, float* s, float* c) {
  *s = static_cast<float>(std::sin(M_PI * x));
  *c = static_cast<float>(std::cos(M_PI * x));
}
inline float rsqrtf(float x) { return 1.0F / std::sqrt(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __sinf(float x) { return std::sin(x); }
inline unsigned atomicAdd(unsigned* at, unsigned value) {
  const unsigned old = *at;
  *at += value;
  return old;
}
// NOLINTEND

namespace sluice::host_cuda {

/// The threads of one block.
class Block {
 public:
  void run(const uint3& shape, const std::function<void()>& body) {
    body_ = &body;
    const std::size_t threads = std::size_t{shape.x} * shape.y * shape.z;
    constexpr std::size_t kStack = 64 * 1024;
    stacks_.resize(threads * kStack);
    threads_.assign(threads, {});
    for (std::size_t t = 0; t < threads; ++t) {
      getcontext(&threads_[t].context);
      threads_[t].context.uc_stack.ss_sp = stacks_.data() + t * kStack;
      threads_[t].context.uc_stack.ss_size = kStack;
      threads_[t].context.uc_link = &main_;
      makecontext(&threads_[t].context, &Block::start, 0);
    }
    for (bool any = true; any;) {  // from barrier to barrier
      any = false;
      for (std::size_t t = 0; t < threads; ++t) {
        if (threads_[t].done) continue;
        any = true;
        now_ = t;
        const auto number = static_cast<unsigned>(t);
        threadIdx = {number % shape.x, number / shape.x % shape.y, number / shape.x / shape.y};
        current = this;
        swapcontext(&main_, &threads_[t].context);
      }
    }
  }
  void barrier() { swapcontext(&threads_[now_].context, &main_); }

  static inline Block* current = nullptr;

 private:
  struct Thread {
    ucontext_t context;
    bool done = false;
  };
  static void start() {
    (*current->body_)();
    current->threads_[current->now_].done = true;
  }
  const std::function<void()>* body_ = nullptr;
  ucontext_t main_{};
  std::size_t now_ = 0;
  std::vector<Thread> threads_;
  std::vector<char> stacks_;
};

}  // namespace sluice::host_cuda

inline void __syncthreads() { sluice::host_cuda::Block::current->barrier(); }  // NOLINT
inline void __syncwarp() { sluice::host_cuda::Block::current->barrier(); }     // NOLINT
