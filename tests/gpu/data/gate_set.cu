// SPDX-License-Identifier: Apache-2.0
// What arbitrary programs do and a service must not get wrong: one thing a kernel.

extern __shared__ __align__(16) char dynamic_part[];
__device__ unsigned shared_counter;
__device__ unsigned table[4] = {3, 5, 7, 11};

/// Each block waits for the one before it.
extern "C" __global__ void lookback(unsigned* flag, unsigned* out) {
  if (threadIdx.x != 0) return;
  unsigned sum = 0;
  if (blockIdx.x > 0)
    while ((sum = ((volatile unsigned*)flag)[blockIdx.x - 1]) == 0) {
    }
  out[blockIdx.x] = sum;
  __threadfence();
  ((volatile unsigned*)flag)[blockIdx.x] = sum + 1;
}
/// A grid barrier by hand.
extern "C" __global__ void grid_barrier_by_hand(unsigned* arrived, unsigned* out) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (*(volatile unsigned*)arrived % gridDim.x != 0) {
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
/// Where the kernel's shared memory lies.
extern "C" __global__ void shared_base(unsigned* out) {
  __shared__ unsigned mine[32];
  mine[threadIdx.x & 31] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = (unsigned)__cvta_generic_to_shared(dynamic_part) + mine[7] * 65536u;
}
/// Whole warps pass by the barrier, without a `return`.
extern "C" __global__ void conditional_barrier(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned s[256];
  const unsigned t = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x < 160 && t < n) {
    s[threadIdx.x] = in[t];
    __syncthreads();
    out[t] = s[threadIdx.x ^ 1];
  }
}
extern "C" __global__ void exit_with_a_space(unsigned* out) {
  out[blockIdx.x * 64 + threadIdx.x] = 1;
  if (threadIdx.x == 0) asm volatile("exit ;");
  out[blockIdx.x * 64 + threadIdx.x] = 2;
}
#ifndef __CUDACC_RTC__  // NVRTC has no alloca
/// Memory on the stack, of a size that only the launch knows.
extern "C" __global__ void stack_by_size(const unsigned* in, unsigned* out, unsigned n) {
  unsigned* p = (unsigned*)__builtin_alloca(n * 4);
  for (unsigned i = 0; i < n; ++i) p[i] = in[i];
  unsigned s = 0;
  for (unsigned i = 0; i < n; ++i) s += p[i * 7 % n];
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}
#endif
/// A copy into shared memory that nobody waits for.
extern "C" __global__ void copy_left_open(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned s[1024];
  s[threadIdx.x] = 7;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s[255];
  __syncthreads();
  const unsigned to = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * 4);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + (size_t)blockIdx.x * 1024 + threadIdx.x * 4) : "memory");
}
/// The last block sees what the others counted, in a variable of the module.
extern "C" __global__ void module_variable(unsigned* out) {
  if (threadIdx.x == 0) {
    const unsigned before = atomicAdd(&shared_counter, table[blockIdx.x & 3]);
    atomicMax(out, before + table[blockIdx.x & 3]);
  }
}
/// Half of the block meets at a barrier with a count.
extern "C" __global__ void counted_barrier(unsigned* out) {
  __shared__ unsigned s[128];
  if (threadIdx.x < 128) {
    s[threadIdx.x] = threadIdx.x * 3 + blockIdx.x;
    asm volatile("bar.sync 5, 128;" ::: "memory");
    out[blockIdx.x * 256 + threadIdx.x] = s[127 - threadIdx.x];
  } else {
    out[blockIdx.x * 256 + threadIdx.x] = 9;
  }
}
extern "C" __global__ void counted_barrier_0(unsigned* out) {
  if (threadIdx.x < 128) asm volatile("bar.sync 0, 128;" ::: "memory");
  out[blockIdx.x * 256 + threadIdx.x] = 1;
}
extern "C" __global__ void arrive_and_go(unsigned* out) {
  if (threadIdx.x < 32) asm volatile("bar.arrive 3, 256;" ::: "memory");
  out[blockIdx.x * 128 + threadIdx.x] = 1;
}
/// Static shared memory up to the last byte that needs no opt-in.
extern "C" __global__ void all_static_shared(unsigned* out) {
  __shared__ unsigned s[12288];
  for (unsigned i = threadIdx.x; i < 12288; i += 256) s[i] = i ^ blockIdx.x;
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = s[(threadIdx.x * 47 + blockIdx.x) % 12288];
}
/// A function with a barrier that some threads do not come to.
__device__ __noinline__ unsigned meets(unsigned* s, unsigned v) {
  s[threadIdx.x] = v + blockIdx.x;
  __syncthreads();
  return s[threadIdx.x ^ 1];
}
extern "C" __global__ void barrier_in_a_function(const unsigned* in, unsigned* out) {
  __shared__ unsigned s[128];
  const unsigned i = blockIdx.x * 128 + threadIdx.x;
  out[i] = 5;
  if (threadIdx.x < 64) out[i] = meets(s, in[i]);
}
