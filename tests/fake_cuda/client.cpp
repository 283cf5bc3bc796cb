// SPDX-License-Identifier: Apache-2.0
// A program that uses the driver: a module of PTX, launches of one kernel in several ways. @return how many calls went wrong
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>

namespace {
constexpr const char* kPtx =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{\n.reg .b32 %r<3>;\n"
    "mov.u32 %r1, %ctaid.x;\nret;\n}\n";
int wrong = 0;
void expect(bool good, const char* what) {
  if (!good) std::printf("wrong: %s\n", what);
  wrong += good ? 0 : 1;
}
}  // namespace

int main() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return 100;
#define GET(NAME, SYMBOL) const auto NAME##_f = reinterpret_cast<decltype(&NAME)>(dlsym(driver, SYMBOL))
  GET(cuInit, "cuInit");
  GET(cuModuleLoadData, "cuModuleLoadData");
  GET(cuModuleGetFunction, "cuModuleGetFunction");
  GET(cuLibraryLoadData, "cuLibraryLoadData");
  GET(cuLibraryGetKernel, "cuLibraryGetKernel");
  GET(cuGetProcAddress, "cuGetProcAddress_v2");
  expect(cuInit_f(0) == CUDA_SUCCESS, "cuInit");
  CUmodule module = nullptr;
  CUfunction k = nullptr;
  expect(cuModuleLoadData_f(&module, kPtx) == CUDA_SUCCESS, "load");
  expect(cuModuleGetFunction_f(&k, module, "absent") == CUDA_ERROR_NOT_FOUND, "errors pass");
  expect(cuModuleGetFunction_f(&k, module, "k") == CUDA_SUCCESS, "function");
  CUdriverProcAddressQueryResult status{};
  void* found = nullptr;
  expect(cuGetProcAddress_f("cuLaunchKernel", &found, 12000, 0, &status) == CUDA_SUCCESS, "look-up");
  const auto launch = reinterpret_cast<decltype(&cuLaunchKernel)>(found);
  unsigned long long a = 7, b = 9;
  void* arguments[] = {&a, &b};
  const auto stream = reinterpret_cast<CUstream>(5);
  expect(launch(k, 1000, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "by array");
  unsigned long long buffer[] = {17, 19};
  std::size_t bytes = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  expect(launch(k, 77, 5, 1, 64, 1, 1, 0, stream, nullptr, extra) == CUDA_SUCCESS, "by buffer");
  expect(launch(k, 13, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "errors pass");
  expect(launch(k, 1000, 1, 1, 64, 1, 1, 0, reinterpret_cast<CUstream>(99), arguments, nullptr) == CUDA_SUCCESS, "captured");
  CUlibrary library = nullptr;
  CUkernel l = nullptr;
  expect(cuLibraryLoadData_f(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0) == CUDA_SUCCESS, "library");
  expect(cuLibraryGetKernel_f(&l, library, "k") == CUDA_SUCCESS, "kernel");
  expect(launch(reinterpret_cast<CUfunction>(l), 128, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS,
         "of a library");
  return wrong;
}
