// SPDX-License-Identifier: Apache-2.0
// A program whose kernels are recorded: PTX of a file, launched in a few ways. @return how many calls went wrong, or CLIENT_EXIT

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fake_cuda/client.h"

using namespace sluice::fake_client;  // NOLINT(google-build-using-namespace): this folder's own

namespace {
/// Has a variable: it is loaded with the kernels that log.
constexpr const char* kVariable =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .global .align 4 .u32 v;\n.visible .entry own(.param .u64 a)\n{\n"
    ".reg .u32 %r1;\nld.global.u32 %r1, [v];\nret;\n}\n.visible .entry calls(.param .u64 a)\n{\ncall.uni f;\nret;\n}\n.func "
    "f()\n{\nret;\n}\n";
}  // namespace

int main(int, char** argv) {
  std::ifstream in(argv[1]);
  const std::string ptx(std::istreambuf_iterator<char>(in), {});
  CUmodule module = nullptr, variable = nullptr;
  CUfunction sum = nullptr, own = nullptr, calls = nullptr;
  unsigned long long a = 7, b = 9, c = 64;
  void* arguments[] = {&a, &b, &c};
  const auto stream = reinterpret_cast<CUstream>(5);
  expect(good(CU(cuModuleLoadData)(&module, ptx.c_str())), "load");
  expect(good(CU(cuModuleGetFunction)(&sum, module, "sum")), "function");
  for (int i = 0; i < 4; ++i) expect(good(CU(cuLaunchKernel)(sum, 3, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr)), "launch");
  expect(good(CU(cuModuleLoadData)(&variable, kVariable)), "load with a variable");
  expect(good(CU(cuModuleGetFunction)(&own, variable, "own")), "its function");
  expect(good(CU(cuModuleGetFunction)(&calls, variable, "calls")), "its other function");
  expect(good(CU(cuLaunchKernel)(calls, 3, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr)), "calls a function");
  expect(good(CU(cuLaunchKernel)(own, 3, 1, 1, 1024, 1, 1, 0, stream, arguments, nullptr)), "many threads");
  CUgraph graph = nullptr;
  expect(good(CU(cuModuleLoadData)(&module, ptx.c_str())), "load again");
  expect(good(CU(cuModuleGetFunction)(&sum, module, "sum")), "function");
  expect(good(CU(cuStreamBeginCapture)(reinterpret_cast<CUstream>(6), CU_STREAM_CAPTURE_MODE_GLOBAL)), "capture");
  expect(good(CU(cuLaunchKernel)(sum, 3, 1, 1, 32, 1, 1, 0, reinterpret_cast<CUstream>(6), arguments, nullptr)), "captured");
  expect(good(CU(cuStreamEndCapture)(reinterpret_cast<CUstream>(6), &graph)), "end of capture");
  expect(good(CU(cuCtxSynchronize)()), "the streams' end");
  std::printf("what the program prints\n");
  const char* exit = std::getenv("CLIENT_EXIT");
  return wrong > 0 || exit == nullptr ? wrong : std::atoi(exit);
}
