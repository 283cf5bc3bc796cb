// SPDX-License-Identifier: Apache-2.0
// Kernels limited by one thing each.

/// FMA pipe: eight independent chains a thread.
__global__ void __launch_bounds__(256) micro_fma(float* __restrict__ out, float a, float b) {
  float v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = (float)(threadIdx.x + i);
#pragma unroll 8
  for (int step = 0; step < 128; ++step)
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] = __fmaf_rn(v[i], a, b);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum = __fadd_rn(sum, v[i]);
  out[(size_t)blockIdx.x * 256 + threadIdx.x] = sum;
}

/// Special functions: four chains of 2**-|x|.
__global__ void __launch_bounds__(256) micro_sfu(float* __restrict__ out) {
  float v[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) v[i] = 0.001f * (float)(threadIdx.x + i);
#pragma unroll 8
  for (int step = 0; step < 32; ++step)
#pragma unroll
    for (int i = 0; i < 4; ++i) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(v[i]) : "f"(-v[i]));
  out[(size_t)blockIdx.x * 256 + threadIdx.x] = (v[0] + v[1]) + (v[2] + v[3]);
}

/// Memory bandwidth: 16 KB copied a block.
__global__ void __launch_bounds__(256) micro_stream(const float4* __restrict__ in, float4* __restrict__ out) {
  const size_t first = (size_t)blockIdx.x * 1024 + threadIdx.x;
  float4 v[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) v[i] = in[first + 256 * i];
#pragma unroll
  for (int i = 0; i < 4; ++i) out[first + 256 * i] = v[i];
}

/// Scratchpad: dependent reads and writes of 8 KB of dynamic shared memory, no bank conflicts.
__global__ void __launch_bounds__(256) micro_shared(unsigned* __restrict__ out, int steps) {
  extern __shared__ unsigned words[];
  for (int i = (int)threadIdx.x; i < 2048; i += 256) words[i] = (unsigned)i * 2654435761u;
  __syncthreads();
  unsigned sum = 0;
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += words[((unsigned)i * 256 + threadIdx.x + (unsigned)step * 32) & 2047];
    __syncthreads();
    words[((unsigned)step * 256 + threadIdx.x) & 2047] = sum;
    __syncthreads();
  }
  out[(size_t)blockIdx.x * 256 + threadIdx.x] = sum;
}

/// L1: a block reads its own 24 KB eight times over.
__global__ void __launch_bounds__(128) micro_l1(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  const unsigned* mine = in + (size_t)blockIdx.x * 6144;
  unsigned sum = 0;
#pragma unroll 1
  for (int pass = 0; pass < 8; ++pass)
#pragma unroll 8
    for (int i = 0; i < 6144; i += 128) sum = sum * 3u + mine[((unsigned)i + threadIdx.x + (unsigned)pass * 128) % 6144u];
  out[(size_t)blockIdx.x * 128 + threadIdx.x] = sum;
}

/// Latency: every thread follows a chain of eight loads through memory.
__global__ void __launch_bounds__(64) micro_latency(const unsigned* __restrict__ next, unsigned* __restrict__ out, unsigned mask) {
  unsigned at = (blockIdx.x * 64 + threadIdx.x) * 2654435761u & mask;
#pragma unroll 1
  for (int hop = 0; hop < 8; ++hop) at = next[at];
  out[(size_t)blockIdx.x * 64 + threadIdx.x] = at;
}
