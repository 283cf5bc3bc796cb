// SPDX-License-Identifier: Apache-2.0
// Modules, libraries, and the kernels that a program takes from them.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <type_traits>
#include <vector>

#include "sw/interpose/hooks.h"
#include "sw/interpose/program.h"
#include "sw/interpose/recorder.h"

namespace sluice::interpose {

namespace {

Program& program() { return Program::instance(); }

/// Somebody may say what launches hold. Loading a module starts nothing: that is known at the first launch.
bool transforms() {
  static const bool any = [] {
    for (const char* name : {"SLUICE_QUOTA", "SLUICE_SMS", "SLUICE_QUOTA_FILE", "SLUICE_SOCKET"})
      if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return true;
    return false;
  }();
  return any;
}

/// Loads `image`, or the code made of it; the program's own where the driver does not take ours.
template <class Handle, class Load>
CUresult load(Handle* handle, const void* image, const Load& as) {
  if (Recorder* recorder = Recorder::instance(); recorder != nullptr && image != nullptr) {
    Recorder::Image ours = recorder->image(image);
    CUresult result = ours.in_place.empty() ? CUDA_ERROR_UNKNOWN : as(ours.in_place.c_str(), true);
    if (result != CUDA_SUCCESS) {
      if (!ours.in_place.empty()) ours = {nullptr, "", "the driver does not load the module with the kernels that log"};
      result = as(image, false);
    }
    if (result == CUDA_SUCCESS) recorder->module(*handle, std::move(ours));
    return result;
  }
  Prepared ours;
  if (image != nullptr && transforms()) ours = prepared(image);
  const Program::Drain drain(program());
  const bool loads = ours.code != nullptr && !ours.code->cubin.empty();
  CUresult result = loads ? as(ours.code->cubin.data(), true) : CUDA_ERROR_UNKNOWN;
  if (result != CUDA_SUCCESS) {
    if (loads) ours = {nullptr, nullptr, nullptr, "the driver does not load the transformed module"};
    result = as(image, false);
  }
  if (result == CUDA_SUCCESS) program().module(*handle, std::move(ours), std::is_same_v<Handle, CUlibrary>);
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
void tell_kernel(void* handle, void* module, const char* name, bool library) {
  if (Recorder* recorder = Recorder::instance()) return recorder->kernel(handle, module, name, library);
  program().kernel(handle, module, name, library);
}
void tell_unloaded(void* module) {
  if (Recorder* recorder = Recorder::instance()) return recorder->module(module, {});
  program().unloaded(module);
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
/// What is ours of it goes first: the handle may come again as soon as the driver has let it go.
template <Symbol Own, class Handle>
CUresult unload(Handle handle) {
  const Program::Drain drain(program());
  tell_unloaded(handle);
  return real<CUresult(Handle)>(Own)(handle);
}
CUresult module_get_function(CUfunction* function, CUmodule module, const char* name) {
  const CUresult result = [&] {
    std::optional<Program::Drain> drain;
    if (program().first_look(module, name)) drain.emplace(program());
    return SLUICE_REAL(cuModuleGetFunction)(function, module, name);
  }();
  if (result == CUDA_SUCCESS) tell_kernel(*function, module, name, false);
  return result;
}
CUresult library_get_kernel(CUkernel* kernel, CUlibrary library, const char* name) {
  const CUresult result = SLUICE_REAL(cuLibraryGetKernel)(kernel, library, name);
  if (result == CUDA_SUCCESS) tell_kernel(*kernel, library, name, true);
  return result;
}
CUresult kernel_get_function(CUfunction* function, CUkernel kernel) {
  const CUresult result = [&] {
    std::optional<Program::Drain> drain;
    if (program().first_look(kernel, nullptr)) drain.emplace(program());
    return SLUICE_REAL(cuKernelGetFunction)(function, kernel);
  }();
  if (result != CUDA_SUCCESS) return result;
  if (Recorder* recorder = Recorder::instance())
    recorder->same_kernel(*function, kernel);
  else
    program().same_kernel(*function, kernel);
  return result;
}
CUresult kernel_get_param_info(CUkernel kernel, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  std::optional<Program::Drain> drain;  // it loads the kernel
  if (program().first_look(kernel, nullptr)) drain.emplace(program());
  return SLUICE_REAL(cuKernelGetParamInfo)(kernel, index, offset, bytes);
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

}  // namespace

void* module_hook(Symbol symbol) {
  switch (symbol) {
    case kcuModuleLoad: return address(module_load);
    case kcuModuleLoadData: return address(module_load_data);
    case kcuModuleLoadDataEx: return address(module_load_data_ex);
    case kcuModuleLoadFatBinary: return address(module_load_fat);
    case kcuModuleUnload: return address(unload<kcuModuleUnload, CUmodule>);
    case kcuModuleGetFunction: return address(module_get_function);
    case kcuLibraryLoadData: return address(library_load_data);
    case kcuLibraryLoadFromFile: return address(library_load_file);
    case kcuLibraryUnload: return address(unload<kcuLibraryUnload, CUlibrary>);
    case kcuLibraryGetKernel: return address(library_get_kernel);
    case kcuKernelGetFunction: return address(kernel_get_function);
    case kcuKernelGetParamInfo: return address(kernel_get_param_info);
    case kcuFuncSetAttribute: return address(func_set_attribute);
    case kcuKernelSetAttribute: return address(kernel_set_attribute);
    default: return nullptr;
  }
}

}  // namespace sluice::interpose
