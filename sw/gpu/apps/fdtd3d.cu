// SPDX-License-Identifier: Apache-2.0
// Finite differences in three dimensions, four cells each way (the SDK's FDTD3d): a block of 32 x 16 threads walks through all
// planes, with the plane it is at in shared memory and the cells in front and behind in registers. The grid has a frame of four.
#define WIDTH 32
#define HEIGHT 16
#define RADIUS 4

__global__ void __launch_bounds__(WIDTH* HEIGHT)
    fdtd3d(const float* __restrict__ in, float* __restrict__ out, unsigned width, unsigned rows, unsigned planes, float c0,
           float c1, float c2, float c3, float c4) {
  __shared__ float tile[HEIGHT + 2 * RADIUS][WIDTH + 2 * RADIUS];
  const float c[RADIUS + 1] = {c0, c1, c2, c3, c4};
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const size_t plane = (size_t)width * rows;
  const size_t corner = (size_t)blockIdx.y * HEIGHT * width + blockIdx.x * WIDTH;  // of the tile with its frame
  size_t own = corner + (size_t)(y + RADIUS) * width + x + RADIUS;
  float queue[2 * RADIUS + 1];
#pragma unroll
  for (int i = 0; i < 2 * RADIUS; ++i) queue[i + 1] = in[own + i * plane];
  for (unsigned z = 0; z < planes; ++z) {
#pragma unroll
    for (int i = 0; i < 2 * RADIUS; ++i) queue[i] = queue[i + 1];
    queue[2 * RADIUS] = in[own + (z + 2 * RADIUS) * plane];
    const size_t here = corner + (z + RADIUS) * plane;
    __syncthreads();
    for (unsigned i = y * WIDTH + x; i < (HEIGHT + 2 * RADIUS) * (WIDTH + 2 * RADIUS); i += WIDTH * HEIGHT) {
      const unsigned row = i / (WIDTH + 2 * RADIUS), column = i % (WIDTH + 2 * RADIUS);
      tile[row][column] = in[here + (size_t)row * width + column];
    }
    __syncthreads();
    float sum = c[0] * queue[RADIUS];
#pragma unroll
    for (int i = 1; i <= RADIUS; ++i)
      sum += c[i] * (queue[RADIUS - i] + queue[RADIUS + i] + tile[y + RADIUS - i][x + RADIUS] + tile[y + RADIUS + i][x + RADIUS] +
                     tile[y + RADIUS][x + RADIUS - i] + tile[y + RADIUS][x + RADIUS + i]);
    out[own + (z + RADIUS) * plane] = sum;
  }
}
