// SPDX-License-Identifier: Apache-2.0
// Which calls of the driver wait for a kernel that runs, and which of them keep other threads out of the driver meanwhile. A line
// of JSON per call: {"call": s, "waits": b, "others_wait": b}. Each is made in a process of its own, by a thread beside two
// others: one copies eight bytes from the GPU and one launches an empty kernel, in streams of their own. The kernel ends when the
// host says so. driver_waits [legacy|stream [NAME]]: where that kernel is launched; only calls whose name has NAME. Build: nvcc
// -O2 -std=c++17 -arch=sm_90 driver_waits.cu -lcuda
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using std::chrono::milliseconds;

constexpr const char* kHold = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry hold(.param .u64 word) {
  .reg .u64 %p; .reg .u32 %v; .reg .pred %go;
  ld.param.u64 %p, [word];
  mov.u32 %v, 1;
  st.volatile.global.u32 [%p+64], %v;
again:
  ld.volatile.global.u32 %v, [%p];
  setp.eq.u32 %go, %v, 0;
  @%go bra again;
  ret;
}
.visible .entry empty() { ret; }
)";
constexpr const char* kOther = R"(.version 7.0
.target sm_70
.address_size 64
.visible .global .align 8 .u64 cell;
.visible .entry other(.param .u64 n) {
  .local .align 8 .b8 much[4096];
  .reg .u64 %n, %a;
  ld.param.u64 %n, [n];
  mov.u64 %a, much;
  add.u64 %a, %a, %n;
  st.local.u64 [%a], %n;
  ld.local.u64 %n, [%a];
  st.global.u64 [cell], %n;
  ret;
}
)";

void must(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: error %d\n", what, static_cast<int>(result));
  std::_Exit(1);
}

/// What the calls need, made before the kernel runs.
struct Scene {
  CUcontext context = nullptr;
  CUstream held = nullptr, copies = nullptr, launches = nullptr, own = nullptr, spare = nullptr;
  CUmodule hold = nullptr, loaded = nullptr, to_unload = nullptr;
  CUfunction run = nullptr, empty = nullptr;
  CUdeviceptr memory = 0, to_free = 0, asynchronous = 0;
  void *pinned = nullptr, *pinned_to_free = nullptr;
  std::vector<char> pageable = std::vector<char>(8 << 20), registered = std::vector<char>(8 << 20);
  CUevent event = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  CUlibrary library = nullptr;
};

void make(Scene& s) {
  must(cuInit(0), "cuInit");
  must(cuDevicePrimaryCtxRetain(&s.context, 0), "context");
  must(cuCtxSetCurrent(s.context), "context");
  must(cuModuleLoadData(&s.hold, kHold), "module");
  must(cuModuleLoadData(&s.to_unload, kOther), "module");
  must(cuLibraryLoadData(&s.library, kOther, nullptr, nullptr, 0, nullptr, nullptr, 0), "library");
  must(cuModuleGetFunction(&s.run, s.hold, "hold"), "hold");
  must(cuModuleGetFunction(&s.empty, s.hold, "empty"), "empty");
  for (CUstream* stream : {&s.copies, &s.launches, &s.own, &s.spare})
    must(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING), "stream");
  must(cuMemAlloc(&s.memory, 8 << 20), "memory");
  must(cuMemAlloc(&s.to_free, 8 << 20), "memory");
  must(cuMemAllocAsync(&s.asynchronous, 8 << 20, s.own), "memory");
  must(cuMemHostAlloc(&s.pinned, 8 << 20, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP), "pinned");
  must(cuMemHostAlloc(&s.pinned_to_free, 8 << 20, 0), "pinned");
  must(cuEventCreate(&s.event, 0), "event");
  must(cuStreamBeginCapture(s.own, CU_STREAM_CAPTURE_MODE_RELAXED), "graph");
  must(cuLaunchKernel(s.empty, 1, 1, 1, 1, 1, 1, 0, s.own, nullptr, nullptr), "graph");
  must(cuStreamEndCapture(s.own, &s.graph), "graph");
  must(cuGraphInstantiate(&s.executable, s.graph, 0), "graph");
  must(cuGraphLaunch(s.executable, s.own), "graph");
  must(cuLaunchKernel(s.empty, 1, 1, 1, 1, 1, 1, 0, s.launches, nullptr, nullptr), "empty");
  must(cuMemcpyDtoHAsync(s.pinned, s.memory, 8, s.copies), "copy");
  must(cuCtxSynchronize(), "synchronize");
}

using Call = std::pair<const char*, std::function<void(Scene&)>>;
const std::vector<Call> kCalls = {
    {"nothing", [](Scene&) {}},
    {"cuModuleLoadData", [](Scene& s) { cuModuleLoadData(&s.loaded, kOther); }},
    {"cuModuleUnload", [](Scene& s) { cuModuleUnload(s.to_unload); }},
    {"cuModuleGetFunction, first",
     [](Scene& s) {
       CUfunction f;
       cuModuleGetFunction(&f, s.to_unload, "other");
     }},
    {"cuFuncLoad",
     [](Scene& s) {
       CUfunction f;
       cuModuleGetFunction(&f, s.to_unload, "other");
       cuFuncLoad(f);
     }},
    {"cuLaunchKernel, first, local memory",
     [](Scene& s) {
       CUfunction f;
       cuModuleGetFunction(&f, s.to_unload, "other");
       unsigned long long n = 8;
       void* with[] = {&n};
       cuLaunchKernel(f, 10000, 1, 1, 1024, 1, 1, 0, s.spare, with, nullptr);
     }},
    {"cuModuleGetGlobal",
     [](Scene& s) {
       CUdeviceptr at;
       std::size_t bytes;
       cuModuleGetGlobal(&at, &bytes, s.to_unload, "cell");
     }},
    {"cuLibraryLoadData",
     [](Scene&) {
       CUlibrary library;
       cuLibraryLoadData(&library, kOther, nullptr, nullptr, 0, nullptr, nullptr, 0);
     }},
    {"cuLibraryGetKernel",
     [](Scene& s) {
       CUkernel kernel;
       cuLibraryGetKernel(&kernel, s.library, "other");
     }},
    {"cuLibraryGetModule",
     [](Scene& s) {
       CUmodule module;
       cuLibraryGetModule(&module, s.library);
     }},
    {"cuLibraryUnload", [](Scene& s) { cuLibraryUnload(s.library); }},
    {"cuMemAlloc, 4 KB",
     [](Scene&) {
       CUdeviceptr at;
       cuMemAlloc(&at, 4096);
     }},
    {"cuMemAlloc, 1 GB",
     [](Scene&) {
       CUdeviceptr at;
       cuMemAlloc(&at, 1UL << 30);
     }},
    {"cuMemFree", [](Scene& s) { cuMemFree(s.to_free); }},
    {"cuMemAllocAsync",
     [](Scene& s) {
       CUdeviceptr at;
       cuMemAllocAsync(&at, 1UL << 28, s.own);
     }},
    {"cuMemFreeAsync", [](Scene& s) { cuMemFreeAsync(s.asynchronous, s.own); }},
    {"cuMemAllocManaged",
     [](Scene&) {
       CUdeviceptr at;
       cuMemAllocManaged(&at, 1 << 20, CU_MEM_ATTACH_GLOBAL);
     }},
    {"cuMemHostAlloc",
     [](Scene&) {
       void* at;
       cuMemHostAlloc(&at, 1 << 20, 0);
     }},
    {"cuMemFreeHost", [](Scene& s) { cuMemFreeHost(s.pinned_to_free); }},
    {"cuMemHostRegister", [](Scene& s) { cuMemHostRegister(s.registered.data(), s.registered.size(), 0); }},
    {"cuMemcpyHtoD, 8 B", [](Scene& s) { cuMemcpyHtoD(s.memory, s.pageable.data(), 8); }},
    {"cuMemcpyHtoD, 8 MB", [](Scene& s) { cuMemcpyHtoD(s.memory, s.pageable.data(), 8 << 20); }},
    {"cuMemcpyHtoD, 8 MB pinned", [](Scene& s) { cuMemcpyHtoD(s.memory, s.pinned, 8 << 20); }},
    {"cuMemcpyDtoH, 8 MB", [](Scene& s) { cuMemcpyDtoH(s.pageable.data(), s.memory, 8 << 20); }},
    {"cuMemcpyDtoD", [](Scene& s) { cuMemcpyDtoD(s.memory, s.to_free, 8 << 20); }},
    {"cuMemcpyHtoDAsync, pageable", [](Scene& s) { cuMemcpyHtoDAsync(s.memory, s.pageable.data(), 8 << 20, nullptr); }},
    {"cuMemcpyDtoHAsync, pageable", [](Scene& s) { cuMemcpyDtoHAsync(s.pageable.data(), s.memory, 8 << 20, nullptr); }},
    {"cuMemsetD8", [](Scene& s) { cuMemsetD8(s.memory, 1, 8 << 20); }},
    {"cuStreamCreate",
     [](Scene&) {
       CUstream stream;
       cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
     }},
    {"cuStreamCreate, 40 of them",
     [](Scene&) {
       CUstream stream;
       for (int i = 0; i < 40; ++i) cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
     }},
    {"cuStreamDestroy", [](Scene& s) { cuStreamDestroy(s.spare); }},
    {"cuEventCreate",
     [](Scene&) {
       CUevent event;
       cuEventCreate(&event, 0);
     }},
    {"cuEventSynchronize",
     [](Scene& s) {
       cuEventRecord(s.event, nullptr);
       cuEventSynchronize(s.event);
     }},
    {"cuStreamSynchronize", [](Scene&) { cuStreamSynchronize(nullptr); }},
    {"cuCtxSynchronize", [](Scene&) { cuCtxSynchronize(); }},
    {"cuCtxSetLimit, stack", [](Scene&) { cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 16384); }},
    {"cuCtxSetLimit, heap", [](Scene&) { cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 << 20); }},
    {"cuCtxCreate and cuCtxDestroy",
     [](Scene&) {
       CUcontext context;
       cuCtxCreate(&context, nullptr, 0, 0);
       cuCtxDestroy(context);
     }},
    {"cuGraphInstantiate",
     [](Scene& s) {
       CUgraphExec executable;
       cuGraphInstantiate(&executable, s.graph, 0);
     }},
    {"cuGraphLaunch", [](Scene& s) { cuGraphLaunch(s.executable, s.own); }},
    {"cuGraphExecDestroy", [](Scene& s) { cuGraphExecDestroy(s.executable); }},
    {"cuLinkCreate",
     [](Scene&) {
       CUlinkState link;
       cuLinkCreate(0, nullptr, nullptr, &link);
     }},
    {"cuLinkAddData, PTX",
     [](Scene&) {
       CUlinkState link;
       cuLinkCreate(0, nullptr, nullptr, &link);
       cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kOther), std::strlen(kOther) + 1, "x", 0, nullptr, nullptr);
     }},
    {"cuLinkComplete",
     [](Scene&) {
       CUlinkState link;
       void* cubin;
       std::size_t bytes;
       cuLinkCreate(0, nullptr, nullptr, &link);
       cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kOther), std::strlen(kOther) + 1, "x", 0, nullptr, nullptr);
       cuLinkComplete(link, &cubin, &bytes);
       cuLinkDestroy(link);
     }},
    {"cuKernelGetFunction",
     [](Scene& s) {
       CUkernel kernel;
       CUfunction f;
       cuLibraryGetKernel(&kernel, s.library, "other");
       cuKernelGetFunction(&f, kernel);
     }},
    {"cuKernelGetParamInfo",
     [](Scene& s) {
       CUkernel kernel;
       std::size_t at, bytes;
       cuLibraryGetKernel(&kernel, s.library, "other");
       cuKernelGetParamInfo(kernel, 0, &at, &bytes);
     }},
    {"cuFuncGetAttribute",
     [](Scene& s) {
       int n;
       cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, s.run);
     }},
    {"cuFuncSetAttribute", [](Scene& s) { cuFuncSetAttribute(s.run, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100); }},
    {"cuMemPoolTrimTo",
     [](Scene& s) {
       CUmemoryPool pool;
       cuDeviceGetDefaultMemPool(&pool, 0);
       cuMemFreeAsync(s.asynchronous, s.own);
       cuMemPoolTrimTo(pool, 0);
     }},
    {"2,000 launches behind the kernel",
     [](Scene& s) {
       for (int i = 0; i < 2000; ++i) cuLaunchKernel(s.empty, 1, 1, 1, 1, 1, 1, 0, s.held, nullptr, nullptr);
     }},
};

int measure(const Call& call, bool legacy) {
  Scene scene;
  make(scene);
  if (!legacy) must(cuStreamCreate(&scene.held, CU_STREAM_NON_BLOCKING), "stream");
  void* memory = nullptr;
  CUdeviceptr device = 0;
  must(cuMemHostAlloc(&memory, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP), "word");
  must(cuMemHostGetDevicePointer(&device, memory, 0), "word");
  auto* const word = static_cast<volatile unsigned*>(memory);
  word[0] = word[16] = 0;
  void* with[] = {&device};
  must(cuLaunchKernel(scene.run, 1, 1, 1, 1, 1, 1, 0, scene.held, with, nullptr), "hold");
  while (word[16] == 0) {
  }
  std::atomic<bool> returned = false, copied = false, launched = false;
  const auto beside = [&](auto what, std::atomic<bool>& done) {
    std::thread([&scene, &done, what] {
      cuCtxSetCurrent(scene.context);
      what();
      done = true;
    }).detach();
  };
  beside([&] { call.second(scene); }, returned);
  std::this_thread::sleep_for(milliseconds(150));
  const auto ends = [](CUstream stream) {
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) std::this_thread::sleep_for(milliseconds(1));
  };
  beside(
      [&] {
        cuMemcpyDtoHAsync(scene.pinned, scene.memory, 8, scene.copies);
        ends(scene.copies);
      },
      copied);
  beside(
      [&] {
        cuLaunchKernel(scene.empty, 1, 1, 1, 1, 1, 1, 0, scene.launches, nullptr, nullptr);
        ends(scene.launches);
      },
      launched);
  std::this_thread::sleep_for(milliseconds(200));
  std::printf("{\"call\": \"%s\", \"kernel_in\": \"%s\", \"waits\": %s, \"copies_wait\": %s, \"launches_wait\": %s", call.first,
              legacy ? "legacy" : "stream", returned ? "false" : "true", copied ? "false" : "true", launched ? "false" : "true");
  std::fflush(stdout);
  word[0] = 1;  // without the driver
  for (int i = 0; i < 2000 && !(returned && copied && launched); ++i) std::this_thread::sleep_for(milliseconds(1));
  std::printf(", \"all_return\": %s}\n", returned && copied && launched ? "true" : "false");
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const bool legacy = argc < 2 || std::strcmp(argv[1], "legacy") == 0;
  for (const Call& call : kCalls) {
    if (argc > 2 && std::strstr(call.first, argv[2]) == nullptr) continue;
    const pid_t child = ::fork();
    if (child == 0) return measure(call, legacy);
    ::waitpid(child, nullptr, 0);
  }
}
