// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products and attention by tiles in scratchpad, as CUTLASS and FlashAttention-3 build them.
#include "wgmma.cuh"

enum Feed { kThread, kCopies, kWarps };  // who fills the stages: a thread by TMA, all by cp.async, a warpgroup of its own by TMA
enum Out { kDirect, kTile };             // the product goes out by each thread, or by stmatrix and TMA
constexpr int kRow = 128;                // bytes of a row of a stage: the swizzle's

struct Sizes {
  int m, n, k, groups;  // rows m of all groups
  bool silu;
};
struct Maps {
  CUtensorMap a, b, c;
};

__device__ inline unsigned char* aligned(unsigned char* p) { return p + (1024 - shared_address(p) % 1024) % 1024; }

/// Rows of `rows` x 128 bytes from (x, y) of a matrix, with the tiles' swizzle.
template <class T>
__device__ void copy_rows(unsigned char* to, const T* from, int rows, int x, int y, int stride) {
  for (int i = static_cast<int>(threadIdx.x); i < rows * 8; i += static_cast<int>(blockDim.x)) {
    const int row = i / 8, chunk = i % 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to + row * kRow + ((chunk ^ (row & 7)) * 16))),
                 "l"(from + static_cast<long>(y + row) * stride + x + chunk * (16 / static_cast<int>(sizeof(T))))
                 : "memory");
  }
}

/// The same for all lanes, and the compiler knows it.
__device__ inline int warpgroup() { return __shfl_sync(~0U, static_cast<int>(threadIdx.x) / 128, 0); }

/// Sixteen lanes' rows and two columns each: where a thread's part of a result of 64 rows lies.
__device__ inline int row_of() {
  return (static_cast<int>(threadIdx.x) % 128) / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4;
}

template <int N, int WG>
__device__ void put(float (&d)[N / 2], const Maps& maps, __nv_bfloat16* c, unsigned char* stage, Out out, const Sizes& s, int x,
                    int y, int group) {
  if (s.silu)
#pragma unroll
    for (float& v : d) v = v / (1.0F + __expf(-v));
  if (out == kDirect) {
#pragma unroll
    for (int j = 0; j < N / 8; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        *reinterpret_cast<unsigned*>(c + static_cast<long>(y + group * 64 + row_of() + 8 * h) * s.n + x + j * 8 +
                                     threadIdx.x % 4 * 2) = pack(d[j * 4 + 2 * h], d[j * 4 + 2 * h + 1]);
    return;
  }
  // Blocks of 64 columns, each with all rows: the box of the map.
  const int lane = static_cast<int>(threadIdx.x) % 32,
            row = group * 64 + static_cast<int>(threadIdx.x) % 128 / 32 * 16 + lane % 16;
#pragma unroll
  for (int j = 0; j < N / 8; j += 2) {
    const int chunk = j % 8 + lane / 16;
    store_matrices(shared_address(stage + j / 8 * WG * 64 * kRow + row * kRow + (chunk ^ (row & 7)) * 16),
                   pack(d[j * 4], d[j * 4 + 1]), pack(d[j * 4 + 2], d[j * 4 + 3]), pack(d[j * 4 + 4], d[j * 4 + 5]),
                   pack(d[j * 4 + 6], d[j * 4 + 7]));
  }
  shared_is_visible();
  asm volatile("bar.sync 1, %0;" ::"n"(WG * 128) : "memory");
  if (group == 0 && threadIdx.x % 128 == 0) {
    for (int block = 0; block < N / 64; ++block) store_tile(maps.c, stage + block * WG * 64 * kRow, x + block * 64, y);
    stores_are_done();
  }
  asm volatile("bar.sync 1, %0;" ::"n"(WG * 128) : "memory");
}

/// c[m][n] = a[m][k] b[n][k]^T, of each group of rows with its own b. Tiles of 64 WG x N, S stages of 128 bytes of k. A CTA takes
/// every gridDim.x-th tile; of a cluster the CTAs have the same columns, and each loads a part of b for all.
template <class T, int N, int WG, int S, Feed F, Out O, int C>
__device__ void product(const Maps& maps, const T* a, const T* b, __nv_bfloat16* c, const Sizes& s) {
  extern __shared__ unsigned char raw[];
  constexpr int kM = 64 * WG, kStage = (kM + N) * kRow, kK = kRow / static_cast<int>(sizeof(T));
  unsigned char* const stages = aligned(raw);
  unsigned char* const result = stages + S * kStage;
  auto* const full = reinterpret_cast<Barrier*>(result + (O == kTile ? kM * N * 2 : 0));
  Barrier* const empty = full + S;
  const int columns = s.n / N, rows = s.m / kM, steps = s.k / kK, group = warpgroup() - (F == kWarps ? 1 : 0);
  if (threadIdx.x == 0) {
    for (int i = 0; i < S; ++i) {
      init(full + i, 1);
      init(empty + i, 4 * WG * C);
    }
    barriers_are_visible();
  }
  __syncthreads();
  if constexpr (C > 1) cluster_barrier();
  const auto fill = [&](int stage, int tile_index, int step) {
    const int y = tile_index % rows * kM, x = tile_index / rows * N + y / (s.m / s.groups) * s.n;
    unsigned char* const to = stages + stage * kStage;
    if constexpr (F == kCopies) {
      copy_rows(to, a, kM, step * kK, y, s.k);
      copy_rows(to + kM * kRow, b, N, step * kK, x, s.k);
      return;
    }
    expect(full + stage, kStage);
    load_tile(to, maps.a, full + stage, step * kK, y);
    constexpr int kPart = N / C;
    const int part = C > 1 ? static_cast<int>(cta_of_cluster()) * kPart : 0;
    if constexpr (C > 1)
      load_tile_to(to + (kM + part) * kRow, maps.b, full + stage, step * kK, x + part, (1 << C) - 1);
    else
      load_tile(to + kM * kRow, maps.b, full + stage, step * kK, x);
  };
  if (F == kWarps && group < 0) {
    if (threadIdx.x == 0) {
      int n = 0;
      for (int t = static_cast<int>(blockIdx.x); t < rows * columns; t += static_cast<int>(gridDim.x))
        for (int step = 0; step < steps; ++step, ++n) {
          wait(empty + n % S, (n / S & 1) ^ 1);
          fill(n % S, t, step);
        }
    }
  } else {
    int n = 0;
    for (int t = static_cast<int>(blockIdx.x); t < rows * columns; t += static_cast<int>(gridDim.x)) {
      float d[N / 2] = {};
      if (F != kWarps)
        for (int step = 0; step < S - 1; ++step) {
          if (step < steps && (F == kCopies || threadIdx.x == 0)) fill((n + step) % S, t, step);
          if (F == kCopies) asm volatile("cp.async.commit_group;" ::: "memory");
        }
      for (int step = 0; step < steps; ++step, ++n) {
        if constexpr (F == kCopies) {
          asm volatile("cp.async.wait_group %0;" ::"n"(S - 2) : "memory");
          shared_is_visible();
          __syncthreads();
        } else {
          wait(full + n % S, n / S & 1);
        }
        const std::uint64_t at = tile(stages + n % S * kStage + group * 64 * kRow),
                            bt = tile(stages + n % S * kStage + kM * kRow);
        keep(d);
        mma_begin();
#pragma unroll
        for (int i = 0; i < 4; ++i) mma<T, N>(d, at + 2 * i, bt + 2 * i, 1);
        mma_close();
        if constexpr (F == kWarps) {
          mma_wait<1>();  // of the step before: its stage may be filled again
          if (step > 0 && threadIdx.x % 32 == 0) {
            if constexpr (C > 1)
              for (int other = 0; other < C; ++other) arrive_at(empty + (n - 1) % S, other);
            else
              arrive(empty + (n - 1) % S);
          }
        } else {
          mma_wait<0>();
          keep(d);
          __syncthreads();
          if (step + S - 1 < steps && (F == kCopies || threadIdx.x == 0)) fill((n + S - 1) % S, t, step + S - 1);
          if (F == kCopies) asm volatile("cp.async.commit_group;" ::: "memory");
        }
      }
      mma_wait<0>();
      keep(d);
      if (F == kWarps && threadIdx.x % 32 == 0) {
        if constexpr (C > 1)
          for (int other = 0; other < C; ++other) arrive_at(empty + (n - 1) % S, other);
        else
          arrive(empty + (n - 1) % S);
      }
      put<N, WG>(d, maps, c, result, O, s, t / rows * N, t % rows * kM, group);
    }
  }
  if constexpr (C > 1) cluster_barrier();
}

/// o = softmax(q k^T / sqrt(D)) v, a head after the other in rows of D. A CTA has 64 WG queries; a warpgroup of its own loads
/// blocks of K keys into two stages. `Ahead`: the next block's scores are begun before this block's values, as in
/// FlashAttention-3.
template <int D, int K, int WG, bool Causal, bool Ahead>
__device__ void attention(const CUtensorMap& q, const CUtensorMap& k, const CUtensorMap& v, __nv_bfloat16* o, int length) {
  extern __shared__ unsigned char raw[];
  constexpr int kM = 64 * WG, kBlocks = D / 64, kTileBytes = K * D * 2, S = 2;
  unsigned char* const queries = aligned(raw);
  unsigned char *const keys = queries + kM * D * 2, *const values = keys + S * kTileBytes;
  auto* const ready = reinterpret_cast<Barrier*>(values + S * kTileBytes);
  Barrier *const key = ready + 1, *const key_free = key + S, *const value = key_free + S, *const value_free = value + S;
  const int head = static_cast<int>(blockIdx.y) * length, group = warpgroup() - 1;
  const int first = static_cast<int>(Causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * kM,
            count = Causal ? (first + kM + K - 1) / K : length / K;
  if (threadIdx.x == 0) {
    init(ready, 1);
    for (int i = 0; i < S; ++i) {
      init(key + i, 1);
      init(value + i, 1);
      init(key_free + i, 4 * WG);
      init(value_free + i, 4 * WG);
    }
    barriers_are_visible();
  }
  __syncthreads();
  if (group < 0) {
    if constexpr (Ahead) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      expect(ready, kM * D * 2);
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) load_tile(queries + i * kM * kRow, q, ready, i * 64, head + first);
      for (int n = 0; n < count; ++n) {
        const unsigned free = (n / S & 1) ^ 1;
        wait(key_free + n % S, free);
        expect(key + n % S, kTileBytes);
#pragma unroll
        for (int i = 0; i < kBlocks; ++i)
          load_tile(keys + n % S * kTileBytes + i * K * kRow, k, key + n % S, i * 64, head + n * K);
        wait(value_free + n % S, free);
        expect(value + n % S, kTileBytes);
#pragma unroll
        for (int i = 0; i < kBlocks; ++i)
          load_tile(values + n % S * kTileBytes + i * K * kRow, v, value + n % S, i * 64, head + n * K);
      }
    }
    return;
  }
  if constexpr (Ahead) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float out[D / 2] = {}, most[2] = {-1e30F, -1e30F}, sum[2] = {};
  const float scale = 1.44269504F * rsqrtf(static_cast<float>(D));
  const auto score = [&](float(&s)[K / 2], int n) {
    wait(key + n % S, n / S & 1);
    keep(s);
    keep(out);
    mma_begin();
#pragma unroll
    for (int i = 0; i < D / 16; ++i)
      mma<__nv_bfloat16, K>(s, tile(queries + i / 4 * kM * kRow + group * 64 * kRow) + i % 4 * 2,
                            tile(keys + n % S * kTileBytes + i / 4 * K * kRow) + i % 4 * 2, i > 0);
    mma_close();
  };
  const auto softmax = [&](float(&s)[K / 2], float(&shrink)[2], int n) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float top = most[h];
#pragma unroll
      for (int j = 0; j < K / 8; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& x = s[j * 4 + 2 * h + e];
          const int at = n * K + j * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + e;
          if (Causal && n >= count - (kM + K - 1) / K - 1 && at > first + group * 64 + row_of() + 8 * h) x = -1e30F;
          top = fmaxf(top, x);
        }
      top = fmaxf(top, __shfl_xor_sync(~0U, top, 1));
      top = fmaxf(top, __shfl_xor_sync(~0U, top, 2));
      shrink[h] = exp2f((most[h] - top) * scale);
      most[h] = top;
      sum[h] *= shrink[h];
#pragma unroll
      for (int j = 0; j < K / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& x = s[j * 4 + 2 * h + e];
          x = exp2f((x - top) * scale);
          sum[h] += x;
        }
      }
    }
  };
  const auto round = [&](unsigned(&p)[K / 4], const float(&s)[K / 2]) {
#pragma unroll
    for (int j = 0; j < K / 4; ++j) p[j] = pack(s[2 * j], s[2 * j + 1]);
  };
  const auto add = [&](unsigned(&p)[K / 4], int n) {
    wait(value + n % S, n / S & 1);
    mma_begin();
#pragma unroll
    for (int i = 0; i < K / 16; ++i) {
      const unsigned four[4] = {p[i * 4], p[i * 4 + 1], p[i * 4 + 2], p[i * 4 + 3]};
      mma_registers<D>(out, four, tile(values + n % S * kTileBytes, K * kRow) + i * 16 * kRow / 16, 1);
    }
    mma_close();
  };
  const auto release = [&](Barrier* b) {
    if (threadIdx.x % 32 == 0) arrive(b);
  };
  const auto rescale = [&](const float(&shrink)[2]) {
#pragma unroll
    for (int j = 0; j < D / 2; ++j) out[j] *= shrink[j / 2 % 2];
  };
  wait(ready, 0);
  float s[K / 2] = {}, shrink[2];
  unsigned p[K / 4];
  const auto weigh = [&](int n) {  // the scores of block n
    keep(s);
    release(key_free + n % S);
    softmax(s, shrink, n);
  };
  const auto added = [&](int n) {
    mma_wait<0>();
    keep(out);
    release(value_free + n % S);
  };
  for (int n = 0; n < (Ahead ? 1 : count); ++n) {
    score(s, n);
    mma_wait<0>();
    weigh(n);
    rescale(shrink);
    round(p, s);
    if (Ahead) break;
    add(p, n);
    added(n);
  }
  if constexpr (Ahead) {
    for (int n = 0; n + 1 < count; ++n) {
      score(s, n + 1);
      add(p, n);
      mma_wait<1>();
      weigh(n + 1);
      added(n);
      rescale(shrink);
      round(p, s);
    }
    add(p, count - 1);
    added(count - 1);
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    sum[h] += __shfl_xor_sync(~0U, sum[h], 1);
    sum[h] += __shfl_xor_sync(~0U, sum[h], 2);
#pragma unroll
    for (int j = 0; j < D / 8; ++j)
      *reinterpret_cast<unsigned*>(o + static_cast<long>(head + first + group * 64 + row_of() + 8 * h) * D + j * 8 +
                                   threadIdx.x % 4 * 2) = pack(out[j * 4 + 2 * h] / sum[h], out[j * 4 + 2 * h + 1] / sum[h]);
  }
}
