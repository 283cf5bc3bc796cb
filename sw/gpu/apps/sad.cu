// SPDX-License-Identifier: Apache-2.0
// Sums of absolute differences for motion estimation (Parboil's sad): a block has one macroblock of 16 x 16 pixels. A thread
// looks after 18 of the 33 x 33 places where it may have come from, and writes a sum for each 4 x 4 part of it. 61 threads are
// published.
#define THREADS 61
#define PLACES 33
#define EACH 18

__global__ void __launch_bounds__(THREADS) sad(const unsigned char* __restrict__ frame, const unsigned char* __restrict__ before,
                                               unsigned short* __restrict__ sums, unsigned across, unsigned width) {
  __shared__ unsigned own[256];
  const unsigned x = blockIdx.x % across, y = blockIdx.x / across;
  for (unsigned i = threadIdx.x; i < 256; i += THREADS)
    own[i] = frame[(size_t)(16 * y + i / 16) * (16 * across) + 16 * x + i % 16];
  __syncthreads();
  unsigned short* out = sums + (size_t)blockIdx.x * 16 * PLACES * PLACES;
  for (unsigned place = threadIdx.x * EACH; place < threadIdx.x * EACH + EACH && place < PLACES * PLACES; ++place) {
    // The frame before has 16 pixels more on each side.
    const unsigned char* from = before + (size_t)(16 * y + place / PLACES) * width + 16 * x + place % PLACES;
    for (unsigned part = 0; part < 16; ++part) {
      const unsigned top = part / 4 * 4, left = part % 4 * 4;
      unsigned sum = 0;
#pragma unroll
      for (unsigned i = 0; i < 16; ++i) {
        const int a = (int)own[(top + i / 4) * 16 + left + i % 4], b = from[(size_t)(top + i / 4) * width + left + i % 4];
        sum += (unsigned)abs(a - b);
      }
      out[part * PLACES * PLACES + place] = (unsigned short)sum;
    }
  }
}
