// SPDX-License-Identifier: Apache-2.0
// Devices, modules and launches of the driver for tests (fake.h).
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
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
/// What is unloaded gives its handles to what is loaded next.
std::vector<Module*> unloaded;
std::vector<Function*> free_functions;
std::mutex unload_lock;
thread_local std::string linked;

/// Of code that was linked: its first part, which stands for what the linker made of all.
std::string text_of(const void* image) {
  const auto parts = sluice::gpu::linked_parts_in_memory(image);
  return parts.empty() ? static_cast<const char*>(image) : sluice::gpu::read_fatbin(parts[0]).at(0).bytes;
}
template <class T>
T* again(std::vector<T*>& from) {
  const std::scoped_lock held(unload_lock);
  if (from.empty()) return new T;
  T* last = from.back();
  from.pop_back();
  return last;
}
CUresult load(Module** out, const void* image, CUcontext context) try {
  const std::string ptx = sluice::gpu::normalised(text_of(image));
  const std::vector<sluice::gpu::Item> items = sluice::gpu::items_of(ptx);
  auto* module = again(unloaded);
  module->ptx = ptx;
  for (const sluice::gpu::Item& item : items)
    if (item.kind == sluice::gpu::Item::Kind::Kernel) {
      Function* f = again(free_functions);
      f->name = item.name;
      f->parameters = sluice::gpu::parameter_count(ptx, item.name);
      f->ours = item.name.ends_with("__sluice");
      f->logs = item.name.ends_with("__sluice_record");
      f->loaded = false;
      f->context = context;
      const std::string body = ptx.substr(item.body, item.end - item.body);
      const std::size_t at = body.find("%mark, ");
      f->mark = at == std::string::npos ? "" : body.substr(at + 7, body.find(';', at) - at - 7);
      module->functions.push_back(f);
    }
  tell("load " + std::to_string(module->functions.size()) + " kernels");
  *out = module;
  return CUDA_SUCCESS;
} catch (const std::exception&) {  // what is no PTX
  return CUDA_ERROR_INVALID_PTX;
}
CUresult unload(Module* module) {
  sluice::fake::wait_for_streams();
  const std::scoped_lock held(unload_lock);
  for (Function* f : module->functions) {
    f->name = "of a module that is gone: " + f->name;
    free_functions.push_back(f);
  }
  module->functions.clear();
  unloaded.push_back(module);
  return tell("unload"), CUDA_SUCCESS;
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

namespace {
thread_local CUcontext g_current = reinterpret_cast<CUcontext>(1);
thread_local std::vector<CUcontext> g_pushed;
std::atomic<unsigned long long> g_contexts{2};
}  // namespace

Context& context(CUcontext handle) {
  static auto* all = new std::array<Context, 3>;
  static std::once_flag once;
  std::call_once(once, [] {
    for (unsigned i = 1; i < 3; ++i) (*all)[i].id = i;
  });
  return (*all)[std::min<std::uintptr_t>(reinterpret_cast<std::uintptr_t>(handle), 2)];
}
CUcontext current() { return g_current; }
CUcontext context_of(CUstream stream) {
  if (stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD) return g_current;
  return reinterpret_cast<CUcontext>(reinterpret_cast<std::uintptr_t>(stream) < 5000 ? 1 : 2);
}
CUresult error_of(CUstream stream) { return context(context_of(stream)).error; }

/// What the environment says the device or a kernel has.
static int number(const char* variable, int otherwise) {
  const char* set = std::getenv(variable);
  return set == nullptr ? otherwise : std::atoi(set);
}

CUdevice device_of(CUcontext handle) {
  return number("FAKE_CUDA_DEVICES", 1) == 2 && handle == reinterpret_cast<CUcontext>(2) ? 1 : 0;
}

static std::map<const char*, std::size_t>& device_memory() {
  static auto* all = new std::map<const char*, std::size_t>;
  return *all;
}
static std::mutex memory_lock;
bool has_room(const void* at, std::size_t bytes) {
  const std::scoped_lock held(memory_lock);
  const auto found = device_memory().find(static_cast<const char*>(at));
  return found != device_memory().end() && found->second >= bytes;
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
  const char* set = std::getenv("FAKE_CUDA_NAME");
  return std::snprintf(name, static_cast<std::size_t>(bytes), "%s", set == nullptr ? "Fake GPU" : set), CUDA_SUCCESS;
}
CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* v) { return *v = 13000, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* count) { return *count = sluice::fake::number("FAKE_CUDA_DEVICES", 1), CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* d, int number) { return *d = number, CUDA_SUCCESS; }
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice d) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::memset(uuid->bytes, visible == nullptr ? '0' + d : visible[2 * d], sizeof uuid->bytes);
  return CUDA_SUCCESS;
}
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
CUresult cuCtxGetCurrent(CUcontext* c) { return *c = sluice::fake::g_current, CUDA_SUCCESS; }
CUresult cuCtxPushCurrent_v2(CUcontext c) {
  sluice::fake::g_pushed.push_back(sluice::fake::g_current);
  return sluice::fake::g_current = c, CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent_v2(CUcontext* c) {
  *c = sluice::fake::g_current;
  sluice::fake::g_current = sluice::fake::g_pushed.back();
  return sluice::fake::g_pushed.pop_back(), CUDA_SUCCESS;
}
CUresult cuStreamGetCtx(CUstream s, CUcontext* c) { return *c = sluice::fake::context_of(s), CUDA_SUCCESS; }
static std::atomic<int> g_users{1};  // of the device's own context
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  return *flags = 0, *active = g_users > 0 ? 1 : 0, CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) { return --g_users == 0 ? cuDevicePrimaryCtxReset_v2(d) : CUDA_SUCCESS; }
/// The handle is the same again, and all that the context had is gone.
CUresult cuDevicePrimaryCtxReset_v2(CUdevice) {
  sluice::fake::wait_for_streams();
  sluice::fake::Context& c = sluice::fake::context(reinterpret_cast<CUcontext>(1));
  c.error = CUDA_SUCCESS;
  c.id = ++sluice::fake::g_contexts;
  return tell("reset"), CUDA_SUCCESS;
}
/// By a name that nobody hooks, as a table of the driver's own would give it.
CUresult fake_cuda_reset(CUdevice d) { return cuDevicePrimaryCtxReset_v2(d); }
CUresult cuCtxGetDevice(CUdevice* d) { return *d = sluice::fake::device_of(sluice::fake::g_current), CUDA_SUCCESS; }
CUresult cuCtxGetId(CUcontext c, unsigned long long* id) {
  return *id = sluice::fake::context(c == nullptr ? sluice::fake::g_current : c).id, CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* c, CUdevice) { return ++g_users, cuCtxGetCurrent(c); }
CUresult cuGetErrorName(CUresult, const char** name) { return *name = "an error", CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** text) { return *text = "of the driver for tests", CUDA_SUCCESS; }
/// NVRTC asks for one, and reads its size first: of a table with nothing in it.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  static const std::size_t size = sizeof size;
  return *table = &size, CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) { return *bytes = 1U << 30U, CUDA_SUCCESS; }
CUresult cuLibraryGetGlobal(CUdeviceptr*, std::size_t*, CUlibrary, const char*) { return CUDA_ERROR_NOT_FOUND; }
CUresult cuKernelSetAttribute(CUfunction_attribute, int, CUkernel, CUdevice) { return CUDA_SUCCESS; }
CUresult cuMemHostRegister_v2(void* p, std::size_t bytes, unsigned) {
  if (std::getenv("FAKE_CUDA_NO_REGISTER") != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  return sluice::fake::knows(p, bytes), CUDA_SUCCESS;
}
CUresult cuMemHostUnregister(void*) { return CUDA_SUCCESS; }
CUresult cuModuleUnload(CUmodule m) { return unload(reinterpret_cast<Module*>(m)); }
CUresult cuLibraryUnload(CUlibrary l) { return unload(reinterpret_cast<Module*>(l)); }
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*) { return CUDA_SUCCESS; }
CUresult cuMemAlloc_v2(CUdeviceptr* p, std::size_t bytes) {
  if (std::getenv("FAKE_CUDA_NO_MEMORY") != nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *p = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  const std::scoped_lock held(sluice::fake::memory_lock);
  sluice::fake::device_memory()[reinterpret_cast<const char*>(*p)] = bytes;
  return sluice::fake::error_of(nullptr);
}
CUresult cuMemAllocAsync(CUdeviceptr* p, std::size_t bytes, CUstream) { return cuMemAlloc_v2(p, bytes); }
CUresult cuMemAllocManaged(CUdeviceptr* p, std::size_t bytes, unsigned) { return cuMemAlloc_v2(p, bytes); }
CUresult cuMemAllocPitch_v2(CUdeviceptr* p, std::size_t* pitch, std::size_t width, std::size_t rows, unsigned) {
  return cuMemAlloc_v2(p, (*pitch = (width + 511) / 512 * 512) * rows);
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* h, std::size_t bytes, const CUmemAllocationProp*, unsigned long long) {
  return cuMemAlloc_v2(h, bytes);
}
CUresult cuGraphAddMemAllocNode(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUDA_MEM_ALLOC_NODE_PARAMS*) {
  return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle) { return CUDA_SUCCESS; }
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream) { return p == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
CUresult cuArrayCreate_v2(CUarray* a, const CUDA_ARRAY_DESCRIPTOR*) {
  return cuMemAlloc_v2(reinterpret_cast<CUdeviceptr*>(a), 1);
}
CUresult cuArrayDestroy(CUarray) { return CUDA_SUCCESS; }
CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) { return *total = 1U << 30U, *free = 1U << 29U, CUDA_SUCCESS; }
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
CUresult cuCtxSetCurrent(CUcontext c) { return sluice::fake::g_current = c, CUDA_SUCCESS; }
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
  return load(reinterpret_cast<Module**>(m), image, sluice::fake::g_current);
}
CUresult cuModuleGetFunction(CUfunction* f, CUmodule m, const char* name) {
  const CUresult result = find(reinterpret_cast<Function**>(f), reinterpret_cast<Module*>(m), name);
  if (result == CUDA_SUCCESS) sluice::fake::loads(*reinterpret_cast<Function*>(*f), true);
  return result;
}
CUresult cuLibraryLoadData(CUlibrary* l, const void* image, CUjit_option*, void**, unsigned, CUlibraryOption*, void**, unsigned) {
  return load(reinterpret_cast<Module**>(l), image, nullptr);
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
CUresult cuKernelGetAttribute(int* v, CUfunction_attribute which, CUkernel k, CUdevice) {
  return cuFuncGetAttribute(v, which, reinterpret_cast<CUfunction>(k));
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute which, int value) {
  if (which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    tell("carve-out of " + reinterpret_cast<Function*>(f)->name + " " + std::to_string(value));
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, CUfunction, int threads, std::size_t) {
  return *ctas = std::min(sluice::fake::number("FAKE_CUDA_CTAS", 8), 2048 / std::max(threads, 1)), CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                        CUstream s, void** p, void**) {
  if (f == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const Grid grid = sluice::fake::grid_of(f, {x, y, z}, {bx, by, bz}, shared, p);
  if (x == 0 || x > 0x7fffffff || y > 65535 || z > 65535 || bx * by * bz > 1024)
    return tell("launch refused"), CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = sluice::fake::error_of(s); error != CUDA_SUCCESS) return error;
  const CUcontext own = grid.function->context;
  if (own != nullptr && own != sluice::fake::context_of(s)) return tell("launch refused"), CUDA_ERROR_INVALID_HANDLE;
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
