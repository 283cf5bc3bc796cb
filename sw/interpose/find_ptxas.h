// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace sluice::interpose {

/// The first that can be run: of `before`, of the folders of PATH, of the place where the CUDA toolkit installs it.
/// @param not_this  of ours, which stands in front of them. @return empty: there is none
[[nodiscard]] std::string find_ptxas(std::vector<std::string> before, const std::string& not_this);

}  // namespace sluice::interpose
