// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products with weights: of many rows (prefill), bound by the tensor cores, and of few (decode), bound by memory.
#include "kernels.cuh"

constexpr int kTile = 128;  // rows and columns that one CTA of the product of many rows makes
constexpr int kDepth = 64;  // of a stage of that product
constexpr int kGemmShared = 3 * 2 * kTile * kDepth * 2;

enum class To { Store, Add, Gate, Logits };  // what becomes of a product; Gate: silu(gate) * up, of 8 rows of each in turns

__device__ inline float gated(float gate, float up) { return gate / (1.0F + exp2f(-1.4426950408889634F * gate)) * up; }

/// out[rows][n] = a[rows][depth] b[n][depth]^T, rows and n multiples of kTile, depth of kDepth. grid (rows / kTile, n / kTile),
/// 256 threads: 2 x 4 warps with 64 x 32 each; three stages in shared memory, whose 16-byte pieces are swapped by row against
/// bank conflicts.
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
      for (int p = 0; p < 2; ++p)
        load_matrices(y[p], piece(step % 3, 1, column0 + 16 * p + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
#pragma unroll
      for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          mma(c[m][j], x[m][0], x[m][1], x[m][2], x[m][3], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
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

/// The same for at most 8 * Tiles rows of x, which come from the L1, while the weights w[n][depth] go from memory to registers.
/// 16 rows of w a CTA, 128 threads whose warps divide the depth, a multiple of 512. Which of 32 neighbouring depths is which of a
/// matrix instruction's does not matter as long as x and w agree: each thread takes 8 in one piece.
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
        if (i < 2)
          static_cast<bf16*>(out)[static_cast<long>(row) * (n / 2) + blockIdx.x * 8 + g] = to_bf16(gated(sum[i], sum[i + 2]));
      } else {
        bf16* at = static_cast<bf16*>(out) + static_cast<long>(row) * n + column;
        *at = to_bf16((to == To::Add ? to_float(*at) : 0.0F) + sum[i]);
      }
    }
  }
}
