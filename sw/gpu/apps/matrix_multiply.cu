// SPDX-License-Identifier: Apache-2.0
// C = A B in single precision: a block of 256 threads makes a 64 x 64 tile, 4 x 4 a thread, through shared memory.
template <int Tile, int Depth>
__global__ void __launch_bounds__(256) matrix_multiply(const float* __restrict__ a, const float* __restrict__ b,
                                                       float* __restrict__ c, int inner, int columns) {
  __shared__ __align__(16) float left[Depth][Tile + 4], right[Depth][Tile];
  const int tx = (int)threadIdx.x & 15, ty = (int)threadIdx.x >> 4;
  const float* a_tile = a + (size_t)blockIdx.y * Tile * inner;
  const float* b_tile = b + (size_t)blockIdx.x * Tile;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < inner; k0 += Depth) {
#pragma unroll
    for (int i = (int)threadIdx.x; i < Tile * Depth; i += 256) {
      left[i % Depth][i / Depth] = a_tile[(size_t)(i / Depth) * inner + k0 + i % Depth];
      right[i / Tile][i % Tile] = b_tile[(size_t)(k0 + i / Tile) * columns + i % Tile];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Depth; ++k) {
      const float4 x = *(const float4*)&left[k][4 * ty], y = *(const float4*)&right[k][4 * tx];
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += xs[i] * ys[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *(float4*)&c[((size_t)blockIdx.y * Tile + 4 * ty + i) * columns + blockIdx.x * Tile + 4 * tx] =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}
