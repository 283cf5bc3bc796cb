// SPDX-License-Identifier: Apache-2.0
// Prefix sums (the last of SHOC's three Scan kernels): each block of 256 threads has the sum of all in front of its 2,048
// floats, and writes the sum up to each of them.
#define THREADS 256
#define EACH 8

__global__ void __launch_bounds__(THREADS)
    scan(const float* __restrict__ in, const float* __restrict__ before, float* __restrict__ out) {
  __shared__ float tile[THREADS * EACH + THREADS * EACH / 32];  // a word more after each 32: no two threads in one bank
  __shared__ float sums[2][THREADS];
  const int t = (int)threadIdx.x;
  in += (size_t)blockIdx.x * THREADS * EACH;
  out += (size_t)blockIdx.x * THREADS * EACH;
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const int at = i * THREADS + t;
    tile[at + at / 32] = in[at];
  }
  __syncthreads();
  float mine[EACH], sum = 0.0f;
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const int at = t * EACH + i;
    sum += tile[at + at / 32];
    mine[i] = sum;
  }
  int side = 0;
  sums[side][t] = sum;
  __syncthreads();
#pragma unroll
  for (int back = 1; back < THREADS; back *= 2) {
    const float left = t >= back ? sums[side][t - back] : 0.0f;
    sums[side ^ 1][t] = sums[side][t] + left;
    side ^= 1;
    __syncthreads();
  }
  const float start = before[blockIdx.x] + (t > 0 ? sums[side][t - 1] : 0.0f);
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const int at = t * EACH + i;
    tile[at + at / 32] = start + mine[i];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const int at = i * THREADS + t;
    out[at] = tile[at + at / 32];
  }
}
