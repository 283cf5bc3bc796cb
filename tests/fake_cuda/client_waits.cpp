// SPDX-License-Identifier: Apache-2.0
// A program that makes one call while a launch of its own sleeps, or runs a kernel that waits for another's first launch. It
// says itself what its quota is. @return how many calls went wrong
#include <cuda.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>

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

int wrong = 0;
void expect(bool good, const char* what) {
  if (!good) std::printf("wrong: %s\n", what);
  wrong += good ? 0 : 1;
}
void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s QUOTA_FILE CALL\n", argv[0]), 101;
  const auto quota = [&](const char* text) { std::ofstream(argv[1]) << text << '\n'; };
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return 100;
#define GET(NAME, SYMBOL) const auto NAME##_f = reinterpret_cast<decltype(&NAME)>(dlsym(driver, SYMBOL))
  GET(cuModuleLoadData, "cuModuleLoadData");
  GET(cuModuleGetFunction, "cuModuleGetFunction");
  GET(cuLibraryLoadData, "cuLibraryLoadData");
  GET(cuLibraryGetKernel, "cuLibraryGetKernel");
  GET(cuLibraryGetModule, "cuLibraryGetModule");
  GET(cuLibraryUnload, "cuLibraryUnload");
  GET(cuKernelGetFunction, "cuKernelGetFunction");
  GET(cuKernelGetParamInfo, "cuKernelGetParamInfo");
  GET(cuLaunchKernel, "cuLaunchKernel");
  GET(cuCtxSynchronize, "cuCtxSynchronize");
  GET(cuCtxSetLimit, "cuCtxSetLimit");
  GET(cuMemFree, "cuMemFree_v2");
  GET(cuMemHostAlloc, "cuMemHostAlloc");
  GET(cuMemFreeHost, "cuMemFreeHost");
  GET(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  GET(cuStreamCreate, "cuStreamCreate");
  GET(cuStreamCreateWithPriority, "cuStreamCreateWithPriority");
  CUmodule module = nullptr, other = nullptr;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction k = nullptr, frees = nullptr, waits = nullptr;
  const auto stream = reinterpret_cast<CUstream>(5), beside = reinterpret_cast<CUstream>(6),
             third = reinterpret_cast<CUstream>(7);
  unsigned long long a = 7, b = 9;
  void* arguments[] = {&a, &b};
  const auto launch = [&](CUfunction function, CUstream in) {
    return cuLaunchKernel_f(function, 800, 1, 1, 64, 1, 1, 0, in, arguments, nullptr) == CUDA_SUCCESS;
  };
  expect(cuLibraryLoadData_f(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0) == CUDA_SUCCESS, "library");
  expect(cuModuleLoadData_f(&module, kPtx) == CUDA_SUCCESS, "module");
  expect(cuModuleGetFunction_f(&k, module, "k") == CUDA_SUCCESS, "k");
  const std::string call = argv[2];
  if (call == "first_launch") {
    quota("2");
    expect(cuModuleGetFunction_f(&waits, module, "waits_for_frees") == CUDA_SUCCESS, "waits_for_frees");
    expect(cuModuleGetFunction_f(&frees, module, "frees") == CUDA_SUCCESS, "frees");
    for (int round = 0; round < 2; ++round) {
      expect(launch(waits, stream) && launch(frees, beside), "two that depend on each other");
      expect(cuCtxSynchronize_f() == CUDA_SUCCESS, "both end");
      if (round == 0) sleep_ms(300);  // there is code for all of them now
    }
    return wrong;
  }
  if (call == "long_copy") {
    constexpr std::size_t kLong = 2U << 20;
    static char device[kLong];
    void* host = nullptr;
    quota("2");
    expect(launch(k, stream) && cuCtxSynchronize_f() == CUDA_SUCCESS, "code");
    // Later than that, or the other's code would be made beside it, and it would not wait for that.
    expect(cuModuleGetFunction_f(&frees, module, "frees") == CUDA_SUCCESS, "frees");
    expect(launch(frees, stream) && cuCtxSynchronize_f() == CUDA_SUCCESS, "code of the other");
    expect(cuMemHostAlloc_f(&host, kLong, 0) == CUDA_SUCCESS, "memory");
    expect(cuMemcpyDtoHAsync_f(host, reinterpret_cast<CUdeviceptr>(device), kLong, beside) == CUDA_SUCCESS, "copy");
    for (int n = 0; n < 3; ++n, sleep_ms(20)) expect(launch(k, stream), "beside the copy");
    quota("1");
    sleep_ms(20);
    expect(launch(frees, third) && cuCtxSynchronize_f() == CUDA_SUCCESS, "what the copy waits for");
    return wrong;
  }
  quota("all");
  expect(launch(k, stream) && cuCtxSynchronize_f() == CUDA_SUCCESS, "with the whole GPU");
  quota("0");
  sleep_ms(100);
  expect(launch(k, stream), "without a CTA");
  sleep_ms(100);
  const auto good = [](CUresult result) { return result == CUDA_SUCCESS; };
  CUstream made = nullptr;
  unsigned here = 0, there = 7;
  const auto new_kernel = [&] { return good(cuLibraryGetKernel_f(&kernel, library, "k")); };
  const std::map<std::string, std::function<bool()>> calls = {
      {"cuModuleLoadData", [&] { return good(cuModuleLoadData_f(&other, kPtx)); }},
      {"cuModuleGetFunction", [&] { return good(cuModuleGetFunction_f(&frees, module, "frees")); }},
      {"cuKernelGetFunction", [&] { return new_kernel() && good(cuKernelGetFunction_f(&frees, kernel)); }},
      {"cuKernelGetParamInfo",
       [&] {
         std::size_t offset = 0, bytes = 0;
         return new_kernel() && good(cuKernelGetParamInfo_f(kernel, 0, &offset, &bytes));
       }},
      {"cuLibraryGetModule", [&] { return good(cuLibraryGetModule_f(&other, library)); }},
      {"cuLibraryUnload", [&] { return good(cuLibraryUnload_f(library)); }},
      {"cuMemFree", [&] { return good(cuMemFree_f(0)); }},
      {"cuMemFreeHost", [&] { return good(cuMemFreeHost_f(&here)); }},
      {"cuCtxSetLimit", [&] { return good(cuCtxSetLimit_f(CU_LIMIT_STACK_SIZE, 8192)); }},
      {"cuMemcpyDtoHAsync",
       [&] { return good(cuMemcpyDtoHAsync_f(&here, reinterpret_cast<CUdeviceptr>(&there), sizeof here, stream)); }},
      {"cuStreamCreate",
       [&] {
         bool all = true;
         for (int n = 0; n < 40; ++n) all = good(cuStreamCreate_f(&made, 0)) && all;
         return all;
       }},
      {"cuStreamCreateWithPriority",
       [&] {
         bool all = true;
         for (int n = 0; n < 40; ++n) all = good(cuStreamCreateWithPriority_f(&made, 0, -1)) && all;
         return all;
       }},
  };
  std::thread later([&] {
    sleep_ms(300);
    quota("2");
  });
  const auto found = calls.find(call);
  expect(found != calls.end() && found->second(), argv[2]);
  expect(cuCtxSynchronize_f() == CUDA_SUCCESS, "its end");
  later.join();
  return wrong;
}
