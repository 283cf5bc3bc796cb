// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda.h>
#include <nvrtc.h>

#include <string>

#include "sw/core/errors.h"

namespace sluice::gpu {

/// What the GPU, its driver or NVRTC refused: one line for a person.
class GpuError : public SystemError {
 public:
  using SystemError::SystemError;
};

// Both libraries are opened at run time, so that one program runs, and says what is missing, with or without them.
// clang-format off
#define SLUICE_DRIVER_FUNCTIONS(X) \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) \
  X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) \
  X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent) \
  X(cuCtxSynchronize) X(cuMemAlloc) X(cuMemFree) X(cuMemGetInfo) \
  X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemsetD8) X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) \
  X(cuStreamQuery) X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) \
  X(cuEventSynchronize) X(cuEventElapsedTime) X(cuLibraryLoadData) \
  X(cuLibraryUnload) X(cuLibraryGetKernel) X(cuLibraryGetGlobal) X(cuKernelGetAttribute) X(cuKernelSetAttribute) \
  X(cuLaunchKernel) X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuKernelGetParamInfo)
#define SLUICE_NVRTC_FUNCTIONS(X) \
  X(nvrtcVersion) X(nvrtcGetErrorString) X(nvrtcCreateProgram) X(nvrtcDestroyProgram) \
  X(nvrtcCompileProgram) X(nvrtcAddNameExpression) X(nvrtcGetLoweredName) X(nvrtcGetPTXSize) \
  X(nvrtcGetPTX) X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog)
// clang-format on

// The header's macros give the versioned names. A member's name has no parentheses.
#define SLUICE_MEMBER(NAME) decltype(&::NAME) NAME = nullptr;  // NOLINT(bugprone-macro-parentheses)
struct Driver {
  SLUICE_DRIVER_FUNCTIONS(SLUICE_MEMBER)
};
struct Nvrtc {
  SLUICE_NVRTC_FUNCTIONS(SLUICE_MEMBER)
};
#undef SLUICE_MEMBER

/// libcuda.so.1, initialised. @throws GpuError when it is absent, too old, or finds no GPU
[[nodiscard]] const Driver& driver();
/// libnvrtc of CUDA 12 or 13. @throws GpuError naming where it was looked for
[[nodiscard]] const Nvrtc& nvrtc();

/// @throws GpuError "what: CUDA_ERROR_X (its meaning)" unless the result is success
void check(CUresult result, const std::string& what);

}  // namespace sluice::gpu
