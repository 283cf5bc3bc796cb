// SPDX-License-Identifier: Apache-2.0
// Cycles of the matrix unit's asynchronous instruction (HGMMA 64 x N x 16, bf16 into fp32) on one SM. One JSON line a shape.
// build: nvcc -gencode arch=compute_90a,code=sm_90a -O3 -o matrix matrix.cu
#include <cstdio>

constexpr int kRounds = 64, kEach = 8;

// Accumulators d<h>0 to d<h>7.
#define D8(H) "d" #H "0, d" #H "1, d" #H "2, d" #H "3, d" #H "4, d" #H "5, d" #H "6, d" #H "7"
#define D16(A, B) D8(A) ", " D8(B)
#define D32(A, B, C, D) D16(A, B) ", " D16(C, D)
#define D64 D32(0, 1, 2, 3) ", " D32(4, 5, 6, 7)
#define D128 D64 ", " D32(8, 9, 10, 11) ", " D32(12, 13, 14, 15)

#define HGMMA(N, D) "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" D "}, %1, %2, 1, 1, 1, 0, 0;\n\t"
#define HGMMA8(N, D) HGMMA(N, D) HGMMA(N, D) HGMMA(N, D) HGMMA(N, D) HGMMA(N, D) HGMMA(N, D) HGMMA(N, D) HGMMA(N, D)

/// kRounds times BODY, then a wait for all but the last LEFT groups. An accumulator is read, or the assembler drops them all.
#define LOOP(BODY, LEFT, D)                                                                                            \
  float sum;                                                                                                           \
  asm volatile("{\n\t.reg .f32 " D                                                                                     \
               ";\n\t.reg .pred p;\n\t.reg .u32 n;\n\tmov.u32 n, %3;\n\twgmma.fence.sync.aligned;\n"                   \
               "loop:\n\t" BODY "wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned " LEFT              \
               ";\n\tsub.u32 n, n, 1;\n\tsetp.ne.u32 p, n, 0;\n\t@p bra loop;\n\twgmma.wait_group.sync.aligned 0;\n\t" \
               "mov.f32 %0, d00;\n\t}"                                                                                 \
               : "=f"(sum)                                                                                             \
               : "l"(a), "l"(b), "n"(kRounds)                                                                          \
               : "memory");                                                                                            \
  return sum;
#define SHAPE(N, D)                                                                                         \
  struct shape_##N {                                                                                        \
    static constexpr int n = N;                                                                             \
    static __device__ float many(unsigned long long a, unsigned long long b) { LOOP(HGMMA8(N, D), "1", D) } \
    static __device__ float one(unsigned long long a, unsigned long long b) { LOOP(HGMMA(N, D), "0", D) }   \
  };
SHAPE(16, D8(0))
SHAPE(32, D16(0, 1))
SHAPE(64, D32(0, 1, 2, 3))
SHAPE(128, D64)
SHAPE(256, D128)

/// Tiles in shared memory with a swizzle of 128 bytes: 8 rows of it are 1,024 bytes.
__device__ unsigned long long tile(const void* shared) {
  return (__cvta_generic_to_shared(shared) & 0x3ffff) >> 4 | 1ULL << 16 | 64ULL << 32 | 1ULL << 62;
}

template <class Shape>
__global__ void __launch_bounds__(256) run(long long* out, bool many) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  for (unsigned i = threadIdx.x; i < 65536 / 4; i += blockDim.x) reinterpret_cast<unsigned*>(tiles)[i] = 0;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const unsigned long long a = tile(tiles), b = tile(tiles + 8192);
  long long cycles = 0;
  for (int warm = 0; warm < 2; ++warm) {
    __syncthreads();
    const long long begin = clock64();
    const float sum = many ? Shape::many(a, b) : Shape::one(a, b);
    reinterpret_cast<volatile float*>(tiles)[61440 / 4 + threadIdx.x] = sum;
    __syncthreads();  // the clock is read when the result is there
    cycles = clock64() - begin;
  }
  if (threadIdx.x == 0) *out = cycles;
}

template <class Shape>
void measure(long long* out) {
  cudaFuncSetAttribute(run<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  double cycles[3];
  const int threads[] = {128, 128, 256};
  for (int i = 0; i < 3; ++i) {
    long long c = 0;
    run<Shape><<<1, threads[i], 65536>>>(out, i > 0);
    const cudaError_t error = cudaMemcpy(&c, out, sizeof c, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) std::fprintf(stderr, "n %d: %s\n", Shape::n, cudaGetErrorString(error));
    cycles[i] = (double)c / kRounds / (i > 0 ? kEach * threads[i] / 128 : 1);
  }
  std::printf("{\"class\":\"hgmma_64x%dx16\",\"latency\":%.1f,\"cycles_each\":%.2f,\"cycles_each_of_two_groups\":%.2f}\n",
              Shape::n, cycles[0], cycles[1], cycles[2]);
}

int main() {
  long long* out;
  cudaMalloc(&out, sizeof *out);
  measure<shape_16>(out);
  measure<shape_32>(out);
  measure<shape_64>(out);
  measure<shape_128>(out);
  measure<shape_256>(out);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
