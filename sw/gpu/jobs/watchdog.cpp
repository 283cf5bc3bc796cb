// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/watchdog.h"

#include <algorithm>
#include <numeric>

namespace sluice::gpu {

std::optional<QuotaTable> Watchdog::look(Time now, std::uint64_t done, std::uint64_t resident, const QuotaTable& quota) {
  const std::uint64_t wanted = std::accumulate(quota.begin(), quota.end(), std::uint64_t{0});
  if (done != done_ || wanted == 0 || resident < wanted) {
    done_ = done;
    since_.reset();
    return {};
  }
  if (!since_) since_ = now;
  if (now - *since_ < bound_) return {};
  QuotaTable raised = quota;
  for (std::uint32_t& q : raised) q = std::max(q, std::min(2 * q, most_));
  if (raised == quota)
    for (std::uint32_t& q : raised) q = std::max(q, 1U);
  if (raised == quota) return {};
  since_.reset();
  ++raises_;
  return raised;
}

}  // namespace sluice::gpu
