// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

namespace sluice::gpu {

/// "_Z3addIfEvPT_i" as "void add<float>(float*, int)"; other names as they are.
[[nodiscard]] std::string demangled(const std::string& symbol);

/// The symbol of the kernel that `name` means: a symbol; a name as in the source, with or without its parameters
/// ("add<float>(float*, int)", "add<float>"), without its template arguments ("add"), or without its namespace. The most exact of
/// these that fits decides.
/// @param where  how messages call the place
/// @throws InputError when none fits or several do, with the candidates
[[nodiscard]] std::string find_kernel(std::span<const std::string> symbols, const std::string& name, const std::string& where);

/// Kernels of a module that have bodies. @param ptx  normalised text
[[nodiscard]] std::vector<std::string> kernels_of(const std::string& ptx);

}  // namespace sluice::gpu
