// SPDX-License-Identifier: Apache-2.0
// A program that makes one call while a launch of its own sleeps, or runs a kernel that waits for another's first launch. It
// says itself what its quota is. @return how many calls went wrong

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/fake_cuda/client.h"

using namespace sluice::fake_client;  // NOLINT(google-build-using-namespace): this folder's own

namespace {

#define BODY                                                                                                                  \
  "(.param .u64 a, .param .u64 b)\n{\n.reg .pred %p;\n.reg .b32 %r<3>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [a];\nmov.u32 " \
  "%r1, "
constexpr const char* kPtx =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k" BODY
    "%ctaid.x;\nret;\n}\n"
    ".visible .entry frees" BODY
    "%ctaid.x;\nret;\n}\n"
    ".visible .entry waits_for_frees" BODY
    "%ctaid.x;\n$L:\nld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p, %r2, 0;\n@%p bra $L;\nret;\n}\n";

/// Of the driver, not of what stands before it.
int asleep() {
  static const auto of_driver =
      reinterpret_cast<int (*)()>(::dlsym(::dlopen(std::getenv("SLUICE_REAL_LIBCUDA"), RTLD_LAZY), "fake_cuda_asleep"));
  return of_driver();
}
void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s QUOTA_FILE CALL\n", argv[0]), 101;
  const auto quota = [&](const char* text) { std::ofstream(argv[1]) << text << '\n'; };
  CUmodule module = nullptr, other = nullptr;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction k = nullptr, frees = nullptr, waits = nullptr;
  const auto stream = reinterpret_cast<CUstream>(5), beside = reinterpret_cast<CUstream>(6),
             third = reinterpret_cast<CUstream>(7);
  unsigned long long a = 7, b = 9;
  void* arguments[] = {&a, &b};
  const auto launch = [&](CUfunction function, CUstream in, unsigned blocks = 800) {
    return good(CU(cuLaunchKernel)(function, blocks, 1, 1, 64, 1, 1, 0, in, arguments, nullptr));
  };
  CUdeviceptr memory = 0;
  expect(good(CU(cuMemAlloc)(&memory, 4)), "memory");
  /// Until one sleeps: a quota is in force some time after it was written.
  const auto until_asleep = [&](CUstream in, const auto& begin) {
    for (int n = 0; n < 100; ++n) {
      if (!begin()) return false;
      while (asleep() == 0 && CU(cuStreamQuery)(in) == CUDA_ERROR_NOT_READY) sleep_ms(1);
      if (asleep() > 0) return true;
      sleep_ms(20);
    }
    return false;
  };
  expect(good(CU(cuLibraryLoadData)(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0)), "library");
  expect(good(CU(cuModuleLoadData)(&module, kPtx)), "module");
  expect(good(CU(cuModuleGetFunction)(&k, module, "k")), "k");
  const std::string call = argv[2];
  if (call == "first_launch") {
    quota("2");
    expect(good(CU(cuModuleGetFunction)(&waits, module, "waits_for_frees")), "waits_for_frees");
    expect(good(CU(cuModuleGetFunction)(&frees, module, "frees")), "frees");
    for (int round = 0; round < 2; ++round) {
      expect(launch(waits, stream) && launch(frees, beside), "two that depend on each other");
      expect(good(CU(cuCtxSynchronize)()), "both end");
      if (round == 0) sleep_ms(1000);  // there is code for all of them now
    }
    return wrong;
  }
  if (call == "first_launch_beside") {  // one that is native, as all its blocks fit
    quota("2");
    expect(good(CU(cuModuleGetFunction)(&waits, module, "waits_for_frees")), "waits_for_frees");
    expect(good(CU(cuModuleLoadData)(&other, kPtx)) && good(CU(cuModuleGetFunction)(&frees, other, "frees")), "frees");
    expect(launch(waits, stream, 2), "one that waits");
    sleep_ms(1000);  // there is code for the other now
    expect(launch(frees, beside) && good(CU(cuCtxSynchronize)()), "both end");
    for (int n = 0; n < 2; ++n) expect(launch(frees, beside) && good(CU(cuCtxSynchronize)()), "its code is there");
    return wrong;
  }
  if (call == "long_copy") {
    constexpr std::size_t kLong = 2U << 20;
    static char device[kLong];
    void* host = nullptr;
    quota("2");
    expect(good(CU(cuModuleGetFunction)(&frees, module, "frees")), "frees");
    expect(launch(k, stream) && good(CU(cuCtxSynchronize)()), "code");
    expect(launch(frees, stream) && good(CU(cuCtxSynchronize)()), "code of the other");
    expect(good(CU(cuMemHostAlloc)(&host, kLong, 0)), "memory");
    expect(good(CU(cuMemcpyDtoHAsync)(host, reinterpret_cast<CUdeviceptr>(device), kLong, beside)), "copy");
    for (int n = 0; n < 3; ++n, sleep_ms(20)) expect(launch(k, stream), "beside the copy");
    quota("1");
    sleep_ms(20);
    expect(launch(frees, third) && good(CU(cuCtxSynchronize)()), "what the copy waits for");
    return wrong;
  }
  if (call == "graph") {  // it sleeps in the channel of the first stream that the interposer makes, 1000
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    const auto eighth = reinterpret_cast<CUstream>(8);
    quota("2");
    expect(good(CU(cuStreamBeginCapture)(eighth, CU_STREAM_CAPTURE_MODE_GLOBAL)) && launch(k, eighth) &&
               good(CU(cuStreamEndCapture)(eighth, &graph)) && good(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0)),
           "a graph");
    for (const char* then : {"2", "1"}) {
      quota("0");
      expect(until_asleep(eighth, [&] { return good(CU(cuGraphLaunch)(exec, eighth)); }), "replay");
      quota(then);
      expect(good(CU(cuCtxSynchronize)()), "its end");
    }
    return wrong;
  }
  if (call == "thousand_behind") {  // natively the driver's queue has room for them
    quota("2");
    expect(good(CU(cuModuleGetFunction)(&waits, module, "waits_for_frees")), "waits_for_frees");
    expect(good(CU(cuModuleGetFunction)(&frees, module, "frees")), "frees");
    for (int round = 0; round < 2; ++round) {
      expect(launch(waits, stream), "one that waits");
      for (int n = 0; n < 950; ++n) expect(good(CU(cuMemsetD8Async)(memory, 9, 4, stream)), "behind it");
      expect(launch(frees, beside) && good(CU(cuCtxSynchronize)()), "both end");
    }
    return wrong;
  }
  quota("all");
  expect(launch(k, stream) && good(CU(cuCtxSynchronize)()), "with the whole GPU");
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  const bool behind = call == "cuGraphExecDestroy behind", replays = behind || call == "cuGraphExecDestroy";
  if (replays)  // behind: a small grid, which is native
    expect(good(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL)) && launch(k, stream, behind ? 1 : 800) &&
               good(CU(cuStreamEndCapture)(stream, &graph)) && good(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0)),
           "a graph");
  quota("0");
  if (behind || !replays) expect(until_asleep(stream, [&] { return launch(k, stream); }), "without a CTA");
  const auto replay = [&] { return good(CU(cuGraphLaunch)(exec, stream)); };
  if (replays) expect(behind ? replay() : until_asleep(stream, replay), "replay");
  CUstream made = nullptr;
  unsigned here = 0, there = 7;
  const auto new_kernel = [&] { return good(CU(cuLibraryGetKernel)(&kernel, library, "k")); };
  const std::map<std::string, std::function<bool()>> calls = {
      {"cuModuleLoadData", [&] { return good(CU(cuModuleLoadData)(&other, kPtx)); }},
      {"cuModuleGetFunction", [&] { return good(CU(cuModuleGetFunction)(&frees, module, "frees")); }},
      {"cuKernelGetFunction", [&] { return new_kernel() && good(CU(cuKernelGetFunction)(&frees, kernel)); }},
      {"cuKernelGetParamInfo",
       [&] {
         std::size_t offset = 0, bytes = 0;
         return new_kernel() && good(CU(cuKernelGetParamInfo)(kernel, 0, &offset, &bytes));
       }},
      {"cuLibraryGetModule", [&] { return good(CU(cuLibraryGetModule)(&other, library)); }},
      {"cuLibraryUnload", [&] { return good(CU(cuLibraryUnload)(library)); }},
      {"cuGraphExecDestroy", [&] { return good(CU(cuGraphExecDestroy)(exec)); }},
      {"cuGraphExecDestroy behind", [&] { return good(CU(cuGraphExecDestroy)(exec)); }},
      {"cuMemsetD8Async",
       [&] {
         bool all = true;
         for (int n = 0; n < 1100; ++n) all = good(CU(cuMemsetD8Async)(memory, 0, 4, stream)) && all;
         return all;
       }},
      {"cuStreamWaitEvent",  // another stream's queue fills up behind the event
       [&] {
         CUevent event = nullptr;
         bool all = good(CU(cuEventCreate)(&event, 0)) && good(CU(cuEventRecord)(event, stream)) &&
                    good(CU(cuStreamWaitEvent)(beside, event, 0));
         for (a = 1000; a < 2100; ++a)
           all = (a % 2 == 0 ? launch(k, beside, 2) : good(CU(cuMemsetD8Async)(memory, 9, 4, beside))) && all;
         return all;
       }},
      {"cuStreamWaitEvent, then memory",
       [&] {
         CUevent event = nullptr;
         bool all = good(CU(cuEventCreate)(&event, 0)) && good(CU(cuEventRecord)(event, stream)) &&
                    good(CU(cuStreamWaitEvent)(beside, event, 0));
         for (int n = 0; n < 1100; ++n) all = good(CU(cuMemsetD8Async)(memory, 9, 4, beside)) && all;
         return all;
       }},
      {"cuCtxResetPersistingL2Cache", [&] { return good(CU(cuCtxResetPersistingL2Cache)()); }},
      {"cuMemFree", [&] { return good(CU(cuMemFree)(0)); }},
      {"cuMemFreeHost", [&] { return good(CU(cuMemFreeHost)(&here)); }},
      {"cuCtxSetLimit", [&] { return good(CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, 8192)); }},
      {"cuMemcpyDtoHAsync",
       [&] { return good(CU(cuMemcpyDtoHAsync)(&here, reinterpret_cast<CUdeviceptr>(&there), sizeof here, stream)); }},
      {"cuStreamCreate",
       [&] {
         bool all = true;
         for (int n = 0; n < 40; ++n) all = good(CU(cuStreamCreate)(&made, 0)) && all;
         return all;
       }},
      {"CU_STREAM_PER_THREAD",
       [&] {
         std::atomic<int> right = 0;
         std::vector<std::thread> threads;
         for (int n = 0; n < 40; ++n) threads.emplace_back([&] { right += launch(k, CU_STREAM_PER_THREAD, 2) ? 1 : 0; });
         for (std::thread& each : threads) each.join();
         return right == 40;
       }},
      {"cuStreamCreateWithPriority",
       [&] {
         bool all = true;
         for (int n = 0; n < 40; ++n) all = good(CU(cuStreamCreateWithPriority)(&made, 0, -1)) && all;
         return all;
       }},
  };
  std::thread later([&] {
    sleep_ms(300);
    quota("2");
  });
  const auto found = calls.find(call);
  expect(found != calls.end() && found->second(), argv[2]);
  expect(good(CU(cuCtxSynchronize)()), "its end");
  later.join();
  return wrong;
}
