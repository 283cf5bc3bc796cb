// SPDX-License-Identifier: Apache-2.0
// A program that uses the driver: a module of PTX, launches of one kernel in several ways. @return how many calls went wrong
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <chrono>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/gpu/fatbin_writer.h"

namespace {
constexpr const char* kPtx =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{\n.reg .b32 %r<3>;\n"
    "mov.u32 %r1, %ctaid.x;\nret;\n}\n";
/// Its blocks wait for what other blocks write.
constexpr const char* kWaits =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry waits(.param .u64 a, .param .u64 b)\n{\n.reg .pred %p;\n"
    ".reg .b32 %r<3>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [a];\nmov.u32 %r1, %ctaid.x;\n$L:\nld.volatile.global.u32 %r2, "
    "[%rd1];\n"
    "setp.eq.u32 %p, %r2, 0;\n@%p bra $L;\nret;\n}\n";
/// Has no transformed form.
constexpr const char* kOpaque =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry opaque(.param .u64 a, .param .u64 b)\n{\nexit;\n}\n";
/// Has the PTX in its parts, as nvcc -rdc=true leaves it.
struct Linked {
  explicit Linked(const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
      containers.push_back(sluice::gpu::fatbin_container(sluice::gpu::fatbin_entry(1, 52, text, sluice::gpu::Packing::Zstd)));
    for (const std::string& c : containers) list.push_back(c.data());
    list.push_back(nullptr);
  }
  struct Wrapper {
    std::uint32_t magic = 0x466243b1, version = 2;
    const void *container, *list;
  };
  [[nodiscard]] Wrapper wrapper() const { return {.container = code.data(), .list = list.data()}; }
  std::string code = sluice::gpu::fatbin_container(sluice::gpu::fatbin_entry(2, 52, "machine code", sluice::gpu::Packing::None));
  std::vector<std::string> containers{};
  std::vector<const void*> list{};
};
int wrong = 0;
void expect(bool good, const char* what) {
  if (!good) std::printf("wrong: %s\n", what);
  wrong += good ? 0 : 1;
}
#define GET(NAME, SYMBOL) const auto NAME##_f = reinterpret_cast<decltype(&NAME)>(dlsym(driver, SYMBOL))

/// Captured launches and nodes of the program's own, replayed and changed.
void graphs(void* driver, decltype(&cuLaunchKernel) launch, CUfunction k) {
  GET(cuStreamBeginCapture, "cuStreamBeginCapture_v2");
  GET(cuStreamEndCapture, "cuStreamEndCapture");
  GET(cuGraphCreate, "cuGraphCreate");
  GET(cuGraphAddKernelNode, "cuGraphAddKernelNode_v2");
  GET(cuGraphKernelNodeGetParams, "cuGraphKernelNodeGetParams_v2");
  GET(cuGraphKernelNodeSetParams, "cuGraphKernelNodeSetParams_v2");
  GET(cuGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams_v2");
  GET(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags");
  GET(cuGraphClone, "cuGraphClone");
  GET(cuGraphLaunch, "cuGraphLaunch");
  GET(cuGraphExecDestroy, "cuGraphExecDestroy");
  const auto stream = reinterpret_cast<CUstream>(6), other = reinterpret_cast<CUstream>(7);
  unsigned long long a = 27, b = 29;
  void* arguments[] = {&a, &b};
  CUgraph captured = nullptr, made = nullptr, copy = nullptr;
  CUgraphExec one = nullptr, two = nullptr, three = nullptr;
  expect(cuStreamBeginCapture_f(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS, "capture");
  expect(launch(k, 500, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "captured");
  expect(launch(k, 2, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "captured, small");
  expect(cuStreamEndCapture_f(stream, &captured) == CUDA_SUCCESS, "end of capture");
  expect(cuGraphInstantiateWithFlags_f(&one, captured, 0) == CUDA_SUCCESS, "instantiate");
  for (int i = 0; i < 3; ++i) expect(cuGraphLaunch_f(one, stream) == CUDA_SUCCESS, "replay");

  CUgraphNode node = nullptr;
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = k;
  p.gridDimX = 300;
  p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
  p.blockDimX = 64;
  p.kernelParams = arguments;
  a = 37;
  expect(cuGraphCreate_f(&made, 0) == CUDA_SUCCESS, "graph");
  expect(cuGraphAddKernelNode_f(&node, made, nullptr, 0, &p) == CUDA_SUCCESS, "node");
  CUDA_KERNEL_NODE_PARAMS seen{};
  expect(cuGraphKernelNodeGetParams_f(node, &seen) == CUDA_SUCCESS, "get");
  expect(seen.func == k && seen.gridDimX == 300 && seen.gridDimY == 1 && seen.blockDimX == 64 && seen.sharedMemBytes == 0 &&
             *static_cast<unsigned long long*>(seen.kernelParams[0]) == 37,
         "a node is what the program made it");
  p.gridDimX = 301;
  expect(cuGraphKernelNodeSetParams_f(node, &p) == CUDA_SUCCESS, "set");
  expect(cuGraphClone_f(&copy, made) == CUDA_SUCCESS, "clone");
  expect(cuGraphInstantiateWithFlags_f(&one, made, 0) == CUDA_SUCCESS, "instantiate");
  expect(cuGraphInstantiateWithFlags_f(&two, made, 0) == CUDA_SUCCESS, "instantiate again");
  expect(cuGraphInstantiateWithFlags_f(&three, copy, 0) == CUDA_SUCCESS, "instantiate the copy");
  expect(cuGraphLaunch_f(one, stream) == CUDA_SUCCESS, "replay");
  expect(cuGraphLaunch_f(two, other) == CUDA_SUCCESS, "replay beside it");
  // Of 16 channels the first stream that the interposer makes, 1000, has the eighth: not this one.
  expect(cuGraphLaunch_f(three, reinterpret_cast<CUstream>(4)) == CUDA_SUCCESS, "replay of the copy");
  a = 47;
  p.gridDimX = 302;
  expect(cuGraphExecKernelNodeSetParams_f(one, node, &p) == CUDA_SUCCESS, "set in the executable");
  expect(cuGraphLaunch_f(one, stream) == CUDA_SUCCESS, "replay");
  expect(cuGraphExecDestroy_f(one) == CUDA_SUCCESS, "destroy");
}
}  // namespace

int main() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return 100;
  GET(cuInit, "cuInit");
  GET(cuModuleLoadData, "cuModuleLoadData");
  GET(cuModuleGetFunction, "cuModuleGetFunction");
  GET(cuMemcpyDtoH, "cuMemcpyDtoH_v2");
  GET(cuLibraryLoadData, "cuLibraryLoadData");
  GET(cuLibraryGetKernel, "cuLibraryGetKernel");
  GET(cuGetProcAddress, "cuGetProcAddress_v2");
  GET(cuCtxSynchronize, "cuCtxSynchronize");
  const auto synchronize = cuCtxSynchronize_f;
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
  if (std::getenv("FAKE_CUDA_WAITS") != nullptr) {
    CUfunction waits = nullptr;
    expect(cuModuleLoadData_f(&module, kWaits) == CUDA_SUCCESS, "load");
    expect(cuModuleGetFunction_f(&waits, module, "waits") == CUDA_SUCCESS, "function");
    expect(launch(waits, 1000, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "blocks that wait");
  }
  if (std::getenv("FAKE_CUDA_OPAQUE") != nullptr) {
    CUfunction opaque = nullptr;
    expect(cuModuleLoadData_f(&module, kOpaque) == CUDA_SUCCESS, "load");
    expect(cuModuleGetFunction_f(&opaque, module, "opaque") == CUDA_SUCCESS, "function");
    for (std::uintptr_t s = 20; s < 24; ++s)
      expect(launch(opaque, 1000, 1, 1, 64, 1, 1, 0, reinterpret_cast<CUstream>(s), arguments, nullptr) == CUDA_SUCCESS,
             "as it is");
  }
  unsigned long long buffer[] = {17, 19};
  std::size_t bytes = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  expect(launch(k, 77, 5, 1, 64, 1, 1, 0, stream, nullptr, extra) == CUDA_SUCCESS, "by buffer");
  expect(launch(k, 13, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "errors pass");
  expect(synchronize() == CUDA_SUCCESS, "the streams' end");
  CUlibrary library = nullptr;
  CUkernel l = nullptr;
  expect(cuLibraryLoadData_f(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0) == CUDA_SUCCESS, "library");
  expect(cuLibraryGetKernel_f(&l, library, "k") == CUDA_SUCCESS, "kernel");
  expect(launch(reinterpret_cast<CUfunction>(l), 128, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS,
         "of a library");
  expect(synchronize() == CUDA_SUCCESS, "the streams' end");
  graphs(driver, launch, k);
  expect(synchronize() == CUDA_SUCCESS, "the graphs' end");
  if (std::getenv("FAKE_CUDA_COPIES") != nullptr) {
    unsigned from = 7, to = 0;
    expect(launch(k, 900, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS, "before a copy");
    expect(cuMemcpyDtoH_f(&to, reinterpret_cast<CUdeviceptr>(&from), sizeof to) == CUDA_SUCCESS && to == 7, "copy");
  }
  if (std::getenv("FAKE_CUDA_LOADS") != nullptr) {
    GET(cuMemFree, "cuMemFree_v2");
    GET(cuFuncLoad, "cuFuncLoad");
    CUmodule later = nullptr;
    CUfunction first = nullptr;
    expect(cuLibraryLoadData_f(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0) == CUDA_SUCCESS, "library");
    GET(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
    unsigned from[2] = {7, 9}, to[2] = {};
    for (int i = 0; i < 8; ++i) {
      expect(launch(k, 800, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "before what waits for all");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it is asleep by now, where the quota is small for long
      if (i >= 4 && i < 7)
        expect(cuMemcpyHtoDAsync_f(reinterpret_cast<CUdeviceptr>(to), from, sizeof from, stream) == CUDA_SUCCESS, "pageable");
      for (int n = 0; i == 7 && n < 1100; ++n)
        expect(launch(k, 2, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "behind it");
      if (i == 0) expect(cuMemFree_f(0) == CUDA_SUCCESS, "free");
      if (i == 1) expect(cuModuleLoadData_f(&later, kPtx) == CUDA_SUCCESS, "load");
      if (i == 2)
        expect(cuModuleGetFunction_f(&first, later, "k") == CUDA_SUCCESS && cuFuncLoad_f(first) == CUDA_SUCCESS, "load");
    }
    expect(cuLibraryGetKernel_f(&l, library, "k") == CUDA_SUCCESS, "kernel");
    expect(launch(reinterpret_cast<CUfunction>(l), 801, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS, "first");
    expect(synchronize() == CUDA_SUCCESS, "the end of what was before");
  }
  if (std::getenv("FAKE_CUDA_LINKED") != nullptr) {
    const std::string plain = ".version 7.0\n.target sm_52\n.address_size 64\n";
    const std::vector<std::vector<std::string>> programs = {{kPtx, plain}, {kWaits, kPtx}};
    for (const auto& texts : programs) {
      const Linked linked(texts);
      const Linked::Wrapper wrapper = linked.wrapper();
      const char* name = texts[0] == kPtx ? "k" : "waits";
      expect(cuLibraryLoadData_f(&library, &wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0) == CUDA_SUCCESS, "linked");
      expect(cuLibraryGetKernel_f(&l, library, name) == CUDA_SUCCESS, "kernel of linked code");
      expect(launch(reinterpret_cast<CUfunction>(l), 700, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS,
             "of linked code");
      expect(synchronize() == CUDA_SUCCESS, "the end of linked code");
    }
  }
  expect(::waitpid(-1, nullptr, WNOHANG) == -1, "no child that the program did not start");
  return wrong;
}
