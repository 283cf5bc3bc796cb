// SPDX-License-Identifier: Apache-2.0
#pragma once
// sm_90a's instructions that CUDA C++ has no words for: barriers that count bytes, copies of tiles, the asynchronous matrix unit.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <type_traits>

using Barrier = std::uint64_t;

__device__ inline unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ inline void init(Barrier* b, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals));
}
__device__ inline void expect(Barrier* b, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes) : "memory");
}
__device__ inline void arrive(Barrier* b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}
__device__ inline void arrive_at(Barrier* b, unsigned cta) {
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
      "[there]; }" ::"r"(shared_address(b)),
      "r"(cta)
      : "memory");
}
/// The hint lets the warp sleep, so it rarely comes again to ask.
__device__ inline void wait(Barrier* b, unsigned parity) {
  unsigned done = 0;
  do
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared_address(b)), "r"(parity), "r"(10000000)
                 : "memory");
  while (done == 0);
}
__device__ inline unsigned cta_of_cluster() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ inline void barriers_are_visible() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void shared_is_visible() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ inline void load_tile(void* to, const CUtensorMap& map, Barrier* b, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
                   shared_address(to)),
               "l"(&map), "r"(shared_address(b)), "r"(x), "r"(y)
               : "memory");
}
/// To the same place in each CTA of `ctas`, a mask.
__device__ inline void load_tile_to(void* to, const CUtensorMap& map, Barrier* b, int x, int y, std::uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], "
      "[%2], %5;" ::"r"(shared_address(to)),
      "l"(&map), "r"(shared_address(b)), "r"(x), "r"(y), "h"(ctas)
      : "memory");
}
__device__ inline void store_tile(const CUtensorMap& map, const void* from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
               "r"(shared_address(from)), "r"(x), "r"(y)
               : "memory");
}
__device__ inline void stores_are_done() { asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); }

__device__ inline unsigned pack(float first, float second) {
  unsigned out;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}
__device__ inline void store_matrices(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

/// A tile in scratchpad with the 128-byte swizzle: rows of 128 bytes, eight rows 1,024 bytes apart. `blocks`: bytes from one
/// block of 64 columns to the next, where the columns are those of the product.
__device__ inline std::uint64_t tile(const void* p, unsigned blocks = 16) {
  return (shared_address(p) & 0x3FFFFU) >> 4 | static_cast<std::uint64_t>(blocks >> 4) << 16 | 64ULL << 32 | 1ULL << 62;
}
__device__ inline void mma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void mma_close() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Left>
__device__ void mma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Left) : "memory");
}
/// The compiler reads no result in front of this.
template <int N>
__device__ void keep(float (&d)[N]) {
  for (float& x : d) asm volatile("" : "+f"(x)::"memory");
}

// MMA(type, shape, text of the end): d of 64 rows += a (a tile) b (a tile), both with the summed dimension in their rows.
#define D64                                                                                                                \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),  \
      "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), \
      "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), \
      "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define R64                                                                                           \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20,  " \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define MMA64(shape, end)                                                                                 \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64" shape " " R64 \
               ", %32, %33, p, 1, 1" end "; }"                                                            \
               : D64                                                                                      \
               : "l"(a), "l"(b), "r"(add)                                                                 \
               : "memory")
#define MMA_REGISTERS64(shape, end)                                                                       \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %37, 0; wgmma.mma_async.sync.aligned.m64n64" shape " " R64 \
               ", {%32, %33, %34, %35}, %36, p, 1, 1" end "; }"                                           \
               : D64                                                                                      \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)                             \
               : "memory")
#define D128                                                                                                               \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),  \
      "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), \
      "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), \
      "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), \
      "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), \
      "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), \
      "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define R128                                                                                              \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20,  "     \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40,  " \
  "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60,  " \
  "%61, %62, %63}"
#define MMA128(shape, end)                                                                                  \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128" shape " " R128 \
               ", %64, %65, p, 1, 1" end "; }"                                                              \
               : D128                                                                                       \
               : "l"(a), "l"(b), "r"(add)                                                                   \
               : "memory")
#define MMA_REGISTERS128(shape, end)                                                                        \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %69, 0; wgmma.mma_async.sync.aligned.m64n128" shape " " R128 \
               ", {%64, %65, %66, %67}, %68, p, 1, 1" end "; }"                                             \
               : D128                                                                                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)                               \
               : "memory")
#define D256                                                                                                               \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),  \
      "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), \
      "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), \
      "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), \
      "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), \
      "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), \
      "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), \
      "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), \
      "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), \
      "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), \
      "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), \
      "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]),      \
      "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]),      \
      "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]),      \
      "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
#define R256                                                                                              \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20,  "     \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40,  " \
  "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60,  " \
  "%61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80,  " \
  "%81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99,  "      \
  "%100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115,  "     \
  "%116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define MMA256(shape, end)                                                                                   \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256" shape " " R256 \
               ", %128, %129, p, 1, 1" end "; }"                                                             \
               : D256                                                                                        \
               : "l"(a), "l"(b), "r"(add)                                                                    \
               : "memory")

template <class T, int N>
__device__ void mma(float (&d)[N / 2], std::uint64_t a, std::uint64_t b, int add) {
  static_assert(N == 64 || N == 128 || N == 256);
  if constexpr (sizeof(T) == 1) {
    if constexpr (N == 64) MMA64("k32.f32.e4m3.e4m3", "");
    if constexpr (N == 128) MMA128("k32.f32.e4m3.e4m3", "");
    if constexpr (N == 256) MMA256("k32.f32.e4m3.e4m3", "");
  } else if constexpr (std::is_same_v<T, __half>) {
    if constexpr (N == 64) MMA64("k16.f32.f16.f16", ", 0, 0");
    if constexpr (N == 128) MMA128("k16.f32.f16.f16", ", 0, 0");
    if constexpr (N == 256) MMA256("k16.f32.f16.f16", ", 0, 0");
  } else {
    if constexpr (N == 64) MMA64("k16.f32.bf16.bf16", ", 0, 0");
    if constexpr (N == 128) MMA128("k16.f32.bf16.bf16", ", 0, 0");
    if constexpr (N == 256) MMA256("k16.f32.bf16.bf16", ", 0, 0");
  }
}
/// a from registers, as the result of another product lies there; b's rows are the summed dimension.
template <int N>
__device__ void mma_registers(float (&d)[N / 2], const unsigned (&a)[4], std::uint64_t b, int add) {
  if constexpr (N == 64) MMA_REGISTERS64("k16.f32.bf16.bf16", ", 1");
  if constexpr (N == 128) MMA_REGISTERS128("k16.f32.bf16.bf16", ", 1");
}
