// SPDX-License-Identifier: Apache-2.0
// A persistent kernel written by hand under the service (executor gpu): TASKS tasks of TASK_US each, every one exactly once, while
// the share changes. usage: persistent SOCKET PRIORITY TASKS TASK_US
#include <poll.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sw/service/sluice_client.h"
#include "sw/service/sluice_device.cuh"

__global__ void tasks_of(const volatile sluice_share* share, sluice_work* work, unsigned long long tasks, long long ns, unsigned* runs) {
  __shared__ sluice_cta cta;
  if (!sluice_enter(share, work, &cta)) return;
  while (sluice_next(share, work, tasks, &cta)) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (static_cast<long long>(now - begin) < ns);
    if (threadIdx.x == 0) runs[cta.task] += 1;
  }
}

static void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
  std::exit(3);
}
static void check(sluice_error e) {
  if (e == SLUICE_OK) return;
  std::fprintf(stderr, "%s\n", sluice_last_error());
  std::exit(e == SLUICE_ERROR_NO_SERVICE ? 2 : 3);
}

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: %s SOCKET PRIORITY TASKS TASK_US\n", argv[0]), 2;
  const unsigned long long tasks = std::strtoull(argv[3], nullptr, 10);
  const long long ns = std::atoll(argv[4]) * 1000;
  constexpr int kThreads = 128;
  cudaDeviceProp gpu;
  check(cudaGetDeviceProperties(&gpu, 0));
  cudaFuncAttributes kernel;
  check(cudaFuncGetAttributes(&kernel, tasks_of));
  int fits = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, tasks_of, kThreads, 0));

  sluice_session* session = nullptr;
  check(sluice_connect(argv[1], "persistent", std::atoi(argv[2]), &session));
  const sluice_gpu machine = {static_cast<uint32_t>(gpu.multiProcessorCount), static_cast<uint32_t>(gpu.maxThreadsPerMultiProcessor),
                              static_cast<uint32_t>(gpu.regsPerMultiprocessor), static_cast<uint32_t>(gpu.sharedMemPerMultiprocessor),
                              static_cast<uint32_t>(gpu.maxBlocksPerMultiProcessor)};
  check(sluice_machine(session, &machine));
  const sluice_kernel demand = {"tasks_of", kThreads, static_cast<uint32_t>(kernel.numRegs * kThreads),
                                static_cast<uint32_t>(kernel.sharedSizeBytes)};
  sluice_stub stub = 0;
  check(sluice_kernel_stub(session, &demand, &stub));
  check(sluice_submit(session, stub, tasks, 0));

  sluice_share* share = nullptr;
  sluice_work *work = nullptr, now{};
  unsigned* runs = nullptr;
  cudaStream_t lane, copies;
  check(cudaHostAlloc(&share, sizeof *share, cudaHostAllocMapped));
  check(cudaMalloc(&work, sizeof *work));
  check(cudaMalloc(&runs, tasks * sizeof *runs));
  check(cudaMemset(work, 0, sizeof *work));
  check(cudaMemset(runs, 0, tasks * sizeof *runs));
  check(cudaStreamCreateWithFlags(&lane, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
  *share = {};
  unsigned launches = 0;
  for (;;) {
    pollfd said{sluice_descriptor(session), POLLIN, 0};
    poll(&said, 1, 1);
    check(sluice_listen(session));
    sluice_progress granted;
    check(sluice_read(session, stub, &granted));
    const unsigned ctas = granted.ctas < static_cast<unsigned>(fits) ? granted.ctas : static_cast<unsigned>(fits);
    share->first_sm = granted.first_sm;
    share->sms = granted.sms;
    share->ctas = ctas;
    check(cudaMemcpyAsync(&now, work, sizeof now, cudaMemcpyDeviceToHost, copies));
    check(cudaStreamSynchronize(copies));
    if (now.done == tasks) break;
    check(sluice_report(session, stub, SLUICE_PROGRESS, now.next, now.done));
    const cudaError_t gone = cudaStreamQuery(lane);
    if (gone == cudaErrorNotReady) continue;
    check(gone);
    if (granted.state == SLUICE_TO_EVICT) check(sluice_report(session, stub, SLUICE_EVICTED, now.next, now.done));
    if (ctas == 0) continue;
    tasks_of<<<gpu.multiProcessorCount * fits, kThreads, 0, lane>>>(share, work, tasks, ns, runs);
    check(cudaGetLastError());
    ++launches;
  }
  check(sluice_report(session, stub, SLUICE_ENDED, tasks, tasks));
  sluice_disconnect(session);
  std::vector<unsigned> times(tasks);
  check(cudaMemcpy(times.data(), runs, tasks * sizeof *runs, cudaMemcpyDeviceToHost));
  unsigned long long wrong = 0;
  for (const unsigned n : times) wrong += n != 1;
  std::printf("%llu tasks, %llu not exactly once, %u grids\n", tasks, wrong, launches);
  return wrong == 0 ? 0 : 1;
}
