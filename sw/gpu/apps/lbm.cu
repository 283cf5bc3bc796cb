// SPDX-License-Identifier: Apache-2.0
// Lattice-Boltzmann, D3Q19, single relaxation time, pull scheme, periodic box; one array a direction. A block is a row of 128
// cells.
__global__ void __launch_bounds__(128) lbm(const float* __restrict__ from, float* __restrict__ to, float omega) {
  const int nx = (int)blockDim.x, ny = (int)gridDim.x, nz = (int)gridDim.y;
  const int x = (int)threadIdx.x, y = (int)blockIdx.x, z = (int)blockIdx.y;
  const long long cells = (long long)nx * ny * nz;
  const long long here = ((long long)z * ny + y) * nx + x;
  const int cx[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
  const int cy[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
  const int cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
  float f[19];
  float density = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
  for (int q = 0; q < 19; ++q) {
    int sx = x - cx[q], sy = y - cy[q], sz = z - cz[q];
    sx += sx < 0 ? nx : sx == nx ? -nx : 0;
    sy += sy < 0 ? ny : sy == ny ? -ny : 0;
    sz += sz < 0 ? nz : sz == nz ? -nz : 0;
    f[q] = from[q * cells + ((long long)sz * ny + sy) * nx + sx];
    density += f[q];
    ux += (float)cx[q] * f[q];
    uy += (float)cy[q] * f[q];
    uz += (float)cz[q] * f[q];
  }
  const float inverse = 1.0f / density;
  ux *= inverse;
  uy *= inverse;
  uz *= inverse;
  const float square = 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
  for (int q = 0; q < 19; ++q) {
    const float weight = q == 0 ? 1.0f / 3.0f : q < 7 ? 1.0f / 18.0f : 1.0f / 36.0f;
    const float cu = 3.0f * ((float)cx[q] * ux + (float)cy[q] * uy + (float)cz[q] * uz);
    const float equilibrium = weight * density * (1.0f + cu + 0.5f * cu * cu - square);
    to[q * cells + here] = f[q] + omega * (equilibrium - f[q]);
  }
}
