// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sw/gpu/source/compile_options.h"

namespace sluice::gpu {

/// PTX of a file's device code by the installed nvcc, which takes files with host code too.
/// @param nvcc  a program; with "nvcc", also $CUDA_HOME/bin and /usr/local/cuda/bin are looked in, behind PATH
/// @param sm    of the device, as 90
/// @throws InputError when there is no such program, or with the first error of a file that does not compile
[[nodiscard]] std::string ptx_by_nvcc(const std::string& nvcc, const std::string& file, unsigned sm,
                                      const CompileOptions& options);

}  // namespace sluice::gpu
