// SPDX-License-Identifier: Apache-2.0
// Forces between particles of neighbouring boxes (Rodinia's lavaMD): a block has a box of 100 particles and goes through it and
// the boxes around it. Boxes lie in columns of 8 x 8.
#define PARTICLES 100
#define THREADS 128

__global__ void __launch_bounds__(THREADS) lava_md(const double* __restrict__ position, const double* __restrict__ charge,
                                                   double* __restrict__ force, unsigned layers, double alpha) {
  __shared__ double own[PARTICLES * 4], others[PARTICLES * 4], charges[PARTICLES];
  const int t = (int)threadIdx.x;
  const int x = (int)(blockIdx.x & 7), y = (int)(blockIdx.x >> 3 & 7), z = (int)(blockIdx.x >> 6);
  const double square = 2.0 * alpha * alpha;
  for (int i = t; i < PARTICLES * 4; i += THREADS) own[i] = position[(size_t)blockIdx.x * PARTICLES * 4 + i];
  double sum[4] = {0.0, 0.0, 0.0, 0.0};
  for (int n = 0; n < 27; ++n) {
    const int nx = x + n % 3 - 1, ny = y + n / 3 % 3 - 1, nz = z + n / 9 - 1;
    if (nx < 0 || ny < 0 || nz < 0 || nx > 7 || ny > 7 || nz >= (int)layers) continue;
    const size_t box = (size_t)nz << 6 | (size_t)(ny << 3 | nx);
    for (int i = t; i < PARTICLES * 4; i += THREADS) others[i] = position[box * PARTICLES * 4 + i];
    for (int i = t; i < PARTICLES; i += THREADS) charges[i] = charge[box * PARTICLES + i];
    __syncthreads();
    if (t < PARTICLES) {
      const double* a = &own[4 * t];
      for (int j = 0; j < PARTICLES; ++j) {
        const double* b = &others[4 * j];
        const double apart = a[3] + b[3] - (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
        const double potential = exp(-square * apart), strength = 2.0 * potential;
        sum[3] += charges[j] * potential;
        sum[0] += charges[j] * strength * (a[0] - b[0]);
        sum[1] += charges[j] * strength * (a[1] - b[1]);
        sum[2] += charges[j] * strength * (a[2] - b[2]);
      }
    }
    __syncthreads();
  }
  if (t < PARTICLES)
    for (int c = 0; c < 4; ++c) force[((size_t)blockIdx.x * PARTICLES + t) * 4 + c] = sum[c];
}
