// SPDX-License-Identifier: Apache-2.0
// Ours in place of the driver's functions. Each calls the driver's own; what that answers passes unchanged.
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "sw/interpose/program.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

Program& program() { return Program::instance(); }

/// Loads `image`, or the code made of it; the program's own where the driver does not take ours.
template <class Handle, class Load>
CUresult load(Handle* handle, const void* image, const Load& as) {
  std::string why;
  std::shared_ptr<const Code> code;
  if (image != nullptr && program().quota().ctas > 0) code = code_of(image, why);
  bool ours = code != nullptr && !code->cubin.empty();
  CUresult result = ours ? as(code->cubin.data(), true) : CUDA_ERROR_UNKNOWN;
  if (result != CUDA_SUCCESS) {
    if (ours) code = nullptr;
    result = as(image, false);
  }
  if (result == CUDA_SUCCESS) program().module(*handle, code, why);
  return result;
}

CUresult module_load_data(CUmodule* module, const void* image) {
  return load(module, image, [&](const void* bytes, bool) { return SLUICE_REAL(cuModuleLoadData)(module, bytes); });
}
CUresult module_load_data_ex(CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
  return load(module, image, [&](const void* bytes, bool ours) {
    return ours ? SLUICE_REAL(cuModuleLoadData)(module, bytes)
                : SLUICE_REAL(cuModuleLoadDataEx)(module, bytes, count, options, values);
  });
}
CUresult module_load_fat(CUmodule* module, const void* image) {
  return load(module, image, [&](const void* bytes, bool ours) {
    return ours ? SLUICE_REAL(cuModuleLoadData)(module, bytes) : SLUICE_REAL(cuModuleLoadFatBinary)(module, bytes);
  });
}
std::vector<char> contents(const char* path) {
  std::ifstream in(path == nullptr ? "" : path, std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(in), {});
  bytes.insert(bytes.end(), 32, '\0');  // text ends with a zero
  return bytes;
}
CUresult module_load(CUmodule* module, const char* path) {
  const std::vector<char> bytes = contents(path);
  return load(module, bytes.data(), [&](const void* image, bool ours) {
    return ours ? SLUICE_REAL(cuModuleLoadData)(module, image) : SLUICE_REAL(cuModuleLoad)(module, path);
  });
}
CUresult library_load_data(CUlibrary* library, const void* image, CUjit_option* jit, void** jit_values, unsigned jit_count,
                           CUlibraryOption* options, void** values, unsigned count) {
  return load(library, image, [&](const void* bytes, bool ours) {
    return SLUICE_REAL(cuLibraryLoadData)(library, bytes, jit, jit_values, ours ? 0 : jit_count, options, values, count);
  });
}
CUresult library_load_file(CUlibrary* library, const char* path, CUjit_option* jit, void** jit_values, unsigned jit_count,
                           CUlibraryOption* options, void** values, unsigned count) {
  const std::vector<char> bytes = contents(path);
  return load(library, bytes.data(), [&](const void* image, bool ours) {
    return ours ? SLUICE_REAL(cuLibraryLoadData)(library, image, jit, jit_values, 0, options, values, count)
                : SLUICE_REAL(cuLibraryLoadFromFile)(library, path, jit, jit_values, jit_count, options, values, count);
  });
}
CUresult module_unload(CUmodule module) {
  const CUresult result = SLUICE_REAL(cuModuleUnload)(module);
  if (result == CUDA_SUCCESS) program().module(module, nullptr, "");
  return result;
}
CUresult library_unload(CUlibrary library) {
  const CUresult result = SLUICE_REAL(cuLibraryUnload)(library);
  if (result == CUDA_SUCCESS) program().module(library, nullptr, "");
  return result;
}
CUresult module_get_function(CUfunction* function, CUmodule module, const char* name) {
  const CUresult result = SLUICE_REAL(cuModuleGetFunction)(function, module, name);
  if (result == CUDA_SUCCESS) program().kernel(*function, module, name, false);
  return result;
}
CUresult library_get_kernel(CUkernel* kernel, CUlibrary library, const char* name) {
  const CUresult result = SLUICE_REAL(cuLibraryGetKernel)(kernel, library, name);
  if (result == CUDA_SUCCESS) program().kernel(*kernel, library, name, true);
  return result;
}
CUresult kernel_get_function(CUfunction* function, CUkernel kernel) {
  const CUresult result = SLUICE_REAL(cuKernelGetFunction)(function, kernel);
  if (result == CUDA_SUCCESS) program().same_kernel(*function, kernel);
  return result;
}
CUresult func_set_attribute(CUfunction function, CUfunction_attribute which, int value) {
  const CUresult result = SLUICE_REAL(cuFuncSetAttribute)(function, which, value);
  if (result == CUDA_SUCCESS) program().attribute(function, which, value);
  return result;
}
CUresult kernel_set_attribute(CUfunction_attribute which, int value, CUkernel kernel, CUdevice device) {
  const CUresult result = SLUICE_REAL(cuKernelSetAttribute)(which, value, kernel, device);
  if (result == CUDA_SUCCESS) program().attribute(kernel, which, value);
  return result;
}
CUresult stream_destroy(CUstream stream) {
  program().stream_ends(stream);
  return SLUICE_REAL(cuStreamDestroy_v2)(stream);
}

/// @param per_thread  stream 0 is the thread's own
CUlaunchConfig config_of(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                         CUstream stream) {
  return {gx, gy, gz, bx, by, bz, shared, stream, nullptr, 0};
}
/// @param native  launches as the program said
template <class Native>
CUresult launch(const CUlaunchConfig& c, CUfunction function, void** parameters, void** extra, bool per_thread, bool cooperative,
                const Native& native) {
  const std::scoped_lock lock(program().order());
  Launch l{function, c.hStream == nullptr && per_thread ? CU_STREAM_PER_THREAD : c.hStream, {}, parameters, extra};
  l.facts.grid = {c.gridDimX, c.gridDimY, c.gridDimZ};
  l.facts.block = {c.blockDimX, c.blockDimY, c.blockDimZ};
  l.facts.dynamic_shared = c.sharedMemBytes;
  l.facts.cooperative = cooperative;
  for (unsigned i = 0; i < c.numAttrs; ++i) {
    const CUlaunchAttribute& a = c.attrs[i];
    if (a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) l.facts.cooperative = l.facts.cooperative || a.value.cooperative != 0;
    if (a.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) l.facts.cluster = true;
    if (a.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION && a.value.programmaticStreamSerializationAllowed != 0)
      l.facts.programmatic = true;
    if (a.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT || a.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
      l.facts.programmatic = true;
  }
  const std::optional<Program::Transformed> ours = program().transform(l);
  if (!ours) return native();
  CUlaunchConfig config = c;
  config.gridDimX = ours->grid[0];
  config.gridDimY = ours->grid[1];
  config.gridDimZ = ours->grid[2];
  config.sharedMemBytes = ours->shared;
  config.hStream = l.stream;
  return SLUICE_REAL(cuLaunchKernelEx)(&config, ours->function, const_cast<void**>(ours->parameters.data()), nullptr);
}
template <Symbol Own, bool PerThread>
CUresult launch_kernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                       unsigned shared, CUstream stream, void** parameters, void** extra) {
  return launch(config_of(gx, gy, gz, bx, by, bz, shared, stream), f, parameters, extra, PerThread, false, [&] {
    return real<decltype(cuLaunchKernel)>(Own)(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
  });
}
template <Symbol Own, bool PerThread>
CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction f, void** parameters, void** extra) {
  if (config == nullptr) return real<decltype(cuLaunchKernelEx)>(Own)(config, f, parameters, extra);
  return launch(*config, f, parameters, extra, PerThread, false,
                [&] { return real<decltype(cuLaunchKernelEx)>(Own)(config, f, parameters, extra); });
}
template <Symbol Own, bool PerThread>
CUresult launch_cooperative(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                            unsigned shared, CUstream stream, void** parameters) {
  return launch(config_of(gx, gy, gz, bx, by, bz, shared, stream), f, parameters, nullptr, PerThread, true, [&] {
    return real<decltype(cuLaunchCooperativeKernel)>(Own)(f, gx, gy, gz, bx, by, bz, shared, stream, parameters);
  });
}

using GetProcAddressV1 = CUresult(const char*, void**, int, cuuint64_t);
CUresult get_proc_address(const char* name, void** function, int version, cuuint64_t flags) {
  const CUresult result = real<GetProcAddressV1>(kcuGetProcAddress)(name, function, version, flags);
  if (result == CUDA_SUCCESS && function != nullptr) *function = substitute(name, version, flags, *function);
  return result;
}
CUresult get_proc_address_v2(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  const CUresult result = SLUICE_REAL(cuGetProcAddress_v2)(name, function, version, flags, status);
  if (result == CUDA_SUCCESS && function != nullptr) *function = substitute(name, version, flags, *function);
  return result;
}

template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void* hook(Symbol symbol) {
  switch (symbol) {
    case kcuGetProcAddress: return address(get_proc_address);
    case kcuGetProcAddress_v2: return address(get_proc_address_v2);
    case kcuModuleLoad: return address(module_load);
    case kcuModuleLoadData: return address(module_load_data);
    case kcuModuleLoadDataEx: return address(module_load_data_ex);
    case kcuModuleLoadFatBinary: return address(module_load_fat);
    case kcuModuleUnload: return address(module_unload);
    case kcuModuleGetFunction: return address(module_get_function);
    case kcuLibraryLoadData: return address(library_load_data);
    case kcuLibraryLoadFromFile: return address(library_load_file);
    case kcuLibraryUnload: return address(library_unload);
    case kcuLibraryGetKernel: return address(library_get_kernel);
    case kcuKernelGetFunction: return address(kernel_get_function);
    case kcuFuncSetAttribute: return address(func_set_attribute);
    case kcuKernelSetAttribute: return address(kernel_set_attribute);
    case kcuStreamDestroy_v2: return address(stream_destroy);
    case kcuLaunchKernel: return address(launch_kernel<kcuLaunchKernel, false>);
    case kcuLaunchKernel_ptsz: return address(launch_kernel<kcuLaunchKernel_ptsz, true>);
    case kcuLaunchKernelEx: return address(launch_kernel_ex<kcuLaunchKernelEx, false>);
    case kcuLaunchKernelEx_ptsz: return address(launch_kernel_ex<kcuLaunchKernelEx_ptsz, true>);
    case kcuLaunchCooperativeKernel: return address(launch_cooperative<kcuLaunchCooperativeKernel, false>);
    case kcuLaunchCooperativeKernel_ptsz: return address(launch_cooperative<kcuLaunchCooperativeKernel_ptsz, true>);
    default: return nullptr;
  }
}

}  // namespace sluice::interpose
