// SPDX-License-Identifier: Apache-2.0
template <class T>
__device__ __forceinline__ void fill(T* out, unsigned long long count, int kind, unsigned seed, float a, float b, bool is_float) {
  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    out[i] = is_float ? (T)sluice_fill_float(kind, seed, i, a, b) : (T)sluice_fill_integer(kind, seed, i, count, a, b);
}
#define SLUICE_FILL(NAME, TYPE, IS_FLOAT)                                                                              \
  extern "C" __global__ void NAME(TYPE* out, unsigned long long count, int kind, unsigned seed, float a, float b) {    \
    fill<TYPE>(out, count, kind, seed, a, b, IS_FLOAT);                                                                \
  }
SLUICE_FILL(fill_f32, float, true)
SLUICE_FILL(fill_f64, double, true)
SLUICE_FILL(fill_4, unsigned, false)
SLUICE_FILL(fill_8, unsigned long long, false)
SLUICE_FILL(fill_2, unsigned short, false)
SLUICE_FILL(fill_1, unsigned char, false)

// Order-independent 64-bit fingerprint of a buffer: sum of hashes of (index, word).
extern "C" __global__ void fingerprint(const unsigned* words, unsigned long long count, unsigned long long* sum) {
  unsigned long long mine = 0;
  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    unsigned long long x = (i << 32 | words[i]) * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 32;
    mine += x * 0xd6e8feb86659fd93ULL;
  }
  atomicAdd(sum, mine);
}
