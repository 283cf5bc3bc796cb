// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of 512 complex points, one a block of 64 threads (SHOC's FFT): three rounds of eight-point transforms in
// registers, with the points exchanged in shared memory between them.
#define POINTS 512
#define ROW 65 /* 64 points of a row, and one that keeps rows in different banks */

__device__ __forceinline__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
/// Turned by -90 degrees.
__device__ __forceinline__ float2 turned(float2 a) { return make_float2(a.y, -a.x); }
/// exp(-2 pi i step / points)
__device__ __forceinline__ float2 root(int step, int points) {
  float2 r;
  sincospif(-2.0f * (float)step / (float)points, &r.y, &r.x);
  return r;
}

__device__ __forceinline__ void transform4(float2& a, float2& b, float2& c, float2& d) {
  const float2 even = plus(a, c), odd = minus(a, c), more = plus(b, d), rest = turned(minus(b, d));
  a = plus(even, more);
  c = minus(even, more);
  b = plus(odd, rest);
  d = minus(odd, rest);
}
__device__ __forceinline__ void transform8(float2* v) {
  const float half = 0.70710678f;
  float2 e[4] = {v[0], v[2], v[4], v[6]}, o[4] = {v[1], v[3], v[5], v[7]};
  transform4(e[0], e[1], e[2], e[3]);
  transform4(o[0], o[1], o[2], o[3]);
  o[1] = times(o[1], make_float2(half, -half));
  o[2] = turned(o[2]);
  o[3] = times(o[3], make_float2(-half, -half));
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    v[k] = plus(e[k], o[k]);
    v[k + 4] = minus(e[k], o[k]);
  }
}

__global__ void __launch_bounds__(64) fft(const float2* __restrict__ in, float2* __restrict__ out) {
  __shared__ float2 points[8 * ROW];
  const int t = (int)threadIdx.x, high = t >> 3, low = t & 7;
  in += (size_t)blockIdx.x * POINTS;
  out += (size_t)blockIdx.x * POINTS;
  float2 v[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = in[64 * k + t];
  transform8(v);
#pragma unroll
  for (int k = 0; k < 8; ++k) points[k * ROW + t] = times(v[k], root(k * t, POINTS));
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = points[high * ROW + 8 * k + low];
  transform8(v);
#pragma unroll
  for (int k = 0; k < 8; ++k) points[high * ROW + 8 * k + low] = times(v[k], root(k * low, 64));  // its own places
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = points[low * ROW + 8 * high + k];
  transform8(v);
#pragma unroll
  for (int k = 0; k < 8; ++k) out[64 * k + t] = v[k];
}
