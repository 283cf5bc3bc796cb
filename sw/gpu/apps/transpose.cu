// SPDX-License-Identifier: Apache-2.0
// Transpose of a matrix by tiles of 32 x 32 in shared memory (the SDK's transpose): four elements a thread.
#define TILE 32
#define ROWS 8

__global__ void __launch_bounds__(TILE* ROWS)
    transpose(const float* __restrict__ in, float* __restrict__ out, unsigned width, unsigned height) {
  __shared__ float tile[TILE][TILE + 1];
  const unsigned x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE, row = blockIdx.y * TILE;
#pragma unroll
  for (unsigned i = 0; i < TILE; i += ROWS) tile[y + i][x] = in[(size_t)(row + y + i) * width + column + x];
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < TILE; i += ROWS) out[(size_t)(column + y + i) * height + row + x] = tile[x][y + i];
}
