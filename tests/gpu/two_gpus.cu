// SPDX-License-Identifier: Apache-2.0
// Works on every GPU that it sees for SECONDS, each by a thread of its own, and checks what it made: two_gpus SECONDS. A line a GPU: its
// number, its UUID, launches, wrong words.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

constexpr int kBlocks = 4000, kThreads = 256, kWords = kBlocks * kThreads;

__global__ void adds(unsigned* words, int turns) {
  unsigned x = words[blockIdx.x * blockDim.x + threadIdx.x], y = x;
  for (int i = 0; i < turns; ++i) y = y * 1664525u + 1013904223u;
  words[blockIdx.x * blockDim.x + threadIdx.x] = y == 0xffffffffu && turns < 0 ? y : x + 1;
}

static bool good(cudaError_t e) {
  if (e != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
  return e == cudaSuccess;
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  int gpus = 0, bad = 0;
  if (!good(cudaGetDeviceCount(&gpus))) return 3;
  std::mutex lock;
  std::vector<std::thread> threads;
  for (int gpu = 0; gpu < gpus; ++gpu)
    threads.emplace_back([&, gpu] {
      unsigned *words = nullptr, launches = 0, wrong = 0;
      cudaStream_t stream = nullptr;
      cudaDeviceProp is{};
      std::vector<unsigned> back(kWords);
      bool fine = good(cudaSetDevice(gpu)) && good(cudaGetDeviceProperties(&is, gpu)) && good(cudaMalloc(&words, kWords * sizeof *words)) &&
                  good(cudaMemset(words, 0, kWords * sizeof *words)) && good(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) &&
                  good(cudaDeviceSynchronize());
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
      while (fine && std::chrono::steady_clock::now() < end) {
        for (int k = 0; k < 4; ++k, ++launches) adds<<<kBlocks, kThreads, 0, stream>>>(words, 20000);
        fine = good(cudaStreamSynchronize(stream));
      }
      fine = fine && good(cudaMemcpy(back.data(), words, kWords * sizeof *words, cudaMemcpyDeviceToHost));
      for (const unsigned w : back) wrong += w != launches ? 1 : 0;
      const std::scoped_lock held(lock);
      bad += fine && wrong == 0 ? 0 : 1;
      std::printf("%d GPU-", gpu);
      for (int i = 0; i < 16; ++i)
        std::printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", static_cast<unsigned char>(is.uuid.bytes[i]));
      std::printf(" %u %u\n", launches, wrong);
    });
  for (std::thread& t : threads) t.join();
  return bad;
}
