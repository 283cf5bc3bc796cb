// SPDX-License-Identifier: Apache-2.0
// Kernels that a sharing service cannot treat like others, and programs that do wrong: faults MODE. It prints "right" when the
// kernel did what it does alone, "error N" with the runtime's code when CUDA failed. With -rdc=true it has the mode `children` as
// well.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int kThreads = 256, kBlocks = 8000;

void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  std::printf("error %d: %s\n", static_cast<int>(e), cudaGetErrorString(e));
  std::exit(3);
}

__device__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
__device__ unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void add(unsigned* out) {
  spin(10000);
  out[number()] += 1;
}
__global__ void grid_sync(unsigned* out) {
  out[number()] += 1;
  cooperative_groups::this_grid().sync();
  if (out[(number() + blockDim.x) % (gridDim.x * blockDim.x)] == 0) out[number()] = 7;
}
__global__ void __cluster_dims__(2) clusters(unsigned* out) {
  cooperative_groups::this_cluster().sync();
  out[number()] += 1;
}
__global__ void dependent(unsigned* out) {
  asm volatile("griddepcontrol.wait;");
  out[number()] += 1;
}
#ifdef __CUDACC_RDC__
__global__ void child(unsigned* out, unsigned parent) { out[parent * blockDim.x + threadIdx.x] += 1; }
__global__ void parents(unsigned* out) {
  if (threadIdx.x == 0) child<<<1, kThreads>>>(out, blockIdx.x);
}
#endif
__global__ void all_shared(unsigned* out) {
  extern __shared__ unsigned mine[];
  mine[232448 / 4 - 1 - threadIdx.x] = 1;
  __syncthreads();
  out[number()] += mine[232448 / 4 - 1 - threadIdx.x];
}
__global__ void persistent(unsigned* out, unsigned* next) {
  __shared__ unsigned task;
  for (;;) {
    if (threadIdx.x == 0) task = atomicAdd(next, 1);
    __syncthreads();
    if (task >= kBlocks) return;
    out[task * blockDim.x + threadIdx.x] += 1;
    __syncthreads();
  }
}
__global__ void waits_for_lower(unsigned* out, volatile unsigned* turn) {
  if (threadIdx.x == 0)
    while (*turn != blockIdx.x) {
    }
  __syncthreads();
  out[number()] += 1;
  __threadfence();
  if (threadIdx.x == 0) *turn = blockIdx.x + 1;
}
/// Blocks of each 64 meet, so a quota of fewer resident blocks holds them until the watchdog raises it.
__global__ void meets_higher(unsigned* out, unsigned* arrived) {
  if (threadIdx.x == 0) {
    atomicAdd(&arrived[blockIdx.x / 64], 1);
    while (*static_cast<volatile unsigned*>(&arrived[blockIdx.x / 64]) < 64) {
    }
  }
  __syncthreads();
  out[number()] += 1;
}
__global__ void slow(unsigned* out) {
  spin(700'000'000);
  out[number()] += 1;
}
__global__ void trap() { asm volatile("trap;"); }
__global__ void wild(unsigned* out) { *(out + (1ULL << 40)) = 1; }

struct Memory {
  explicit Memory(int blocks) : words(static_cast<std::size_t>(blocks) * kThreads) {
    check(cudaMalloc(&out, words * 4));
    check(cudaMemset(out, 0, words * 4));
    check(cudaMalloc(&word, 4096));
    check(cudaMemset(word, 0, 4096));
  }
  int right(unsigned expected = 1) const {
    std::vector<unsigned> back(words);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(back.data(), out, words * 4, cudaMemcpyDeviceToHost));
    std::size_t wrong = 0;
    for (const unsigned w : back) wrong += w != expected;
    std::printf(wrong == 0 ? "right\n" : "%zu words are wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
  }
  std::size_t words;
  unsigned *out = nullptr, *word = nullptr;
};

void launch_with(const void* kernel, int blocks, unsigned* out, cudaLaunchAttribute attribute) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = kThreads;
  config.attrs = &attribute;
  config.numAttrs = 1;
  void* arguments[] = {&out};
  check(cudaLaunchKernelExC(&config, kernel, arguments));
}

int cooperative() {
  const int blocks = 264;
  Memory m(blocks);
  void* arguments[] = {&m.out};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_sync), blocks, kThreads, arguments));
  return m.right();
}
int in_clusters() {
  Memory m(kBlocks);
  clusters<<<kBlocks, kThreads>>>(m.out);
  return m.right();
}
int programmatic() {
  Memory m(kBlocks);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  for (int k = 0; k < 3; ++k) launch_with(reinterpret_cast<void*>(dependent), kBlocks, m.out, attribute);
  return m.right(3);
}
#ifdef __CUDACC_RDC__
int children() {
  const int blocks = 2000;  // of which each may launch one: 2,048 may be pending
  Memory m(blocks);
  parents<<<blocks, kThreads>>>(m.out);
  return m.right();
}
#endif
int whole_scratchpad() {
  Memory m(kBlocks);
  check(cudaFuncSetAttribute(all_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  all_shared<<<kBlocks, kThreads, 232448>>>(m.out);
  return m.right();
}
int small() {
  Memory m(1);
  add<<<1, kThreads>>>(m.out);
  return m.right();
}
int persists() {
  Memory m(kBlocks);
  persistent<<<264, kThreads>>>(m.out, m.word);
  return m.right();
}
int lower() {
  Memory m(kBlocks);
  waits_for_lower<<<kBlocks, kThreads>>>(m.out, m.word);
  return m.right();
}
int higher() {
  Memory m(kBlocks);
  meets_higher<<<kBlocks, kThreads>>>(m.out, m.word);
  return m.right();
}
int long_blocks() {
  const int blocks = 4000;
  Memory m(blocks);
  slow<<<blocks, kThreads>>>(m.out);
  return m.right();
}
int traps() {
  Memory m(kBlocks);
  trap<<<1, 1>>>();
  return m.right();
}
int writes_wild() {
  Memory m(kBlocks);
  wild<<<1, 1>>>(m.out);
  return m.right();
}
int too_much_memory() {
  void* nothing = nullptr;
  const cudaError_t said = cudaMalloc(&nothing, 1ULL << 42);
  if (said != cudaErrorMemoryAllocation) check(said);
  static_cast<void>(cudaGetLastError());
  Memory m(kBlocks);
  add<<<kBlocks, kThreads>>>(m.out);
  return m.right();
}
int many_streams() {
  constexpr int kStreams = 33;
  std::vector<Memory> memory(kStreams, Memory(1));
  std::vector<cudaStream_t> streams(kStreams);
  int wrong = 0;
  for (int s = 0; s < kStreams; ++s) {
    memory[s] = Memory(kBlocks);
    check(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
  }
  for (int s = 0; s < kStreams; ++s) add<<<kBlocks, kThreads, 0, streams[s]>>>(memory[s].out);
  for (const Memory& m : memory) wrong += m.right();
  return wrong;
}
int ordinary() {
  Memory m(kBlocks);
  for (int k = 0; k < 20; ++k) add<<<kBlocks, kThreads>>>(m.out);
  return m.right(20);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, int (*)()> modes = {{"cooperative", cooperative},
                                                  {"clusters", in_clusters},
                                                  {"programmatic", programmatic},
#ifdef __CUDACC_RDC__
                                                  {"children", children},
#endif
                                                  {"shared", whole_scratchpad},
                                                  {"small", small},
                                                  {"persistent", persists},
                                                  {"lower", lower},
                                                  {"higher", higher},
                                                  {"long", long_blocks},
                                                  {"trap", traps},
                                                  {"wild", writes_wild},
                                                  {"memory", too_much_memory},
                                                  {"streams", many_streams},
                                                  {"ordinary", ordinary}};
  const auto mode = modes.find(argc == 2 ? argv[1] : "");
  if (mode != modes.end()) return mode->second();
  std::fprintf(stderr, "usage: %s MODE, one of:", argv[0]);
  for (const auto& [name, run] : modes) std::fprintf(stderr, " %s", name.c_str());
  std::fprintf(stderr, "\n");
  return 2;
}
