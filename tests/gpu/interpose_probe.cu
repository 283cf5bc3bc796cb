// SPDX-License-Identifier: Apache-2.0
// A program for `sluice run` on a GPU, by nvcc alone. What it prints is to be the same with and without it:
//   interpose_probe check                 fingerprints of what kernels wrote, launched in many ways
//   interpose_probe requota FILE ROUNDS   changes the quota in FILE while a graph replays; when it is in force, from the blocks' own log
//   interpose_probe overhead              microseconds of launches
//   interpose_probe busy MS               1 ms kernels for so long; how many ended
#include <cuda.h>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

#define CHECK(call)                                                                                    \
  do {                                                                                                 \
    const auto status = (call);                                                                        \
    if (static_cast<int>(status) != 0) {                                                               \
      std::printf("%s:%d: %s = %d\n", __FILE__, __LINE__, #call, static_cast<int>(status));            \
      std::exit(1);                                                                                    \
    }                                                                                                  \
  } while (false)

struct Entry {
  unsigned long long begin;
  unsigned ns, sm;
};

__device__ unsigned long long now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
__device__ unsigned sm_id() {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

// Every block once: a second run would add again.
__global__ void add(float* out, unsigned n, float a, int steps) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = out[i];
  for (int s = 0; s < steps; ++s) x = x * 0.99f + a;
  out[i] = x + static_cast<float>(blockIdx.x % 7);
}
// Reads what the launch before wrote elsewhere: wrong where it began too early.
__global__ void mix(const float* in, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * out[i] + 0.25f * in[n - 1 - i] + 1.0f;  // stays bounded
}
__global__ void tile(float* out, unsigned n) {
  extern __shared__ float part[];
  __shared__ float sum;
  const unsigned i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (i >= n) return;  // before barriers of the others
  part[threadIdx.x] = out[i];
  __syncthreads();
  atomicAdd(&sum, static_cast<float>(static_cast<int>(part[threadIdx.x]) % 3));
  __syncthreads();
  out[i] = 0.5f * out[i] + sum + 0.1f * part[threadIdx.x ^ 1];
}
// Each block waits for the one before it.
__global__ void chain(volatile unsigned* flags, unsigned* out) {
  __shared__ unsigned before;
  if (threadIdx.x == 0) {
    if (blockIdx.x > 0)
      while (flags[blockIdx.x - 1] == 0) continue;
    before = blockIdx.x == 0 ? 1 : flags[blockIdx.x - 1];
    __threadfence();
    flags[blockIdx.x] = before * 5 + 1 | 1;
  }
  __syncthreads();
  if (threadIdx.x == 1) out[blockIdx.x] += before;
}
__global__ void spin(unsigned ns, Entry* log, unsigned* used, unsigned room) {
  const unsigned long long begin = now();
  while (now() - begin < ns) continue;
  if (threadIdx.x != 0) return;
  const unsigned at = atomicAdd(used, 1);
  if (at < room) log[at] = {begin, static_cast<unsigned>(now() - begin), sm_id()};
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
__global__ void clock_of(unsigned long long* out) { *out = now(); }
__global__ void nothing() {}

void tile_on_host(std::vector<float>& values, unsigned n) {
  const std::vector<float> before = values;
  for (unsigned block = 0; block * 256 < n; ++block) {
    float sum = 0;
    for (unsigned i = block * 256; i < std::min(n, block * 256 + 256); ++i) sum += static_cast<float>(static_cast<int>(before[i]) % 3);
    for (unsigned i = block * 256; i < std::min(n, block * 256 + 256); ++i)
      values[i] = std::fma(before[i ^ 1], 0.1f, std::fma(before[i], 0.5f, sum));
  }
}

std::uint64_t fingerprint(const void* device, std::size_t bytes) {
  std::vector<unsigned char> host(bytes);
  CHECK(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
  std::uint64_t h = 1469598103934665603ULL;
  for (const unsigned char c : host) h = (h ^ c) * 1099511628211ULL;
  return h;
}
double us_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - t).count();
}

struct Check {
  unsigned n = 1U << 20;
  float *a = nullptr, *b = nullptr;
  cudaStream_t s1{}, s2{};
  Check() {
    CHECK(cudaMalloc(&a, n * 4));
    CHECK(cudaMalloc(&b, n * 4));
    CHECK(cudaMemset(a, 0, n * 4));
    CHECK(cudaMemset(b, 0, n * 4));
    CHECK(cudaStreamCreate(&s1));  // waits for the legacy default stream, which waits for it
    CHECK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
  }
  void say(const char* what) {
    CHECK(cudaDeviceSynchronize());
    std::printf("%s %016llx %016llx\n", what, static_cast<unsigned long long>(fingerprint(a, n * 4)),
                static_cast<unsigned long long>(fingerprint(b, n * 4)));
  }
  void work(cudaStream_t s, float v) {
    add<<<n / 128, 128, 0, s>>>(a, n, v, 200);
    mix<<<n / 256, 256, 0, s>>>(a, b, n);
    mix<<<n / 256, 256, 0, s>>>(b, a, n);
    CHECK(cudaGetLastError());
  }
};

void explicit_nodes(Check& c) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first, second;
  float v = 0.25f;
  int steps = 100;
  void* of_add[] = {&c.a, &c.n, &v, &steps};
  cudaKernelNodeParams p{};
  p.func = reinterpret_cast<void*>(add);
  p.gridDim = dim3(c.n / 128);
  p.blockDim = dim3(128);
  p.kernelParams = of_add;
  CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &p));
  void* of_mix[] = {&c.a, &c.b, &c.n};
  p.func = reinterpret_cast<void*>(mix);
  p.gridDim = dim3(c.n / 256);
  p.blockDim = dim3(256);
  p.kernelParams = of_mix;
  CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &p));
  cudaKernelNodeParams seen{};
  CHECK(cudaGraphKernelNodeGetParams(first, &seen));
  std::printf("node: same function %d, grid %u, block %u, shared %u, value %g\n", seen.func == reinterpret_cast<void*>(add),
              seen.gridDim.x, seen.blockDim.x, seen.sharedMemBytes, *static_cast<float*>(seen.kernelParams[2]));
  v = 0.75f;
  seen.kernelParams = of_add;
  CHECK(cudaGraphKernelNodeSetParams(first, &seen));
  cudaGraph_t copy;
  CHECK(cudaGraphClone(&copy, graph));
  cudaGraphExec_t one, two, three;
  CHECK(cudaGraphInstantiate(&one, graph, 0));
  CHECK(cudaGraphInstantiate(&two, graph, 0));
  CHECK(cudaGraphInstantiate(&three, copy, 0));
  for (int i = 0; i < 5; ++i) {
    CHECK(cudaGraphLaunch(one, c.s1));
    CHECK(cudaGraphLaunch(two, c.s1));
    CHECK(cudaGraphLaunch(three, c.s1));
  }
  v = -0.5f;
  seen.kernelParams = of_add;
  CHECK(cudaGraphExecKernelNodeSetParams(one, first, &seen));
  CHECK(cudaGraphLaunch(one, c.s1));
  CHECK(cudaStreamSynchronize(c.s1));
  CHECK(cudaGraphExecDestroy(one));
  CHECK(cudaGraphLaunch(two, c.s1));
  c.say("explicit nodes");
  cudaGraphExecUpdateResultInfo info{};
  CHECK(cudaGraphExecUpdate(two, graph, &info));
  CHECK(cudaGraphLaunch(two, c.s1));
  c.say("updated");
}

int check() {
  Check c;
  for (int i = 0; i < 20; ++i) c.work(i % 3 == 0 ? nullptr : c.s1, 0.1f * static_cast<float>(i));
  c.say("one after the other");
  cudaEvent_t e;
  CHECK(cudaEventCreate(&e));
  for (int i = 0; i < 40; ++i) {  // two streams, in turns
    cudaStream_t mine = i % 2 == 0 ? c.s1 : c.s2, next = i % 2 == 0 ? c.s2 : c.s1;
    c.work(mine, 0.01f * static_cast<float>(i));
    CHECK(cudaEventRecord(e, mine));
    CHECK(cudaStreamWaitEvent(next, e));
  }
  c.say("two streams and events");
  for (const unsigned less : {0U, 64U, 78U}) {  // all threads; whole warps return early; parts of a warp do
    std::vector<float> expected(c.n), found(c.n);
    CHECK(cudaMemcpy(expected.data(), c.a, c.n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 5; ++i) tile<<<dim3(c.n / 256 / 16, 16), 256, 1024, c.s1>>>(c.a, c.n - less);
    for (int i = 0; i < 5; ++i) tile_on_host(expected, c.n - less);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(found.data(), c.a, c.n * 4, cudaMemcpyDeviceToHost));
    unsigned wrong = 0, first = 0;
    for (unsigned i = 0; i < c.n; ++i)
      if (std::memcmp(&expected[i], &found[i], 4) != 0 && wrong++ == 0) first = i;
    std::printf("tile, %u threads return early: %u wrong, the first is %u\n", less, wrong, first);
    CHECK(cudaMemcpy(c.a, expected.data(), c.n * 4, cudaMemcpyHostToDevice));
  }
  c.say("shared memory");
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(c.s1, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 8; ++i) c.work(c.s1, 0.3f);
  CHECK(cudaStreamEndCapture(c.s1, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 20; ++i) CHECK(cudaGraphLaunch(exec, c.s1));
  c.say("captured");
  explicit_nodes(c);
  unsigned *flags, *out;
  constexpr unsigned kBlocks = 40000;
  CHECK(cudaMalloc(&flags, kBlocks * 4));
  CHECK(cudaMalloc(&out, kBlocks * 4));
  CHECK(cudaMemset(flags, 0, kBlocks * 4));
  CHECK(cudaMemset(out, 0, kBlocks * 4));
  chain<<<kBlocks, 64, 0, c.s2>>>(flags, out);
  CHECK(cudaDeviceSynchronize());
  std::printf("chain %016llx\n", static_cast<unsigned long long>(fingerprint(out, kBlocks * 4)));
  return 0;
}

/// The GPU's clock less the host's, in nanoseconds.
double clocks(unsigned long long* word, cudaStream_t s, double* host_us, std::chrono::steady_clock::time_point zero) {
  double best = 1e9, offset = 0;
  for (int i = 0; i < 50; ++i) {
    const double before = us_since(zero);
    clock_of<<<1, 1, 0, s>>>(word);
    CHECK(cudaStreamSynchronize(s));
    const double after = us_since(zero);
    if (after - before < best) {
      best = after - before;
      offset = static_cast<double>(*word) - (before + after) / 2 * 1e3;
      *host_us = (before + after) / 2;
    }
  }
  return offset;
}

int requota(const char* path, int rounds) {
  const auto zero = std::chrono::steady_clock::now();
  constexpr unsigned kNs = 20'000, kThreads = 256, kRoom = 24'000'000;
  int sms = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const unsigned per_sm = 2048 / kThreads, grid = static_cast<unsigned>(sms) * per_sm * 12;
  Entry* log;
  unsigned* used;
  unsigned long long* word;
  CHECK(cudaMalloc(&log, sizeof(Entry) * kRoom));
  CHECK(cudaMalloc(&used, 4));
  CHECK(cudaMemset(used, 0, 4));
  CHECK(cudaMallocHost(&word, 8));
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 4; ++i) spin<<<grid, kThreads, 0, s>>>(kNs, log, used, kRoom);
  CHECK(cudaStreamEndCapture(s, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  const int file = open(path, O_WRONLY | O_CREAT, 0644);
  const auto order = [&](int q) {
    const std::string text = std::to_string(q) + " \n";
    CHECK(pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  };
  order(8);
  CHECK(cudaGraphLaunch(exec, s));
  CHECK(cudaStreamSynchronize(s));
  double host0 = 0, host1 = 0;
  const double offset0 = clocks(word, s, &host0, zero);
  CHECK(cudaMemset(used, 0, 4));
  std::atomic<bool> stop{false};
  std::thread replays([&] {
    while (!stop) {
      for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(exec, s));
      CHECK(cudaStreamSynchronize(s));
    }
  });
  std::vector<std::pair<double, int>> orders{{us_since(zero), 8}};
  const int steps[] = {2, 6, 1, 8, 4, 8, 3, 0, 5, 8};
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (int r = 0; r < rounds; ++r) {
    const int q = steps[r % 10];
    orders.emplace_back(us_since(zero), q);
    order(q);
    std::this_thread::sleep_for(std::chrono::microseconds(q == 0 ? 2000 : 5000));
  }
  order(8);
  const double end = us_since(zero);
  stop = true;
  replays.join();
  const double offset1 = clocks(word, s, &host1, zero);
  unsigned entries = 0;
  CHECK(cudaMemcpy(&entries, used, 4, cudaMemcpyDeviceToHost));
  std::vector<Entry> host(std::min(entries, kRoom));
  CHECK(cudaMemcpy(host.data(), log, host.size() * sizeof(Entry), cudaMemcpyDeviceToHost));
  const auto gpu_ns = [&](double us) { return us * 1e3 + offset0 + (offset1 - offset0) * (us - host0) / (host1 - host0); };
  struct Edge {
    double at;
    int step;
    unsigned sm;
  };
  std::vector<Edge> edges;
  for (const Entry& x : host) {
    edges.push_back({static_cast<double>(x.begin), 1, x.sm});
    edges.push_back({static_cast<double>(x.begin + x.ns), -1, x.sm});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) { return x.at != y.at ? x.at < y.at : x.step < y.step; });
  std::vector<int> open(static_cast<std::size_t>(sms), 0);
  std::size_t at = 0;
  int total = 0;
  std::printf("{\"entries\":%u,\"offset_drift_us\":%.2f,\"orders\":[", entries, (offset1 - offset0) / 1e3);
  for (std::size_t o = 0; o < orders.size(); ++o) {
    const double from = gpu_ns(orders[o].first), to = gpu_ns(o + 1 < orders.size() ? orders[o + 1].first : end);
    const int q = orders[o].second, before = o == 0 ? q : orders[o - 1].second;
    double in_force = 0, reached = -1;
    int most = 0, late = 0;
    for (; at < edges.size() && edges[at].at < to; ++at) {
      const Edge& x = edges[at];
      int& here = open[x.sm];
      const bool over_before = here > q;
      here += x.step;
      total += x.step;
      if (x.at < from) continue;
      most = std::max(most, total);
      if (over_before || here > q) in_force = x.at - from;  // still more than the quota here
      if (x.at - from > 2e6 && here > q) ++late;
      if (reached < 0 && total >= q * sms * 9 / 10) reached = x.at - from;
    }
    if (o == 0) continue;
    std::printf("%s{\"from\":%d,\"to\":%d,\"in_force_us\":%.1f,\"most\":%d,\"late_above\":%d}", o > 1 ? "," : "", before, q,
                (q < before ? in_force : reached) / 1e3, most, late);
  }
  std::printf("]}\n");
  return 0;
}

double launches(int count, unsigned blocks, unsigned threads, unsigned ns, Entry* log, unsigned* used, cudaStream_t s, double* host) {
  CHECK(cudaStreamSynchronize(s));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) spin<<<blocks, threads, 0, s>>>(ns, log, used, 0);
  *host = us_since(begin) / count;
  CHECK(cudaStreamSynchronize(s));
  return us_since(begin) / count;
}

int overhead() {
  const auto zero = std::chrono::steady_clock::now();
  CHECK(cudaFree(nullptr));
  const double context = us_since(zero);
  int sms = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  unsigned* used;
  Entry* log;
  CHECK(cudaMalloc(&used, 4));
  CHECK(cudaMalloc(&log, sizeof(Entry)));
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  const unsigned round = static_cast<unsigned>(sms) * 8;
  double host = 0;
  const auto begin = std::chrono::steady_clock::now();
  spin<<<round * 4, 256, 0, s>>>(1000, log, used, 0);
  const double first_host = us_since(begin);
  CHECK(cudaStreamSynchronize(s));
  const double first = us_since(begin);
  std::printf("{\"context_us\":%.0f,\"first_launch_us\":%.1f,\"first_launch_done_us\":%.1f", context, first_host, first);
  std::printf(",\"spinning_1ms_us\":%.2f", launches(100, round * 50, 256, 20'000, log, used, s, &host));
  float* a;
  constexpr unsigned kN = 1U << 20;
  CHECK(cudaMalloc(&a, kN * 4));
  CHECK(cudaMemset(a, 0, kN * 4));
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

/// What a node says that it has.
int node() {
  CHECK(cudaFree(nullptr));
  cudaKernel_t kernel;
  cudaFunction_t function;
  CHECK(cudaGetKernel(&kernel, reinterpret_cast<const void*>(add)));
  CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(add)));
  std::printf("kernel %p function %p\n", static_cast<void*>(kernel), static_cast<void*>(function));
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuGraphKernelNodeGetParams", &entry, 12000, cudaEnableDefault, &found));
  const auto get = reinterpret_cast<CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*)>(entry);
  Check c;
  float v = 0.25f;
  int steps = 100;
  void* of_add[] = {&c.a, &c.n, &v, &steps};
  cudaKernelNodeParams p{};
  p.func = reinterpret_cast<void*>(add);
  p.gridDim = dim3(c.n / 128);
  p.blockDim = dim3(128);
  p.kernelParams = of_add;
  cudaGraph_t graph;
  cudaGraphNode_t made;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddKernelNode(&made, graph, nullptr, 0, &p));
  CUDA_KERNEL_NODE_PARAMS seen{};
  CHECK(get(made, &seen));
  std::printf("node: func %p kern %p ctx %p\n", static_cast<void*>(seen.func), static_cast<void*>(seen.kern), static_cast<void*>(seen.ctx));
  cudaKernelNodeParams again{};
  std::printf("runtime: %d\n", static_cast<int>(cudaGraphKernelNodeGetParams(made, &again)));
  return 0;
}

int busy(int ms) {
  int sms = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  float* out;
  CHECK(cudaMalloc(&out, 4));
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  const auto launch = [&] {
    arithmetic<<<static_cast<unsigned>(sms) * 8 * 24, 256, 0, s>>>(out, 1200);
    CHECK(cudaStreamSynchronize(s));
  };
  launch();
  const auto begin = std::chrono::steady_clock::now();
  int count = 0;
  double longest = 0;
  while (us_since(begin) < ms * 1e3) {
    const auto t = std::chrono::steady_clock::now();
    launch();
    longest = std::max(longest, us_since(t));
    ++count;
  }
  std::printf("{\"launches\":%d,\"mean_us\":%.1f,\"longest_us\":%.1f}\n", count, us_since(begin) / count, longest);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "check") return check();
  if (what == "requota" && argc > 3) return requota(argv[2], std::atoi(argv[3]));
  if (what == "overhead") return overhead();
  if (what == "node") return node();
  if (what == "busy" && argc > 2) return busy(std::atoi(argv[2]));
  std::printf("usage: interpose_probe check | requota FILE ROUNDS | overhead | busy MS\n");
  return 2;
}
