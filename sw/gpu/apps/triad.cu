// SPDX-License-Identifier: Apache-2.0
// STREAM's Triad as SHOC has it: a thread looks after one element.
__global__ void __launch_bounds__(128)
    triad(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, float scale) {
  const size_t i = (size_t)blockIdx.x * 128 + threadIdx.x;
  c[i] = a[i] + scale * b[i];
}
