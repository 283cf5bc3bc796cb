// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace sluice::gpu {

/// Text of a file of sw/gpu/ as it was at build time: what NVRTC compiles at run time ("apps/knn.cu"), and PTX templates
/// ("rewrite/entry.ptx") without comments and blank lines.
/// @throws std::out_of_range for a name that is not built in
[[nodiscard]] std::string_view embedded_file(std::string_view name);

}  // namespace sluice::gpu
