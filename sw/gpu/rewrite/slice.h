// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace sluice::gpu {

/// The kernel for slices of consecutive blocks, counted along x first: what EffiSha compares itself with (PKM), and Kernelet's
/// way of sharing. It takes one more parameter, a u32: the number of the first block. It is launched along x with as many blocks
/// as the slice has, and finds its own index and the whole grid's size.
/// @param ptx  normalised
/// @throws InputError when the module has no such kernel, or the grid has 2^32 blocks or more
[[nodiscard]] std::string sliced(const std::string& ptx, const std::string& symbol, const std::array<std::uint32_t, 3>& grid);

}  // namespace sluice::gpu
