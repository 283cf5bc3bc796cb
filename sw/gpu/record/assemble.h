// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace sluice::gpu {

/// A kernel assembled by ptxas with line information, and what `nvdisasm -g -c -hex` says of it.
struct WithLines {
  std::string cubin, listing;
};
/// @param sm  of the device, as 90
/// @throws InputError when a tool is missing, or with the first error of PTX that does not assemble
[[nodiscard]] WithLines assemble_with_lines(const std::string& ptx, std::uint32_t sm);

}  // namespace sluice::gpu
