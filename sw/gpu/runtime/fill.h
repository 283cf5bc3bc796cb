// SPDX-License-Identifier: Apache-2.0
// Contents of a buffer as a function of the index, so that host and device make the same bits. Compiled by the host compiler and,
// as text, by NVRTC.
#pragma once

#ifdef __CUDACC__
#define SLUICE_FILL_FUNCTION __device__ __forceinline__
#define SLUICE_FILL_FMA __fmaf_rn
#else
#include <cmath>
#define SLUICE_FILL_FUNCTION inline
#define SLUICE_FILL_FMA std::fma
#endif

enum SluiceFillKind {
  SLUICE_FILL_ZERO = 0,
  SLUICE_FILL_POISON = 1,   // bytes 0xA5
  SLUICE_FILL_IOTA = 2,     // index * a + b, integers
  SLUICE_FILL_UNIFORM = 3,  // floats in [a, b), integers in [a, b)
  SLUICE_FILL_CHANCE = 4,   // 1 with probability a, else 0
  SLUICE_FILL_CHASE = 5     // successor of the index on one cycle through all elements; their number is a power of two
};

SLUICE_FILL_FUNCTION unsigned sluice_hash(unsigned long long x) {  // Murmur3's finaliser
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33;
  return (unsigned)x;
}
SLUICE_FILL_FUNCTION float sluice_fill_float(int kind, unsigned seed, unsigned long long i, float a, float b) {
  if (kind == SLUICE_FILL_UNIFORM)
    return SLUICE_FILL_FMA((float)(sluice_hash(((unsigned long long)seed << 40) + i) >> 8) * (1.0f / 16777216.0f), b - a, a);
  if (kind == SLUICE_FILL_IOTA) return SLUICE_FILL_FMA((float)i, a, b);
  return 0.0f;
}
SLUICE_FILL_FUNCTION unsigned sluice_fill_integer(int kind, unsigned seed, unsigned long long i, unsigned long long count,
                                                  float a, float b) {
  const unsigned h = sluice_hash(((unsigned long long)seed << 40) + i);
  if (kind == SLUICE_FILL_UNIFORM) return (unsigned)a + (unsigned)(((unsigned long long)h * ((unsigned)b - (unsigned)a)) >> 32);
  if (kind == SLUICE_FILL_CHANCE) return (h >> 8) < (unsigned)(a * 16777216.0f) ? 1u : 0u;
  if (kind == SLUICE_FILL_IOTA) return (unsigned)i * (unsigned)a + (unsigned)b;
  if (kind == SLUICE_FILL_CHASE) return (unsigned)((i * 1664525u + 1013904223u) & (count - 1));  // full period: Hull and Dobell
  return 0;
}
