// SPDX-License-Identifier: Apache-2.0
// C = A B in single precision, A and C by columns: a block of 128 threads makes 128 rows of 16 columns. A thread makes one row:
// its element of A meets 16 elements of B, which the block keeps in half a kilobyte of shared memory.
__global__ void __launch_bounds__(128) matrix_multiply_rows(const float* __restrict__ a, const float* __restrict__ b,
                                                            float* __restrict__ c, int rows, int inner, int columns) {
  constexpr int kDepth = 8, kWidth = 16;
  __shared__ __align__(16) float right[kDepth][kWidth];
  const int row = (int)(blockIdx.x * 128 + threadIdx.x), first = (int)blockIdx.y * kWidth;
  const int k = (int)threadIdx.x / kWidth, column = (int)threadIdx.x % kWidth;
  float sum[kWidth] = {};
  for (int k0 = 0; k0 < inner; k0 += kDepth) {
    right[k][column] = b[(size_t)(k0 + k) * columns + first + column];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      const float x = a[(size_t)(k0 + i) * rows + row];
#pragma unroll
      for (int j = 0; j < kWidth; ++j) sum[j] += x * right[i][j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < kWidth; ++j) c[(size_t)(first + j) * rows + row] = sum[j];
}
