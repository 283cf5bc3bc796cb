// SPDX-License-Identifier: Apache-2.0
// Sums of a vector's parts (SHOC's Reduction): each block of 256 threads adds up 4,096 floats and writes one.
#define THREADS 256
#define EACH 16

__global__ void __launch_bounds__(THREADS) reduction(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float sums[THREADS];
  const int t = (int)threadIdx.x;
  in += (size_t)blockIdx.x * THREADS * EACH;
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < EACH; ++i) sum += in[i * THREADS + t];
  sums[t] = sum;
  __syncthreads();
#pragma unroll
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
