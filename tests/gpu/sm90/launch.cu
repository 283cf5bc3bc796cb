// SPDX-License-Identifier: Apache-2.0
// What launches cost beside their work: run under Nsight Compute, which counts the cycles of each launch.
// build: nvcc -arch=sm_90 -O3 -o launch launch.cu
// usage: ncu --clock-control none --metrics gpc__cycles_elapsed.max,sm__cycles_elapsed.max --csv --page raw ./launch
#include <cstdio>

__global__ void empty() {}

/// Every CTA lasts so long, by the SM's clock.
__global__ void spin(long long cycles, long long* out) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  if (cycles < 0) *out = begin;
}

/// Code that runs once, then once more: cycles of both, in one warp of each CTA.
template <int Instructions>
__global__ void straight(long long* out, float a, float b) {
  float v[8];
  for (int i = 0; i < 8; ++i) v[i] = a + (float)i;
  long long t[3];
  t[0] = clock64();
#pragma unroll 1
  for (int round = 0; round < 2; ++round) {
#pragma unroll
    for (int s = 0; s < Instructions / 8; ++s)
#pragma unroll
      for (int i = 0; i < 8; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v[i]) : "f"(a), "f"(b));
    t[round + 1] = clock64();
  }
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += v[i];
  if (sum == 1.2345f) out[8] = 1;
  if (threadIdx.x == 0 && blockIdx.x == 0) out[0] = t[1] - t[0], out[1] = t[2] - t[1];
}

/// First use of a parameter, then of memory.
__global__ void first_use(long long* out, const unsigned* in) {
  const long long t0 = clock64();
  unsigned v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(in));
  if (v == 77) out[9] = 1;
  const long long t1 = clock64();
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(in + 4096));
  if (v == 77) out[9] = 1;
  const long long t2 = clock64();
  if (threadIdx.x == 0) out[2] = t1 - t0, out[3] = t2 - t1;
}

/// Writes a line a warp and ends.
__global__ void write(unsigned* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }

template <int Instructions>
void code(long long* out) {
  for (const int ctas : {1, 132}) {
    long long t[2];
    straight<Instructions><<<ctas, 32>>>(out, 1, 2);
    cudaMemcpy(t, out, sizeof t, cudaMemcpyDeviceToHost);
    std::printf("{\"code_bytes\":%d,\"ctas\":%d,\"first\":%.2f,\"again\":%.2f}\n", Instructions * 16, ctas,
                (double)t[0] / Instructions, (double)t[1] / Instructions);
  }
}

int main() {
  long long* out;
  unsigned* memory;
  cudaMalloc(&out, 128), cudaMalloc(&memory, 1 << 28);
  cudaMemset(memory, 0, 1 << 28);
  for (const int threads : {32, 256, 1024})
    for (const int ctas : {1, 132, 1320, 13200, 132000}) empty<<<ctas, threads>>>();
  cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
  for (const long long cycles : {1000, 10000, 100000}) spin<<<1, 32>>>(cycles, out), spin<<<132, 1024>>>(cycles, out);
  for (const int waves : {1, 2, 4, 8}) spin<<<132 * waves, 32, 200 << 10>>>(1000, out);  // one CTA an SM at a time
  for (const int waves : {1, 2, 4, 8}) spin<<<132 * waves, 1024, 200 << 10>>>(1000, out);
  for (const int ctas : {1, 132, 1320, 13200}) write<<<ctas, 256>>>(memory);
  for (int i = 0; i < 2; ++i) {
    long long t[4];
    first_use<<<1, 32>>>(out, memory);
    cudaMemcpy(t, out, sizeof t, cudaMemcpyDeviceToHost);
    std::printf("{\"first_load\":%lld,\"next_load\":%lld}\n", t[2], t[3]);
  }
  code<256>(out), code<1024>(out), code<2048>(out), code<4096>(out), code<6144>(out), code<8192>(out), code<12288>(out),
      code<16384>(out);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
