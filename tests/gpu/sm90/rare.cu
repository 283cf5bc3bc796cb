// SPDX-License-Identifier: Apache-2.0
// Which operands take a division's routine for rare ones? Cycles of div.rn.f32 for every pair of exponents, the fastest of
// sixteen pairs of mantissas, against the rule that rare() has. build: nvcc -arch=sm_90 -O3 -o rare rare.cu; run it alone on the
// GPU.
#include <algorithm>
#include <cstdio>
#include <vector>

__global__ void divide(unsigned ma, unsigned mb, unsigned short* out, float* sink) {
  const unsigned ea = blockIdx.x, eb = blockIdx.y;
  const volatile float va = __uint_as_float(ea << 23 | ma), vb = __uint_as_float(eb << 23 | mb);
  const float a = va, b = vb;
  long long t0 = 0, t1 = 0;
  for (int i = 0; i < 2; ++i) {  // the code is there the second time
    float q;
    t0 = clock64();
    asm volatile("div.rn.f32 %0, %1, %2;" : "=f"(q) : "f"(a), "f"(b) : "memory");
    *(volatile float*)sink = q;
    t1 = clock64();
  }
  out[ea * 256 + eb] = (unsigned short)min(t1 - t0, 65535LL);
}

/// By the biased exponents of numerator and denominator.
static bool rare(int a, int b) { return a < 25 || a == 255 || b < 2 || b > 251 || a - b > 126 || a - b < -124; }

int main() {
  unsigned short* out;
  float* sink;
  cudaMallocHost(&out, 65536 * sizeof *out);
  cudaMallocHost(&sink, sizeof *sink);
  std::vector<int> fastest(65536, 65535);
  const unsigned mantissas[] = {0, 1, 0x400000, 0x7fffff};
  for (const unsigned ma : mantissas)
    for (const unsigned mb : mantissas) {
      divide<<<dim3(256, 256), 1>>>(ma, mb, out, sink);
      if (cudaDeviceSynchronize() != cudaSuccess) return 1;
      for (int i = 0; i < 65536; ++i) fastest[i] = std::min<int>(fastest[i], out[i]);
    }
  std::vector<int> cycles[2];
  for (int i = 0; i < 65536; ++i) cycles[rare(i / 256, i % 256)].push_back(fastest[i]);
  for (auto& c : cycles) std::sort(c.begin(), c.end());
  for (int r : {0, 1})
    std::printf("{\"div\":\"%s\",\"pairs\":%zu,\"least\":%d,\"median\":%d,\"99 of 100\":%d}\n", r ? "rare" : "usual",
                cycles[r].size(), cycles[r].front(), cycles[r][cycles[r].size() / 2], cycles[r][cycles[r].size() * 99 / 100]);
}
