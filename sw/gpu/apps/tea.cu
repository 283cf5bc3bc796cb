// SPDX-License-Identifier: Apache-2.0
// The Tiny Encryption Algorithm (Kernelet's TEA): a thread encrypts one block of eight bytes in 32 rounds.
__global__ void __launch_bounds__(256) tea(const uint2* __restrict__ text, uint2* __restrict__ code, uint4 key) {
  const size_t own = (size_t)blockIdx.x * 256 + threadIdx.x;
  uint2 v = text[own];
  unsigned sum = 0;
#pragma unroll
  for (int round = 0; round < 32; ++round) {
    sum += 0x9e3779b9;
    v.x += ((v.y << 4) + key.x) ^ (v.y + sum) ^ ((v.y >> 5) + key.y);
    v.y += ((v.x << 4) + key.z) ^ (v.x + sum) ^ ((v.x >> 5) + key.w);
  }
  code[own] = v;
}
