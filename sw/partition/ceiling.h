// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "sw/core/machine.h"

namespace sluice {

/// Lines a core cycle that the crossbar's replies can carry to all SMs together.
///
/// Of n outputs and m FIFO inputs a crossbar fills n + m - sqrt(n^2 + m^2). Each output serves a queue of heads of line, of mean
/// length rho + rho^2 / (2 (1 - rho)) at load rho; saturated, the m heads share out over the n outputs: that length is m / n. For
/// n = m it is the 2 - sqrt 2 of Karol, Hluchyj and Morgan (IEEE Trans. Communications, 1987).
[[nodiscard]] double crossbar_lines_per_cycle(const MachineConfig& machine);

/// Lines a core cycle that the memory system can give all SMs together: what the crossbar's replies and DRAM's data buses carry,
/// the lesser of the two.
[[nodiscard]] double lines_per_cycle(const MachineConfig& machine);

/// B_max / NUM_SM of docs/reference/blocks/profile_counters.md for one profile window: lines that an SM may exchange with the
/// memory system, 1..8,191; 0 (the unit's 8,192) without a ceiling. @throws InputError when the window is so long that it is more
[[nodiscard]] std::uint32_t request_share(const MachineConfig& machine);

}  // namespace sluice
