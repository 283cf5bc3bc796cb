// SPDX-License-Identifier: Apache-2.0
// DXT1 compression: a 4 x 4 tile of RGBA pixels becomes two RGB565 end points and 16 two-bit indices. 16 threads a tile, 8 tiles a
// block, 4 at a time; each thread tries one pair of end points, inset from the tile's bounding box, and the best pair wins. Integers
// only.
__device__ unsigned to565(int r, int g, int b) { return (unsigned)((r >> 3) << 11 | (g >> 2) << 5 | b >> 3); }
__device__ int3 from565(unsigned c) {
  const int r = c >> 11, g = c >> 5 & 63, b = c & 31;
  return make_int3(r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2);
}
__device__ int distance(int3 a, int3 b) {
  const int r = a.x - b.x, g = a.y - b.y, d = a.z - b.z;
  return r * r + g * g + d * d;
}

__device__ void compress(const unsigned* __restrict__ image, uint2* __restrict__ out, unsigned width, unsigned id,
                         unsigned (*pixels)[16]) {
  const unsigned lane = threadIdx.x & 15, tile = threadIdx.x >> 4, tiles = width / 4;
  const unsigned x = id % tiles * 4 + (lane & 3), y = id / tiles * 4 + (lane >> 2);
  const unsigned mine = image[y * width + x];
  pixels[tile][lane] = mine;
  __syncthreads();
  int3 low = make_int3(mine & 255, mine >> 8 & 255, mine >> 16 & 255), high = low;
  for (int step = 8; step > 0; step /= 2) {  // bounding box over the 16 lanes
    low.x = min(low.x, __shfl_xor_sync(~0u, low.x, step));
    low.y = min(low.y, __shfl_xor_sync(~0u, low.y, step));
    low.z = min(low.z, __shfl_xor_sync(~0u, low.z, step));
    high.x = max(high.x, __shfl_xor_sync(~0u, high.x, step));
    high.y = max(high.y, __shfl_xor_sync(~0u, high.y, step));
    high.z = max(high.z, __shfl_xor_sync(~0u, high.z, step));
  }
  const int a = lane & 3, b = lane >> 2;  // this thread's pair: insets in sixteenths of the box
  const int3 range = make_int3(high.x - low.x, high.y - low.y, high.z - low.z);
  const unsigned c0 = to565(high.x - range.x * a / 16, high.y - range.y * a / 16, high.z - range.z * a / 16);
  const unsigned c1 = to565(low.x + range.x * b / 16, low.y + range.y * b / 16, low.z + range.z * b / 16);
  int3 palette[4];
  palette[0] = from565(c0);
  palette[1] = from565(c1);
  palette[2] = make_int3((2 * palette[0].x + palette[1].x) / 3, (2 * palette[0].y + palette[1].y) / 3, (2 * palette[0].z + palette[1].z) / 3);
  palette[3] = make_int3((palette[0].x + 2 * palette[1].x) / 3, (palette[0].y + 2 * palette[1].y) / 3, (palette[0].z + 2 * palette[1].z) / 3);
  int error = 0;
  unsigned indices = 0;
#pragma unroll 4
  for (int p = 0; p < 16; ++p) {
    const unsigned pixel = pixels[tile][p];
    const int3 colour = make_int3(pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255);
    int best = distance(colour, palette[0]);
    unsigned index = 0;
#pragma unroll
    for (int c = 1; c < 4; ++c) {
      const int d = distance(colour, palette[c]);
      if (d < best) {
        best = d;
        index = c;
      }
    }
    error += best;
    indices |= index << 2 * p;
  }
  int least = error << 4 | (int)lane;  // the lowest lane wins a tie
  for (int step = 8; step > 0; step /= 2) least = min(least, __shfl_xor_sync(~0u, least, step));
  if (least == (error << 4 | (int)lane)) out[id] = make_uint2(c0 | c1 << 16, indices);
}

__global__ void __launch_bounds__(64) dxt(const unsigned* __restrict__ image, uint2* __restrict__ out, unsigned width) {
  __shared__ unsigned pixels[2][4][16];
#pragma unroll 1
  for (unsigned half = 0; half < 2; ++half)
    compress(image, out, width, (blockIdx.x * 2 + half) * 4 + (threadIdx.x >> 4), pixels[half]);
}
