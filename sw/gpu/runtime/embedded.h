// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace sluice::gpu {

/// Text of a file of sw/gpu/ that NVRTC compiles at run time ("apps/knn.cu"), as it was at build time.
/// @throws std::out_of_range for a name that is not built in
[[nodiscard]] std::string_view embedded_file(std::string_view name);

}  // namespace sluice::gpu
