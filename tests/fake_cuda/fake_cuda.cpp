// SPDX-License-Identifier: Apache-2.0
// A driver for tests: executes nothing and tells on FAKE_CUDA_BOOKS what was asked of it. Device memory is host memory. It claims
// the tickets of a transformed launch by the runtime's arithmetic, and says how many blocks did not run exactly once.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/runtime/control.h"

namespace {

struct Function {
  std::string name;
  std::size_t parameters = 0;
};
struct Module {
  std::string ptx;
  std::vector<Function*> functions;
};
std::string linked;

void tell(const std::string& line) {
  if (const char* path = std::getenv("FAKE_CUDA_BOOKS")) {
    std::FILE* books = std::fopen(path, "a");
    std::fprintf(books, "%s\n", line.c_str());
    std::fclose(books);
  }
}
CUresult load(Module** out, const void* image) {
  auto* module = new Module{sluice::gpu::normalised(static_cast<const char*>(image)), {}};
  for (const sluice::gpu::Item& item : sluice::gpu::items_of(module->ptx))
    if (item.kind == sluice::gpu::Item::Kind::Kernel)
      module->functions.push_back(new Function{item.name, sluice::gpu::parameter_count(module->ptx, item.name)});
  tell("load " + std::to_string(module->functions.size()) + " kernels");
  *out = module;
  return CUDA_SUCCESS;
}
CUresult find(Function** out, const Module* module, const char* name) {
  for (Function* f : module->functions)
    if (f->name == name) {
      *out = f;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NOT_FOUND;
}

/// Blocks that do not run exactly once.
unsigned wrong_blocks(const SluiceJob& job) {
  std::vector<unsigned> runs(job.blocks);
  for (; job.control->next < job.tickets; ++job.control->next) {
    unsigned long long ticket = job.control->next, first = 0, task = 0;
    unsigned tasks = job.group;
    if (ticket >= job.middle_ticket) {
      first = job.middle_ticket;
      task = first * tasks;
      tasks = job.middle;
      if (ticket >= job.single_ticket) {
        task += (job.single_ticket - first) * tasks;
        tasks = 1;
        first = job.single_ticket;
      }
      ticket -= first;
    }
    task += ((ticket >> job.width_bits) * tasks << job.width_bits) + (ticket & ((1U << job.width_bits) - 1));
    for (unsigned i = 0; i < tasks; ++i) ++runs[(task + (static_cast<unsigned long long>(i) << job.width_bits)) % job.blocks];
  }
  unsigned wrong = 0;
  for (const unsigned n : runs) wrong += n == 1 ? 0U : 1U;
  return wrong;
}

}  // namespace

extern "C" {
CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* d, int) { return *d = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* v, CUdevice_attribute which, CUdevice) {
  *v = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR            ? 9
       : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT              ? 4
       : which == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ? 232448
                                                                        : 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* c) { return *c = reinterpret_cast<CUcontext>(1), CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* d) { return *d = 0, CUDA_SUCCESS; }
CUresult cuCtxGetId(CUcontext, unsigned long long* id) { return *id = 1, CUDA_SUCCESS; }
CUresult cuStreamGetId(CUstream s, unsigned long long* id) { return *id = reinterpret_cast<unsigned long long>(s), CUDA_SUCCESS; }
CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus* status) {
  *status = s == reinterpret_cast<CUstream>(99) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*) { return CUDA_SUCCESS; }
CUresult cuMemAlloc_v2(CUdeviceptr* p, std::size_t bytes) {
  if (std::getenv("FAKE_CUDA_NO_MEMORY") != nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *p = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, std::size_t n, CUstream) {
  return std::memset(reinterpret_cast<void*>(p), v, n), CUDA_SUCCESS;
}
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned v, std::size_t n, CUstream) {
  for (std::size_t i = 0; i < n; ++i) reinterpret_cast<unsigned*>(p)[i] = v;
  return CUDA_SUCCESS;
}
CUresult cuLinkCreate_v2(unsigned, CUjit_option*, void**, CUlinkState* s) { return *s = nullptr, CUDA_SUCCESS; }
CUresult cuLinkAddData_v2(CUlinkState, CUjitInputType, void* text, std::size_t, const char*, unsigned, CUjit_option*, void**) {
  linked = static_cast<char*>(text);
  return CUDA_SUCCESS;
}
CUresult cuLinkComplete(CUlinkState, void** out, std::size_t* bytes) {
  *out = linked.data();
  *bytes = linked.size() + 1;
  return CUDA_SUCCESS;
}
CUresult cuLinkDestroy(CUlinkState) { return CUDA_SUCCESS; }
CUresult cuModuleLoadData(CUmodule* m, const void* image) { return load(reinterpret_cast<Module**>(m), image); }
CUresult cuModuleGetFunction(CUfunction* f, CUmodule m, const char* name) {
  return find(reinterpret_cast<Function**>(f), reinterpret_cast<Module*>(m), name);
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
  return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(k), i, offset, bytes);
}
CUresult cuFuncGetAttribute(int* v, CUfunction_attribute which, CUfunction) {
  return *v = which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? 49152 : 0, CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, CUfunction, int, std::size_t) { return *ctas = 8, CUDA_SUCCESS; }
CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void** p, void**) {
  const auto* function = reinterpret_cast<Function*>(f);
  std::string line = "launch " + function->name + " " + std::to_string(x) + "x" + std::to_string(y);
  for (std::size_t i = 0; i < function->parameters; ++i) {
    if (i + 1 == function->parameters && function->name.ends_with("__sluice")) {
      const auto& job = *static_cast<const SluiceJob*>(p[i]);
      line += " quota " + std::to_string(job.control->orders.quota[0]) + " wanted " + std::to_string(job.control->orders.wanted);
      const unsigned wrong = wrong_blocks(job);
      line += " blocks " + std::to_string(job.blocks) + " wrong " + std::to_string(wrong);
    } else if (p != nullptr) {
      unsigned word = 0;
      std::memcpy(&word, p[i], 4);
      line += " arg " + std::to_string(word);
    }
  }
  tell(line);
  return x == 13 ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction f, void** p, void** extra) {
  return cuLaunchKernel(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes,
                        c->hStream, p, extra);
}
CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t, CUdriverProcAddressQueryResult*) {
  *function = std::strcmp(name, "cuLaunchKernel") == 0 ? reinterpret_cast<void*>(&cuLaunchKernel) : nullptr;
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
}
