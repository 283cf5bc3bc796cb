// SPDX-License-Identifier: Apache-2.0
// One short launch for each mechanism that a cold kernel meets, to be counted, recorded and run on the model like any program's.
// build: nvcc -arch=sm_90 -O3 -cudart shared -DPART=1 -o battery1 battery.cu, and 2 to 6
#include <cstdio>

constexpr size_t kWords = 1 << 26;  // of each buffer: 256 MB
constexpr int kSms = 132;

// Launch and tail: nothing, a store, a load and a store.
template <int Ctas, int Threads>
__global__ void empty_grid() {}
template <int Ctas, int Threads>
__global__ void store_word(float* out, const float*) {
  out[blockIdx.x * Threads + threadIdx.x] = 1;
}
template <int Ctas, int Threads>
__global__ void load_word(float* out, const float* in) {
  out[blockIdx.x * Threads + threadIdx.x] = in[blockIdx.x * Threads + threadIdx.x];
}
// Instructions that are fetched once, and twice.
template <int Ctas, int N, int Times>
__global__ void straight(float* out, const float*) {
  float a = threadIdx.x, b = 1, c = 2, d = 3;
#pragma unroll 1
  for (int t = 0; t < Times; ++t) {
#pragma unroll
    for (int i = 0; i < N / 4; ++i) {
      asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(a) : "f"(b));
      asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(b) : "f"(c));
      asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(c) : "f"(d));
      asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(d) : "f"(a));
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
// Arithmetic: Chains dependent chains a thread, Warps warps a CTA, one CTA an SM.
#define OPERATION(NAME, TYPE, EXPRESSION)                                           \
  struct NAME {                                                                     \
    using T = TYPE;                                                                 \
    static __device__ __forceinline__ T step(T x, T y) { return (T)(EXPRESSION); } \
  };
OPERATION(op_rcp, float, __frcp_rn(x) + y)
OPERATION(op_divide, float, x / y)
OPERATION(op_fast_divide, float, __fdividef(x, y))
OPERATION(op_sqrt, float, sqrtf(x) + y)
OPERATION(op_rsqrt, float, rsqrtf(x) + y)
OPERATION(op_exp, float, expf(x))
OPERATION(op_fast_exp, float, __expf(x) * y)
OPERATION(op_log, float, logf(x) + y)
OPERATION(op_pow, float, powf(x, y))
OPERATION(op_sin, float, sinf(x) + y)
OPERATION(op_fast_sin, float, __sinf(x) + y)
OPERATION(op_tanh, float, tanhf(x) + y)
OPERATION(op_floor, float, floorf(x) + y)
OPERATION(op_to_int, float, (float)(int)x + y)
OPERATION(op_to_double, float, (float)((double)x + (double)y))
OPERATION(op_double_int, double, (double)(int)x + y)
OPERATION(op_dfma, double, x* y + y)
OPERATION(op_dadd, double, x + y)
OPERATION(op_ddivide, double, x / y)
OPERATION(op_dsqrt, double, sqrt(x) + y)
OPERATION(op_dexp, double, exp(x) * y)
OPERATION(op_udivide, unsigned, x / y + 0x7fffffff)
OPERATION(op_umod64, unsigned long long, x % y + 0x7fffffffffff)
OPERATION(op_mul64, unsigned long long, x* y + 1)
OPERATION(op_add64, unsigned long long, x + y)
OPERATION(op_mulhi, unsigned, __umulhi(x, y) + x)
OPERATION(op_shift, unsigned, (x << 7) ^ (x >> 3) ^ y)
OPERATION(op_popc, unsigned, __popc(x) + y)
OPERATION(op_clz, unsigned, __clz(x) + y)
OPERATION(op_brev, unsigned, __brev(x) + y)
OPERATION(op_select, unsigned, x > y ? x - y : x + 12345)
OPERATION(op_dp4a, unsigned, __dp4a(x, y, x))
OPERATION(op_shuffle, unsigned, __shfl_xor_sync(~0u, x, 1) + y)
OPERATION(op_vote, unsigned, __ballot_sync(~0u, x & 1) + x)
OPERATION(op_match, unsigned, __match_any_sync(~0u, x & 7) + x)
OPERATION(op_redux, unsigned, __reduce_add_sync(~0u, x) + y)
template <class Op, int Chains, int Warps>
__global__ void arithmetic(typename Op::T* out, const typename Op::T* in) {
  typename Op::T x[Chains], y = in[1];
  for (int c = 0; c < Chains; ++c) x[c] = in[threadIdx.x % 32 + c];
#pragma unroll 1
  for (int round = 0; round < 8; ++round)
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int c = 0; c < Chains; ++c) x[c] = Op::step(x[c], y);
  for (int c = 1; c < Chains; ++c) x[0] = x[0] + x[c];
  out[blockIdx.x * blockDim.x + threadIdx.x] = x[0];
}
// Memory. Every thread of 4 x 132 CTAs of 256 goes over its part of Words words by steps of the whole grid.
template <int Words, int Reads, int Writes, int Stride>
__global__ void stream(float* out, const float* in) {
  const size_t threads = (size_t)gridDim.x * blockDim.x;
  float sum = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < Words; i += threads) {
    float v = 0;
#pragma unroll
    for (int r = 0; r < Reads; ++r) v += in[(size_t)r * (kWords / 8) + i * Stride];
#pragma unroll
    for (int w = 0; w < Writes; ++w) out[(size_t)w * (kWords / 8) + i * Stride] = v;
    sum += v;
  }
  if (Writes == 0 && sum == 12345) out[0] = sum;
}
template <int Words, int Times>  // what is written is written again
__global__ void rewrite(float* out, const float* in) {
  const size_t threads = (size_t)gridDim.x * blockDim.x;
  for (int t = 0; t < Times; ++t)
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < Words; i += threads) out[i] += in[0];
}
template <int Words>
__global__ void gather(float* out, const float* in) {
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
  float v = 0;
  for (int i = 0; i < 8; ++i, at = at * 1664525u + 1013904223u) v += in[(at >> 4) % Words];
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
template <int Words, class T, bool Returns>  // 0: every thread its own
__global__ void atomic(float* out, const float*) {
  T* words = (T*)out;
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  T got = 0;
  for (int i = 0; i < 4; ++i) got += atomicAdd(words + (Words == 0 ? me : (me + i * 97) % Words), T(1));
  if (Returns) words[kWords / 2 / sizeof(T) + me] = got;
}
template <int Stride, bool Atomic, class T>
__global__ void scratchpad(float* out, const float* in) {
  __shared__ T words[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = in[i];
  __syncthreads();
  T v = 0;
#pragma unroll 4
  for (int i = 0; i < 64; ++i) {
    T& word = words[(threadIdx.x * Stride + i * 33) % 4096];
    if (Atomic)
      atomicAdd(&word, T(1));
    else
      v += word;
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = float(v + words[threadIdx.x]);
}
__constant__ float table[4096];
template <int Spread>
__global__ void constants(float* out, const float*) {
  float v = 0;
  for (int i = 0; i < 64; ++i) v += table[(i * 7 + threadIdx.x % Spread * 5) % 4096];
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
template <int Words>
__global__ void stack(float* out, const float* in) {
  float own[Words];
  for (int i = 0; i < Words; ++i) own[i] = in[i];
  unsigned at = threadIdx.x;
  float v = 0;
  for (int i = 0; i < 64; ++i, at = at * 5 + 1) v += own[at % Words]++;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
template <int Warps>
__global__ void barriers(float* out, const float*) {
  for (int i = 0; i < 64; ++i) __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

float *out, *in;
#define RUN(CTAS, THREADS, ...) __VA_ARGS__<<<CTAS, THREADS>>>(out, in)
template <class Op>
void arithmetics() {
  arithmetic<Op, 1, 1><<<1, 32>>>((typename Op::T*)out, (const typename Op::T*)in);
  arithmetic<Op, 1, 8><<<kSms, 256>>>((typename Op::T*)out, (const typename Op::T*)in);
  arithmetic<Op, 2, 32><<<kSms, 1024>>>((typename Op::T*)out, (const typename Op::T*)in);
}
template <class... Ops>
void all() {
  (arithmetics<Ops>(), ...);
}
template <int Ctas, int Threads>
void launches() {
  empty_grid<Ctas, Threads><<<Ctas, Threads>>>();
  RUN(Ctas, Threads, store_word<Ctas, Threads>);
  RUN(Ctas, Threads, load_word<Ctas, Threads>);
}

int main() {
  cudaMalloc(&out, kWords * 4 + 4096);
  cudaMalloc(&in, kWords * 4 + 4096);
  cudaMemset(in, 0x3f, kWords * 4);
  cudaMemset(out, 0, kWords * 4);
  constexpr int kCtas = 4 * kSms, k1 = 1 << 18, k8 = 1 << 21, k32 = 1 << 23;
#if PART == 1
  launches<1, 32>(), launches<132, 32>(), launches<132, 256>(), launches<132, 1024>(), launches<1056, 256>(), launches<8448, 256>(),
    launches<65536, 256>();
  RUN(1, 32, straight<1, 256, 1>), RUN(1, 32, straight<1, 1024, 1>), RUN(1, 32, straight<1, 4096, 1>), RUN(1, 32, straight<1, 4096, 2>);
  RUN(132, 32, straight<132, 256, 1>), RUN(132, 32, straight<132, 1024, 1>), RUN(132, 32, straight<132, 4096, 1>),
    RUN(132, 32, straight<132, 4096, 2>);
  RUN(1056, 256, straight<1056, 1024, 1>), RUN(132, 256, straight<132, 16384, 1>), RUN(132, 256, straight<132, 16384, 2>);
#elif PART == 2
  all<op_rcp, op_divide, op_fast_divide, op_sqrt, op_rsqrt, op_exp, op_fast_exp,
      op_log, op_pow, op_sin, op_fast_sin, op_tanh, op_floor>();
#elif PART == 3
  all<op_to_int, op_to_double, op_double_int, op_dfma, op_dadd, op_ddivide,
      op_dsqrt, op_dexp, op_udivide, op_umod64, op_mul64>();
#elif PART == 4
  all<op_add64, op_mulhi, op_shift, op_popc, op_clz, op_brev, op_select,
      op_dp4a, op_shuffle, op_vote, op_match, op_redux>();
#elif PART == 5
  RUN(kCtas, 256, stream<k1, 1, 0, 1>), RUN(kCtas, 256, stream<k8, 1, 0, 1>), RUN(kCtas, 256, stream<k32, 1, 0, 1>);
  RUN(kCtas, 256, stream<k1, 0, 1, 1>), RUN(kCtas, 256, stream<k8, 0, 1, 1>), RUN(kCtas, 256, stream<k32, 0, 1, 1>);
  RUN(kCtas, 256, stream<k1, 1, 1, 1>), RUN(kCtas, 256, stream<k8, 1, 1, 1>), RUN(kCtas, 256, stream<k32, 1, 1, 1>);
  RUN(kCtas, 256, stream<k8, 2, 1, 1>), RUN(kCtas, 256, stream<k8, 4, 1, 1>), RUN(kCtas, 256, stream<k8, 1, 4, 1>),
    RUN(kCtas, 256, stream<k8, 4, 4, 1>);
  RUN(kCtas, 256, stream<k1, 1, 1, 2>), RUN(kCtas, 256, stream<k1, 1, 1, 8>), RUN(kCtas, 256, stream<k1, 1, 1, 32>);
  RUN(kCtas, 256, rewrite<k1, 8>), RUN(kCtas, 256, rewrite<k8, 4>), RUN(kCtas, 256, gather<1 << 16>), RUN(kCtas, 256, gather<1 << 22>),
    RUN(kCtas, 256, gather<1 << 26>);
#else
  RUN(kCtas, 256, atomic<0, int, false>), RUN(kCtas, 256, atomic<1, int, false>), RUN(kCtas, 256, atomic<256, int, false>),
    RUN(kCtas, 256, atomic<0, float, false>);
  RUN(kCtas, 256, atomic<0, int, true>), RUN(kCtas, 256, atomic<1, int, true>), RUN(kCtas, 256, atomic<256, float, true>),
    RUN(kCtas, 256, atomic<4096, double, false>);
  RUN(kCtas, 256, scratchpad<1, false, float>), RUN(kCtas, 256, scratchpad<2, false, float>), RUN(kCtas, 256, scratchpad<32, false, float>);
  RUN(kCtas, 256, scratchpad<1, true, int>), RUN(kCtas, 256, scratchpad<32, true, int>), RUN(kCtas, 256, scratchpad<1, true, float>),
    RUN(kCtas, 256, scratchpad<0, true, int>);
  RUN(kCtas, 256, constants<1>), RUN(kCtas, 256, constants<4>), RUN(kCtas, 256, constants<32>), RUN(kCtas, 256, stack<8>), RUN(kCtas, 256, stack<64>);
  RUN(kSms, 32, barriers<1>), RUN(kSms, 256, barriers<8>), RUN(kSms, 1024, barriers<32>);
#endif
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
