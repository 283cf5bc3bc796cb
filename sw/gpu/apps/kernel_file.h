// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace sluice::gpu {

/// Device code of a file as it is: CUDA text that a compiler is still to take, or PTX.
struct KernelFile {
  bool is_ptx = false;
  std::string text;
  std::string symbol;  ///< of the kernel, where it is PTX
};

/// Reads what `--kernel FILE:NAME` names. What a file is, its first bytes say: a fat binary, a cubin, an executable, object or
/// library with fat binaries in it, PTX text; anything else is CUDA text.
/// @param kernel  a symbol or a name as in the source (find_kernel)
/// @param sm      of the device, as 90: of several PTX of one kernel, the best that it takes
/// @throws InputError when there is no PTX (a cubin has none), or no such kernel in it; SystemError when it cannot be read
[[nodiscard]] KernelFile read_kernel_file(const std::string& path, const std::string& kernel, unsigned sm);

/// PTX text as a file would have it.
[[nodiscard]] KernelFile kernel_in_ptx(std::string ptx, const std::string& kernel, const std::string& where);

}  // namespace sluice::gpu
