// SPDX-License-Identifier: Apache-2.0
// tensor NAME...: launches each kernel NAME once and compares some of its results with the CPU's. Exit code 1: wrong.
// tensor list: the names. tensor.py says how it is built and which of the kernels are judged when.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "tensor.cuh"
#include "tensor_copies.cuh"

using Bf16 = __nv_bfloat16;
using Fp8 = __nv_fp8_e4m3;

static void good(cudaError_t e) {
  if (e == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(e));
  std::exit(1);
}

struct Entry {
  const char* name;
  bool (*run)();
  Entry(const char* n, bool (*r)()) : name(n), run(r) { all().push_back(*this); }
  static std::vector<Entry>& all() {
    static std::vector<Entry> entries;
    return entries;
  }
};

/// Rows of `columns` on the GPU, with the same on the CPU: nine exact values from -scale to scale.
template <class T>
struct Matrix {
  T* gpu = nullptr;
  std::vector<T> cpu;
  long rows, columns;
  Matrix(long r, long c, float scale, unsigned seed) : cpu(r * c), rows(r), columns(c) {
    std::minstd_rand random(seed);
    T values[9];
    for (int i = 0; i < 9; ++i) values[i] = T(scale * (static_cast<float>(i) - 4.0F) / 4.0F);
    for (T& x : cpu) x = values[random() / 7 % 9];
    good(cudaMalloc(&gpu, cpu.size() * sizeof(T)));
    good(cudaMemcpy(gpu, cpu.data(), cpu.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  [[nodiscard]] double at(long r, long c) const { return static_cast<double>(static_cast<float>(cpu[r * columns + c])); }
  void fetch() { good(cudaMemcpy(cpu.data(), gpu, cpu.size() * sizeof(T), cudaMemcpyDeviceToHost)); }
  /// Boxes of `height` rows of 128 bytes.
  [[nodiscard]] CUtensorMap map(int height, CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B) const {
    void* encode = nullptr;
    cudaDriverEntryPointQueryResult found{};
    good(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found));
    const auto type = sizeof(T) == 1              ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                      : std::is_same_v<T, __half> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                  : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    CUtensorMap out;
    const cuuint64_t size[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)},
                     stride[1] = {columns * sizeof(T)};
    const cuuint32_t box[2] = {kRow / sizeof(T), static_cast<cuuint32_t>(height)}, step[2] = {1, 1};
    const auto done = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
        &out, type, 2, gpu, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (done == CUDA_SUCCESS) return out;
    std::printf("no tensor map: %d\n", done);
    std::exit(1);
  }
};

template <class... P, class... A>
static void launch(void (*kernel)(P...), dim3 grid, int threads, int scratchpad, int cluster, A... arguments) {
  good(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, scratchpad));
  if (cluster == 1) {
    kernel<<<grid, threads, scratchpad>>>(arguments...);
  } else {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = grid, config.blockDim = threads, config.dynamicSmemBytes = scratchpad, config.attrs = &attribute,
    config.numAttrs = 1;
    good(cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...));
  }
  good(cudaGetLastError());
  good(cudaDeviceSynchronize());
}

static int sms() {
  cudaDeviceProp device{};
  good(cudaGetDeviceProperties(&device, 0));
  return device.multiProcessorCount;
}

static bool near(double got, double want, double slack) {
  if (std::abs(got - want) <= slack + 0.02 * std::abs(want)) return true;
  std::printf("%g instead of %g\n", got, want);
  return false;
}

template <class T, int N, int WG, int S, Feed F, Out O, int C>
static bool run_product(void (*kernel)(const Maps, const T*, const T*, Bf16*, Sizes), Sizes s, bool persistent) {
  const Matrix<T> a(s.m, s.k, 1, 1), b(static_cast<long>(s.n) * s.groups, s.k, 1, 2);
  Matrix<Bf16> c(s.m, s.n, 0, 3);
  const Maps maps{a.map(64 * WG), b.map(N / C), c.map(64 * WG)};
  const int tiles = s.m / (64 * WG) * (s.n / N);
  launch(kernel, dim3(persistent ? std::min(tiles, sms()) : tiles), 128 * (WG + (F == kWarps)),
         1024 + S * (64 * WG + N) * kRow + (O == kTile ? 64 * WG * N * 2 : 0) + 16 * S, C, maps, static_cast<const T*>(a.gpu),
         static_cast<const T*>(b.gpu), c.gpu, s);
  c.fetch();
  for (long i = 0; i < 300; ++i) {
    const long row = i * 7919 % s.m, column = i * 104729 % s.n, from = row / (s.m / s.groups) * s.n + column;
    double sum = 0;
    for (int k = 0; k < s.k; ++k) sum += a.at(row, k) * b.at(from, k);
    if (s.silu) sum /= 1 + std::exp(-sum);
    if (!near(c.at(row, column), sum, 0.3)) return false;
  }
  return true;
}

template <int D, int K, int WG, bool Causal>
static bool run_attention(void (*kernel)(const CUtensorMap, const CUtensorMap, const CUtensorMap, Bf16*, int), int heads,
                          int length) {
  const long rows = static_cast<long>(heads) * length;
  const Matrix<Bf16> q(rows, D, 8, 1), k(rows, D, 1, 2), v(rows, D, 1, 3);
  Matrix<Bf16> o(rows, D, 0, 4);
  launch(kernel, dim3(length / (64 * WG), heads), 128 * (WG + 1), 1024 + 64 * WG * D * 2 + 4 * K * D * 2 + 128, 1, q.map(64 * WG),
         k.map(K), v.map(K), o.gpu, length);
  o.fetch();
  for (long i = 0; i < 40; ++i) {
    const long row = i * 7919 % rows, first = row / length * length;
    const int keys = Causal ? static_cast<int>(row - first) + 1 : length;
    std::vector<double> weight(keys);
    double sum = 0;
    for (int j = 0; j < keys; ++j) {
      double dot = 0;
      for (int e = 0; e < D; ++e) dot += q.at(row, e) * k.at(first + j, e);
      sum += weight[j] = std::exp(dot / std::sqrt(D));
    }
    for (int e = 0; e < D; e += 9) {
      double want = 0;
      for (int j = 0; j < keys; ++j) want += weight[j] * v.at(first + j, e) / sum;
      if (!near(o.at(row, e), want, 0.03)) return false;
    }
  }
  return true;
}

static bool run_copy(void (*kernel)(const CUtensorMap, const CUtensorMap, const Bf16*, Bf16*, int, int), int rows, int columns) {
  const Matrix<Bf16> a(rows, columns, 1, 1);
  Matrix<Bf16> b(rows, columns, 0, 2);
  launch(kernel, dim3(2 * sms()), 32, kCopyBytes, 1, a.map(kCopyRows, CU_TENSOR_MAP_SWIZZLE_NONE),
         b.map(kCopyRows, CU_TENSOR_MAP_SWIZZLE_NONE), static_cast<const Bf16*>(a.gpu), b.gpu, rows, columns);
  b.fetch();
  return std::memcmp(a.cpu.data(), b.cpu.data(), a.cpu.size() * sizeof(Bf16)) == 0;
}

#define PRODUCT(name, T, N, WG, S, F, O, C, persistent, ...)                              \
  extern "C" __global__ void __launch_bounds__(128 * (WG + (F == kWarps)), 1)             \
      name(const __grid_constant__ Maps maps, const T* a, const T* b, Bf16* c, Sizes s) { \
    product<T, N, WG, S, F, O, C>(maps, a, b, c, s);                                      \
  }                                                                                       \
  static const Entry name##_entry{#name, [] { return run_product<T, N, WG, S, F, O, C>(name, {__VA_ARGS__}, persistent); }};
#define ATTENTION(name, D, K, WG, causal, ahead, heads, length)                                                                 \
  extern "C" __global__ void __launch_bounds__(128 * (WG + 1), 1)                                                               \
      name(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k, const __grid_constant__ CUtensorMap v, \
           Bf16* o, int n) {                                                                                                    \
    attention<D, K, WG, causal, ahead>(q, k, v, o, n);                                                                          \
  }                                                                                                                             \
  static const Entry name##_entry{#name, [] { return run_attention<D, K, WG, causal>(name, heads, length); }};
#define COPY(name, kind, rows, columns)                                                                                         \
  extern "C" __global__ void __launch_bounds__(32) name(                                                                        \
      const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const Bf16* from, Bf16* to, int m, int n) { \
    kind(a, b, from, to, m, n);                                                                                                 \
  }                                                                                                                             \
  static const Entry name##_entry{#name, [] { return run_copy(name, rows, columns); }};

#include "tensor_kernels.cuh"

int main(int argc, char** argv) {
  bool right = argc > 1;
  for (int i = 1; i < argc; ++i) {
    bool known = false;
    for (const Entry& e : Entry::all()) {
      if (std::strcmp(argv[i], "list") == 0) std::puts(e.name);
      if (std::strcmp(argv[i], e.name) != 0) continue;
      known = true;
      const bool now = e.run();
      right = right && now;
      std::printf("%s %s\n", e.name, now ? "ok" : "WRONG");
    }
    right = right && (known || std::strcmp(argv[i], "list") == 0);
  }
  return right ? 0 : 1;
}
