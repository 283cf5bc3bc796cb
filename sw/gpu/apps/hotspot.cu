// SPDX-License-Identifier: Apache-2.0
// Chip temperature (the Hotspot stencil): four explicit steps of heat diffusion on a 64 x 32 tile in shared memory; the 56 x 24
// cells in its middle are right after that and written. Cells beyond the chip have the temperature of the edge.
#define WIDTH 64
#define HEIGHT 32
#define STEPS 4

__global__ void __launch_bounds__(256) hotspot(const float* __restrict__ temperature, const float* __restrict__ power,
                                               float* __restrict__ out, int columns, int rows, float cap, float rx, float ry,
                                               float rz, float ambient) {
  __shared__ float tile[HEIGHT][WIDTH];
  const int x = (int)threadIdx.x, left = (int)blockIdx.x * (WIDTH - 2 * STEPS) - STEPS;
  const int top = (int)blockIdx.y * (HEIGHT - 2 * STEPS) - STEPS;
  const int column = min(max(left + x, 0), columns - 1);
  float watts[HEIGHT / 4], next[HEIGHT / 4];
#pragma unroll
  for (int i = 0; i < HEIGHT / 4; ++i) {
    const int y = (int)threadIdx.y + 4 * i, row = min(max(top + y, 0), rows - 1);
    tile[y][x] = temperature[row * columns + column];
    watts[i] = power[row * columns + column];
  }
  __syncthreads();
  for (int step = 1; step <= STEPS; ++step) {
#pragma unroll
    for (int i = 0; i < HEIGHT / 4; ++i) {
      const int y = (int)threadIdx.y + 4 * i;
      const float t = tile[y][x];
      // Neighbours beyond the chip are the cell itself; beyond the tile any value does: such cells are never written.
      const float w = left + x > 0 ? tile[y][max(x - 1, 0)] : t, e = left + x < columns - 1 ? tile[y][min(x + 1, WIDTH - 1)] : t;
      const float n = top + y > 0 ? tile[max(y - 1, 0)][x] : t, s = top + y < rows - 1 ? tile[min(y + 1, HEIGHT - 1)][x] : t;
      next[i] = t + cap * (watts[i] + (n + s - 2.0f * t) * ry + (e + w - 2.0f * t) * rx + (ambient - t) * rz);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < HEIGHT / 4; ++i) tile[threadIdx.y + 4 * i][x] = next[i];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < HEIGHT / 4; ++i) {
    const int y = (int)threadIdx.y + 4 * i;
    if (x >= STEPS && x < WIDTH - STEPS && y >= STEPS && y < HEIGHT - STEPS && left + x < columns && top + y < rows)
      out[(top + y) * columns + left + x] = tile[y][x];
  }
}
