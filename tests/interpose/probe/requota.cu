// SPDX-License-Identifier: Apache-2.0
// When a quota that changes is in force in a graph that replays: each block logs its SM, its begin and its end.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "probe.cuh"

namespace {

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

__global__ void spin(unsigned ns, Entry* log, unsigned* used, unsigned room) {
  const unsigned long long begin = now();
  while (now() - begin < ns) continue;
  if (threadIdx.x != 0) return;
  const unsigned at = atomicAdd(used, 1);
  if (at < room) log[at] = {begin, static_cast<unsigned>(now() - begin), sm_id()};
}
__global__ void clock_of(unsigned long long* out) { *out = now(); }

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

}  // namespace

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
