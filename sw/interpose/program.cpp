// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "sw/gpu/runtime/control.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

FixedQuota FixedQuota::from_environment() {
  FixedQuota quota;
  if (const char* ctas = std::getenv("SLUICE_QUOTA"); ctas != nullptr)
    quota.ctas = static_cast<std::uint32_t>(std::strtoul(ctas, nullptr, 10));
  if (const char* sms = std::getenv("SLUICE_SMS"); sms != nullptr && std::sscanf(sms, "%u-%u", &quota.first, &quota.last) == 2)
    quota.ctas = SLUICE_MAX_SLOTS;
  quota.ctas = std::min<std::uint32_t>(quota.ctas, SLUICE_MAX_SLOTS);
  return quota;
}

Program& Program::instance() {
  static auto* program = new Program;  // never destroyed: threads may launch while the process ends
  return *program;
}

void Program::module(void* handle, std::shared_ptr<const Code> code, std::string why) {
  const std::scoped_lock lock(order_);
  modules_[handle] = {std::move(code), std::move(why)};
  std::erase_if(kernels_, [&](const auto& k) { return k.second.module == handle; });
}

void Program::kernel(void* handle, void* module, const char* name, bool library) {
  const std::scoped_lock lock(order_);
  if (const auto known = kernels_.find(handle);
      known != kernels_.end() && known->second.module == module && known->second.name == name)
    return;
  Kernel kernel;
  kernel.name = name;
  kernel.why = gpu::gate_row(gpu::GateRule::NoPtx).native;
  kernel.module = module;
  if (const auto found = modules_.find(module); found != modules_.end()) {
    if (!found->second.why.empty()) kernel.why = found->second.why;
    kernel.code = found->second.code;
    if (kernel.code != nullptr)
      if (const auto form = kernel.code->rewritten.kernels.find(name); form != kernel.code->rewritten.kernels.end())
        kernel.form = &form->second;
  }
  if (kernel.form != nullptr && !kernel.form->refusal) {
    const char* entry = kernel.form->entry.c_str();
    CUresult found = CUDA_SUCCESS;
    if (library)
      found =
          SLUICE_REAL(cuLibraryGetKernel)(reinterpret_cast<CUkernel*>(&kernel.function), static_cast<CUlibrary>(module), entry);
    else
      found = SLUICE_REAL(cuModuleGetFunction)(&kernel.function, static_cast<CUmodule>(module), entry);
    if (found != CUDA_SUCCESS) kernel.form = nullptr;
    std::size_t offset = 0, bytes = 0;
    for (std::size_t i = 0; found == CUDA_SUCCESS; ++i) {
      const CUresult more = library ? SLUICE_REAL(cuKernelGetParamInfo)(static_cast<CUkernel>(handle), i, &offset, &bytes)
                                    : SLUICE_REAL(cuFuncGetParamInfo)(static_cast<CUfunction>(handle), i, &offset, &bytes);
      if (more != CUDA_SUCCESS) break;
      kernel.parameters.emplace_back(offset, bytes);
    }
  }
  kernels_[handle] = std::move(kernel);
}

void Program::same_kernel(void* handle, void* known) {
  const std::scoped_lock lock(order_);
  if (const auto found = kernels_.find(known); found != kernels_.end()) {
    Kernel copy = found->second;
    kernels_[handle] = std::move(copy);
  }
}

void Program::attribute(void* handle, CUfunction_attribute which, int value) {
  const std::scoped_lock lock(order_);
  const auto found = kernels_.find(handle);
  if (found == kernels_.end() || found->second.function == nullptr) return;
  found->second.shapes.clear();
  if (which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    SLUICE_REAL(cuFuncSetAttribute)(found->second.function, which, value);
}

const Program::Shape& Program::shape(Kernel& kernel, CUfunction native, const gpu::LaunchFacts& facts) {
  const unsigned threads = facts.block[0] * facts.block[1] * facts.block[2];
  const auto [at, fresh] = kernel.shapes.try_emplace({threads, facts.dynamic_shared});
  Shape& shape = at->second;
  if (!fresh) return shape;
  CUdevice device = 0;
  int ctas = 0, optin = 0, own = 0, allowed = 0, sms = 0;
  const auto device_attribute = SLUICE_REAL(cuDeviceGetAttribute);
  SLUICE_REAL(cuCtxGetDevice)(&device);
  device_attribute(&optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
  device_attribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  sms_ = static_cast<std::uint32_t>(sms);
  SLUICE_REAL(cuFuncGetAttribute)(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, native);
  SLUICE_REAL(cuFuncGetAttribute)(&allowed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, native);
  if (facts.dynamic_shared > static_cast<unsigned>(allowed)) return shape;  // the driver refuses it
  const int taken = own + static_cast<int>(facts.dynamic_shared);
  shape.shared_left = optin > taken ? static_cast<unsigned>(optin - taken) : 0;
  const auto occupancy = SLUICE_REAL(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  if (occupancy(&ctas, native, static_cast<int>(threads), facts.dynamic_shared) == CUDA_SUCCESS)
    shape.native = static_cast<unsigned>(ctas);
  const unsigned shared = facts.dynamic_shared + kernel.form->shared_behind;
  if (shared > 0) SLUICE_REAL(cuFuncSetAttribute)
  (kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
   static_cast<int>(std::max(shared, static_cast<unsigned>(allowed))));
  if (occupancy(&ctas, kernel.function, static_cast<int>(threads), shared) == CUDA_SUCCESS)
    shape.transformed = static_cast<unsigned>(ctas);
  return shape;
}

std::optional<Program::Transformed> Program::transform(const Launch& launch) {
  if (launch.function == nullptr) return std::nullopt;  // the driver says so
  const auto found = kernels_.find(launch.function);
  Kernel unknown;
  unknown.name = "?";
  unknown.why = "a kernel whose handle came by an unknown way";
  Transformed out;
  Kernel& kernel = found == kernels_.end() ? unknown : found->second;
  const std::optional<std::string> native = prepare(kernel, launch, out);
  coverage_.count(kernel.name, native.value_or(""));
  if (native) return std::nullopt;
  return out;
}

}  // namespace sluice::interpose
