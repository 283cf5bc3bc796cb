// SPDX-License-Identifier: Apache-2.0
// Nine-point stencil (SHOC's Stencil2D): a block of 16 x 16 threads, with the cells around its own in shared memory. The grid has
// a frame of one cell.
#define SIDE 16

__global__ void __launch_bounds__(SIDE* SIDE) stencil2d(const float* __restrict__ in, float* __restrict__ out, unsigned width,
                                                        float centre, float cardinal, float diagonal) {
  __shared__ float tile[SIDE + 2][SIDE + 2];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const size_t corner = (size_t)blockIdx.y * SIDE * width + blockIdx.x * SIDE;
  for (unsigned i = y * SIDE + x; i < (SIDE + 2) * (SIDE + 2); i += SIDE * SIDE) {
    const unsigned row = i / (SIDE + 2), column = i % (SIDE + 2);
    tile[row][column] = in[corner + (size_t)row * width + column];
  }
  __syncthreads();
  const float near = tile[y][x + 1] + tile[y + 2][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2];
  const float far = tile[y][x] + tile[y][x + 2] + tile[y + 2][x] + tile[y + 2][x + 2];
  out[corner + (size_t)(y + 1) * width + x + 1] = centre * tile[y + 1][x + 1] + cardinal * near + diagonal * far;
}
