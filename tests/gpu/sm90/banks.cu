// SPDX-License-Identifier: Apache-2.0
// Cycles of a multiply-add by the registers that it reads: banks of the register file, and operands kept for the next instruction
// (reuse). No assembler lets one choose them, so the registers of an assembled loop are exchanged before it is loaded. No result
// is used, and hardware does not check these dependences. One JSON line a measurement. build: nvcc -arch=sm_90a -O3 -o banks
// banks.cu; nvcc -arch=sm_90a -O3 -cubin -o banks.cubin banks.cu; run: banks banks.cubin
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

constexpr int kRounds = 64, kSteps = 96, kChains = 8;

extern "C" __global__ void __launch_bounds__(1024) chains(long long* cycles, float a, float b, float* sink) {
  float v[kChains];
  for (int c = 0; c < kChains; ++c) v[c] = (float)threadIdx.x + (float)c;
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int r = 0; r < kRounds; ++r)
#pragma unroll
    for (int s = 0; s < kSteps; ++s) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v[s % kChains]) : "f"(a), "f"(b));
  __syncthreads();
  const long long end = clock64();
  float sum = 0;
  for (int c = 0; c < kChains; ++c) sum += v[c];
  if (sum == 1.25f) *sink = sum;
  if (threadIdx.x == 0) *cycles = end - begin;
}

namespace {

constexpr unsigned kNone = 255;
constexpr std::uint64_t kFfma = 0x7223, kDfma = 0x722b;
struct Operands {
  unsigned a, b, c, reuse;  // registers; reuse: bits of the operands that are kept
  std::uint64_t opcode = kFfma;
};

/// The instructions of the loop get these operands in turn. @return how many there are
int exchange(std::vector<char>& elf, const std::vector<Operands>& turn) {
  int found = 0;
  for (std::size_t at = 0; at + 16 <= elf.size(); at += 16) {
    std::uint64_t word[2];
    std::memcpy(word, &elf[at], 16);
    const auto control = word[1] >> 41;
    if ((word[0] & 0xffff) != kFfma || (control >> 5 & 63) != 63) continue;  // FFMA of three registers that releases no barrier
    const Operands& o = turn[static_cast<std::size_t>(found++) % turn.size()];
    word[0] = (word[0] & ~0xffff00ffffULL) | o.opcode | std::uint64_t{o.a} << 24 | std::uint64_t{o.b} << 32;
    if (o.opcode != kFfma)
      word[0] = (word[0] & ~0xff0000ULL) | 10 << 16;  // it writes two registers: not beside the loop's counter
    word[1] = (word[1] & ~0x3c003e00000000ffULL) | o.c | std::uint64_t{0x11} << 41 | std::uint64_t{o.reuse} << 58;
    std::memcpy(&elf[at], word, 16);
  }
  return found;
}

void measure(const std::vector<char>& original, const char* name, const std::vector<Operands>& turn) {
  std::vector<char> elf = original;
  const int found = exchange(elf, turn);
  cudaLibrary_t library;
  cudaKernel_t kernel;
  long long *cycles, measured = 0;
  cudaError_t error = cudaLibraryLoadData(&library, elf.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (error == cudaSuccess) error = cudaLibraryGetKernel(&kernel, library, "chains");
  if (error == cudaSuccess) error = cudaMalloc(&cycles, sizeof(long long));
  for (const int warps : {1, 2, 4, 8}) {  // of a scheduler
    float a = 0, b = 0, *sink = nullptr;
    void* arguments[] = {&cycles, &a, &b, &sink};
    for (int warm = 0; warm < 2 && error == cudaSuccess; ++warm)
      if ((error = cudaMemset(cycles, 0, sizeof measured)) == cudaSuccess &&  // so that an older figure is no result
          (error = cudaLaunchKernel((const void*)kernel, dim3(1), dim3(128 * warps), arguments, 0, nullptr)) == cudaSuccess)
        error = cudaMemcpy(&measured, cycles, sizeof measured, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
      std::fprintf(stderr, "%s: %s\n", name, cudaGetErrorString(error));
      return;
    }
    std::printf("{\"operands\":\"%s\",\"in_the_loop\":%d,\"warps_a_scheduler\":%d,\"cycles_each\":%.3f}\n", name, found, warps,
                (double)measured / ((double)kRounds * found * warps));
  }
  cudaFree(cycles);
  cudaLibraryUnload(library);
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream file(argc > 1 ? argv[1] : "banks.cubin", std::ios::binary);
  const std::vector<char> elf{std::istreambuf_iterator<char>(file), {}};
  measure(elf, "2 3 -", {{2, 3, kNone, 0}});
  measure(elf, "2 4 -", {{2, 4, kNone, 0}});
  measure(elf, "3 5 -", {{3, 5, kNone, 0}});
  measure(elf, "2 6 -", {{2, 6, kNone, 0}});  // four banks: the same one
  measure(elf, "2 2 -", {{2, 2, kNone, 0}});
  measure(elf, "2 3 4", {{2, 3, 4, 0}});
  measure(elf, "3 2 5", {{3, 2, 5, 0}});
  measure(elf, "2 4 6", {{2, 4, 6, 0}});
  measure(elf, "3 5 7", {{3, 5, 7, 0}});
  measure(elf, "2 6 10", {{2, 6, 10, 0}});
  measure(elf, "2 4 - | 3 5 -", {{2, 4, kNone, 0}, {3, 5, kNone, 0}});
  measure(elf, "2 4 6 | 3 5 7", {{2, 4, 6, 0}, {3, 5, 7, 0}});
  measure(elf, "2 3 4 | 3 2 5", {{2, 3, 4, 0}, {3, 2, 5, 0}});
  measure(elf, "2 4 - | 3 - -", {{2, 4, kNone, 0}, {3, kNone, kNone, 0}});
  measure(elf, "2* 3* 4", {{2, 3, 4, 3}});
  measure(elf, "2* 3 4", {{2, 3, 4, 1}});
  measure(elf, "2 3 4*", {{2, 3, 4, 4}});
  measure(elf, "2* 4* 6", {{2, 4, 6, 3}});
  measure(elf, "2* 3 4 | 2 5 6", {{2, 3, 4, 1}, {2, 5, 6, 0}});  // kept once
  measure(elf, "2* 3 4 | 3 2 6", {{2, 3, 4, 1}, {3, 2, 6, 0}});  // kept, and asked for by another operand
  measure(elf, "2 3 4* | 4 5 6", {{2, 3, 4, 4}, {4, 5, 6, 0}});  // kept as the third, asked for as the first
  measure(elf, "2* 4 - | 3 5 - | 2 4 6",
          {{2, 4, kNone, 1}, {3, 5, kNone, 0}, {2, 4, 6, 0}});  // kept beyond one of the other bank
  measure(elf, "2* 4 - | 5 - 3 | 2 4 6", {{2, 4, kNone, 1}, {5, kNone, 3, 0}, {2, 4, 6, 0}});  // the same, in other places
  measure(elf, "2* 4 - | - 5 6 | 2 4 6",
          {{2, 4, kNone, 1}, {kNone, 5, 6, 0}, {2, 4, 6, 0}});  // one of its bank, in another place
  measure(elf, "2 4 6 x3 | 3 5 7 x3", {{2, 4, 6, 0}, {2, 4, 6, 0}, {2, 4, 6, 0}, {3, 5, 7, 0}, {3, 5, 7, 0}, {3, 5, 7, 0}});
  const auto of = [](std::uint64_t opcode, unsigned a, unsigned b, unsigned c, unsigned reuse) {
    return std::vector<Operands>{{a, b, c, reuse, opcode}};
  };
  measure(elf, "DFMA 2 2 2", of(kDfma, 2, 2, 2, 0));
  measure(elf, "DFMA 2 4 -", of(kDfma, 2, 4, kNone, 0));
  measure(elf, "DFMA 2 4 12", of(kDfma, 2, 4, 12, 0));  // three of each bank
  measure(elf, "DFMA 2* 4 12", of(kDfma, 2, 4, 12, 1));
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
