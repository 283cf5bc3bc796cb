// SPDX-License-Identifier: Apache-2.0
// What a short launch gets of the DRAM, and what launches cost one behind the other. One JSON line a measurement.
// build: nvcc -arch=sm_90 -O3 -std=c++20 -o reads reads.cu
#include <algorithm>
#include <cstdio>
#include <vector>

using u64 = unsigned long long;

struct Span {
  u64 begin, end;
};

__device__ u64 now_ns() {
  u64 t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}
__device__ uint4 load_once(const char* from) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}

constexpr int kThreads = 128, kPiece = 131072, kFlight = 8;

/// Each CTA reads pieces of 128 KB: a warp 512 bytes side by side, or (Rows) 64 bytes of each of 8 rows that lie 8 KB apart.
template <bool Rows>
__global__ void __launch_bounds__(kThreads, 4) read(Span* spans, const char* from, int pieces, unsigned* sink) {
  const u64 begin = now_ns();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = 0;
  for (int p = blockIdx.x; p < pieces; p += gridDim.x) {
    const char* piece = from + static_cast<long>(p) * kPiece;
    for (int k = 0; k < kPiece / (kThreads * 16 * kFlight); ++k) {
      uint4 v[kFlight];
#pragma unroll
      for (int i = 0; i < kFlight; ++i) {
        const long at = Rows ? (i % 2 * 8 + lane / 4) * 8192L + k * 1024 + i / 2 * 256 + warp * 64 + lane % 4 * 16
                             : (static_cast<long>(k) * kFlight + i) * kThreads * 16 + threadIdx.x * 16;
        v[i] = load_once(piece + at);
      }
#pragma unroll
      for (int i = 0; i < kFlight; ++i) sum += v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
    }
  }
  if (sum == 0x12345678U) *sink = sum;
  __syncthreads();
  if (threadIdx.x == 0) spans[blockIdx.x] = {begin, now_ns()};
}

/// Touches a word of each 2 MB.
__global__ void touch(const char* from, long bytes, unsigned* sink) {
  const long at = (static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x) << 21;
  if (at < bytes && *reinterpret_cast<const volatile unsigned*>(from + at + 128 * threadIdx.x) == 0x12345678U) *sink = 1;
}

struct Row {
  double us, span_us, middle_tb;
};

template <bool Rows>
void reads(const char* memory, long bytes_of_all, long mb, bool whole_grid, bool touched, Span* spans, unsigned* sink) {
  const int pieces = static_cast<int>((mb << 20) / kPiece), grid = whole_grid ? pieces : std::min(pieces, 528);
  constexpr int kLaunches = 20;
  cudaEvent_t from, to;
  cudaEventCreate(&from), cudaEventCreate(&to);
  std::vector<double> spans_us, middle;
  std::vector<Span> s(grid);
  const auto place = [&](int i) {
    return memory + (static_cast<long>(i) * pieces * kPiece) % std::max(1L, bytes_of_all - static_cast<long>(pieces) * kPiece) /
                        kPiece * kPiece;
  };
  float all = 0;
  for (int round = 0; round < 2; ++round) {  // the second is measured
    cudaEventRecord(from);
    for (int i = 0; i < kLaunches; ++i) read<Rows><<<grid, kThreads>>>(spans, place(round * kLaunches + i), pieces, sink);
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    cudaEventElapsedTime(&all, from, to);
  }
  for (int i = 0; i < kLaunches; ++i) {
    const char* at = place(2 * kLaunches + i);
    if (touched) touch<<<1, 1024>>>(at, mb << 20, sink);
    read<Rows><<<grid, kThreads>>>(spans, at, pieces, sink);
    cudaMemcpy(s.data(), spans, s.size() * sizeof(Span), cudaMemcpyDeviceToHost);
    u64 first = ~0ULL;
    std::vector<u64> ends;
    for (const Span& x : s) first = std::min(first, x.begin), ends.push_back(x.end);
    std::ranges::sort(ends);
    spans_us.push_back(1e-3 * static_cast<double>(ends.back() - first));
    const std::size_t a = ends.size() / 4, b = ends.size() * 3 / 4;
    if (ends[b] > ends[a])
      middle.push_back(static_cast<double>(b - a) * pieces / grid * kPiece / 1e3 / static_cast<double>(ends[b] - ends[a]));
  }
  std::ranges::sort(spans_us), std::ranges::sort(middle);
  const double bytes = static_cast<double>(pieces) * kPiece, us = 1000.0 * all / kLaunches, span = spans_us[spans_us.size() / 2];
  std::printf(
      "{\"reads\":\"%s\",\"mb\":%ld,\"of_mb\":%ld,\"ctas\":%d,\"touched\":%s,\"us_each\":%.2f,\"tb_a_second\":%.3f,\"span_us\":%."
      "2f,\"span_tb_a_second\":%.3f,\"middle_tb_a_second\":%.3f}\n",
      Rows ? "rows" : "plain", mb, bytes_of_all >> 20, grid, touched ? "true" : "false", us, bytes * 1e-6 / us, span,
      bytes * 1e-6 / span, middle.empty() ? 0.0 : middle[middle.size() / 2]);
  std::fflush(stdout);
}

/// Stays for some microseconds and leaves a span.
__global__ void stay(Span* spans, int ns) {
  const u64 begin = now_ns();
  while (now_ns() - begin < static_cast<u64>(ns)) {
  }
  if (threadIdx.x == 0) spans[blockIdx.x] = {begin, now_ns()};
}

/// Launches one behind the other, whose scratchpad is `first` and `second` bytes in turns: time of each beyond what it stays, and
/// the gap from the last end of one to the first begin of the next.
void gaps(int grid, int threads, int first, int second, Span* spans) {
  constexpr int kLaunches = 200, kStay = 6000;
  cudaFuncSetAttribute(stay, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 * 1024);
  cudaEvent_t from, to;
  cudaEventCreate(&from), cudaEventCreate(&to);
  float all = 0;
  for (int round = 0; round < 2; ++round) {
    cudaEventRecord(from);
    for (int i = 0; i < kLaunches; ++i)
      stay<<<grid, threads, i % 2 == 0 ? first : second>>>(spans + static_cast<long>(i) * grid, kStay);
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    cudaEventElapsedTime(&all, from, to);
  }
  std::vector<Span> s(static_cast<std::size_t>(kLaunches) * grid);
  cudaMemcpy(s.data(), spans, s.size() * sizeof(Span), cudaMemcpyDeviceToHost);
  std::vector<double> gap, ramp;
  u64 last = 0;
  for (int i = 0; i < kLaunches; ++i) {
    u64 begin = ~0ULL, late = 0, end = 0;
    for (int c = 0; c < grid; ++c) {
      const Span& x = s[static_cast<std::size_t>(i) * grid + c];
      begin = std::min(begin, x.begin), late = std::max(late, x.begin), end = std::max(end, x.end);
    }
    if (i > 0) gap.push_back(1e-3 * (static_cast<double>(begin) - static_cast<double>(last)));
    ramp.push_back(1e-3 * static_cast<double>(late - begin));
    last = end;
  }
  std::ranges::sort(gap), std::ranges::sort(ramp);
  std::printf(
      "{\"launches\":%d,\"ctas\":%d,\"threads\":%d,\"scratchpad\":[%d,%d],\"us_each\":%.2f,\"stays_us\":%.1f,\"gap_us\":%.2f,"
      "\"last_cta_begins_us\":%.2f}\n",
      kLaunches, grid, threads, first, second, 1000.0 * all / kLaunches, kStay / 1000.0, gap[gap.size() / 2],
      ramp[ramp.size() / 2]);
}

int main() {
  Span* spans = nullptr;
  unsigned* sink = nullptr;
  char* memory = nullptr;
  constexpr long kAll = 24L << 30;
  cudaMalloc(&spans, 64 << 20);
  cudaMalloc(&sink, 4);
  if (cudaMalloc(&memory, kAll) != cudaSuccess) return 1;
  cudaMemset(memory, 1, kAll);
  for (const int ctas : {1, 132, 256})
    for (const auto& [a, b] : {std::pair(0, 0), {98304, 98304}, {0, 98304}, {2048, 65536}}) gaps(ctas, 256, a, b, spans);
  for (const long all : {1L << 30, kAll})
    for (const long mb : {32L, 112L, 224L, 512L}) {
      reads<false>(memory, all, mb, true, false, spans, sink);
      reads<true>(memory, all, mb, true, false, spans, sink);
      reads<true>(memory, all, mb, false, false, spans, sink);
    }
  reads<true>(memory, kAll, 224, true, true, spans, sink);
  reads<false>(memory, kAll, 4096, false, false, spans, sink);
  reads<true>(memory, kAll, 4096, false, false, spans, sink);
  const cudaError_t error = cudaDeviceSynchronize();
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
