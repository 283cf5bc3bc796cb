// SPDX-License-Identifier: Apache-2.0
// Blocks that wait: for other blocks, for another kernel, for the host, and a stream that waits for a word.
#include <atomic>

#include "program.h"

namespace {

__device__ unsigned seen(const unsigned* word) { return *static_cast<const volatile unsigned*>(word); }

__global__ void under_lock(unsigned* lock, unsigned* sum) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) continue;
  __threadfence();
  *static_cast<volatile unsigned*>(sum) = seen(sum) + blockIdx.x + 1;
  __threadfence();
  atomicExch(lock, 0);
}
/// First come, first served: whoever has a ticket and is not there holds all others.
__global__ void by_ticket(unsigned* next, unsigned* served, unsigned* out) {
  if (threadIdx.x == 0) {
    const unsigned mine = atomicAdd(next, 1);
    while (seen(served) != mine) __nanosleep(50);
    out[mine] = mine + 1;
    __threadfence();
    *static_cast<volatile unsigned*>(served) = mine + 1;
  }
  __syncthreads();
}
__global__ void in_turn(unsigned* flags, unsigned* out) {
  if (threadIdx.x == 0) {
    while (blockIdx.x > 0 && seen(&flags[blockIdx.x - 1]) == 0) continue;
    out[blockIdx.x] = blockIdx.x == 0 ? 1 : out[blockIdx.x - 1] * 5 + 3;
    __threadfence();
    *static_cast<volatile unsigned*>(&flags[blockIdx.x]) = 1;
  }
}
/// Row by row, each behind the same row of the block on the left.
__global__ void wavefront(unsigned* progress, unsigned* table, unsigned rows) {
  for (unsigned row = 1; row <= rows; ++row) {
    if (blockIdx.x > 0 && threadIdx.x == 0)
      while (seen(&progress[blockIdx.x - 1]) < row) continue;
    __syncthreads();
    const unsigned at = blockIdx.x * (rows + 1) + row;
    if (threadIdx.x == 0) {
      const unsigned left = blockIdx.x == 0 ? 1 : *static_cast<volatile unsigned*>(&table[at - rows - 1]);
      table[at] = table[at - 1] + left;
      __threadfence();
      *static_cast<volatile unsigned*>(&progress[blockIdx.x]) = row;
    }
    __syncthreads();
  }
}
/// A single-pass scan: tiles come by a counter, and look back until one knows its sum.
__global__ void scan(const unsigned* in, unsigned* out, unsigned* next, unsigned long long* state) {
  __shared__ unsigned tile, part[kThreads];
  __shared__ unsigned long long before;
  if (threadIdx.x == 0) tile = atomicAdd(next, 1);
  __syncthreads();
  part[threadIdx.x] = in[tile * kThreads + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned i = 1; i < kThreads; ++i) part[i] += part[i - 1];
    const unsigned long long sum = part[kThreads - 1];
    atomicExch(&state[tile], 1ULL << 62 | sum);
    before = 0;
    for (int t = static_cast<int>(tile) - 1; t >= 0;) {
      const unsigned long long s = *static_cast<volatile unsigned long long*>(&state[t]);
      if (s >> 62 == 0) continue;
      before += s & ~(3ULL << 62);
      if (s >> 62 == 2) break;
      --t;
    }
    atomicExch(&state[tile], 2ULL << 62 | (before + sum));
  }
  __syncthreads();
  out[tile * kThreads + threadIdx.x] = static_cast<unsigned>(before) + part[threadIdx.x];
}
/// Blocks of each group of 400 meet: more than a quota of two has at a time.
__global__ void groups(unsigned* arrived, unsigned* out) {
  if (threadIdx.x == 0) {
    atomicAdd(&arrived[blockIdx.x / 400], 1);
    while (seen(&arrived[blockIdx.x / 400]) < 400) continue;
  }
  __syncthreads();
  out[number()] += 1;
}
__global__ void meets(unsigned* mine, unsigned* other, unsigned* out) {
  if (threadIdx.x == 0) {
    atomicAdd(mine, 1);
    while (seen(other) == 0) continue;
  }
  __syncthreads();
  out[number()] += 1;
}
__global__ void held(const unsigned* word, unsigned least, unsigned* out) {
  if (threadIdx.x == 0)
    while (seen(word) < least) continue;
  __syncthreads();
  out[number()] += 1;
}
/// Tells the host of each block, and waits until the host has answered the thousand before.
__global__ void talks(unsigned* told, const unsigned* answered, unsigned* out) {
  if (threadIdx.x == 0) {
    while (seen(answered) < blockIdx.x / 1000) continue;
    out[blockIdx.x] += 1;
    __threadfence_system();
    atomicAdd_system(told, 1);
  }
}
/// All blocks that the GPU holds meet, three times.
__global__ void barrier(unsigned* arrived, unsigned* v) {
  for (unsigned round = 1; round <= 3; ++round) {
    v[number()] += v[number()] == round - 1 ? 1 : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived, 1);
      while (seen(arrived) < round * gridDim.x) continue;
    }
    __syncthreads();
    if (seen(&v[(number() + 7 * blockDim.x) % (gridDim.x * blockDim.x)]) < round) v[number()] = 99;
  }
}
__global__ void never_before(unsigned* word) {
  if (number() == 0) atomicExch(word, 1);
}

unsigned* host_words(unsigned n) {
  void* at = nullptr;
  ck(cudaHostAlloc(&at, n * 4, cudaHostAllocMapped));
  std::memset(at, 0, n * 4);
  return static_cast<unsigned*>(at);
}
void set(unsigned* word, unsigned value) { std::atomic_ref(*word).store(value); }

CASE(spin_lock, quota) {
  Words lock(1), sum(1);
  for (unsigned k = 1; k <= 3; ++k) under_lock<<<kBlocks, 32>>>(lock, sum);
  sum.all(3 * (kBlocks * (kBlocks + 1) / 2));
}
CASE(ticket_lock, quota) {
  Words next(1), served(1), out(kBlocks);
  by_ticket<<<kBlocks, 64>>>(next, served, out);
  const auto v = out.back();
  for (unsigned i = 0; i < kBlocks; ++i) expect(v[i] == i + 1);
}
CASE(chain, quota) {
  Words flags(kBlocks), out(kBlocks);
  in_turn<<<kBlocks, 64>>>(flags, out);
  const auto v = out.back();
  unsigned x = 1;
  for (unsigned i = 0; i < kBlocks; ++i, x = x * 5 + 3) expect(v[i] == x);
}
CASE(rows_in_a_wave, quota) {
  constexpr unsigned kRows = 24, kWide = 3000;
  Words progress(kWide), table((kRows + 1) * kWide);
  wavefront<<<kWide, kThreads>>>(progress, table, kRows);
  const auto v = table.back();
  std::vector<unsigned> left(kRows + 1, 1);
  for (unsigned b = 0; b < kWide; ++b) {
    unsigned above = 0;
    for (unsigned row = 1; row <= kRows; ++row) {
      above = left[row] = above + left[row];
      expect(v[b * (kRows + 1) + row] == above);
    }
  }
}
CASE(look_back, quota) {
  std::vector<unsigned> in(kWords);
  for (unsigned i = 0; i < kWords; ++i) in[i] = i % 11;
  Words from, to, next(1);
  Array<unsigned long long> state(kBlocks);
  ck(cudaMemcpy(from, in.data(), kWords * 4, cudaMemcpyHostToDevice));
  scan<<<kBlocks, kThreads>>>(from, to, next, state);
  const auto v = to.back();
  unsigned sum = 0;
  for (unsigned i = 0; i < kWords; ++i) expect(v[i] == (sum += in[i]));
}
CASE(groups_meet, quota) {
  Words arrived(kBlocks), out;
  groups<<<kBlocks, kThreads>>>(arrived, out);
  out.all(1);
}
CASE(two_kernels_meet, either) {
  constexpr unsigned kFew = 800;
  Words flags(4), out(kFew * kThreads), other(kFew * kThreads);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  set(host_words(1), 1);
  ck(cudaMemset(flags, 1, 16));
  meets<<<kFew, kThreads>>>(flags + 2, flags + 3, out);  // loads it, and brings its code
  ck(cudaMemset(flags, 0, 16));
  for (unsigned k = 0; k < 5; ++k) {
    meets<<<kFew, kThreads, 0, a>>>(flags, flags + 1, out);
    meets<<<kFew, kThreads, 0, b>>>(flags + 1, flags, other);
    finish();
    ck(cudaMemset(flags, 0, 16));
  }
  out.all(6);
  other.all(5);
}
CASE(first_launch_frees, either) {
  Words word(1), out;
  cudaFuncAttributes looked{};
  ck(cudaFuncGetAttributes(&looked, never_before));  // its code is there, or the driver would wait for the other
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  held<<<kBlocks / 4, kThreads, 0, a>>>(word, 1, out);
  never_before<<<kBlocks, kThreads, 0, b>>>(word);
  out.upto(kBlocks / 4 * kThreads, 1);
}
CASE(host_holds, quota) {
  unsigned* word = host_words(1);
  Words out, v;
  Stream a(cudaStreamNonBlocking), c(cudaStreamNonBlocking);
  launch_step(v, 1, c);
  finish();
  held<<<kBlocks / 4, kThreads, 0, a>>>(word, 1, out);  // natively there is room beside it
  std::vector<Stream> many;
  for (int k = 0; k < 8; ++k) many.emplace_back(cudaStreamNonBlocking);
  Event e;
  step<<<kBlocks / 100, kThreads, 0, c>>>(v, 2);
  ck(cudaEventRecord(e, c));
  ck(cudaEventSynchronize(e));
  expect(cudaStreamQuery(a) == cudaErrorNotReady);
  static_cast<void>(cudaGetLastError());
  nap(20);
  set(word, 1);
  out.upto(kBlocks / 4 * kThreads, 1);
  v.upto(kWords / 100, 7);
}
CASE(host_polls, quota) {
  constexpr std::size_t kPage = 4096;
  auto* words = static_cast<unsigned*>(std::aligned_alloc(kPage, kPage));
  std::memset(words, 0, kPage);
  ck(cudaHostRegister(words, kPage, cudaHostRegisterMapped));
  unsigned* seen_there = nullptr;
  ck(cudaHostGetDevicePointer(&seen_there, words, 0));
  Words out(kBlocks);
  talks<<<kBlocks, 32>>>(seen_there, seen_there + 64, out);
  ck(cudaGetLastError());
  for (unsigned k = 1; k <= kBlocks / 1000; ++k) {
    while (std::atomic_ref(words[0]).load() < k * 1000) std::this_thread::yield();
    set(words + 64, k);
  }
  out.all(1);
  expect(words[0] == kBlocks);
  ck(cudaHostUnregister(words));
}
CASE(words_between_streams, quota) {
  unsigned* there = host_words(1);
  Words word(4), v;
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  const auto at = reinterpret_cast<CUdeviceptr>(word.p);
  launch_step(v, 0);
  finish();
  for (unsigned k = 1; k <= 4; ++k) {
    ck(cuStreamWaitValue32(b.s, at, k, CU_STREAM_WAIT_VALUE_EQ));
    launch_step(v, 2 * k, b);
    ck(cuStreamWriteValue32(b.s, at + 4, k, CU_STREAM_WRITE_VALUE_DEFAULT));
    ck(cuStreamWaitValue32(a.s, reinterpret_cast<CUdeviceptr>(there), k, CU_STREAM_WAIT_VALUE_GEQ));
    launch_step(v, 2 * k - 1, a);
    ck(cuStreamWriteValue32(a.s, at, k, CU_STREAM_WRITE_VALUE_DEFAULT));
    ck(cuStreamWaitValue32(a.s, at + 4, k, CU_STREAM_WAIT_VALUE_EQ));
    set(there, k);
  }
  unsigned x = 0;
  for (unsigned a2 = 1; a2 <= 8; ++a2) x = step_on_host(x, a2);
  v.all(x);
}
CASE(barrier_by_hand, either) {
  int fit = 0, sms = 0;
  ck(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, barrier, 256, 0));
  ck(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  std::printf("%d blocks on each of %d SMs\n", fit, sms);
  Words arrived(1), v(static_cast<std::size_t>(sms) * 256);
  barrier<<<sms, 256>>>(arrived, v);  // one on each, so that others' kernels leave room
  v.all(3);
}

}  // namespace
