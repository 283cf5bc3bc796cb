// SPDX-License-Identifier: Apache-2.0
// A program whose kernels are recorded: PTX of a file, launched in a few ways. @return how many calls went wrong, or CLIENT_EXIT
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace {
/// Has a variable: it is loaded with the kernels that log.
constexpr const char* kVariable =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .global .align 4 .u32 v;\n.visible .entry own(.param .u64 a)\n{\n"
    ".reg .u32 %r1;\nld.global.u32 %r1, [v];\nret;\n}\n.visible .entry calls(.param .u64 a)\n{\ncall.uni f;\nret;\n}\n.func "
    "f()\n{\nret;\n}\n";
int wrong = 0;
void expect(bool good, const char* what) {
  if (!good) std::printf("wrong: %s\n", what);
  wrong += good ? 0 : 1;
}
#define GET(NAME, SYMBOL) const auto NAME##_f = reinterpret_cast<decltype(&NAME)>(dlsym(driver, SYMBOL))
}  // namespace

int main(int, char** argv) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return 100;
  GET(cuModuleLoadData, "cuModuleLoadData");
  GET(cuModuleGetFunction, "cuModuleGetFunction");
  GET(cuLaunchKernel, "cuLaunchKernel");
  GET(cuCtxSynchronize, "cuCtxSynchronize");
  GET(cuStreamBeginCapture, "cuStreamBeginCapture_v2");
  GET(cuStreamEndCapture, "cuStreamEndCapture");
  std::ifstream in(argv[1]);
  const std::string ptx(std::istreambuf_iterator<char>(in), {});
  CUmodule module = nullptr, variable = nullptr;
  CUfunction sum = nullptr, own = nullptr, calls = nullptr;
  unsigned long long a = 7, b = 9, c = 64;
  void* arguments[] = {&a, &b, &c};
  const auto stream = reinterpret_cast<CUstream>(5);
  expect(cuModuleLoadData_f(&module, ptx.c_str()) == CUDA_SUCCESS, "load");
  expect(cuModuleGetFunction_f(&sum, module, "sum") == CUDA_SUCCESS, "function");
  for (int i = 0; i < 4; ++i)
    expect(cuLaunchKernel_f(sum, 3, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "launch");
  expect(cuModuleLoadData_f(&variable, kVariable) == CUDA_SUCCESS, "load with a variable");
  expect(cuModuleGetFunction_f(&own, variable, "own") == CUDA_SUCCESS, "its function");
  expect(cuModuleGetFunction_f(&calls, variable, "calls") == CUDA_SUCCESS, "its other function");
  expect(cuLaunchKernel_f(calls, 3, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "calls a function");
  expect(cuLaunchKernel_f(own, 3, 1, 1, 1024, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "many threads");
  CUgraph graph = nullptr;
  expect(cuModuleLoadData_f(&module, ptx.c_str()) == CUDA_SUCCESS, "load again");
  expect(cuModuleGetFunction_f(&sum, module, "sum") == CUDA_SUCCESS, "function");
  expect(cuStreamBeginCapture_f(reinterpret_cast<CUstream>(6), CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS, "capture");
  expect(cuLaunchKernel_f(sum, 3, 1, 1, 32, 1, 1, 0, reinterpret_cast<CUstream>(6), arguments, nullptr) == CUDA_SUCCESS,
         "captured");
  expect(cuStreamEndCapture_f(reinterpret_cast<CUstream>(6), &graph) == CUDA_SUCCESS, "end of capture");
  expect(cuCtxSynchronize_f() == CUDA_SUCCESS, "the streams' end");
  std::printf("what the program prints\n");
  const char* exit = std::getenv("CLIENT_EXIT");
  return wrong > 0 || exit == nullptr ? wrong : std::atoi(exit);
}
