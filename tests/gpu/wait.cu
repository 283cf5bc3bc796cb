// SPDX-License-Identifier: Apache-2.0
// Blocks whose own time is known: what is left of it is the runtime's.
extern "C" __global__ void wait_cycles(unsigned* out, int cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  if (threadIdx.x == 0) out[blockIdx.x] = blockIdx.x;
}

// Fills the issue slots: as `arithmetic` of tests/interpose/probe/overhead.cu.
extern "C" __global__ void arithmetic(float* out, unsigned steps) {
  float a = threadIdx.x, b = blockIdx.x, c = 1, d = 2;
  for (unsigned i = 0; i < steps; ++i) {
    a = a * 1.0001f + b;
    b = b * 0.9999f + c;
    c = c * 1.0002f + d;
    d = d * 0.9998f + a;
  }
  if (a + b + c + d == 0) *out = a;
}
