// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernels of a transformer layer in bf16: products of many rows (prefill) and of few (decode), attention over a paged cache.
// Sums are made in one order only, so that every run gives the same bits.
#include "ptx.cuh"

constexpr int kHead = 128;       // numbers of a head
constexpr int kPage = 64;        // tokens of a page: [layer][page][kv head][token][kHead], of keys and of values
constexpr int kSplit = 8;        // pages of a sequence that one CTA of decode's attention takes
constexpr int kTile = 128;       // rows and columns that one CTA of the product of many rows makes
constexpr int kDepth = 64;       // of a stage of that product
constexpr int kGemmShared = 3 * 2 * kTile * kDepth * 2;
constexpr int kAttentionShared = 2 * 2 * kPage * kHead * 2;
constexpr float kNothing = -1e30F;  // less than any score, and a number

enum class To { Store, Add, Gate, Logits };  // what becomes of a product; Gate: silu(gate) * up, of 8 rows of each in turns

/// Where keys and values of the tokens lie.
struct Cache {
  bf16 *keys, *values;
  const int* table;  // pages of each sequence
  int pages;         // of a sequence at most
  int kv_heads;
  __device__ long at(int sequence, int head, int token) const {
    return ((static_cast<long>(table[sequence * pages + token / kPage]) * kv_heads + head) * kPage + token % kPage) * kHead;
  }
};

__device__ inline unsigned mixed(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

/// Uniform in [middle - scale, middle + scale).
__global__ void fill(bf16* out, long n, unsigned seed, float scale, float middle) {
  const long at = (static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x) * 8;
  if (at >= n) return;
  unsigned words[4];
  for (int i = 0; i < 4; ++i) {
    const unsigned x = mixed(static_cast<unsigned>(at / 2 + i) ^ mixed(seed + static_cast<unsigned>(at >> 32)));
    words[i] = pack(middle + (static_cast<float>(x & 0xffffU) / 32768.0F - 1.0F) * scale,
                    middle + (static_cast<float>(x >> 16) / 32768.0F - 1.0F) * scale);
  }
  *reinterpret_cast<uint4*>(out + at) = {words[0], words[1], words[2], words[3]};
}

/// A CTA a row.
__global__ void embed(bf16* out, const bf16* embeddings, const int* tokens, int hidden) {
  const auto* from = reinterpret_cast<const uint4*>(embeddings + static_cast<long>(tokens[blockIdx.x]) * hidden);
  auto* to = reinterpret_cast<uint4*>(out + static_cast<long>(blockIdx.x) * hidden);
  for (int i = threadIdx.x; i < hidden / 8; i += blockDim.x) to[i] = from[i];
}

/// A CTA of 256 threads a row: out = in / sqrt(mean(in^2) + 1e-5) * weight.
__global__ void norm(bf16* out, const bf16* in, const bf16* weight, int hidden) {
  __shared__ float sums[8];
  const auto* from = reinterpret_cast<const unsigned*>(in + static_cast<long>(blockIdx.x) * hidden);
  auto* to = reinterpret_cast<unsigned*>(out + static_cast<long>(blockIdx.x) * hidden);
  float sum = 0.0F;
  for (int i = threadIdx.x; i < hidden / 2; i += 256) sum += low(from[i]) * low(from[i]) + high(from[i]) * high(from[i]);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0U, sum, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0F;
  for (int w = 0; w < 8; ++w) sum += sums[w];
  const float scale = rsqrtf(sum / static_cast<float>(hidden) + 1e-5F);
  const auto* by = reinterpret_cast<const unsigned*>(weight);
  for (int i = threadIdx.x; i < hidden / 2; i += 256) to[i] = pack(low(from[i]) * scale * low(by[i]), high(from[i]) * scale * high(by[i]));
}

/// A CTA a row: queries and keys turn by their position, keys and values go to the cache.
/// Row r is the next token of sequence r where lengths are given, else token r of sequence 0.
__global__ void rotate(bf16* qkv, Cache cache, const float2* turns, const int* lengths, int heads) {
  const int row = blockIdx.x, position = lengths != nullptr ? lengths[row] : row, sequence = lengths != nullptr ? row : 0;
  bf16* mine = qkv + static_cast<long>(row) * (heads + 2 * cache.kv_heads) * kHead;
  for (int i = threadIdx.x; i < (heads + 2 * cache.kv_heads) * kHead / 2; i += blockDim.x) {
    const int head = i / (kHead / 2), pair = i % (kHead / 2);
    bf16 *first = mine + head * kHead + pair, *second = first + kHead / 2;
    bf16 a = *first, b = *second;
    if (head < heads + cache.kv_heads) {
      const float2 turn = turns[position * (kHead / 2) + pair];
      const float x = to_float(a), y = to_float(b);
      a = to_bf16(x * turn.x - y * turn.y);
      b = to_bf16(y * turn.x + x * turn.y);
    }
    if (head >= heads) {
      const bool key = head < heads + cache.kv_heads;
      first = (key ? cache.keys : cache.values) + cache.at(sequence, (head - heads) % cache.kv_heads, position) + pair;
      second = first + kHead / 2;
    }
    *first = a;
    *second = b;
  }
}

__device__ inline float gated(float gate, float up) { return gate / (1.0F + exp2f(-1.4426950408889634F * gate)) * up; }

/// out[rows][n] = a[rows][depth] b[n][depth]^T, rows and n multiples of kTile, depth of kDepth. grid (rows / kTile, n / kTile), 256 threads:
/// 2 x 4 warps with 64 x 32 each; three stages in shared memory, whose 16-byte pieces are swapped by row against bank conflicts.
template <To to>
__global__ void __launch_bounds__(256, 2) gemm(bf16* out, const bf16* a, const bf16* b, int n, int depth) {
  extern __shared__ __align__(128) char shared[];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, row0 = warp / 4 * 64, column0 = warp % 4 * 32;
  const long tile_row = static_cast<long>(blockIdx.x) * kTile, tile_column = static_cast<long>(blockIdx.y) * kTile;
  const auto piece = [&](int stage, int matrix, int row, int chunk) {
    return shared + ((stage * 2 + matrix) * kTile + row) * kDepth * 2 + (chunk ^ (row % 8)) * 16;
  };
  const auto fetch = [&](int stage, int step) {
    for (int i = 0; i < kTile / 32; ++i) {
      const int row = thread / 8 + 32 * i, chunk = thread % 8;
      copy_async(piece(stage, 0, row, chunk), a + (tile_row + row) * depth + step * kDepth + chunk * 8);
      copy_async(piece(stage, 1, row, chunk), b + (tile_column + row) * depth + step * kDepth + chunk * 8);
    }
  };
  float c[4][4][4] = {};
  const int steps = depth / kDepth;
  for (int s = 0; s < 2; ++s) {
    if (s < steps) fetch(s, s);
    close_group();
  }
  for (int step = 0; step < steps; ++step) {
    wait_for_groups<1>();
    __syncthreads();
    if (step + 2 < steps) fetch((step + 2) % 3, step + 2);
    close_group();
#pragma unroll
    for (int k = 0; k < kDepth / 16; ++k) {
      unsigned x[4][4], y[2][4];
#pragma unroll
      for (int m = 0; m < 4; ++m) load_matrices(x[m], piece(step % 3, 0, row0 + 16 * m + lane % 16, 2 * k + lane / 16));
#pragma unroll
      for (int p = 0; p < 2; ++p) load_matrices(y[p], piece(step % 3, 1, column0 + 16 * p + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
#pragma unroll
      for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int j = 0; j < 4; ++j) mma(c[m][j], x[m][0], x[m][1], x[m][2], x[m][3], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
    }
  }
#pragma unroll
  for (int m = 0; m < 4; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const long row = tile_row + row0 + 16 * m + 8 * half + lane / 4, column = tile_column + column0 + lane % 4 * 2;
      if constexpr (to == To::Gate) {
        for (int j = 0; j < 4; j += 2)
          *reinterpret_cast<unsigned*>(out + row * (n / 2) + (column - lane % 4 * 2) / 2 + 4 * j + lane % 4 * 2) =
              pack(gated(c[m][j][2 * half], c[m][j + 1][2 * half]), gated(c[m][j][2 * half + 1], c[m][j + 1][2 * half + 1]));
      } else {
        for (int j = 0; j < 4; ++j) {
          auto* at = reinterpret_cast<unsigned*>(out + row * n + column + 8 * j);
          const unsigned before = to == To::Add ? *at : 0U;
          *at = pack(low(before) + c[m][j][2 * half], high(before) + c[m][j][2 * half + 1]);
        }
      }
    }
}

/// The same for at most 8 * Tiles rows of x, which come from the L1, while the weights w[n][depth] go from memory to registers. 16 rows of
/// w a CTA, 128 threads whose warps divide the depth, a multiple of 512. Which of 32 neighbouring depths is which of a matrix
/// instruction's does not matter as long as x and w agree: each thread takes 8 in one piece.
template <int Tiles, To to>
__global__ void __launch_bounds__(128, 4) gemv(void* out, const bf16* x, const bf16* w, int n, int depth, int rows) {
  __shared__ float4 parts[4][Tiles * 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const bf16* upper = w + (static_cast<long>(blockIdx.x) * 16 + g) * depth + warp * 32 + t * 8;
  const bf16* lower = upper + 8L * depth;
  const bf16* mine = x + static_cast<long>(g) * depth + warp * 32 + t * 8;
  float c[Tiles][4] = {};
  for (int k = 0; k < depth; k += 512) {
    uint4 a[4], b[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) a[i] = load_once(upper + k + 128 * i), b[i] = load_once(lower + k + 128 * i);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < Tiles; ++j) {
        const uint4 v = *reinterpret_cast<const uint4*>(mine + 8L * j * depth + k + 128 * i);
        mma(c[j], a[i].x, b[i].x, a[i].y, b[i].y, v.x, v.y);
        mma(c[j], a[i].z, b[i].z, a[i].w, b[i].w, v.z, v.w);
      }
  }
#pragma unroll
  for (int j = 0; j < Tiles; ++j) parts[warp][32 * j + lane] = {c[j][0], c[j][1], c[j][2], c[j][3]};
  __syncthreads();
  if (warp < Tiles) {
    float sum[4] = {};
    for (int part = 0; part < 4; ++part) {
      const float4 p = parts[part][threadIdx.x];
      sum[0] += p.x, sum[1] += p.y, sum[2] += p.z, sum[3] += p.w;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = 8 * warp + 2 * t + i % 2, column = blockIdx.x * 16 + g + i / 2 * 8;
      if (row >= rows) continue;
      if constexpr (to == To::Logits) {
        static_cast<float*>(out)[static_cast<long>(row) * n + column] = sum[i];
      } else if constexpr (to == To::Gate) {
        if (i < 2) static_cast<bf16*>(out)[static_cast<long>(row) * (n / 2) + blockIdx.x * 8 + g] = to_bf16(gated(sum[i], sum[i + 2]));
      } else {
        bf16* at = static_cast<bf16*>(out) + static_cast<long>(row) * n + column;
        *at = to_bf16((to == To::Add ? to_float(*at) : 0.0F) + sum[i]);
      }
    }
  }
}

/// 16 rows of queries in a warp, and what they have gathered: sums of values, and for rows g and g + 8 the largest score and the weight.
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

/// Gathers the values of `Tokens` tokens of a page that begin at `first`; row g may look at those before `end[0]` and row g + 8 at those before `end[1]`.
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
    for (int i = 0; i < 4; ++i) have.queries[k][i] = *reinterpret_cast<const unsigned*>((i % 2 == 0 ? upper : lower) + 16 * k + i / 2 * 8 + 2 * t);
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
  take_queries(have, qkv + static_cast<long>(row) * width + head * kHead, qkv + static_cast<long>(row + 8) * width + head * kHead);
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

/// The next token of each sequence looks at all before it and itself. grid (splits, kv heads, sequences), 128 threads. The heads that share keys are the
/// rows (at most 16), warp w takes the tokens 16w to 16w + 15 of each page. parts[sequence][head][split]: kHead sums, largest score, weight.
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
    if (page + 1 < pages_here) fetch_page(shared + (page + 1) % 2 * (kAttentionShared / 2), cache, sequence, kv, begin + page + 1);
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

/// A CTA of 256 threads a row: its largest logit, the first of equals, is the next token; the sequence has become longer by one.
__global__ void choose(int* tokens, int* lengths, const float* logits, int vocabulary) {
  __shared__ float values[256];
  __shared__ int places[256];
  const float* mine = logits + static_cast<long>(blockIdx.x) * vocabulary;
  float best = -INFINITY;
  int place = 0;
  for (int i = threadIdx.x; i < vocabulary; i += 256)
    if (mine[i] > best) best = mine[i], place = i;
  values[threadIdx.x] = best;
  places[threadIdx.x] = place;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    const int other = threadIdx.x + d;
    if (threadIdx.x < d && (values[other] > values[threadIdx.x] || (values[other] == values[threadIdx.x] && places[other] < places[threadIdx.x])))
      values[threadIdx.x] = values[other], places[threadIdx.x] = places[other];
    __syncthreads();
  }
  if (threadIdx.x == 0) tokens[blockIdx.x] = places[0], ++lengths[blockIdx.x];
}

/// Adds every word, mixed with its place, to `sum`: the order does not matter.
__global__ void digest(unsigned long long* sum, const unsigned* words, long n) {
  unsigned long long mine = 0;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += static_cast<long>(gridDim.x) * blockDim.x)
    mine += static_cast<unsigned long long>(mixed(words[i] ^ mixed(static_cast<unsigned>(i)))) << 8;
  atomicAdd(sum, mine);
}
