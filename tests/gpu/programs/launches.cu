// SPDX-License-Identifier: Apache-2.0
// Launches of all shapes: large, wrong, with attributes, cooperative, in clusters, with much memory or many parameters.
#include <cooperative_groups.h>

#include "program.h"

namespace {

namespace cg = cooperative_groups;

__global__ void weigh(unsigned long long* sum) {
  if (threadIdx.x == 0) atomicAdd(sum, blockIdx.x + 3ULL * blockIdx.y + 7ULL * blockIdx.z + 1);
}
__global__ void corners(unsigned long long* sum) {
  if (threadIdx.x == 0 && blockIdx.x % 4096 == 4095 && blockIdx.y % 64 == 63) atomicAdd(sum, 1ULL * blockIdx.x * blockIdx.y);
}
__global__ void grid_sync(unsigned* v) {
  for (unsigned round = 1; round <= 4; ++round) {
    v[number()] += 1;
    cg::this_grid().sync();
    if (v[(number() + 5 * blockDim.x) % (gridDim.x * blockDim.x)] != round) atomicAdd(&v[gridDim.x * blockDim.x], 1);
    cg::this_grid().sync();
  }
}
__global__ void __cluster_dims__(2) pairs(unsigned* v) {
  __shared__ unsigned mine;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = blockIdx.x;
  cluster.sync();
  v[number()] = *cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1) + 1;
  cluster.sync();
}
__global__ void in_cluster(unsigned* v) {
  const auto cluster = cg::this_cluster();
  v[number()] += cluster.num_blocks() * 10 + cluster.block_rank();
}
__global__ void waits_for_grid(const unsigned* in, unsigned* out) {
  asm volatile("griddepcontrol.launch_dependents;");
  spend(2000);
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[number()] = out[number()] * 3 + in[kWords - 1 - number()];
}
struct Much {
  unsigned words[8100];
};
__global__ void sums(const __grid_constant__ Much much, unsigned* out) {
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < 8100; i += blockDim.x) sum += much.words[i];
  atomicAdd(&out[blockIdx.x], sum);
}
__global__ void shared(unsigned* out, unsigned bytes) {
  extern __shared__ unsigned mine[];
  const unsigned words = bytes / 4;
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) mine[i] = i + blockIdx.x;
  __syncthreads();
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) sum += mine[words - 1 - i] == words - 1 - i + blockIdx.x;
  atomicAdd(&out[blockIdx.x], sum);
}
__global__ void __launch_bounds__(256, 2) bounded(unsigned* out) { out[number()] += blockDim.x; }

cudaLaunchConfig_t config_of(dim3 grid, dim3 block, std::vector<cudaLaunchAttribute>& with, cudaStream_t s = nullptr) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = s;
  config.attrs = with.data();
  config.numAttrs = static_cast<unsigned>(with.size());
  return config;
}
cudaLaunchAttribute attribute(cudaLaunchAttributeID id) {
  cudaLaunchAttribute a{};
  a.id = id;
  return a;
}
int sms() {
  int n = 0;
  ck(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
  return n;
}

CASE(grid_3d, quota) {
  Array<unsigned long long> sum(1);
  weigh<<<dim3(700, 100, 30), 32>>>(sum);
  weigh<<<dim3(1, 65535, 20), 32>>>(sum);
  weigh<<<dim3(3, 2, 65535), 32>>>(sum);
  const auto of = [](unsigned long long x, unsigned long long y, unsigned long long z) {
    return x * y * z * (x - 1 + 3 * (y - 1) + 7 * (z - 1) + 2) / 2;
  };
  sum.all(of(700, 100, 30) + of(1, 65535, 20) + of(3, 2, 65535));
}
CASE(grid_beyond_2_31, either) {
  Array<unsigned long long> sum(1);
  corners<<<dim3(65536, 32832), 32>>>(sum);
  unsigned long long expected = 0;
  for (unsigned long long x = 4095; x < 65536; x += 4096)
    for (unsigned long long y = 63; y < 32832; y += 64) expected += x * y;
  sum.all(expected);
}
CASE(wrong_launches, quota) {
  Words v;
  const auto tried = [&](const char* what, dim3 grid, dim3 block, std::size_t bytes = 0) {
    step<<<grid, block, bytes>>>(v, 1);
    const cudaError_t peeked = cudaPeekAtLastError();
    say(what, cudaGetLastError());
    if (peeked != cudaSuccess) expect(cudaGetLastError() == cudaSuccess);
    say("  then", cudaDeviceSynchronize());
  };
  launch_step(v, 1);
  tried("no blocks", 0, kThreads);
  tried("no threads", kBlocks, 0);
  tried("no rows", dim3(kBlocks, 0), kThreads);
  tried("65,536 in y", dim3(1, 65536), kThreads);
  tried("65,536 in z", dim3(1, 1, 65536), kThreads);
  tried("2^31 in x", 1U << 31, 1);
  tried("1,025 threads", kBlocks, 1025);
  tried("65 in z", kBlocks, dim3(1, 1, 65));
  tried("64 KB that nobody allowed", kBlocks, kThreads, 65536);
  tried("a MB", kBlocks, kThreads, 1U << 20);
  void *none = nullptr, *arguments[] = {&v.p, &none};
  say("no function", cudaLaunchKernel(none, 1, 1, arguments, 0, nullptr));
  say("all blocks at once", cudaLaunchCooperativeKernel(grid_sync, 100 * sms(), kThreads, arguments, 0, nullptr));
  std::vector<cudaLaunchAttribute> with = {attribute(cudaLaunchAttributeClusterDimension)};
  with[0].val.clusterDim = {7, 1, 1};
  auto config = config_of(kBlocks, kThreads, with);
  say("clusters that do not divide the grid", cudaLaunchKernelExC(&config, reinterpret_cast<void*>(in_cluster), arguments));
  bounded<<<kBlocks, 512>>>(v);
  say("beyond the bounds of the kernel", cudaGetLastError());
  say("none of them stays", cudaGetLastError());
  launch_step(v, 1);
  v.all(6);
}
CASE(attributes, quota) {
  Words v;
  int least = 0, greatest = 0;
  ck(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  Stream s;
  Event behind, begun;
  std::vector<cudaLaunchAttribute> with = {attribute(cudaLaunchAttributePriority), attribute(cudaLaunchAttributeMemSyncDomain),
                                           attribute(cudaLaunchAttributeMemSyncDomainMap), attribute(cudaLaunchAttributeIgnore),
                                           attribute(cudaLaunchAttributePreferredSharedMemoryCarveout)};
  with[0].val.priority = greatest;
  with[1].val.memSyncDomain = cudaLaunchMemSyncDomainRemote;
  with[2].val.memSyncDomainMap = {0, 1};
  with[4].val.sharedMemCarveout = 50;
  const auto launch = [&](unsigned a) {
    auto config = config_of(kBlocks, kThreads, with, s);
    void* arguments[] = {const_cast<unsigned**>(&v.p), &a};
    ck(cudaLaunchKernelExC(&config, reinterpret_cast<void*>(step), arguments));
  };
  launch(1);
  launch(2);
  with = {attribute(cudaLaunchAttributeProgrammaticEvent), attribute(cudaLaunchAttributeLaunchCompletionEvent)};
  with[0].val.programmaticEvent = {behind, 0, 0};
  with[1].val.launchCompletionEvent = {begun, 0};
  launch(3);
  Stream other(cudaStreamNonBlocking);
  ck(cudaStreamWaitEvent(other, behind));
  launch_step(v, 4, other);
  v.all(step_on_host(step_on_host(step_on_host(1, 2), 3), 4));
}
CASE(access_window, quota) {
  Words v;
  Stream s;
  ck(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1U << 20));
  cudaStreamAttrValue of{};
  of.accessPolicyWindow = {v.p, 1U << 20, 1.0F, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
  ck(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &of));
  for (unsigned k = 1; k <= 3; ++k) launch_step(v, k, s);
  cudaStreamAttrValue seen{};
  ck(cudaStreamGetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &seen));
  expect(seen.accessPolicyWindow.base_ptr == v.p);
  ck(cudaCtxResetPersistingL2Cache());
  v.all(step_on_host(step_on_host(1, 2), 3));
}
CASE(dependent_launches, either) {
  Words a, b;
  Stream s;
  std::vector<cudaLaunchAttribute> with = {attribute(cudaLaunchAttributeProgrammaticStreamSerialization)};
  with[0].val.programmaticStreamSerializationAllowed = 1;
  std::vector<unsigned> x(kWords), y(kWords);
  for (unsigned k = 1; k <= 6; ++k) {
    launch_step(a, k, s);
    auto config = config_of(kBlocks, kThreads, with, s);
    void* arguments[] = {const_cast<unsigned**>(&a.p), const_cast<unsigned**>(&b.p)};
    ck(cudaLaunchKernelExC(&config, reinterpret_cast<void*>(waits_for_grid), arguments));
    for (unsigned& w : x) w = step_on_host(w, k);
    for (unsigned i = 0; i < kWords; ++i) y[i] = y[i] * 3 + x[kWords - 1 - i];
  }
  expect(b.back() == y);
  expect(a.back() == x);
}
CASE(many_parameters, quota) {
  static Much much;
  Words out(kBlocks);
  unsigned expected = 0;
  for (unsigned k = 1; k <= 3; ++k) {
    for (unsigned i = 0; i < 8100; ++i) expected += much.words[i] = k * 1000 + i;
    sums<<<kBlocks, kThreads>>>(much, out);
    ck(cudaGetLastError());
    for (unsigned& w : much.words) w = 0;  // the launch has its own
  }
  out.all(expected);
}
CASE(shared_memory, either) {
  Words out(kBlocks);
  int most = 0;
  unsigned expected = 0;
  ck(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  for (const unsigned bytes : {0U, 4U, 40000U, 49152U, 100000U, 200000U, static_cast<unsigned>(most)}) {
    ck(cudaFuncSetAttribute(shared, cudaFuncAttributePreferredSharedMemoryCarveout, bytes > 49152 ? 100 : 30));
    if (bytes > 49152) ck(cudaFuncSetAttribute(shared, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    shared<<<kBlocks, kThreads, bytes>>>(out, bytes);
    ck(cudaGetLastError());
    expected += bytes / 4;
  }
  out.all(expected);
  say("more than there is", cudaFuncSetAttribute(shared, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 4));
  static_cast<void>(cudaGetLastError());
}
CASE(what_it_is_told, quota) {
  for (int round = 0; round < 2; ++round) {
    for (const auto kernel :
         {reinterpret_cast<const void*>(step), reinterpret_cast<const void*>(bounded), reinterpret_cast<const void*>(shared)}) {
      cudaFuncAttributes a{};
      int fit = 0, grid = 0, block = 0;
      const char* name = nullptr;
      ck(cudaFuncGetAttributes(&a, kernel));
      ck(cudaFuncGetName(&name, kernel));
      ck(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, kThreads, 8192));
      ck(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, std::size_t{0}));
      std::printf("%s: %d registers, %zu shared, %zu local, %d threads, %d fit, %d of %d are best\n", name, a.numRegs,
                  a.sharedSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock, fit, grid, block);
    }
    Words v;
    launch_step(v, 1);
    bounded<<<kBlocks, kThreads>>>(v);
    v.all(1 + kThreads);
  }
}
CASE(cooperative, native) {
  const unsigned blocks = static_cast<unsigned>(sms());
  Words one(blocks * kThreads + 1), two(blocks * kThreads + 1);
  Stream a, b;
  void *of_one[] = {&one.p}, *of_two[] = {&two.p};
  for (int k = 0; k < 3; ++k) {  // in two streams: each needs room for all of its blocks
    ck(cudaMemsetAsync(one, 0, one.words * 4, a));
    ck(cudaMemsetAsync(two, 0, two.words * 4, b));
    ck(cudaLaunchCooperativeKernel(grid_sync, blocks, kThreads, of_one, 0, a));
    ck(cudaLaunchCooperativeKernel(grid_sync, blocks, kThreads, of_two, 0, b));
  }
  one.upto(blocks * kThreads, 4);
  two.upto(blocks * kThreads, 4);
  expect(one.back().back() == 0);
  expect(two.back().back() == 0);
}
CASE(clusters, native) {
  Words v, u;
  pairs<<<kBlocks, kThreads>>>(v);
  std::vector<cudaLaunchAttribute> with = {attribute(cudaLaunchAttributeClusterDimension)};
  with[0].val.clusterDim = {4, 1, 1};
  auto config = config_of(kBlocks, kThreads, with);
  void* arguments[] = {&u.p};
  ck(cudaLaunchKernelExC(&config, reinterpret_cast<void*>(in_cluster), arguments));
  const auto seen = v.back(), ranks = u.back();
  for (unsigned i = 0; i < kWords; ++i) expect(seen[i] == (i / kThreads ^ 1) + 1 && ranks[i] == 40 + i / kThreads % 4);
}
CASE(small_among_large, quota) {
  Words v;
  for (unsigned k = 1; k <= 40; ++k) {
    launch_step(v, k);
    step<<<1, kThreads>>>(v, k);
    step<<<200, kThreads>>>(v, k);
  }
  unsigned all = 0, some = 0, first = 0;
  for (unsigned k = 1; k <= 40; ++k) {
    all = step_on_host(all, k);
    some = step_on_host(step_on_host(some, k), k);
    first = step_on_host(step_on_host(step_on_host(first, k), k), k);
  }
  const auto seen = v.back();
  for (unsigned i = 0; i < kWords; ++i) expect(seen[i] == (i < kThreads ? first : i < 200 * kThreads ? some : all));
}
CASE(deep_queue, quota) {
  Words v, u;
  Stream s, t;
  unsigned x = 0;
  for (unsigned k = 0; k < 3000; ++k) {
    x = step_on_host(x, k % 7);
    step<<<k % 10 == 0 ? 2400 : 3, kThreads, 0, s>>>(v, k % 7);
    if (k % 100 == 0) launch_step(u, k, t);
  }
  ck(cudaGetLastError());
  v.upto(3 * kThreads, x);
  unsigned y = 0;
  for (unsigned k = 0; k < 3000; k += 100) y = step_on_host(y, k);
  u.all(y);
}

}  // namespace
