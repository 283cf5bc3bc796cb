// SPDX-License-Identifier: Apache-2.0
// Programs whose modules, contexts and graphs end while they go on. Each kernel says by its mark which it is, and is launched
// with that as its first argument. @return how many calls went wrong
#include <sys/time.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "tests/fake_cuda/client.h"

using namespace sluice::fake_client;  // NOLINT(google-build-using-namespace): this folder's own

namespace {

std::string text(unsigned mark, const std::string& name = "k") {
  return ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry " + name +
         "(.param .u64 a, .param .u64 b)\n{\n.reg .b32 %mark;\n.reg .b32 %r<3>;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %mark, " +
         std::to_string(mark) + ";\nret;\n}\n";
}

}  // namespace

int main(int, char** argv) {
  const auto stream = reinterpret_cast<CUstream>(5);
  const auto launch = [&](CUfunction f, unsigned long long mark, CUstream in, std::array<unsigned, 2> grid = {500, 1}) {
    unsigned long long b = 9;
    void* arguments[] = {&mark, &b};
    return CU(cuLaunchKernel)(f, grid[0], grid[1], 1, 64, 1, 1, 0, in, arguments, nullptr);
  };
  const auto function = [&](unsigned mark, const std::string& name = "k") {
    CUmodule module = nullptr;
    CUfunction f = nullptr;
    expect(good(CU(cuModuleLoadData)(&module, text(mark, name).c_str())), "load");
    expect(good(CU(cuModuleGetFunction)(&f, module, name.c_str())), "function");
    return std::pair(module, f);
  };
  const auto replayed = [&](CUfunction f, unsigned mark) {
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    expect(good(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL)) && good(launch(f, mark, stream)) &&
               good(CU(cuStreamEndCapture)(stream, &graph)) && good(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0)) &&
               good(CU(cuGraphLaunch)(exec, stream)),
           "a graph");
    return exec;
  };
  const auto reload = [&] {
    for (unsigned mark = 1; mark <= 30; ++mark) {
      if (mark % 3 == 0) {
        CUlibrary library = nullptr;
        CUkernel k = nullptr;
        expect(good(CU(cuLibraryLoadData)(&library, text(mark).c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0)), "library");
        expect(good(CU(cuLibraryGetKernel)(&k, library, "k")), "kernel");
        expect(good(launch(reinterpret_cast<CUfunction>(k), mark, stream)), "of a library");
        expect(good(CU(cuCtxSynchronize)()) && good(CU(cuLibraryUnload)(library)), "unload");
        continue;
      }
      const auto [module, f] = function(mark);
      expect(good(launch(f, mark, stream)), "of a module");
      CUgraphExec exec = mark % 3 == 1 ? replayed(f, mark) : nullptr;
      expect(good(CU(cuCtxSynchronize)()), "its end");
      if (exec != nullptr) expect(good(CU(cuGraphExecDestroy)(exec)), "destroy");
      expect(good(CU(cuModuleUnload)(module)), "unload");
    }
  };
  const auto resets = [&](CUresult (*by)(CUdevice)) {
    for (unsigned mark = 1; mark <= 4; ++mark) {
      const auto [module, f] = function(mark);
      for (int k = 0; k < 3; ++k) expect(good(launch(f, mark, stream)), "launch");
      static_cast<void>(replayed(f, mark));
      if (mark % 2 == 0) expect(good(CU(cuCtxSynchronize)()), "wait");
      expect(good(by(0)), "reset");
    }
  };
  const auto reset = [&] { resets(CU(cuDevicePrimaryCtxReset)); };
  const auto release = [&] {
    resets([](CUdevice device) {
      CUcontext again = nullptr;
      const CUresult result = CU(cuDevicePrimaryCtxRelease)(device);
      return CU(cuDevicePrimaryCtxRetain)(&again, device) == CUDA_SUCCESS ? result : CUDA_ERROR_UNKNOWN;
    });
  };
  const auto reset_unseen = [&] {
    void* const driver = dlopen(std::getenv("SLUICE_REAL_LIBCUDA"), RTLD_NOW);
    resets(reinterpret_cast<CUresult (*)(CUdevice)>(dlsym(driver, "fake_cuda_reset")));
  };
  const auto contexts = [&] {
    const auto [one, f1] = function(1);
    expect(good(CU(cuCtxSetCurrent)(reinterpret_cast<CUcontext>(2))), "the second");
    const auto [two, f2] = function(2);
    expect(good(CU(cuCtxSetCurrent)(reinterpret_cast<CUcontext>(1))), "the first");
    const auto other = reinterpret_cast<CUstream>(5001);
    expect(good(launch(f1, 1, stream)), "of the first in its stream");
    expect(good(launch(f2, 2, other)), "of the second, which is not current, in its stream");
    expect(launch(f1, 1, other) == CUDA_ERROR_INVALID_HANDLE, "of the first in a stream of the second");
    expect(launch(f2, 2, stream) == CUDA_ERROR_INVALID_HANDLE, "of the second in a stream of the first");
    expect(good(launch(f2, 2, other)), "again");
    expect(good(CU(cuCtxSynchronize)()), "wait");
  };
  const auto fault = [&] {
    const auto [other, k] = function(2);
    expect(good(launch(k, 2, stream)) && good(CU(cuCtxSynchronize)()), "before");
    const auto [module, f] = function(1, "traps");
    expect(good(launch(f, 1, stream)), "a launch that will trap");
    expect(CU(cuCtxSynchronize)() == CUDA_ERROR_LAUNCH_FAILED, "the error");
    expect(CU(cuMemFree)(0) == CUDA_ERROR_LAUNCH_FAILED, "free returns");
    expect(launch(k, 2, stream) == CUDA_ERROR_LAUNCH_FAILED, "every launch has the error");
    expect(good(CU(cuModuleUnload)(module)), "unload");
    expect(good(CU(cuDevicePrimaryCtxReset)(0)), "reset");
    const auto [fresh, again] = function(3);
    expect(good(launch(again, 3, stream)) && good(CU(cuCtxSynchronize)()), "a context of its own");
  };
  const auto grids = [&] {
    const auto [module, f] = function(1);
    expect(launch(f, 1, stream, {1, 65536}) == CUDA_ERROR_INVALID_VALUE, "65,536 in y");
    expect(launch(f, 1, stream, {1U << 31, 1}) == CUDA_ERROR_INVALID_VALUE, "2^31 in x");
    expect(good(launch(f, 1, stream, {1, 65535})) && good(CU(cuCtxSynchronize)()), "65,535 in y");
  };
  const auto graphs = [&] {
    const auto [module, k] = function(1);
    const auto captured = [&](unsigned long long mark) {
      CUgraph graph = nullptr;
      expect(good(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL)) && good(launch(k, mark, stream)) &&
                 good(CU(cuStreamEndCapture)(stream, &graph)),
             "capture");
      return graph;
    };
    CUgraph graph = nullptr, by_device = captured(41), changed = captured(51);
    CUgraphNode child = nullptr, node = nullptr;
    CUgraphExec one = nullptr, two = nullptr, three = nullptr;
    expect(good(CU(cuGraphCreate)(&graph, 0)) && good(CU(cuGraphAddChildGraphNode)(&child, graph, nullptr, 0, captured(21))),
           "a child");
    expect(good(CU(cuGraphInstantiateWithFlags)(&one, graph, 0)) && good(CU(cuGraphLaunch)(one, stream)), "as it was made");
    expect(good(CU(cuGraphExecChildGraphNodeSetParams)(one, child, captured(31))) && good(CU(cuGraphLaunch)(one, stream)),
           "another child");
    expect(good(CU(cuGraphInstantiateWithFlags)(&two, by_device, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)) &&
               good(CU(cuGraphLaunch)(two, stream)),
           "that the device may launch");
    std::size_t count = 1;
    CUkernelNodeAttrValue updatable{};
    updatable.deviceUpdatableKernelNode.deviceUpdatable = 1;
    expect(good(CU(cuGraphGetNodes)(changed, &node, &count)) &&
               good(CU(cuGraphKernelNodeSetAttribute)(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &updatable)) &&
               good(CU(cuGraphInstantiateWithFlags)(&three, changed, 0)) && good(CU(cuGraphLaunch)(three, stream)),
           "that the device may change");
    expect(good(CU(cuCtxSynchronize)()), "wait");
  };
  const auto branches = [&] {  // a graph whose nodes wait for the one before, and one whose nodes do not wait
    const auto [module, k] = function(1);
    for (const unsigned long long mark : {1ULL, 2ULL}) {
      CUgraph graph = nullptr;
      CUgraphExec exec = nullptr;
      CUgraphNode node = nullptr;
      expect(good(CU(cuGraphCreate)(&graph, 0)), "a graph");
      for (int n = 0; n < 10; ++n) {
        unsigned long long own = mark, more = 0;
        void* arguments[] = {&own, &more};
        const CUDA_KERNEL_NODE_PARAMS params = node_of(k, 500, arguments);
        const CUgraphNode before = node;
        expect(good(CU(cuGraphAddKernelNode)(&node, graph, &before, mark == 1 && n > 0 ? 1 : 0, &params)), "a node");
      }
      expect(good(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0)) && good(CU(cuGraphLaunch)(exec, stream)), "a replay");
    }
    expect(good(CU(cuCtxSynchronize)()), "wait");
  };
  const auto exits = [&] {  // in a handler, wherever the program is
    const auto [module, k] = function(1);
    std::signal(SIGALRM, [](int) { std::exit(3); });
    const itimerval soon = {{0, 0}, {0, 30'000}};
    ::setitimer(ITIMER_REAL, &soon, nullptr);
    for (;;) expect(good(launch(k, 1, stream, {2, 1})), "launch");
  };
  const auto memory = [&] {  // of 3 MiB
    constexpr std::size_t kMiB = 1U << 20U;
    CUdeviceptr one = 0, two = 0, rows = 0;
    CUmemGenericAllocationHandle handle = 0;
    CUarray array = nullptr;
    std::size_t free = 0, total = 0, pitch = 0;
    const auto left = [&](std::size_t mib, const char* when) {
      expect(good(CU(cuMemGetInfo)(&free, &total)) && total == 3 * kMiB && free == mib * kMiB, when);
    };
    expect(good(CU(cuMemAlloc)(&one, kMiB)), "the first");
    left(2, "one is taken");
    expect(good(CU(cuMemAllocAsync)(&two, 2 * kMiB, stream)), "all that is left");
    expect(CU(cuMemAlloc)(&rows, 1) == CUDA_ERROR_OUT_OF_MEMORY && rows == 0, "a byte beyond it");
    expect(CU(cuMemFreeAsync)(0, stream) == CUDA_ERROR_INVALID_VALUE, "what was never allocated");
    left(0, "a call that failed gives nothing back");
    expect(good(CU(cuMemFreeAsync)(two, stream)), "free");
    left(2, "it is there again");
    expect(good(CU(cuMemAllocPitch)(&rows, &pitch, 100, 2048, 4)) && pitch == 512, "rows of 512 bytes");
    left(1, "rows take what they take");
    CUmemAllocationProp where{};
    where.location.type = CU_MEM_LOCATION_TYPE_HOST;
    expect(good(CU(cuMemCreate)(&handle, 8 * kMiB, &where, 0)), "the host's memory has no limit");
    where.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    expect(CU(cuMemCreate)(&handle, 8 * kMiB, &where, 0) == CUDA_ERROR_OUT_OF_MEMORY, "the device's has");
    expect(good(CU(cuMemCreate)(&handle, kMiB, &where, 0)), "a handle");
    left(0, "it counts");
    expect(good(CU(cuMemRelease)(handle)), "release");
    const CUDA_ARRAY_DESCRIPTOR shape = {512, 512, CU_AD_FORMAT_FLOAT, 1};
    expect(good(CU(cuArrayCreate)(&array, &shape)), "an array");
    expect(CU(cuMemAllocManaged)(&two, 1, CU_MEM_ATTACH_GLOBAL) == CUDA_ERROR_OUT_OF_MEMORY, "arrays count");
    expect(good(CU(cuArrayDestroy)(array)) && good(CU(cuMemFree)(rows)) && good(CU(cuMemFree)(one)), "free all");
    left(3, "nothing is taken");
    expect(good(CU(cuMemAlloc)(&one, 3 * kMiB)) && good(CU(cuDevicePrimaryCtxReset)(0)), "a context ends with all it has");
    left(3, "nothing is taken");
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUDA_MEM_ALLOC_NODE_PARAMS of_graph{};
    expect(good(CU(cuGraphCreate)(&graph, 0)) &&
               CU(cuGraphAddMemAllocNode)(&node, graph, nullptr, 0, &of_graph) == CUDA_ERROR_OUT_OF_MEMORY,
           "what a graph allocates cannot be counted");
    if (const char* waits = std::getenv("LIFETIMES_GOES_ON")) {
      expect(good(CU(cuMemAlloc)(&one, kMiB)), "for the status");
      while (::access(waits, F_OK) != 0) ::usleep(1000);
    }
  };
  const auto newer = [&] {  // launches as only a newer driver does
    const auto [module, k] = function(1);
    const auto found = [&](const std::string& name) {
      void* at = nullptr;
      CUdriverProcAddressQueryResult status{};
      const CUresult result = CU(cuGetProcAddress)(name.c_str(), &at, 14000, 0, &status);
      expect((result == CUDA_SUCCESS) == (at != nullptr) && (at != nullptr || result == CUDA_ERROR_NOT_FOUND), "look-up");
      return at;
    };
    const auto future = [&](const std::string& name) {
      unsigned long long mark = 1, b = 9;
      void* arguments[] = {&mark, &b};
      void* const at = found(name);
      return at != nullptr && good(reinterpret_cast<CUresult (*)(CUfunction, void**, CUstream)>(at)(k, arguments, stream));
    };
    expect(good(launch(k, 1, stream)), "under quota");
    for (int n = 0; n < 3; ++n) expect(future("cuLaunchFuture"), "as it is");
    for (const char* name : {"cuFutureAsync", "cuFutureQuery"})
      expect(good(reinterpret_cast<CUresult (*)(int)>(found(name))(7)), "arguments and result are as they are");
    int later = 0;
    for (int n = 0; n < 20; ++n) later += future("cuLaunchLater" + std::to_string(n)) ? 1 : 0;
    expect(later == 14, "beside those two there are forwarders for fourteen");
    expect(good(CU(cuCtxSynchronize)()), "wait");
  };
  const std::map<std::string, std::function<void()>> programs = {
      {"newer", newer},       {"memory", memory},     {"exits", exits},
      {"graphs", graphs},     {"branches", branches}, {"reload", reload},
      {"reset", reset},       {"release", release},   {"reset_unseen", reset_unseen},
      {"contexts", contexts}, {"fault", fault},       {"grids", grids}};
  programs.at(argv[1])();
  return wrong;
}
