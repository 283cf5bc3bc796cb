// SPDX-License-Identifier: Apache-2.0
// Image denoising: every pixel becomes the mean of its 7 x 7 neighbours, weighted by distance and by likeness of colour
// (a bilateral filter). 8 x 8 threads, two pixels a thread; the image has a border of three pixels.
__global__ void __launch_bounds__(64) denoise(const uchar4* __restrict__ image, uchar4* __restrict__ out, int width,
                                              float likeness, float nearness) {
  const int pitch = width + 6;
  const int x = (int)(blockIdx.x * 8 + threadIdx.x);
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
    const int y = (int)(blockIdx.y * 16 + threadIdx.y) + 8 * half;
    const uchar4 centre = image[(y + 3) * pitch + x + 3];
    float red = 0, green = 0, blue = 0, weight = 0;
#pragma unroll 1
    for (int dy = -3; dy <= 3; ++dy) {
#pragma unroll
      for (int dx = -3; dx <= 3; ++dx) {
        const uchar4 p = image[(y + 3 + dy) * pitch + x + 3 + dx];
        const float r = (float)p.x - (float)centre.x, g = (float)p.y - (float)centre.y, b = (float)p.z - (float)centre.z;
        const float w = __expf(-(r * r + g * g + b * b) * likeness - (float)(dx * dx + dy * dy) * nearness);
        red += w * (float)p.x;
        green += w * (float)p.y;
        blue += w * (float)p.z;
        weight += w;
      }
    }
    const float scale = 1.0f / weight;
    out[y * width + x] = make_uchar4((unsigned char)(red * scale + 0.5f), (unsigned char)(green * scale + 0.5f),
                                     (unsigned char)(blue * scale + 0.5f), centre.w);
  }
}
