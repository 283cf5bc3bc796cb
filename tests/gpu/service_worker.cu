// SPDX-License-Identifier: Apache-2.0
// An ordinary CUDA program for the sharing service: SECONDS seconds of launches in STREAMS streams, each of BLOCKS blocks that take
// BLOCK_US each, waited for every WAIT launches. Each thread adds to its own word, so that a block which runs twice, or not at all, is seen.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void add(unsigned* out, long long ns, unsigned amount) {
  if (threadIdx.x == 0) {  // all threads at the timer would keep the few instructions between blocks from their pipe
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (static_cast<long long>(now - begin) < ns);
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] += amount;
}
__global__ void trap(unsigned* out) {
  if (out[0] != 0) asm volatile("trap;");
}

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: %s SECONDS STREAMS BLOCKS BLOCK_US WAIT [trap|reset]\n", argv[0]);
    return 2;
  }
  const double seconds = std::atof(argv[1]);
  const int streams = std::atoi(argv[2]), blocks = std::atoi(argv[3]), wait = std::atoi(argv[5]);
  const long long ns = static_cast<long long>(std::atof(argv[4]) * 1000);
  constexpr int kThreads = 256;
  const std::size_t words = static_cast<std::size_t>(blocks) * kThreads;
  std::vector<cudaStream_t> lane(streams);
  std::vector<unsigned*> memory(streams);
  std::vector<unsigned> expected(streams), back(words);
  const auto check = [](cudaError_t e) {
    if (e == cudaSuccess) return;
    std::printf("error %d: %s\n", static_cast<int>(e), cudaGetErrorString(e));
    std::exit(3);
  };
  for (int s = 0; s < streams; ++s) {
    check(cudaStreamCreate(&lane[s]));
    check(cudaMalloc(&memory[s], words * 4));
    check(cudaMemsetAsync(memory[s], 0, words * 4, lane[s]));
    add<<<blocks, kThreads, 0, lane[s]>>>(memory[s], ns, 0);  // the first launch loads the kernel: not of the seconds
  }
  check(cudaDeviceSynchronize());
  const auto begin = std::chrono::steady_clock::now();
  const auto so_far = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  long launches = 0;
  for (unsigned k = 1; so_far() < seconds; ++k) {
    for (int s = 0; s < streams; ++s) {
      add<<<blocks, kThreads, 0, lane[s]>>>(memory[s], ns, k);
      expected[s] += k;
      ++launches;
    }
    check(cudaGetLastError());
    if (k % wait == 0) check(cudaDeviceSynchronize());
  }
  check(cudaDeviceSynchronize());
  const double took = so_far();
  long wrong = 0;
  for (int s = 0; s < streams; ++s) {
    check(cudaMemcpy(back.data(), memory[s], words * 4, cudaMemcpyDeviceToHost));
    for (const unsigned word : back) wrong += word != expected[s];
  }
  std::printf("launches %ld seconds %.4f us_each %.2f wrong %ld\n", launches, took, took / launches * 1e6, wrong);
  if (argc > 6 && argv[6][0] == 't') {
    trap<<<1, 1>>>(memory[0]);
    check(cudaDeviceSynchronize());
  } else if (argc > 6) {  // with launches on the GPU
    for (int s = 0; s < streams; ++s) add<<<blocks, kThreads, 0, lane[s]>>>(memory[s], ns, 0);
    check(cudaDeviceReset());
  }
  return wrong == 0 ? 0 : 1;
}
