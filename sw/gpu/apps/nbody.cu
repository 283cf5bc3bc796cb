// SPDX-License-Identifier: Apache-2.0
// Gravitation of all bodies on each (the SDK's nbody): a thread looks after one body; the others pass through shared memory, 512
// at a time.
#define THREADS 256
#define TILE 512

__global__ void __launch_bounds__(THREADS) nbody(const float4* __restrict__ bodies, const float4* __restrict__ sources,
                                                 float4* __restrict__ acceleration, unsigned count, float softening) {
  __shared__ float4 tile[TILE];
  const unsigned t = threadIdx.x;
  const float4 own = bodies[(size_t)blockIdx.x * THREADS + t];
  float3 sum = make_float3(0.0f, 0.0f, 0.0f);
  for (unsigned first = 0; first < count; first += TILE) {
    tile[t] = sources[first + t];
    tile[t + THREADS] = sources[first + t + THREADS];
    __syncthreads();
#pragma unroll 16
    for (int j = 0; j < TILE; ++j) {
      const float4 other = tile[j];
      const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + softening);
      const float strength = other.w * inverse * inverse * inverse;
      sum.x += x * strength;
      sum.y += y * strength;
      sum.z += z * strength;
    }
    __syncthreads();
  }
  acceleration[(size_t)blockIdx.x * THREADS + t] = make_float4(sum.x, sum.y, sum.z, 0.0f);
}
