// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sw/gpu/apps/launch_spec.h"
#include "sw/gpu/cuda/objects.h"

namespace sluice::cli {

/// The kernel's file as it is: PTX of it where it has some or nvcc compiles it, CUDA text for NVRTC otherwise.
void read_code(gpu::LaunchSpec& spec, const gpu::CompileOptions& options, const std::string& nvcc,
               const gpu::DeviceLimits& device);

}  // namespace sluice::cli
