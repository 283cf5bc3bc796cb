// SPDX-License-Identifier: Apache-2.0
// Sparse matrix times vector, compressed rows (SHOC's and CUSP's Spmv): a warp looks after a row, four rows a block.
#define THREADS 128

__global__ void __launch_bounds__(THREADS)
    spmv(const unsigned* __restrict__ row, const unsigned* __restrict__ column, const float* __restrict__ value,
         const float* __restrict__ vector, float* __restrict__ out) {
  __shared__ float sums[THREADS];
  const int t = (int)threadIdx.x, lane = t & 31;
  const unsigned own = blockIdx.x * (THREADS / 32) + t / 32, end = row[own + 1];
  float sum = 0.0f;
  for (unsigned e = row[own] + lane; e < end; e += 32) sum += value[e] * vector[column[e]];
  sums[t] = sum;
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
    __syncwarp();
    if (lane < half) sums[t] += sums[t + half];
  }
  if (lane == 0) out[own] = sums[t];
}
