// SPDX-License-Identifier: Apache-2.0
// Devices, modules and launches of the driver for tests (fake.h).
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>

#include "sw/gpu/fatbin/fatbin.h"
#include "sw/gpu/rewrite/ptx.h"
#include "tests/fake_cuda/fake.h"

using sluice::fake::Function;
using sluice::fake::Grid;
using sluice::fake::tell;

namespace {

struct Module {
  std::string ptx;
  std::vector<Function*> functions;
};
std::string linked;

/// Of code that was linked: its first part, which stands for what the linker made of all.
std::string text_of(const void* image) {
  const auto parts = sluice::gpu::linked_parts_in_memory(image);
  return parts.empty() ? static_cast<const char*>(image) : sluice::gpu::read_fatbin(parts[0]).at(0).bytes;
}
CUresult load(Module** out, const void* image) try {
  auto* module = new Module{sluice::gpu::normalised(text_of(image)), {}};
  for (const sluice::gpu::Item& item : sluice::gpu::items_of(module->ptx))
    if (item.kind == sluice::gpu::Item::Kind::Kernel)
      module->functions.push_back(new Function{item.name, sluice::gpu::parameter_count(module->ptx, item.name),
                                               item.name.ends_with("__sluice"), item.name.ends_with("__sluice_record"), false});
  tell("load " + std::to_string(module->functions.size()) + " kernels");
  *out = module;
  return CUDA_SUCCESS;
} catch (const std::exception&) {  // what is no PTX
  return CUDA_ERROR_INVALID_PTX;
}
CUresult find(Function** out, const Module* module, const char* name) {
  for (Function* f : module->functions)
    if (f->name == name) {
      *out = f;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NOT_FOUND;
}

}  // namespace

namespace sluice::fake {

/// What the environment says the device or a kernel has.
static int number(const char* variable, int otherwise) {
  const char* set = std::getenv(variable);
  return set == nullptr ? otherwise : std::atoi(set);
}

void tell(const std::string& line) {
  static std::mutex lock;
  const std::scoped_lock held(lock);
  if (const char* path = std::getenv("FAKE_CUDA_BOOKS")) {
    std::FILE* books = std::fopen(path, "a");
    std::fprintf(books, "%s\n", line.c_str());
    std::fclose(books);
  }
}

Grid grid_of(CUfunction function, std::array<unsigned, 3> grid, std::array<unsigned, 3> block, unsigned shared,
             void** parameters) {
  Grid g{reinterpret_cast<Function*>(function), grid, block, shared, {}, {}, {}};
  const std::size_t plain = g.function->parameters - (g.function->ours || g.function->logs ? 1 : 0);
  for (std::size_t i = 0; i < plain && parameters != nullptr; ++i)
    g.arguments.push_back(*static_cast<unsigned long long*>(parameters[i]));
  if (g.function->ours) g.job = *static_cast<SluiceJob*>(parameters[plain]);
  if (g.function->logs) g.record = *static_cast<gpu::RecordJob*>(parameters[plain]);
  return g;
}
std::vector<void*> pointers(Grid& grid) {
  std::vector<void*> all;
  for (unsigned long long& a : grid.arguments) all.push_back(&a);
  if (grid.function->ours) all.push_back(&grid.job);
  if (grid.function->logs) all.push_back(&grid.record);
  return all;
}

void write_log(const Grid& grid) {
  std::ifstream in(std::getenv("FAKE_CUDA_LOG"), std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(in), {});
  const gpu::RecordJob& job = grid.record;
  const auto* starts = reinterpret_cast<const unsigned*>(job.starts);
  for (unsigned warp = 0; warp < job.ctas * job.warps; ++warp) {
    const char* at = bytes.data();
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned words = 0;
      std::memcpy(&words, at, 4);
      for (unsigned i = 0; i < words && starts[warp] + i < starts[warp + 1]; ++i)
        std::memcpy(reinterpret_cast<char*>(job.log) + (std::size_t{starts[warp] + i} * 32 + lane) * 4, at + 4 + 4 * i, 4);
      reinterpret_cast<unsigned*>(job.counts)[warp * 32 + lane] = starts[warp] + words;
      at += 4 + 4 * words;
    }
  }
}

}  // namespace sluice::fake

extern "C" {
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  return std::snprintf(name, static_cast<std::size_t>(bytes), "Fake GPU"), CUDA_SUCCESS;
}
CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* v) { return *v = 13000, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* d, int) { return *d = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* v, CUdevice_attribute which, CUdevice) {
  *v = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR               ? 9
       : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT                 ? 4
       : which == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN    ? 232448
       : which == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR       ? 2048
       : which == CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR     ? 65536
       : which == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR ? 233472
       : which == CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR        ? 8
                                                                           : 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* c) { return *c = reinterpret_cast<CUcontext>(1), CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* d) { return *d = 0, CUDA_SUCCESS; }
CUresult cuCtxGetId(CUcontext, unsigned long long* id) { return *id = 1, CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext* c, CUdevice) { return cuCtxGetCurrent(c); }
CUresult cuGetErrorName(CUresult, const char** name) { return *name = "an error", CUDA_SUCCESS; }
CUresult cuMemHostRegister_v2(void* p, std::size_t bytes, unsigned) {
  if (std::getenv("FAKE_CUDA_NO_REGISTER") != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  return sluice::fake::knows(p, bytes), CUDA_SUCCESS;
}
CUresult cuMemHostUnregister(void*) { return CUDA_SUCCESS; }
CUresult cuModuleUnload(CUmodule) { return tell("unload"), CUDA_SUCCESS; }
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*) { return CUDA_SUCCESS; }
CUresult cuMemAlloc_v2(CUdeviceptr* p, std::size_t bytes) {
  if (std::getenv("FAKE_CUDA_NO_MEMORY") != nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *p = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** p, std::size_t bytes, unsigned) {
  *p = std::aligned_alloc(4096, bytes);
  sluice::fake::knows(*p, bytes);
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute(void*, CUpointer_attribute, CUdeviceptr at) {
  return sluice::fake::known(reinterpret_cast<const void*>(at)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* d, void* p, unsigned) {
  return *d = reinterpret_cast<CUdeviceptr>(p), CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuLinkCreate_v2(unsigned, CUjit_option*, void**, CUlinkState* s) { return *s = nullptr, CUDA_SUCCESS; }
CUresult cuLinkAddData_v2(CUlinkState, CUjitInputType, void* text, std::size_t, const char*, unsigned, CUjit_option*, void**) {
  // The driver's compiler is a library of its own, loaded at the first use: it goes before what was registered earlier.
  static std::atomic<int> inside{0};
  static const int registered = std::atexit([] {
    if (inside > 0) std::_Exit((std::fputs("the compiler is gone while it works\n", stderr), 134));
  });
  ++inside;
  if (const char* ms = std::getenv("FAKE_CUDA_COMPILE_MS")) std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(ms)));
  linked = static_cast<char*>(text);
  if (linked.find(".entry") != std::string::npos) tell("assemble");
  if (const std::size_t at = linked.find(".maxnreg "); at != std::string::npos) tell("limit " + linked.substr(at + 9, 2));
  --inside;
  static_cast<void>(registered);
  return CUDA_SUCCESS;
}
CUresult cuLinkComplete(CUlinkState, void** out, std::size_t* bytes) {
  *out = linked.data();
  *bytes = linked.size() + 1;
  return CUDA_SUCCESS;
}
CUresult cuLinkDestroy(CUlinkState) { return CUDA_SUCCESS; }
CUresult cuModuleLoadData(CUmodule* m, const void* image) {
  sluice::fake::wait_for_all();
  return load(reinterpret_cast<Module**>(m), image);
}
CUresult cuModuleGetFunction(CUfunction* f, CUmodule m, const char* name) {
  const CUresult result = find(reinterpret_cast<Function**>(f), reinterpret_cast<Module*>(m), name);
  if (result == CUDA_SUCCESS) sluice::fake::loads(*reinterpret_cast<Function*>(*f), true);
  return result;
}
CUresult cuLibraryLoadData(CUlibrary* l, const void* image, CUjit_option*, void**, unsigned, CUlibraryOption*, void**, unsigned) {
  return load(reinterpret_cast<Module**>(l), image);
}
CUresult cuLibraryGetKernel(CUkernel* k, CUlibrary l, const char* name) {
  return find(reinterpret_cast<Function**>(k), reinterpret_cast<Module*>(l), name);
}
CUresult cuFuncGetParamInfo(CUfunction f, std::size_t i, std::size_t* offset, std::size_t* bytes) {
  if (i >= reinterpret_cast<Function*>(f)->parameters) return CUDA_ERROR_INVALID_VALUE;
  *offset = 8 * i;
  *bytes = 8;
  return CUDA_SUCCESS;
}
CUresult cuKernelGetParamInfo(CUkernel k, std::size_t i, std::size_t* offset, std::size_t* bytes) {
  sluice::fake::loads(*reinterpret_cast<Function*>(k), false);
  return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(k), i, offset, bytes);
}
CUresult cuFuncGetAttribute(int* v, CUfunction_attribute which, CUfunction f) {
  sluice::fake::loads(*reinterpret_cast<Function*>(f), false);
  return *v = which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? 49152
              : which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK       ? 512
              : which == CU_FUNC_ATTRIBUTE_NUM_REGS                    ? sluice::fake::number("FAKE_CUDA_REGISTERS", 30)
                                                                       : 0,
         CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, CUfunction, int, std::size_t) {
  return *ctas = sluice::fake::number("FAKE_CUDA_CTAS", 8), CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                        CUstream s, void** p, void**) {
  const Grid grid = sluice::fake::grid_of(f, {x, y, z}, {bx, by, bz}, shared, p);
  if (x == 13) return tell("launch refused"), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  sluice::fake::loads(*reinterpret_cast<Function*>(f), false);
  const auto inside = sluice::fake::in_driver();
  sluice::fake::wait_for_room(s);
  if (!sluice::fake::captured(s, grid)) sluice::fake::enqueue(s, [grid] { sluice::fake::execute(grid); });
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction f, void** p, void** extra) {
  if (c->numAttrs == 1 && c->attrs->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) tell("closely");
  return cuLaunchKernel(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes,
                        c->hStream, p, extra);
}
CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t, CUdriverProcAddressQueryResult*) {
  *function = std::strcmp(name, "cuLaunchKernel") == 0 ? reinterpret_cast<void*>(&cuLaunchKernel) : nullptr;
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
}
