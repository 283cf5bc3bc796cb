// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace sluice::gpu {

/// Machine code of PTX by the toolkit's ptxas (run_tool says where it is looked for). @param sm  of the device, as 90
/// @return empty: there is no ptxas, or it does not take the text, as one that is older than the PTX
[[nodiscard]] std::vector<char> cubin_by_ptxas(const std::string& ptx, unsigned sm);

}  // namespace sluice::gpu
