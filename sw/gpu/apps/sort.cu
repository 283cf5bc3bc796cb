// SPDX-License-Identifier: Apache-2.0
// One step of a radix sort (SHOC's Sort): each block of 128 threads sorts 512 pairs of key and value by four bits of the key,
// bit by bit, and leaves equal digits in their order.
#define THREADS 128
#define EACH 4
#define BITS 4

/// Sum of `value` over the threads in front, and over all of them.
__device__ __forceinline__ unsigned sum_before(unsigned value, unsigned (*sums)[THREADS], int t, unsigned& all) {
  int side = 0;
  sums[side][t] = value;
  __syncthreads();
#pragma unroll
  for (int back = 1; back < THREADS; back *= 2) {
    const unsigned left = t >= back ? sums[side][t - back] : 0;
    sums[side ^ 1][t] = sums[side][t] + left;
    side ^= 1;
    __syncthreads();
  }
  all = sums[side][THREADS - 1];
  return sums[side][t] - value;
}

__global__ void __launch_bounds__(THREADS)
    radix_sort(const uint4* __restrict__ keys_in, const uint4* __restrict__ values_in, uint4* __restrict__ keys_out,
               uint4* __restrict__ values_out, unsigned first_bit) {
  __shared__ unsigned sums[2][THREADS], keys[THREADS * EACH], values[THREADS * EACH];
  const int t = (int)threadIdx.x;
  const size_t own = (size_t)blockIdx.x * THREADS + t;
  const uint4 k = keys_in[own], v = values_in[own];
  unsigned key[EACH] = {k.x, k.y, k.z, k.w}, value[EACH] = {v.x, v.y, v.z, v.w};
  for (unsigned bit = first_bit; bit < first_bit + BITS; ++bit) {
    unsigned zeros = 0;
#pragma unroll
    for (int i = 0; i < EACH; ++i) zeros += ~(key[i] >> bit) & 1;
    unsigned all = 0;
    unsigned zero = sum_before(zeros, sums, t, all);
    unsigned one = all + (unsigned)t * EACH - zero;  // behind all zeros, the ones in front of it
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      const unsigned at = (key[i] >> bit & 1) ? one++ : zero++;
      keys[at] = key[i];
      values[at] = value[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      key[i] = keys[t * EACH + i];
      value[i] = values[t * EACH + i];
    }
  }
  keys_out[own] = make_uint4(key[0], key[1], key[2], key[3]);
  values_out[own] = make_uint4(value[0], value[1], value[2], value[3]);
}
