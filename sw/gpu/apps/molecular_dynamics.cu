// SPDX-License-Identifier: Apache-2.0
// Lennard-Jones forces over lists of neighbours (SHOC's MD): a thread looks after one atom.
#define NEIGHBOURS 128

__global__ void __launch_bounds__(256)
    molecular_dynamics(const float4* __restrict__ position, const unsigned* __restrict__ neighbour, float4* __restrict__ force,
                       unsigned atoms, float cutoff, float lj1, float lj2) {
  const unsigned atom = blockIdx.x * 256 + threadIdx.x;
  const float4 own = position[atom];
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (unsigned n = 0; n < NEIGHBOURS; ++n) {
    const float4 other = position[neighbour[(size_t)n * atoms + atom]];  // neighbouring threads' words lie together
    const float x = own.x - other.x, y = own.y - other.y, z = own.z - other.z;
    const float square = x * x + y * y + z * z;
    if (square >= cutoff) continue;
    const float inverse = 1.0f / (square + 1.0f);  // the 1: atoms at random places come as close as they like
    const float sixth = inverse * inverse * inverse;
    const float strength = inverse * sixth * (lj1 * sixth - lj2);
    sum.x += x * strength;
    sum.y += y * strength;
    sum.z += z * strength;
  }
  force[atom] = sum;
}
