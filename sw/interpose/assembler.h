// SPDX-License-Identifier: Apache-2.0
#pragma once
// The CUDA toolkit's assembler, where the user names one. It makes a whole program of a module; the driver's linker, which is
// there always, makes relocatable code, with more registers.
#include <optional>
#include <string>
#include <vector>

namespace sluice::interpose {

/// SLUICE_PTXAS; empty: none.
[[nodiscard]] const std::string& ptxas();
/// PTX as machine code for a device, by ptxas in a process that the program does not see as its child. Waits for it.
/// @param sm  of the device, as 90. @return nothing where that fails, for which reason ever
[[nodiscard]] std::optional<std::vector<char>> assembled_by_ptxas(const std::string& ptx, unsigned sm);

}  // namespace sluice::interpose
