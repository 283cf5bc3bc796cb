// SPDX-License-Identifier: Apache-2.0
// A program that uses the driver: a module of PTX, launches of one kernel in several ways. @return how many calls went wrong
#include <sys/wait.h>
#include <chrono>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/fake_cuda/client.h"
#include "tests/gpu/fatbin_writer.h"

using namespace sluice::fake_client;  // NOLINT(google-build-using-namespace): this folder's own

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

/// Captured launches and nodes of the program's own, replayed and changed.
void graphs(decltype(&cuLaunchKernel) launch, CUfunction k) {
  const auto stream = reinterpret_cast<CUstream>(6), other = reinterpret_cast<CUstream>(7);
  unsigned long long a = 27, b = 29;
  void* arguments[] = {&a, &b};
  CUgraph captured = nullptr, made = nullptr, copy = nullptr;
  CUgraphExec one = nullptr, two = nullptr, three = nullptr;
  expect(good(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL)), "capture");
  expect(launch(k, 500, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "captured");
  expect(launch(k, 2, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "captured, small");
  expect(good(CU(cuStreamEndCapture)(stream, &captured)), "end of capture");
  expect(good(CU(cuGraphInstantiateWithFlags)(&one, captured, 0)), "instantiate");
  for (int i = 0; i < 3; ++i) expect(good(CU(cuGraphLaunch)(one, stream)), "replay");

  CUgraphNode node = nullptr;
  CUDA_KERNEL_NODE_PARAMS p = node_of(k, 300, arguments);
  a = 37;
  expect(good(CU(cuGraphCreate)(&made, 0)), "graph");
  expect(good(CU(cuGraphAddKernelNode)(&node, made, nullptr, 0, &p)), "node");
  CUDA_KERNEL_NODE_PARAMS seen{};
  expect(good(CU(cuGraphKernelNodeGetParams)(node, &seen)), "get");
  expect(seen.func == k && seen.gridDimX == 300 && seen.gridDimY == 1 && seen.blockDimX == 64 && seen.sharedMemBytes == 0 &&
             *static_cast<unsigned long long*>(seen.kernelParams[0]) == 37,
         "a node is what the program made it");
  p.gridDimX = 301;
  expect(good(CU(cuGraphKernelNodeSetParams)(node, &p)), "set");
  expect(good(CU(cuGraphClone)(&copy, made)), "clone");
  expect(good(CU(cuGraphInstantiateWithFlags)(&one, made, 0)), "instantiate");
  expect(good(CU(cuGraphInstantiateWithFlags)(&two, made, 0)), "instantiate again");
  expect(good(CU(cuGraphInstantiateWithFlags)(&three, copy, 0)), "instantiate the copy");
  expect(good(CU(cuGraphLaunch)(one, stream)), "replay");
  expect(good(CU(cuGraphLaunch)(two, other)), "replay beside it");
  // Of 16 channels the first stream that the interposer makes, 1000, has the eighth: not this one.
  expect(good(CU(cuGraphLaunch)(three, reinterpret_cast<CUstream>(4))), "replay of the copy");
  a = 47;
  p.gridDimX = 302;
  expect(good(CU(cuGraphExecKernelNodeSetParams)(one, node, &p)), "set in the executable");
  expect(good(CU(cuGraphLaunch)(one, stream)), "replay");
  expect(good(CU(cuGraphExecDestroy)(one)), "destroy");
}
}  // namespace

int main() {
  expect(good(CU(cuInit)(0)), "cuInit");
  CUmodule module = nullptr;
  CUfunction k = nullptr;
  expect(good(CU(cuModuleLoadData)(&module, kPtx)), "load");
  expect(CU(cuModuleGetFunction)(&k, module, "absent") == CUDA_ERROR_NOT_FOUND, "errors pass");
  expect(good(CU(cuModuleGetFunction)(&k, module, "k")), "function");
  CUdriverProcAddressQueryResult status{};
  void* found = nullptr;
  expect(good(CU(cuGetProcAddress)("cuLaunchKernel", &found, 12000, 0, &status)), "look-up");
  const auto launch = reinterpret_cast<decltype(&cuLaunchKernel)>(found);
  unsigned long long a = 7, b = 9;
  void* arguments[] = {&a, &b};
  const auto stream = reinterpret_cast<CUstream>(5);
  expect(launch(k, 1000, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "by array");
  if (std::getenv("FAKE_CUDA_WAITS") != nullptr) {
    CUfunction waits = nullptr;
    expect(good(CU(cuModuleLoadData)(&module, kWaits)), "load");
    expect(good(CU(cuModuleGetFunction)(&waits, module, "waits")), "function");
    expect(launch(waits, 1000, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "blocks that wait");
  }
  if (std::getenv("FAKE_CUDA_OPAQUE") != nullptr) {
    CUfunction opaque = nullptr;
    expect(good(CU(cuModuleLoadData)(&module, kOpaque)), "load");
    expect(good(CU(cuModuleGetFunction)(&opaque, module, "opaque")), "function");
    for (std::uintptr_t s = 20; s < 24; ++s)
      expect(launch(opaque, 1000, 1, 1, 64, 1, 1, 0, reinterpret_cast<CUstream>(s), arguments, nullptr) == CUDA_SUCCESS,
             "as it is");
  }
  unsigned long long buffer[] = {17, 19};
  std::size_t bytes = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  expect(launch(k, 77, 5, 1, 64, 1, 1, 0, stream, nullptr, extra) == CUDA_SUCCESS, "by buffer");
  expect(launch(k, 13, 1, 1, 2048, 1, 1, 0, stream, arguments, nullptr) == CUDA_ERROR_INVALID_VALUE, "errors pass");
  expect(good(CU(cuCtxSynchronize)()), "the streams' end");
  CUlibrary library = nullptr;
  CUkernel l = nullptr;
  expect(good(CU(cuLibraryLoadData)(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0)), "library");
  expect(good(CU(cuLibraryGetKernel)(&l, library, "k")), "kernel");
  expect(launch(reinterpret_cast<CUfunction>(l), 128, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS,
         "of a library");
  expect(good(CU(cuCtxSynchronize)()), "the streams' end");
  graphs(launch, k);
  expect(good(CU(cuCtxSynchronize)()), "the graphs' end");
  if (std::getenv("FAKE_CUDA_COPIES") != nullptr) {
    unsigned from = 7, to = 0;
    expect(launch(k, 900, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS, "before a copy");
    expect(good(CU(cuMemcpyDtoH)(&to, reinterpret_cast<CUdeviceptr>(&from), sizeof to)) && to == 7, "copy");
  }
  if (std::getenv("FAKE_CUDA_LOADS") != nullptr) {
    CUmodule later = nullptr;
    CUfunction first = nullptr;
    expect(good(CU(cuLibraryLoadData)(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0)), "library");
    unsigned from[2] = {7, 9}, to[2] = {};
    for (int i = 0; i < 8; ++i) {
      expect(launch(k, 800, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "before what waits for all");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it is asleep by now, where the quota is small for long
      if (i >= 4 && i < 7)
        expect(good(CU(cuMemcpyHtoDAsync)(reinterpret_cast<CUdeviceptr>(to), from, sizeof from, stream)), "pageable");
      for (int n = 0; i == 7 && n < 1100; ++n)
        expect(launch(k, 2, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS, "behind it");
      if (i == 0) expect(good(CU(cuMemFree)(0)), "free");
      if (i == 1) expect(good(CU(cuModuleLoadData)(&later, kPtx)), "load");
      if (i == 2) expect(good(CU(cuModuleGetFunction)(&first, later, "k")) && good(CU(cuFuncLoad)(first)), "load");
    }
    expect(good(CU(cuLibraryGetKernel)(&l, library, "k")), "kernel");
    expect(launch(reinterpret_cast<CUfunction>(l), 801, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS, "first");
    expect(good(CU(cuCtxSynchronize)()), "the end of what was before");
  }
  if (std::getenv("FAKE_CUDA_LINKED") != nullptr) {
    const std::string plain = ".version 7.0\n.target sm_52\n.address_size 64\n";
    const std::vector<std::vector<std::string>> programs = {{kPtx, plain}, {kWaits, kPtx}};
    for (const auto& texts : programs) {
      const Linked linked(texts);
      const Linked::Wrapper wrapper = linked.wrapper();
      const char* name = texts[0] == kPtx ? "k" : "waits";
      expect(good(CU(cuLibraryLoadData)(&library, &wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0)), "linked");
      expect(good(CU(cuLibraryGetKernel)(&l, library, name)), "kernel of linked code");
      expect(launch(reinterpret_cast<CUfunction>(l), 700, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS,
             "of linked code");
      expect(good(CU(cuCtxSynchronize)()), "the end of linked code");
    }
  }
  expect(::waitpid(-1, nullptr, WNOHANG) == -1, "no child that the program did not start");
  return wrong;
}
