// SPDX-License-Identifier: Apache-2.0
// k nearest neighbours: a block takes 4,096 points and leaves the four nearest to the query, by distance and then by index; the host
// merges the blocks' lists.
__global__ void __launch_bounds__(256) knn(const float2* __restrict__ points, float2 query, float* __restrict__ distance,
                                           unsigned* __restrict__ index) {
  __shared__ unsigned long long warp_best[8];
  float d[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const float2 p = points[blockIdx.x * 4096 + i * 256 + threadIdx.x];
    const float x = p.x - query.x, y = p.y - query.y;
    d[i] = sqrtf(x * x + y * y);
  }
  for (int round = 0; round < 4; ++round) {
    float best = d[0];
    unsigned which = 0;
#pragma unroll
    for (int i = 1; i < 16; ++i) {
      if (d[i] < best) {
        best = d[i];
        which = i;
      }
    }
    // Distances are not negative: their bits order as they do. The position inside the block settles ties.
    unsigned long long key = (unsigned long long)__float_as_uint(best) << 32 | (which * 256 + threadIdx.x);
    const unsigned long long mine = key;
    for (int step = 16; step > 0; step /= 2) key = min(key, __shfl_xor_sync(~0u, key, step));
    if ((threadIdx.x & 31) == 0) warp_best[threadIdx.x >> 5] = key;
    __syncthreads();
    key = warp_best[0];
#pragma unroll
    for (int w = 1; w < 8; ++w) key = min(key, warp_best[w]);
    __syncthreads();
    if (key == mine) {
      distance[blockIdx.x * 4 + round] = best;
      index[blockIdx.x * 4 + round] = blockIdx.x * 4096 + (unsigned)(key & 0xffffffffu);
#pragma unroll
      for (int i = 0; i < 16; ++i)
        if (i == (int)which) d[i] = __int_as_float(0x7f800000);
    }
  }
}
