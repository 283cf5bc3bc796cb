// SPDX-License-Identifier: Apache-2.0
// A shared library with a kernel and the shared runtime, for a program that has the static one (modules.cu).
#include <cuda_runtime.h>

static __device__ unsigned launched;
static __global__ void step_of_library(unsigned* v, unsigned a) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  v[i] = v[i] * 5 + a;
  if (i == 0) ++launched;
}
/// @return 0 where all went well
extern "C" int steps_in_library(unsigned* v, unsigned a, cudaStream_t s) {
  step_of_library<<<6000, 128, 0, s>>>(v, a);
  unsigned count = 0;
  const cudaError_t e = cudaMemcpyFromSymbol(&count, launched, 4);
  return e != cudaSuccess || count != 1 ? 1 : 0;
}
