// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sw/gpu/rewrite/transform.h"

namespace sluice::gpu {

/// Machine code of PTX: by ptxas, or the driver's linker. Throws where the text does not assemble. Empty: no machine code is at
/// hand, and each kernel keeps the counterweight that it has.
using Assemble = std::function<std::vector<char>(const std::string& ptx)>;

/// Transformed kernels, by the names of the kernels as they are.
using TransformedKernels = std::map<std::string, Transformed>;

/// A module's kernels as they are, with transformed ones beside them.
struct Assembled {
  TransformedKernels kernels;
  std::string text;
  std::vector<char> cubin;
};
/// Assembles the module; once more where a kernel takes more registers than it may (TransformSpec), or more than as it is where
/// nobody said; and once or twice where a kernel's loops may do better with another counterweight (counterweight.h): each has the
/// one with which they do.
/// @param ptx, runtime  as of transform(), which made `kernels`. @throws what `assemble` throws of the first form
[[nodiscard]] Assembled assembled(const std::string& ptx, const std::string& runtime, TransformedKernels kernels,
                                  const Assemble& assemble);

}  // namespace sluice::gpu
