// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace sluice::gpu {

/// What a user tells the compiler of CUDA text, NVRTC or nvcc.
struct CompileOptions {
  std::vector<std::string> includes{};  ///< folders, -I
  std::vector<std::string> defines{};   ///< NAME or NAME=VALUE, -D
};

}  // namespace sluice::gpu
