// SPDX-License-Identifier: Apache-2.0
// Two-point correlation of directions (Parboil's tpacf): a block takes one set of points and counts the cosines between each of
// them and all points of a second set in 20 bins, in 128 histograms that are added up at the end.
#define THREADS 256
#define BINS 20
#define COPIES 128

__global__ void __launch_bounds__(THREADS)
    tpacf(const float* __restrict__ sets, const float* __restrict__ data, const float* __restrict__ edge,
          unsigned* __restrict__ histogram, unsigned points) {
  __shared__ float tile[3][THREADS];
  __shared__ unsigned counts[BINS][COPIES];
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < BINS * COPIES; i += THREADS) counts[i / COPIES][i % COPIES] = 0;
  const float* set = sets + (size_t)blockIdx.x * 3 * points;  // all x, all y, all z
  for (unsigned first = 0; first < points; first += THREADS) {
    __syncthreads();
    for (int c = 0; c < 3; ++c) tile[c][t] = data[c * points + first + t];
    __syncthreads();
    for (unsigned i = t; i < points; i += THREADS) {
      const float x = set[i], y = set[points + i], z = set[2 * points + i];
      for (unsigned j = 0; j < THREADS; ++j) {
        const float cosine = x * tile[0][j] + y * tile[1][j] + z * tile[2][j];
        unsigned low = 0, high = BINS;  // the bin k has the cosines from edge k to below edge k + 1
        while (high - low > 1) {
          const unsigned middle = (low + high) / 2;
          if (cosine >= edge[middle])
            low = middle;
          else
            high = middle;
        }
        atomicAdd(&counts[low][t % COPIES], 1u);
      }
    }
  }
  __syncthreads();
  if (t < BINS) {
    unsigned sum = 0;
    for (unsigned i = 0; i < COPIES; ++i) sum += counts[t][(i + t) % COPIES];
    histogram[(size_t)blockIdx.x * BINS + t] = sum;
  }
}
