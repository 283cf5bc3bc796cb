// SPDX-License-Identifier: Apache-2.0
// Prices of European calls by a binomial tree of 2,048 steps (the SDK's binomialOptions): a block an option, 16 leaves a thread
// in registers. A thread needs its right neighbour's first leaf of the step before.
#define THREADS 128
#define STEPS 2048
#define EACH (STEPS / THREADS)

__device__ __forceinline__ float at_expiry(float price, float strike, float step, int leaf) {
  const float gain = price * expf(step * (2.0f * (float)leaf - STEPS)) - strike;
  return gain > 0.0f ? gain : 0.0f;
}

__global__ void __launch_bounds__(THREADS)
    binomial_options(const float* __restrict__ price, const float* __restrict__ strike, const float* __restrict__ years,
                     float* __restrict__ call, float rate, float volatility) {
  __shared__ float first[THREADS + 1];
  const int t = (int)threadIdx.x;
  const float dt = years[blockIdx.x] / STEPS, step = volatility * sqrtf(dt);
  const float growth = expf(rate * dt), up = expf(step), down = expf(-step);
  const float chance = (growth - down) / (up - down), high = chance / growth, low = (1.0f - chance) / growth;
  const float s = price[blockIdx.x], x = strike[blockIdx.x];
  float leaf[EACH + 1];
#pragma unroll
  for (int i = 0; i < EACH; ++i) leaf[i] = at_expiry(s, x, step, t * EACH + i);
  if (t == 0) first[THREADS] = at_expiry(s, x, step, STEPS);
  const int last = t * EACH > 0 ? t * EACH - 1 : 0;  // further down the tree this thread has no leaf left
  for (int i = STEPS; i > 0; --i) {
    first[t] = leaf[0];
    __syncthreads();
    leaf[EACH] = first[t + 1];
    __syncthreads();
    if (i > last) {
#pragma unroll
      for (int j = 0; j < EACH; ++j) leaf[j] = high * leaf[j + 1] + low * leaf[j];
    }
  }
  if (t == 0) call[blockIdx.x] = leaf[0];
}
