// SPDX-License-Identifier: Apache-2.0
// Kernels that look at where they run, leave early, have barriers of their own, call through pointers, print.
#include <cuda/barrier>
#include <cuda/ptx>

#include <unistd.h>

#include <algorithm>

#include "program.h"

namespace {

__global__ void registers(unsigned* bad, unsigned sms, unsigned* seen) {
  unsigned smid, nsmid, warp, lane, x, nx, y, ny;
  unsigned long long t0, t1, c0 = clock64(), c1;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t0));
  asm volatile("mov.u32 %0, %smid;" : "=r"(smid));
  asm volatile("mov.u32 %0, %nsmid;" : "=r"(nsmid));
  asm volatile("mov.u32 %0, %warpid;" : "=r"(warp));
  asm volatile("mov.u32 %0, %laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %ctaid.x;" : "=r"(x));
  asm volatile("mov.u32 %0, %nctaid.x;" : "=r"(nx));
  asm volatile("mov.u32 %0, %ctaid.y;" : "=r"(y));
  asm volatile("mov.u32 %0, %nctaid.y;" : "=r"(ny));
  __nanosleep(200);
  c1 = clock64();
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t1));
  const bool holds[] = {
      smid < nsmid, nsmid >= sms,
      warp<64, lane == threadIdx.x % 32, x == blockIdx.x, nx == gridDim.x, y == blockIdx.y, ny == gridDim.y, c1> c0, t1 >= t0,
      clock() != 0};
  for (unsigned k = 0; k < sizeof holds; ++k)
    if (!holds[k]) atomicAdd(&bad[k], 1);
  atomicAdd(&seen[blockIdx.y * gridDim.x + blockIdx.x], 1);
}
/// Threads leave before barriers of the others: whole warps, and parts of warps.
__global__ void leaves(unsigned* v, unsigned stay) {
  __shared__ unsigned part[256];
  if (threadIdx.x >= stay) return;
  for (unsigned round = 0; round < 3; ++round) {
    part[threadIdx.x] = v[number()] + threadIdx.x;
    __syncthreads();
    v[number()] += part[stay - 1 - threadIdx.x];
    __syncthreads();
  }
}
/// The first half makes, the second takes, by barriers with names.
__global__ void makers_and_takers(unsigned* v) {
  __shared__ unsigned box[64];
  const unsigned lane = threadIdx.x % 64;
  for (unsigned round = 1; round <= 4; ++round) {
    if (threadIdx.x < 64) {
      box[lane] = round * 100 + lane;
      asm volatile("bar.sync 1, 128;" ::: "memory");
      asm volatile("bar.sync 2, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      v[blockIdx.x * 64 + lane] += box[63 - lane];
      asm volatile("bar.sync 2, 128;" ::: "memory");
    }
  }
}
__device__ unsigned twice(unsigned a) { return 2 * a; }
__device__ unsigned thrice(unsigned a) { return 3 * a; }
__device__ unsigned my_block(unsigned a) { return a + blockIdx.x; }
using Function = unsigned (*)(unsigned);
__device__ Function table[] = {twice, thrice, my_block};
__global__ void by_pointer(unsigned* v, unsigned which) {
  spend(2000);
  v[number()] += table[which](5);
}
struct Shape {
  __device__ virtual unsigned area(unsigned a) const = 0;
};
struct Square : Shape {
  __device__ unsigned area(unsigned a) const override { return a * a; }
};
struct Half : Shape {
  __device__ unsigned area(unsigned a) const override { return a / 2; }
};
__global__ void makes_shapes(Shape** shapes) {
  shapes[0] = new Square;
  shapes[1] = new Half;
}
__global__ void calls_shapes(Shape** shapes, unsigned* v) {
  spend(2000);
  v[number()] += shapes[number() % 2]->area(6);
}
__device__ __noinline__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recurses(unsigned* v) {
  unsigned local[32];
  for (unsigned i = 0; i < 32; ++i) local[i] = i * (threadIdx.x + 1);
  v[number()] = fibonacci(threadIdx.x % 8 + 4) + local[(threadIdx.x * 7) % 32];
}
/// A counter of its own hands out the work.
__global__ void persists(unsigned* next, unsigned* v, unsigned tasks) {
  __shared__ unsigned task;
  for (;;) {
    if (threadIdx.x == 0) task = atomicAdd(next, 1);
    __syncthreads();
    if (task >= tasks) return;
    v[task * blockDim.x + threadIdx.x] += task;
    __syncthreads();
  }
}
__global__ void bulk(const unsigned* in, unsigned* out) {
  namespace ptx = cuda::ptx;
  __shared__ alignas(128) unsigned tile[kThreads];
  __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
  if (threadIdx.x == 0) {
    init(&arrived, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  if (threadIdx.x == 0) cuda::memcpy_async(tile, in + blockIdx.x * kThreads, cuda::aligned_size_t<16>(sizeof tile), arrived);
  arrived.arrive_and_wait();
  tile[threadIdx.x] = tile[threadIdx.x] * 5 + 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * kThreads, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
/// Multiply-adds that may be contracted, functions of the library: the last bit shows.
__global__ void floats(float* v, float a, int steps) {
  const unsigned i = number();
  float x = v[i];
  for (int s = 0; s < steps; ++s) x = x * 0.99F + a * __sinf(x) + sqrtf(fabsf(x) + 1.0F);
  v[i] = x + static_cast<float>(blockIdx.x % 7);
}
__global__ void prints() {
  if (threadIdx.x == 0 && blockIdx.x % 997 == 0) printf("block %u of %u\n", blockIdx.x, gridDim.x);
}
__global__ void prints_one(int k) {
  if (number() == 0) printf("launch %d\n", k);
}

CASE(special_registers, quota) {
  int sms = 0;
  ck(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  Words bad(16), seen(kBlocks);
  registers<<<dim3(kBlocks / 4, 4), kThreads>>>(bad, static_cast<unsigned>(sms), seen);
  bad.all(0);
  seen.all(kThreads);
}
CASE(early_return, quota) {
  for (const unsigned threads : {256U, 200U}) {
    for (const unsigned stay : {threads, 192U, 64U, 100U, 33U, 1U}) {
      Words v(kBlocks * 256);
      leaves<<<kBlocks, threads>>>(v, stay);
      const auto seen = v.back();
      std::vector<unsigned> one(stay);
      for (unsigned round = 0; round < 3; ++round) {
        const auto before = one;
        for (unsigned t = 0; t < stay; ++t) one[t] += before[stay - 1 - t] + stay - 1 - t;
      }
      for (unsigned i = 0; i < kBlocks * threads; ++i) expect(seen[i] == (i % threads < stay ? one[i % threads] : 0));
    }
  }
}
CASE(named_barriers, either) {
  Words v(kBlocks * 64);
  for (int k = 0; k < 3; ++k) makers_and_takers<<<kBlocks, 128>>>(v);
  const auto seen = v.back();
  for (unsigned i = 0; i < seen.size(); ++i) expect(seen[i] == 3 * (1000 + 4 * (63 - i % 64)));
}
CASE(function_pointers, either) {
  Words v;
  for (unsigned which = 0; which < 3; ++which) by_pointer<<<kBlocks, kThreads>>>(v, which);
  const auto seen = v.back();
  for (unsigned i = 0; i < kWords; ++i) expect(seen[i] == 10 + 15 + 5 + i / kThreads);
}
CASE(virtual_functions, either) {
  Array<Shape*> shapes(2);
  Words v;
  makes_shapes<<<1, 1>>>(shapes);
  calls_shapes<<<kBlocks, kThreads>>>(shapes, v);
  const auto seen = v.back();
  for (unsigned i = 0; i < kWords; ++i) expect(seen[i] == (i % 2 == 0 ? 36 : 3));
}
CASE(recursion, either) {
  Words v;
  ck(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  recurses<<<kBlocks, kThreads>>>(v);
  const auto seen = v.back();
  const unsigned fib[] = {3, 5, 8, 13, 21, 34, 55, 89};
  for (unsigned i = 0; i < kWords; ++i) expect(seen[i] == fib[i % kThreads % 8] + (i % kThreads * 7) % 32 * (i % kThreads + 1));
}
CASE(persistent, either) {
  Words v, next(1);
  persists<<<200, kThreads>>>(next, v, kBlocks);
  ck(cudaMemsetAsync(next, 0, 4));
  persists<<<kBlocks, kThreads>>>(next, v, kBlocks);  // more blocks than fit
  const auto seen = v.back();
  for (unsigned i = 0; i < kWords; ++i) expect(seen[i] == i / kThreads * 2);
}
CASE(bulk_copies, either) {
  Words a, b;
  for (int k = 0; k < 4; ++k) bulk<<<kBlocks, kThreads>>>(k % 2 == 0 ? a : b, k % 2 == 0 ? b : a);
  a.all(156);
}
CASE(same_floats, quota) {
  Array<float> v(kWords);
  for (int k = 0; k < 6; ++k) floats<<<kBlocks, kThreads>>>(v, 0.1F * static_cast<float>(k), 20 * k + 100);
  unsigned long long print = 14695981039346656037ULL;
  for (const float x : v.back()) {
    unsigned bits = 0;
    std::memcpy(&bits, &x, 4);
    print = (print ^ bits) * 1099511628211ULL;
  }
  std::printf("%016llx\n", print);
}
CASE(printf_of_blocks, either) {
  std::fflush(stdout);
  std::FILE* file = std::tmpfile();
  const int out = ::dup(1);
  ::dup2(::fileno(file), 1);
  prints<<<kBlocks, kThreads>>>();
  finish();
  std::fflush(stdout);
  ::dup2(out, 1);
  std::rewind(file);
  std::vector<std::string> lines;
  for (char line[100]; std::fgets(line, sizeof line, file) != nullptr;) lines.emplace_back(line);
  std::ranges::sort(lines);  // the order of blocks is nobody's
  for (const std::string& line : lines) std::printf("%s", line.c_str());
}
CASE(printf_in_order, either) {
  Words v;
  for (int k = 0; k < 10; ++k) {
    prints_one<<<kBlocks, kThreads>>>(k);
    launch_step(v, 1);
  }
  finish();
}

}  // namespace
