// SPDX-License-Identifier: Apache-2.0
// Quasi-random numbers (the SDK's quasirandomGenerator): a block of 128 x 3 threads makes 1,024 numbers of each of three
// dimensions. The direction numbers are Sobol's.
#define DIMENSIONS 3
#define BITS 31
#define EACH 8

__constant__ unsigned directions[DIMENSIONS][BITS] = {
    {0x40000000, 0x20000000, 0x10000000, 0x08000000, 0x04000000, 0x02000000, 0x01000000, 0x00800000,
     0x00400000, 0x00200000, 0x00100000, 0x00080000, 0x00040000, 0x00020000, 0x00010000, 0x00008000,
     0x00004000, 0x00002000, 0x00001000, 0x00000800, 0x00000400, 0x00000200, 0x00000100, 0x00000080,
     0x00000040, 0x00000020, 0x00000010, 0x00000008, 0x00000004, 0x00000002, 0x00000001},
    {0x40000000, 0x60000000, 0x50000000, 0x78000000, 0x44000000, 0x66000000, 0x55000000, 0x7f800000,
     0x40400000, 0x60600000, 0x50500000, 0x78780000, 0x44440000, 0x66660000, 0x55550000, 0x7fff8000,
     0x40004000, 0x60006000, 0x50005000, 0x78007800, 0x44004400, 0x66006600, 0x55005500, 0x7f807f80,
     0x40404040, 0x60606060, 0x50505050, 0x78787878, 0x44444444, 0x66666666, 0x55555555},
    {0x40000000, 0x60000000, 0x30000000, 0x48000000, 0x74000000, 0x2e000000, 0x47000000, 0x62800000,
     0x34400000, 0x4e600000, 0x77300000, 0x2ac80000, 0x40340000, 0x604e0000, 0x30770000, 0x482a8000,
     0x74404000, 0x2e606000, 0x47303000, 0x62c84800, 0x34347400, 0x4e4e2e00, 0x77774700, 0x2aaae280,
     0x40007440, 0x60002e60, 0x30004730, 0x480062c8, 0x74003434, 0x2e004e4e, 0x47007777}};

__global__ void __launch_bounds__(128 * DIMENSIONS) quasirandom(float* __restrict__ out, unsigned seed, unsigned count) {
  const unsigned dimension = threadIdx.y;
#pragma unroll 2
  for (unsigned i = 0; i < EACH; ++i) {
    const unsigned at = (blockIdx.x * EACH + i) * 128 + threadIdx.x;
    unsigned result = 0, data = seed + at;
#pragma unroll
    for (int bit = 0; bit < BITS; ++bit, data >>= 1)
      if (data & 1) result ^= directions[dimension][bit];
    out[(size_t)dimension * count + at] = (float)(result + 1) * 4.656612873e-10f;
  }
}
