// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/gpu/experiments/experiments.h"

namespace sluice::gpu {

/// Equal work: every kernel gets as many launches as it does alone in the window. A line a system: when each kernel was done, and
/// under quotas what was decided when, with how much of each kernel was done by then. `balance_again` is `balance` that knows the
/// rates from the run before; `balance_once` sees only the best partition on all SMs.
///
/// @param streams  one a kernel
void equal_work(GpuSession& session, const std::vector<std::string>& names, const PreparedMix& mix,
                const std::vector<CUstream>& streams, RawLines& store, unsigned repetition);

}  // namespace sluice::gpu
