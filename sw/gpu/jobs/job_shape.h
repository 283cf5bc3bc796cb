// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "sw/core/share.h"
#include "sw/gpu/runtime/control.h"

namespace sluice::gpu {

/// CTAs of one kernel allowed on each SM; 0 keeps it off that SM.
using QuotaTable = std::vector<std::uint32_t>;

struct JobSize {
  std::array<std::uint32_t, 3> grid{1, 1, 1};  ///< blocks along each axis, fewer than 2^32 in all
  std::uint32_t ctas = 1;                      ///< of the transformed kernel that the GPU holds at a time, at least 1
  unsigned group = 0;                          ///< most tasks claimed at a time; 0: as many as suits the length of the queue
};
/// The ranges of a job's queue and the divisors of its grid. The caller sets the pointers, counts_runs, flags and shared_at.
[[nodiscard]] SluiceJob job_shape(const JobSize& size);

/// A kernel's share as CTAs on each SM: at most the slots that there are.
[[nodiscard]] QuotaTable quotas_of(const Share& share, std::uint32_t num_sms);
/// What CTAs are told, in one copy. @param epoch  number of the order  @param parts  SLUICE_PARTS
[[nodiscard]] SluiceOrders orders_of(const QuotaTable& quotas, unsigned epoch, bool parts = false);

}  // namespace sluice::gpu
