// SPDX-License-Identifier: Apache-2.0
// How two processes number SMs: `hold FOLDER` keeps the scratchpad of SMs that it reads as 0..65, then of 66..131; `see FOLDER`
// says meanwhile by which numbers it reads those where its CTAs find no room. Steps are files in FOLDER, which is empty at first.
//
//   nvcc -arch=sm_90 -o sm_numbers sm_numbers.cu; nvidia-cuda-mps-control -d; ./sm_numbers hold F & ./sm_numbers see F
//
// Under `sluice run` with a range for each, the two meet on no SM: docs/reference/how_sharing_works.md.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CHECK(call)                                                       \
  do {                                                                    \
    if (const cudaError_t error = call; error != cudaSuccess) {           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (false)

constexpr unsigned kSms = 132, kMost = 200 * 1024;  // of an H200; bytes of scratchpad

__device__ unsigned smid() {
  unsigned sm;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  return sm;
}
__device__ unsigned long long now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}
__global__ void hold(unsigned from, unsigned to, unsigned* held, volatile unsigned* go) {
  const bool mine = smid() >= from && smid() < to;
  if (mine && threadIdx.x == 0) atomicAdd(held, 1);
  for (const unsigned long long begin = now(); now() - begin < (mine ? 5000000000ULL : 2000000ULL) && *go == 0;)
    __nanosleep(1000);
}
__global__ void visit(unsigned* seen) {
  seen[smid()] = 1;
  for (const unsigned long long begin = now(); now() - begin < 100000;) __nanosleep(200);
}

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "sm_numbers hold|see FOLDER\n"), 2;
  const std::string folder = std::string(argv[2]) + "/";
  const auto say = [&](const std::string& step) { std::fclose(std::fopen((folder + step).c_str(), "w")); };
  const auto await = [&](const std::string& step) {
    for (int n = 0; n < 10000 && access((folder + step).c_str(), F_OK) != 0; ++n) usleep(1000);
  };
  unsigned *seen, *held;
  volatile unsigned* go;
  CHECK(cudaMalloc(&seen, kSms * sizeof *seen));
  CHECK(cudaMallocHost(&held, sizeof *held));
  CHECK(cudaMallocHost(const_cast<unsigned**>(&go), sizeof *go));
  CHECK(cudaFuncSetAttribute(hold, cudaFuncAttributeMaxDynamicSharedMemorySize, kMost));
  CHECK(cudaFuncSetAttribute(visit, cudaFuncAttributeMaxDynamicSharedMemorySize, kMost));
  for (const unsigned from : {0U, kSms / 2}) {
    const std::string step = std::to_string(from);
    if (std::strcmp(argv[1], "hold") == 0) {
      *held = 0;
      *go = 0;
      hold<<<kSms, 128, kMost>>>(from, from + kSms / 2, held, go);
      usleep(100000);
      std::printf("holds %u SMs, read as %u to %u\n", *static_cast<volatile unsigned*>(held), from, from + kSms / 2 - 1);
      std::fflush(stdout);
      say("held" + step);
      await("seen" + step);
      *go = 1;
      CHECK(cudaDeviceSynchronize());
    } else {
      await("held" + step);
      CHECK(cudaMemset(seen, 0, kSms * sizeof *seen));
      visit<<<8 * kSms, 128, kMost / 2>>>(seen);
      std::vector<unsigned> came(kSms);
      CHECK(cudaMemcpy(came.data(), seen, kSms * sizeof *seen, cudaMemcpyDeviceToHost));
      std::string none;
      for (unsigned sm = 0; sm < kSms; ++sm)
        if (came[sm] == 0) none += " " + std::to_string(sm);
      std::printf("while the other holds %u to %u, no CTA came to:%s\n", from, from + kSms / 2 - 1, none.c_str());
      say("seen" + step);
    }
  }
}
