// SPDX-License-Identifier: Apache-2.0
// The SMs' clock while other programs run: one warp counts cycles against the GPU's timer. clock SECONDS [MS], under MPS
// beside them. Prints the clock of every MS milliseconds (50) in MHz, as a line of JSON.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void count(float* mhz, int windows, long long window_ns) {
  const auto now = [] {
    long long ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return ns;
  };
  for (int w = 0; w < windows; ++w) {
    const long long ns = now(), cycles = clock64();
    long long then = ns;
    while (then - ns < window_ns) {
      __nanosleep(10000);
      then = now();
    }
    mhz[w] = 1000.0F * static_cast<float>(clock64() - cycles) / static_cast<float>(then - ns);
  }
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1, ms = argc > 2 ? std::atof(argv[2]) : 50;
  const int windows = static_cast<int>(1000 * seconds / ms);
  if (windows < 1) return 2;
  float* on_gpu = nullptr;
  std::vector<float> mhz(windows);
  const auto wrong = [](cudaError_t e) {
    if (e != cudaSuccess) std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
    return e != cudaSuccess;
  };
  if (wrong(cudaMalloc(&on_gpu, windows * sizeof(float)))) return 3;
  count<<<1, 1>>>(on_gpu, windows, static_cast<long long>(1e6 * ms));
  if (wrong(cudaMemcpy(mhz.data(), on_gpu, windows * sizeof(float), cudaMemcpyDeviceToHost))) return 3;
  std::printf("{\"mhz\":[");
  for (int w = 0; w < windows; ++w) std::printf("%s%.0f", w == 0 ? "" : ",", mhz[w]);
  std::printf("]}\n");
}
