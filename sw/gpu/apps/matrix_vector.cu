// SPDX-License-Identifier: Apache-2.0
// y = A x, one row a thread, as one first writes it: the lanes of a warp walk 32 rows side by side, so that each line they fetch is
// used over 32 steps, if the L1 keeps it.
__global__ void __launch_bounds__(192) matrix_vector(const float* __restrict__ a, const float* __restrict__ x,
                                                     float* __restrict__ y, int columns) {
  const size_t row = (size_t)blockIdx.x * 192 + threadIdx.x;
  const float* line = a + row * columns;
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < columns; ++k) sum += line[k] * x[k];
  y[row] = sum;
}
