// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <vector>

namespace sluice::gpu {

namespace {

#define SLUICE_TEXT(NAME) #NAME
#define SLUICE_NAME(NAME) SLUICE_TEXT(NAME)  // after expansion: "cuMemAlloc_v2" for cuMemAlloc

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

Driver open_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw GpuError("no NVIDIA driver here: libcuda.so.1 cannot be opened");
  Driver d;
#define SLUICE_LOAD(NAME)                        \
  if (!find(library, SLUICE_NAME(NAME), d.NAME)) \
    throw GpuError("the NVIDIA driver is too old: it has no " SLUICE_NAME(NAME) " (CUDA 12.4 or later is needed)");
  SLUICE_DRIVER_FUNCTIONS(SLUICE_LOAD)
#undef SLUICE_LOAD
  const CUresult result = d.cuInit(0);
  if (result == CUDA_ERROR_NO_DEVICE) throw GpuError("the NVIDIA driver finds no GPU");
  if (result == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
    throw GpuError("the kernel's NVIDIA driver and libcuda.so.1 are of different versions: reboot, or install matching ones");
  if (result != CUDA_SUCCESS) {
    const char* text = nullptr;
    d.cuGetErrorString(result, &text);
    throw GpuError(fmt::format("the NVIDIA driver does not start: {}", text == nullptr ? "unknown error" : text));
  }
  return d;
}

Nvrtc open_nvrtc() {
  std::vector<std::string> places = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr) places.push_back(std::string(home) + "/lib64/libnvrtc.so");
  places.emplace_back("/usr/local/cuda/lib64/libnvrtc.so");
  void* library = nullptr;
  for (const std::string& place : places)
    if (library == nullptr) library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw GpuError(fmt::format("no NVRTC here: tried {}; CUDA_HOME may name a CUDA toolkit", fmt::join(places, ", ")));
  Nvrtc n;
#define SLUICE_LOAD(NAME) \
  if (!find(library, SLUICE_NAME(NAME), n.NAME)) throw GpuError("NVRTC is too old: it has no " SLUICE_NAME(NAME));
  SLUICE_NVRTC_FUNCTIONS(SLUICE_LOAD)
#undef SLUICE_LOAD
  return n;
}

}  // namespace

const Driver& driver() {
  static const Driver opened = open_driver();
  return opened;
}

const Nvrtc& nvrtc() {
  static const Nvrtc opened = open_nvrtc();
  return opened;
}

void check(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  const char *name = nullptr, *text = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &text);
  throw GpuError(fmt::format("{}: {} ({})", what, name == nullptr ? "error" : name, text == nullptr ? "?" : text));
}

}  // namespace sluice::gpu
