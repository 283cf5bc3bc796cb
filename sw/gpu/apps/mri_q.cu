// SPDX-License-Identifier: Apache-2.0
// Reconstruction matrix of magnetic resonance images (Parboil's mri-q): a thread sums over all samples of k-space for one voxel.
#define SAMPLES 512

__global__ void __launch_bounds__(256)
    mri_q(const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ z,
          const float4* __restrict__ samples, float* __restrict__ real, float* __restrict__ imaginary) {
  const size_t own = (size_t)blockIdx.x * 256 + threadIdx.x;
  const float a = x[own], b = y[own], c = z[own];
  float re = 0.0f, im = 0.0f;
#pragma unroll 4
  for (int k = 0; k < SAMPLES; ++k) {
    const float4 s = samples[k];  // place in k-space and magnitude
    const float phase = 6.2831853f * (s.x * a + s.y * b + s.z * c);
    re += s.w * __cosf(phase);
    im += s.w * __sinf(phase);
  }
  real[own] = re;
  imaginary[own] = im;
}
