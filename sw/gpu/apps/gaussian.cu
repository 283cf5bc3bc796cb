// SPDX-License-Identifier: Apache-2.0
// A step of Gaussian elimination (Fan2 of Rodinia's gaussian), 4 x 4 threads a block as there. Rodinia works in place; here the
// result is another matrix, so that a step can run again.
__global__ void __launch_bounds__(16) gaussian(const float* __restrict__ in, const float* __restrict__ multiplier,
                                               float* __restrict__ out, unsigned width, unsigned pivot) {
  const unsigned column = blockIdx.x * 4 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
  const float value = in[(size_t)row * width + column];
  const float from = in[(size_t)pivot * width + column];
  out[(size_t)row * width + column] = row > pivot ? value - multiplier[row] * from : value;
}
