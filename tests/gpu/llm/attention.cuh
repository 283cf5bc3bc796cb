// SPDX-License-Identifier: Apache-2.0
#pragma once
// Attention over a paged cache, of a whole prompt and of one token a sequence, by the tensor cores and with a running maximum.
#include "kernels.cuh"

constexpr int kSplit = 8;  // pages of a sequence that one CTA of decode's attention takes
constexpr int kAttentionShared = 2 * 2 * kPage * kHead * 2;
constexpr float kNothing = -1e30F;  // less than any score, and a number

/// 16 rows of queries in a warp, and what they have gathered: sums of values, and for rows g and g + 8 the largest score and the
/// weight.
struct Gathered {
  unsigned queries[kHead / 16][4];
  float sums[kHead / 8][4] = {}, largest[2] = {kNothing, kNothing}, weight[2] = {};
};

__device__ inline char* place(char* tile, int token, int chunk) { return tile + token * kHead * 2 + (chunk ^ (token % 8)) * 16; }

/// All threads copy one page of one head; values lie behind the keys.
__device__ inline void fetch_page(char* tile, const Cache& cache, int sequence, int head, int page) {
  const long from = cache.at(sequence, head, page * kPage);
  for (int i = threadIdx.x; i < kPage * kHead / 8; i += blockDim.x) {
    copy_async(place(tile, i / 16, i % 16), cache.keys + from + i * 8);
    copy_async(place(tile + kPage * kHead * 2, i / 16, i % 16), cache.values + from + i * 8);
  }
}

/// Gathers the values of `Tokens` tokens of a page that begin at `first`; row g may look at those before `end[0]` and row g + 8
/// at those before `end[1]`.
template <int Tokens>
__device__ void gather(Gathered& have, char* tile, int first, const int (&end)[2]) {
  const int lane = threadIdx.x % 32, t = lane % 4;
  float score[Tokens / 8][4] = {};
#pragma unroll
  for (int k = 0; k < kHead / 16; ++k)
#pragma unroll
    for (int p = 0; p < Tokens / 16; ++p) {
      unsigned y[4];
      load_matrices(y, place(tile, first + 16 * p + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
      const auto& q = have.queries[k];
      mma(score[2 * p], q[0], q[1], q[2], q[3], y[0], y[1]);
      mma(score[2 * p + 1], q[0], q[1], q[2], q[3], y[2], y[3]);
    }
  float shrink[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float largest = have.largest[half], weight = 0.0F;
#pragma unroll
    for (int j = 0; j < Tokens / 8; ++j)
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; ++i) {
        score[j][i] = first + 8 * j + 2 * t + i % 2 < end[half] ? score[j][i] * 0.12751743F : -INFINITY;  // log2(e) / sqrt(kHead)
        largest = fmaxf(largest, score[j][i]);
      }
    largest = fmaxf(largest, __shfl_xor_sync(~0U, largest, 1));
    largest = fmaxf(largest, __shfl_xor_sync(~0U, largest, 2));
#pragma unroll
    for (int j = 0; j < Tokens / 8; ++j)
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; ++i) weight += score[j][i] = exp2f(score[j][i] - largest);
    shrink[half] = exp2f(have.largest[half] - largest);
    have.largest[half] = largest;
    have.weight[half] = have.weight[half] * shrink[half] + weight;  // of this thread's columns; summed at the end
  }
#pragma unroll
  for (int d = 0; d < kHead / 8; ++d)
#pragma unroll
    for (int i = 0; i < 4; ++i) have.sums[d][i] *= shrink[i / 2];
#pragma unroll
  for (int p = 0; p < Tokens / 16; ++p) {
    const unsigned a[4] = {pack(score[2 * p][0], score[2 * p][1]), pack(score[2 * p][2], score[2 * p][3]),
                           pack(score[2 * p + 1][0], score[2 * p + 1][1]), pack(score[2 * p + 1][2], score[2 * p + 1][3])};
#pragma unroll
    for (int d = 0; d < kHead / 16; ++d) {
      unsigned y[4];
      load_transposed(y, place(tile + kPage * kHead * 2, first + 16 * p + lane % 16, 2 * d + lane / 16));
      mma(have.sums[2 * d], a[0], a[1], a[2], a[3], y[0], y[1]);
      mma(have.sums[2 * d + 1], a[0], a[1], a[2], a[3], y[2], y[3]);
    }
  }
}

__device__ inline void take_queries(Gathered& have, const bf16* upper, const bf16* lower) {
  const int t = threadIdx.x % 4;
#pragma unroll
  for (int k = 0; k < kHead / 16; ++k)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      have.queries[k][i] = *reinterpret_cast<const unsigned*>((i % 2 == 0 ? upper : lower) + 16 * k + i / 2 * 8 + 2 * t);
}

__device__ inline float over_row(float x) {
  x += __shfl_xor_sync(~0U, x, 1);
  return x + __shfl_xor_sync(~0U, x, 2);
}

/// Each token of a prompt looks at itself and those before it. grid (rows / kPage, heads), 128 threads; long rows first.
__global__ void __launch_bounds__(128) attend_prompt(bf16* out, const bf16* qkv, Cache cache, int heads) {
  extern __shared__ __align__(128) char shared[];
  const int head = blockIdx.y, last = gridDim.x - 1 - blockIdx.x, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int row = last * kPage + threadIdx.x / 32 * 16 + g, width = (heads + 2 * cache.kv_heads) * kHead;
  const int kv = head / (heads / cache.kv_heads);
  Gathered have;
  take_queries(have, qkv + static_cast<long>(row) * width + head * kHead,
               qkv + static_cast<long>(row + 8) * width + head * kHead);
  fetch_page(shared, cache, 0, kv, 0);
  close_group();
  for (int page = 0; page <= last; ++page) {
    if (page < last) fetch_page(shared + (page + 1) % 2 * (kAttentionShared / 2), cache, 0, kv, page + 1);
    close_group();
    wait_for_groups<1>();
    __syncthreads();
    const int end[2] = {row + 1 - page * kPage, row + 9 - page * kPage};
    gather<kPage>(have, shared + page % 2 * (kAttentionShared / 2), 0, end);
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float scale = 1.0F / over_row(have.weight[half]);
    bf16* to = out + static_cast<long>(row + 8 * half) * heads * kHead + head * kHead + 2 * t;
#pragma unroll
    for (int d = 0; d < kHead / 8; ++d)
      *reinterpret_cast<unsigned*>(to + 8 * d) = pack(have.sums[d][2 * half] * scale, have.sums[d][2 * half + 1] * scale);
  }
}

/// The next token of each sequence looks at all before it and itself. grid (splits, kv heads, sequences), 128 threads. The heads
/// that share keys are the rows (at most 16), warp w takes the tokens 16w to 16w + 15 of each page. parts[sequence][head][split]:
/// kHead sums, largest score, weight.
__global__ void __launch_bounds__(128) attend_token(float* parts, const bf16* qkv, Cache cache, const int* lengths, int heads) {
  extern __shared__ __align__(128) char shared[];
  const int kv = blockIdx.y, sequence = blockIdx.z, group = heads / cache.kv_heads;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int tokens = lengths[sequence] + 1, pages = (tokens + kPage - 1) / kPage, begin = blockIdx.x * kSplit;
  const int pages_here = min(kSplit, pages - begin);  // none: largest stays kNothing
  const bf16* queries = qkv + static_cast<long>(sequence) * (heads + 2 * cache.kv_heads) * kHead + kv * group * kHead;
  Gathered have;
  take_queries(have, queries + g % group * kHead, queries + (g + 8) % group * kHead);
  if (pages_here > 0) fetch_page(shared, cache, sequence, kv, begin);
  close_group();
  for (int page = 0; page < pages_here; ++page) {
    if (page + 1 < pages_here)
      fetch_page(shared + (page + 1) % 2 * (kAttentionShared / 2), cache, sequence, kv, begin + page + 1);
    close_group();
    wait_for_groups<1>();
    __syncthreads();
    const int left = tokens - (begin + page) * kPage, end[2] = {left, left};
    gather<16>(have, shared + page % 2 * (kAttentionShared / 2), 16 * warp, end);
    __syncthreads();
  }
  auto* sums = reinterpret_cast<float*>(shared);  // [4 warps][16 rows][kHead], then largest and weight [4][16]
  float *largest = sums + 4 * 16 * kHead, *weight = largest + 64;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = warp * 16 + g + 8 * half;
    const float all = over_row(have.weight[half]);
    if (t == 0) largest[row] = have.largest[half], weight[row] = all;
#pragma unroll
    for (int d = 0; d < kHead / 8; ++d)
      for (int i = 0; i < 2; ++i) sums[row * kHead + 8 * d + 2 * t + i] = have.sums[d][2 * half + i];
  }
  __syncthreads();
  for (int row = 0; row < group; ++row) {
    float most = kNothing, sum = 0.0F, all = 0.0F;
    for (int w = 0; w < 4; ++w) most = fmaxf(most, largest[16 * w + row]);
    for (int w = 0; w < 4; ++w) {
      const float part = exp2f(largest[16 * w + row] - most);
      sum += part * sums[(16 * w + row) * kHead + threadIdx.x];
      all += part * weight[16 * w + row];
    }
    float* to = parts + ((static_cast<long>(sequence) * heads + kv * group + row) * gridDim.x + blockIdx.x) * (kHead + 2);
    to[threadIdx.x] = sum;
    if (threadIdx.x == 0) to[kHead] = most, to[kHead + 1] = all;
  }
}

/// grid (heads, sequences), kHead threads.
__global__ void join_parts(bf16* out, const float* parts, int splits) {
  const long row = static_cast<long>(blockIdx.y) * gridDim.x + blockIdx.x;
  const float* mine = parts + row * splits * (kHead + 2);
  float most = kNothing, sum = 0.0F, all = 0.0F;
  for (int s = 0; s < splits; ++s) most = fmaxf(most, mine[s * (kHead + 2) + kHead]);
  for (int s = 0; s < splits; ++s) {
    const float part = exp2f(mine[s * (kHead + 2) + kHead] - most);
    sum += part * mine[s * (kHead + 2) + threadIdx.x];
    all += part * mine[s * (kHead + 2) + kHead + 1];
  }
  out[row * kHead + threadIdx.x] = to_bf16(sum / all);
}
