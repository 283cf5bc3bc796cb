// SPDX-License-Identifier: Apache-2.0
// Latency and throughput of instruction classes on one SM, by the SM's own clock. One JSON line a class.
// build: nvcc -arch=sm_90 -O3 -o pipes pipes.cu
#include <cstdio>

struct Result {
  long long cycles;
  float sink;
};

constexpr int kSteps = 64, kRounds = 16, kChains = 4;

namespace classes {  // the C library has functions of such names

#define CLASS(NAME, TYPE, ZERO, COUNT, TEXT, CONSTRAINT)                                                                   \
  struct NAME {                                                                                                            \
    using T = TYPE;                                                                                                        \
    static constexpr const char* name = #NAME;                                                                             \
    static constexpr int instructions = COUNT;                                                                             \
    static __device__ T start(unsigned i) { return (T)(ZERO + i); }                                                        \
    static __device__ void step(T& v, T a, T b) { asm volatile(TEXT : "+" CONSTRAINT(v) : CONSTRAINT(a), CONSTRAINT(b)); } \
  };

CLASS(ffma, float, 1, 1, "fma.rn.f32 %0, %0, %1, %2;", "f")
CLASS(fadd, float, 1, 1, "add.rn.f32 %0, %0, %1;", "f")
CLASS(fmul, float, 1, 1, "mul.rn.f32 %0, %0, %1;", "f")
CLASS(fmnmx, float, 1, 2, "min.f32 %0, %0, %1;\n\tmax.f32 %0, %0, %2;", "f")
CLASS(imad, unsigned, 1, 1, "mad.lo.u32 %0, %0, %1, %2;", "r")
CLASS(iadd_lop, unsigned, 1, 2, "add.u32 %0, %0, %1;\n\txor.b32 %0, %0, %2;", "r")
CLASS(shf, unsigned, 1, 1, "shf.l.wrap.b32 %0, %0, %1, %2;", "r")
CLASS(prmt, unsigned, 1, 1, "prmt.b32 %0, %0, %1, %2;", "r")
CLASS(imnmx, unsigned, 1, 2, "min.u32 %0, %0, %1;\n\tmax.u32 %0, %0, %2;", "r")
CLASS(popc, unsigned, 1, 2, "popc.b32 %0, %0;\n\txor.b32 %0, %0, %2;", "r")
CLASS(hfma2, unsigned, 1, 1, "fma.rn.f16x2 %0, %0, %1, %2;", "r")
CLASS(mufu_ex2, float, 1, 1, "ex2.approx.ftz.f32 %0, %0;", "f")
CLASS(mufu_rcp, float, 1, 1, "rcp.approx.ftz.f32 %0, %0;", "f")
CLASS(f2i_i2f, float, 1, 2, "{ .reg .s32 i; cvt.rzi.s32.f32 i, %0; cvt.rn.f32.s32 %0, i; }", "f")
CLASS(dfma, double, 1, 1, "fma.rn.f64 %0, %0, %1, %2;", "d")
CLASS(dadd, double, 1, 1, "add.rn.f64 %0, %0, %1;", "d")
CLASS(shfl, unsigned, 1, 1, "shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;", "r")

struct hmma_16816 {
  struct T {
    float c[4];
  };
  static constexpr const char* name = "hmma_16816";
  static constexpr int instructions = 1;
  static __device__ T start(unsigned i) { return {{(float)i, 1, 2, 3}}; }
  static __device__ void step(T& v, const T& a, const T& b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(v.c[0]), "+f"(v.c[1]), "+f"(v.c[2]), "+f"(v.c[3])
                 : "r"(__float_as_uint(a.c[0])), "r"(__float_as_uint(a.c[1])), "r"(__float_as_uint(a.c[2])),
                   "r"(__float_as_uint(a.c[3])), "r"(__float_as_uint(b.c[0])), "r"(__float_as_uint(b.c[1])));
  }
};
struct imma_16832 {
  struct T {
    int c[4];
  };
  static constexpr const char* name = "imma_16832";
  static constexpr int instructions = 1;
  static __device__ T start(unsigned i) { return {{(int)i, 1, 2, 3}}; }
  static __device__ void step(T& v, const T& a, const T& b) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(v.c[0]), "+r"(v.c[1]), "+r"(v.c[2]), "+r"(v.c[3])
                 : "r"(a.c[0]), "r"(a.c[1]), "r"(a.c[2]), "r"(a.c[3]), "r"(b.c[0]), "r"(b.c[1]));
  }
};

}  // namespace classes

template <class V>
__device__ float sink_of(const V& v) {
  float sum = 0;
  for (unsigned i = 0; i < sizeof(V) / 4; ++i) sum += (float)reinterpret_cast<const unsigned*>(&v)[i];
  return sum;
}

/// Chains of dependent steps: one, for the latency; several in each of many warps, for the throughput.
template <class Op, int Chains>
__global__ void __launch_bounds__(1024) chain(Result* out, unsigned a, unsigned b) {
  __shared__ long long first, last;
  __shared__ volatile float sums[1024];
  typename Op::T v[Chains];
  for (int i = 0; i < Chains; ++i) v[i] = Op::start(threadIdx.x + i + a);
  const typename Op::T x = Op::start(a), y = Op::start(b);
  if (threadIdx.x == 0) first = 0x7fffffffffffffffLL, last = 0;
  for (int warm = 0; warm < 2; ++warm) {
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int r = 0; r < kRounds; ++r)
#pragma unroll
      for (int s = 0; s < kSteps; ++s)
#pragma unroll
        for (int i = 0; i < Chains; ++i) Op::step(v[i], x, y);
    float sum = 0;
    for (int i = 0; i < Chains; ++i) sum += sink_of(v[i]);
    sums[threadIdx.x] = sum;
    __syncthreads();  // the clock is read when the chain is done: its result is stored, and nothing passes a barrier
    const long long end = clock64();
    if (warm == 1) {
      atomicMin(&first, begin);
      atomicMax(&last, end);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) out->cycles = last - first;
}

template <class Op>
void measure(Result* out) {
  Result one{}, many{};
  chain<Op, 1><<<1, 32>>>(out, 3, 5);
  cudaMemcpy(&one, out, sizeof one, cudaMemcpyDeviceToHost);
  chain<Op, kChains><<<1, 1024>>>(out, 3, 5);
  const cudaError_t error = cudaMemcpy(&many, out, sizeof many, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) std::fprintf(stderr, "%s: %s\n", Op::name, cudaGetErrorString(error));
  const double steps = kSteps * kRounds;
  std::printf("{\"class\":\"%s\",\"instructions_a_step\":%d,\"latency\":%.2f,\"warp_instructions_a_cycle\":%.3f}\n", Op::name,
              Op::instructions, (double)one.cycles / steps, steps * kChains * 32 * Op::instructions / (double)many.cycles);
}

/// Barriers of a CTA, one behind the other.
__global__ void barriers(Result* out) {
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 64
  for (int i = 0; i < 1024; ++i) __syncthreads();
  if (threadIdx.x == 0) out->cycles = clock64() - begin;
}

__constant__ unsigned links[1024];
/// A chain of loads from constant memory, indexed; and reads of special registers.
__global__ void constants(Result* out) {
  unsigned at = 0;
  long long begin = 0, end = 0;
  for (int warm = 0; warm < 2; ++warm) {
    begin = clock64();
#pragma unroll 64
    for (int i = 0; i < 1024; ++i) at = links[at];
    if (at == 77) out->sink = 1;
    end = clock64();
  }
  if (threadIdx.x == 0) out[0].cycles = end - begin;
  unsigned sum = 0;
  for (int warm = 0; warm < 2; ++warm) {
    begin = clock64();
#pragma unroll 64
    for (int i = 0; i < 256; ++i) {
      unsigned v;
      asm volatile("{ .reg .u32 z; and.b32 z, %1, 0; mov.u32 %0, %%smid; add.u32 %0, %0, z; }" : "=r"(v) : "r"(sum));
      if (v == 0xffffffff) out->sink = 2;  // a branch on each: they cannot overlap
      sum += v;
    }
    end = clock64();
  }
  if (threadIdx.x == 0) out[1].cycles = end - begin, out[1].sink = (float)sum;
}

/// A loop of one addition: the rest is its counter, a comparison and a branch.
__global__ void branches(Result* out, unsigned a) {
  unsigned v = a;
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < 4096; ++i) asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(v) : "r"(a));
  if (v == 77) out->sink = 1;
  if (threadIdx.x == 0) out->cycles = clock64() - begin;
}

/// A warp issues independent instructions.
__global__ void alone(Result* out, float a, float b) {
  float v[16];
  for (int i = 0; i < 16; ++i) v[i] = a + (float)i;
  long long begin = 0;
  for (int warm = 0; warm < 2; ++warm) {
    begin = clock64();
#pragma unroll
    for (int s = 0; s < 64; ++s)
#pragma unroll
      for (int i = 0; i < 16; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v[i]) : "f"(a), "f"(b));
  }
  const long long end = clock64();
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += v[i];
  if (threadIdx.x == 0) *out = {end - begin, sum};
}

int main() {
  Result* out;
  cudaMalloc(&out, 2 * sizeof(Result));
  measure<classes::ffma>(out);
  measure<classes::fadd>(out);
  measure<classes::fmul>(out);
  measure<classes::fmnmx>(out);
  measure<classes::imad>(out);
  measure<classes::iadd_lop>(out);
  measure<classes::shf>(out);
  measure<classes::prmt>(out);
  measure<classes::imnmx>(out);
  measure<classes::popc>(out);
  measure<classes::hfma2>(out);
  measure<classes::mufu_ex2>(out);
  measure<classes::mufu_rcp>(out);
  measure<classes::f2i_i2f>(out);
  measure<classes::dfma>(out);
  measure<classes::dadd>(out);
  measure<classes::shfl>(out);
  measure<classes::hmma_16816>(out);
  measure<classes::imma_16832>(out);
  Result r{};
  for (const int threads : {32, 64, 128, 256, 512, 1024}) {
    barriers<<<1, threads>>>(out);
    cudaMemcpy(&r, out, sizeof r, cudaMemcpyDeviceToHost);
    std::printf("{\"class\":\"barrier\",\"threads\":%d,\"cycles\":%.2f}\n", threads, (double)r.cycles / 1024);
  }
  unsigned next[1024];
  for (unsigned i = 0; i < 1024; ++i) next[i] = (i + 1) % 512;  // 2 KB
  cudaMemcpyToSymbol(links, next, sizeof next);
  Result two[2];
  constants<<<1, 32>>>(out);
  cudaMemcpy(two, out, sizeof two, cudaMemcpyDeviceToHost);
  std::printf("{\"class\":\"constant\",\"latency\":%.2f}\n{\"class\":\"special_register_and_branch\",\"latency\":%.2f}\n",
              (double)two[0].cycles / 1024, (double)two[1].cycles / 256);
  branches<<<1, 32>>>(out, 3);
  cudaMemcpy(&r, out, sizeof r, cudaMemcpyDeviceToHost);
  std::printf("{\"class\":\"loop_of_imad\",\"cycles\":%.2f}\n", (double)r.cycles / 4096);
  alone<<<1, 32>>>(out, 1, 2);
  cudaMemcpy(&r, out, sizeof r, cudaMemcpyDeviceToHost);
  std::printf("{\"class\":\"ffma_one_warp\",\"warp_instructions_a_cycle\":%.3f}\n", 1024.0 / (double)r.cycles);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
