// SPDX-License-Identifier: Apache-2.0
// A module's best PTX, rewritten and assembled by the driver's linker.
#include <array>
#include <cstring>
#include <stdexcept>

#include "sw/gpu/fatbin/fatbin.h"
#include "sw/interpose/program.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

/// A context for the driver's linker, where the thread has none: the first GPU's own, kept until the process ends.
class SomeContext {
 public:
  SomeContext() {
    CUcontext context = nullptr;
    if (SLUICE_REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS && context != nullptr) return;
    static const CUcontext primary = [] {
      CUcontext made = nullptr;
      CUdevice device = 0;
      if (SLUICE_REAL(cuDeviceGet)(&device, 0) != CUDA_SUCCESS) return made;
      return SLUICE_REAL(cuDevicePrimaryCtxRetain)(&made, device) == CUDA_SUCCESS ? made : nullptr;
    }();
    pushed_ = primary != nullptr && SLUICE_REAL(cuCtxPushCurrent_v2)(primary) == CUDA_SUCCESS;
  }
  ~SomeContext() {
    CUcontext gone = nullptr;
    if (pushed_) SLUICE_REAL(cuCtxPopCurrent_v2)(&gone);
  }
  SomeContext(const SomeContext&) = delete;
  SomeContext& operator=(const SomeContext&) = delete;

 private:
  bool pushed_ = false;
};

/// @throws std::runtime_error with the assembler's words
std::vector<char> assembled(const std::string& ptx) {
  std::array<char, 2048> log{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUlinkState link = nullptr;
  if (SLUICE_REAL(cuLinkCreate_v2)(2, options, values, &link) != CUDA_SUCCESS)
    throw std::runtime_error("the driver's linker does not start");
  void* cubin = nullptr;
  std::size_t bytes = 0;
  CUresult result = SLUICE_REAL(cuLinkAddData_v2)(link, CU_JIT_INPUT_PTX, const_cast<char*>(ptx.c_str()), ptx.size() + 1,
                                                  "sluice", 0, nullptr, nullptr);
  if (result == CUDA_SUCCESS) result = SLUICE_REAL(cuLinkComplete)(link, &cubin, &bytes);
  std::vector<char> out;
  if (result == CUDA_SUCCESS) out.assign(static_cast<char*>(cubin), static_cast<char*>(cubin) + bytes);
  SLUICE_REAL(cuLinkDestroy)(link);
  if (result != CUDA_SUCCESS) throw std::runtime_error(log[0] != 0 ? log.data() : "the driver does not assemble it");
  return out;
}

unsigned device_sm() {
  CUdevice device = 0;
  int major = 0, minor = 0;
  if (SLUICE_REAL(cuCtxGetDevice)(&device) != CUDA_SUCCESS) return 0;
  SLUICE_REAL(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  SLUICE_REAL(cuDeviceGetAttribute)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  return static_cast<unsigned>(major * 10 + minor);
}

std::string ptx_of(const void* image, unsigned sm) {
  if (std::memcmp(image, "\177ELF", 4) == 0) return "";
  const std::span<const std::byte> fat = gpu::fatbin_in_memory(image);
  if (fat.empty()) {
    std::string text(static_cast<const char*>(image));
    return text.find(".version") == std::string::npos ? "" : text;
  }
  const std::vector<gpu::FatbinImage> images = gpu::read_fatbin(fat);
  const gpu::FatbinImage* best = gpu::best_ptx(images, sm);
  return best == nullptr ? "" : best->bytes;
}

}  // namespace

std::shared_ptr<const Code> code_of(const void* image, std::string& why) {
  try {
    const SomeContext context;
    const unsigned sm = device_sm();
    if (sm < 90) {
      why = "the device is older than compute capability 9.0";
      return nullptr;
    }
    const std::string ptx = ptx_of(image, sm);
    if (ptx.empty()) {
      why = gpu::gate_row(gpu::GateRule::NoPtx).native;
      return nullptr;
    }
    auto code = std::make_shared<Code>();
    code->rewritten = gpu::rewrite_module(ptx, runtime_text(), [&](const std::string& text) { code->cubin = assembled(text); });
    bool any = false;
    for (const auto& [name, kernel] : code->rewritten.kernels) any = any || !kernel.refusal;
    if (code->rewritten.kernels.empty()) why = gpu::gate_row(gpu::GateRule::Unreadable).native;
    if (any)
      code->cubin = assembled(code->rewritten.text);
    else
      code->cubin.clear();
    return code;
  } catch (const std::exception& e) {
    why = e.what();
    return nullptr;
  }
}

}  // namespace sluice::interpose
