// SPDX-License-Identifier: Apache-2.0
// What launches cost a program, in microseconds: making a context, the first launch, a kernel of a millisecond with long and with short
// blocks, launches of 8 us, and the host's time for launches of nothing. For launches_on_gpu.sh.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                    \
  do {                                                                                                 \
    const auto status = (call);                                                                        \
    if (static_cast<int>(status) != 0) {                                                               \
      std::printf("%s:%d: %s = %d\n", __FILE__, __LINE__, #call, static_cast<int>(status));            \
      std::exit(1);                                                                                    \
    }                                                                                                  \
  } while (false)

namespace {

double us_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - t).count();
}

// Every block once: a second run would add again.
__global__ void add(float* out, unsigned n, float a, int steps) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = out[i];
  for (int s = 0; s < steps; ++s) x = x * 0.99f + a;
  out[i] = x + static_cast<float>(blockIdx.x % 7);
}
// Arithmetic alone, some microseconds a block.
__global__ void arithmetic(float* out, unsigned steps) {
  float a = threadIdx.x, b = blockIdx.x, c = 1, d = 2;
  for (unsigned i = 0; i < steps; ++i) {
    a = a * 1.0001f + b;
    b = b * 0.9999f + c;
    c = c * 1.0002f + d;
    d = d * 0.9998f + a;
  }
  if (a + b + c + d == 0) *out = a;
}
__global__ void nothing() {}

}  // namespace

int main() {
  const auto zero = std::chrono::steady_clock::now();
  CHECK(cudaFree(nullptr));
  const double context = us_since(zero);
  int sms = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  float* a;
  constexpr unsigned kN = 1U << 20;
  CHECK(cudaMalloc(&a, kN * 4));
  CHECK(cudaMemset(a, 0, kN * 4));
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  const unsigned round = static_cast<unsigned>(sms) * 8;
  const auto begin = std::chrono::steady_clock::now();
  arithmetic<<<round * 4, 256, 0, s>>>(a, 100);
  const double first = us_since(begin);
  CHECK(cudaStreamSynchronize(s));
  std::printf("{\"context_us\":%.0f,\"first_launch_us\":%.1f,\"first_launch_done_us\":%.1f", context, first, us_since(begin));
  for (const unsigned steps : {1200U, 300U}) {  // long and short blocks, about a millisecond in all
    const unsigned blocks = round * 24 * (1200 / steps);
    arithmetic<<<blocks, 256, 0, s>>>(a, steps);
    CHECK(cudaStreamSynchronize(s));
    const auto t = std::chrono::steady_clock::now();
    for (int i = 0; i < 300; ++i) arithmetic<<<blocks, 256, 0, s>>>(a, steps);
    CHECK(cudaStreamSynchronize(s));
    std::printf(",\"arithmetic_%u_us\":%.2f", steps, us_since(t) / 300);
  }
  for (const int count : {1000, 100'000}) {
    const auto t = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) add<<<kN / 256, 256, 0, s>>>(a, kN, 0.1f, 120);
    const double of_host = us_since(t) / count;
    CHECK(cudaStreamSynchronize(s));
    std::printf(",\"short_%d\":{\"us\":%.3f,\"host_us\":%.3f}", count, us_since(t) / count, of_host);
  }
  for (int r = 0; r < 3; ++r) {
    double best = 1e9;
    for (int k = 0; k < 60; ++k) {  // few enough for the driver's queue
      CHECK(cudaStreamSynchronize(s));
      const auto t = std::chrono::steady_clock::now();
      for (int i = 0; i < 200; ++i) nothing<<<1, 32, 0, s>>>();
      best = std::min(best, us_since(t) / 200);  // of the host: the queue does not fill
    }
    std::printf(",\"untransformed_launch_us_%d\":%.3f", r, best);
  }
  std::printf("}\n");
  return 0;
}
