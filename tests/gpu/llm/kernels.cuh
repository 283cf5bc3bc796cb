// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a transformer layer in bf16 does beside its products and its attention, and the paged cache. Sums are made in one order
// only, so that every run gives the same bits.
#include "ptx.cuh"

constexpr int kHead = 128;  // numbers of a head
constexpr int kPage = 64;   // tokens of a page: [layer][page][kv head][token][kHead], of keys and of values

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
  for (int i = threadIdx.x; i < hidden / 2; i += 256)
    to[i] = pack(low(from[i]) * scale * low(by[i]), high(from[i]) * scale * high(by[i]));
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
    if (threadIdx.x < d &&
        (values[other] > values[threadIdx.x] || (values[other] == values[threadIdx.x] && places[other] < places[threadIdx.x])))
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
