// SPDX-License-Identifier: Apache-2.0
// A convolution layer of a small network for handwritten digits: 29 x 29 pictures, 5 x 5 weights, stride 2, 13 x 13 neurons a map,
// tanh. A block of 169 threads makes `maps` maps of one picture.
__global__ void __launch_bounds__(169) neural_network(const float* __restrict__ pictures, const float* __restrict__ weights,
                                                      float* __restrict__ out, int maps) {
  const float* picture = pictures + (size_t)blockIdx.x * 29 * 29;
  const int x = (int)threadIdx.x, y = (int)threadIdx.y, neuron = y * 13 + x;
  for (int map = 0; map < maps; ++map) {
    const float* w = weights + map * 26;
    float sum = w[0];
#pragma unroll
    for (int dy = 0; dy < 5; ++dy)
#pragma unroll
      for (int dx = 0; dx < 5; ++dx) sum += w[1 + dy * 5 + dx] * picture[(2 * y + dy) * 29 + 2 * x + dx];
    out[((size_t)blockIdx.x * maps + map) * 169 + neuron] = 1.7159f * tanhf(0.66666667f * sum);
  }
}
