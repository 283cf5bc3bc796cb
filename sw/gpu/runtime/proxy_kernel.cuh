// SPDX-License-Identifier: Apache-2.0
// EffiSha's proxy: one warp. Compiled behind control.h.
extern "C" __global__ void flag_proxy(const SluiceOrders* host, SluiceOrders* device, const unsigned* end) {
  const volatile unsigned* from = (const volatile unsigned*)host;
  volatile unsigned* to = (volatile unsigned*)device;
  unsigned seen = 0;
  while (*(const volatile unsigned*)end == 0) {
    const unsigned epoch = *from;
    if (epoch == seen) continue;
    __threadfence_system();
    for (unsigned i = 1 + threadIdx.x; i < sizeof(SluiceOrders) / sizeof(unsigned); i += warpSize) to[i] = from[i];
    __syncwarp();
    __threadfence();
    if (threadIdx.x == 0) to[0] = epoch;
    seen = epoch;
  }
}
