// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/cuda/objects.h"

#include <fmt/format.h>

#include <array>

namespace sluice::gpu {

namespace {

unsigned attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  check(driver().cuDeviceGetAttribute(&value, which, device), "reading a device attribute");
  return static_cast<unsigned>(value);
}

}  // namespace

Context::Context(int ordinal) {
  const Driver& d = driver();
  int count = 0;
  check(d.cuDeviceGetCount(&count), "counting GPUs");
  if (ordinal >= count) throw InputError(fmt::format("GPU {}: must be 0..{}", ordinal, count - 1));
  check(d.cuDeviceGet(&device_, ordinal), "opening the GPU");
  std::array<char, 256> name{};
  check(d.cuDeviceGetName(name.data(), name.size(), device_), "reading the GPU's name");
  limits_.name = name.data();
  limits_.compute_major = static_cast<int>(attribute(device_, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  limits_.compute_minor = static_cast<int>(attribute(device_, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  if (limits_.compute_major < 8)
    throw GpuError(fmt::format("{}: compute capability {}.{}: must be 8.0 or later", limits_.name, limits_.compute_major,
                               limits_.compute_minor));
  limits_.sms = attribute(device_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  limits_.threads_per_sm = attribute(device_, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  limits_.registers_per_sm = attribute(device_, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  limits_.shared_per_sm = attribute(device_, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  limits_.ctas_per_sm = attribute(device_, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  limits_.reserved_shared_per_cta = attribute(device_, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  limits_.shared_per_cta_optin = attribute(device_, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  limits_.l2_bytes = attribute(device_, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  limits_.core_mhz = attribute(device_, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1e3;
  check(d.cuDriverGetVersion(&limits_.driver_version), "reading the driver's version");
  check(d.cuDeviceTotalMem(&limits_.memory_bytes, device_), "reading the GPU's memory");
  check(d.cuDevicePrimaryCtxRetain(&context_, device_), limits_.name + ": creating a context");
  check(d.cuCtxSetCurrent(context_), "selecting the GPU");
}

/// The context stays as long as the process, as the CUDA runtime's does: counts of launches are read at the process's end.
Context::~Context() = default;

StreamHandle make_stream() {
  CUstream stream = nullptr;
  check(driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "creating a stream");
  return StreamHandle(stream);
}

EventHandle make_event() {
  CUevent event = nullptr;
  check(driver().cuEventCreate(&event, CU_EVENT_DEFAULT), "creating an event");
  return EventHandle(event);
}

double timed(CUstream stream, const std::string& label, const std::function<void()>& work) {
  const EventHandle first = make_event(), last = make_event();
  check(driver().cuEventRecord(first.get(), stream), "recording an event");
  work();
  check(driver().cuEventRecord(last.get(), stream), "recording an event");
  check(driver().cuEventSynchronize(last.get()), label + " failed on the GPU");
  float ms = 0;
  check(driver().cuEventElapsedTime(&ms, first.get(), last.get()), "reading an event");
  return ms / 1e3;
}

DeviceMemory allocate(std::size_t bytes, const std::string& what) {
  CUdeviceptr pointer = 0;
  const CUresult result = driver().cuMemAlloc(&pointer, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    std::size_t free = 0, total = 0;
    driver().cuMemGetInfo(&free, &total);
    throw GpuError(
        fmt::format("{}: {} MiB of GPU memory asked for, {} of {} MiB free", what, bytes >> 20, free >> 20, total >> 20));
  }
  check(result, what);
  return DeviceMemory(pointer);
}

Library load_library(const Context& context, const std::string& ptx, const std::string& name) {
  const Driver& d = driver();
  CUlibrary library = nullptr;
  std::array<char, 4096> log{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const CUresult result = d.cuLibraryLoadData(&library, ptx.c_str(), options, values, 2, nullptr, nullptr, 0);
  if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
    throw GpuError(fmt::format("{}: NVRTC is newer than the driver (CUDA {}.{}): update the driver or use an older CUDA toolkit",
                               name, context.limits().driver_version / 1000, context.limits().driver_version % 1000 / 10));
  const std::string text = log.data();
  check(result, fmt::format("loading {}{}{}", name, text.empty() ? "" : ": ", text.substr(0, text.find('\n'))));
  return std::make_shared<const LibraryHandle>(library);
}

Kernel::Kernel(const Context& context, Library library, const std::string& name)
    : library_(std::move(library)), device_(context.device()) {
  const Driver& d = driver();
  check(d.cuLibraryGetKernel(&kernel_, library_->get(), name.c_str()), "finding " + name);
  const auto get = [&](CUfunction_attribute which) {
    int value = 0;
    check(d.cuKernelGetAttribute(&value, which, kernel_, device_), "reading an attribute of " + name);
    return static_cast<unsigned>(value);
  };
  registers_ = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
  static_shared_ = get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  local_ = get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  max_threads_ = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

std::vector<std::size_t> Kernel::parameter_sizes(std::size_t count) const {
  std::vector<std::size_t> sizes(count);
  std::size_t offset = 0;
  for (std::size_t i = 0; i < count; ++i)
    check(driver().cuKernelGetParamInfo(kernel_, i, &offset, &sizes[i]), "reading a kernel's parameters");
  return sizes;
}

unsigned Kernel::occupancy(unsigned threads, unsigned dynamic_shared) const {
  int ctas = 0;
  check(driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, function(), static_cast<int>(threads), dynamic_shared),
        "computing occupancy");
  if (ctas < 1)
    throw GpuError(fmt::format("a CTA of {} threads, {} registers a thread and {} bytes of shared memory does not fit an SM",
                               threads, registers_, static_shared_ + dynamic_shared));
  return static_cast<unsigned>(ctas);
}

void Kernel::configure(unsigned dynamic_shared, int carveout_percent) const {
  check(driver().cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(dynamic_shared), kernel_,
                                      device_),
        fmt::format("asking for {} bytes of dynamic shared memory", dynamic_shared));
  check(driver().cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, carveout_percent, kernel_, device_),
        "setting the shared-memory carve-out");
}

}  // namespace sluice::gpu
