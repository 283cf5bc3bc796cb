// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

#include "sw/policy/policy.h"

namespace sluice {

/// Curves from a CSV file. The heading is "CTAs" and the kernels' names; a line has a CTA count, from 1 up, and each kernel's IPC
/// there, or nothing where so many do not fit. Blanks around a field are nothing.
/// @throws InputError `file:line: why`
[[nodiscard]] SoloCurves read_curves(const std::filesystem::path& path);

}  // namespace sluice
