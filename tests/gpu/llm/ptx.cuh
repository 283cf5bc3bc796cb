// SPDX-License-Identifier: Apache-2.0
#pragma once
// The instructions of a tensor core that CUDA C++ has no words for. g = lane / 4, t = lane % 4.
#include <cstdint>

using bf16 = std::uint16_t;

__device__ inline float to_float(bf16 x) { return __uint_as_float(static_cast<unsigned>(x) << 16); }
__device__ inline float low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ inline float high(unsigned pair) { return __uint_as_float(pair & 0xffff0000U); }

/// Two numbers rounded to bf16, the first in the low half.
__device__ inline unsigned pack(float first, float second) {
  unsigned out;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}
__device__ inline bf16 to_bf16(float x) { return static_cast<bf16>(pack(x, 0.0F)); }

/// c[16][8] += a[16][16] b[16][8]. a: rows g and g + 8 at columns 2t, then both at columns 2t + 8; b: rows 2t, then 2t + 8, of
/// column g; c: columns 2t and 2t + 1 of row g, then of row g + 8.
__device__ inline void mma(float (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ inline unsigned shared_address(const void* at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }

/// Four matrices of 8 x 8: lanes 8m to 8m + 7 have the addresses of the rows of matrix m; out[m] is row g, columns 2t and 2t + 1.
__device__ inline void load_matrices(unsigned (&out)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(shared_address(row))
               : "memory");
}
/// The same, each matrix transposed.
__device__ inline void load_transposed(unsigned (&out)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(shared_address(row))
               : "memory");
}

/// 16 bytes to shared memory, while the thread goes on.
__device__ inline void copy_async(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
__device__ inline void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until all groups of copies but the last `Left` have arrived.
template <int Left>
__device__ void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
}

/// 16 bytes that are read once: they leave the L1 to others.
__device__ inline uint4 load_once(const bf16* from) {
  uint4 out;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
      : "=r"(out.x), "=r"(out.y), "=r"(out.z), "=r"(out.w)
      : "l"(from));
  return out;
}
