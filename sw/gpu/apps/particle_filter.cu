// SPDX-License-Identifier: Apache-2.0
// Resampling of a particle filter (Rodinia's particlefilter): a thread walks along the cumulated weights to the first that is not
// below its number, and takes that particle's place.
__global__ void __launch_bounds__(128)
    particle_filter(const float* __restrict__ cumulated, const float* __restrict__ number, const float* __restrict__ x,
                    const float* __restrict__ y, float* __restrict__ new_x, float* __restrict__ new_y, unsigned weights) {
  const size_t own = (size_t)blockIdx.x * 128 + threadIdx.x;
  const float wanted = number[own];
  unsigned at = 0;
  while (at < weights - 1 && cumulated[at] < wanted) ++at;
  new_x[own] = x[at];
  new_y[own] = y[at];
}
