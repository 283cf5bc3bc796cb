// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sw/gpu/rewrite/ptx.h"

namespace sluice::gpu {

/// What a kernel and the functions that it reaches do, by the control-flow graphs of their PTX. Errs on the side of yes.
struct Behaviour {
  bool bypassed_barrier = false;  ///< some threads of a block may pass by a barrier of all its threads
  bool waits = false;  ///< a loop goes on until other blocks have done something: it rereads global memory and looks at that
};
/// @throws InputError for a branch to a label that the function does not have
[[nodiscard]] Behaviour behaviour_of(const std::string& ptx, const Reach& reach);

}  // namespace sluice::gpu
