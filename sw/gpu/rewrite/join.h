// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the loop around a kernel (transform.cpp) is joined from.
#include <array>
#include <cstdint>
#include <functional>
#include <regex>
#include <string>
#include <vector>

namespace sluice::gpu {

/// A move from %ctaid or %nctaid: register, "n" or nothing, axis.
[[nodiscard]] const std::regex& block_index();

/// Block index and grid size from `block(axis)` and `grid(axis)`, PTX that assigns to "{}", instead of from special registers.
[[nodiscard]] std::string read_block_index(const std::string& ptx, const std::function<std::string(int)>& block,
                                           const std::function<std::string(int)>& grid);

/// What read_block_index left in `body` reads the block's index along `axis` from %sluice_block0..2.
[[nodiscard]] bool reads_block(const std::string& body, int axis);

/// A filled template with the runtime's functions in the place of the leader's calls of them. Joined here, not by the
/// assembler's calls: after a call from a branch of its own, the hardware runs the leader apart from the rest of its warp, and
/// every instruction of the kernel twice.
[[nodiscard]] std::string with_runtime(const std::string& ptx, const std::string& runtime);

/// The static shared memory of the runtime, a line each.
[[nodiscard]] std::vector<std::string> declarations(const std::string& runtime);

}  // namespace sluice::gpu
