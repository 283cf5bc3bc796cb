// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies through scratchpad without a register: by tiles, and by runs of bytes.
#include "wgmma.cuh"

constexpr int kCopyRows = 128, kCopyTile = kCopyRows * 128, kCopyStages = 4, kCopyBytes = 1024 + kCopyStages * kCopyTile;

template <class Load, class Store>
__device__ void copy(int pieces, const Load& load, const Store& store) {
  extern __shared__ unsigned char raw[];
  __shared__ Barrier full[kCopyStages];
  unsigned char* const stages = raw + (1024 - shared_address(raw) % 1024) % 1024;
  if (threadIdx.x != 0) return;
  for (Barrier& b : full) init(&b, 1);
  barriers_are_visible();
  shared_is_visible();
  const int step = static_cast<int>(gridDim.x);
  int ahead = static_cast<int>(blockIdx.x), filled = 0, stored = 0;
  for (int piece = ahead; piece < pieces; piece += step, ++stored) {
    for (; ahead < pieces && filled - stored < kCopyStages; ahead += step, ++filled) {
      if (filled >= kCopyStages) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      expect(full + filled % kCopyStages, kCopyTile);
      load(stages + filled % kCopyStages * kCopyTile, full + filled % kCopyStages, ahead);
    }
    wait(full + stored % kCopyStages, stored / kCopyStages & 1);
    store(stages + stored % kCopyStages * kCopyTile, piece);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ inline void copy_tiles(const CUtensorMap& a, const CUtensorMap& b, const __nv_bfloat16*, __nv_bfloat16*, int m,
                                  int n) {
  const int columns = n / 64;
  copy(
      m / kCopyRows * columns,
      [&](void* to, Barrier* full, int i) { load_tile(to, a, full, i % columns * 64, i / columns * kCopyRows); },
      [&](const void* from, int i) { store_tile(b, from, i % columns * 64, i / columns * kCopyRows); });
}

__device__ inline void copy_bytes(const CUtensorMap&, const CUtensorMap&, const __nv_bfloat16* a, __nv_bfloat16* b, int m,
                                  int n) {
  constexpr int kElements = kCopyTile / 2;
  copy(
      m * n / kElements,
      [&](void* to, Barrier* full, int i) {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
            "l"(a + static_cast<long>(i) * kElements), "r"(kCopyTile), "r"(shared_address(full))
            : "memory");
      },
      [&](const void* from, int i) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(b + static_cast<long>(i) * kElements),
                     "r"(shared_address(from)), "r"(kCopyTile)
                     : "memory");
      });
}

/// b is zero at first.
__device__ inline void add_bytes(const CUtensorMap&, const CUtensorMap&, const __nv_bfloat16* a, __nv_bfloat16* b, int m, int n) {
  constexpr int kElements = kCopyTile / 2;
  copy(
      m * n / kElements,
      [&](void* to, Barrier* full, int i) {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
            "l"(a + static_cast<long>(i) * kElements), "r"(kCopyTile), "r"(shared_address(full))
            : "memory");
      },
      [&](const void* from, int i) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;" ::"l"(
                         b + static_cast<long>(i) * kElements),
                     "r"(shared_address(from)), "r"(kCopyTile)
                     : "memory");
      });
}
