// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/job_shape.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace sluice::gpu {

SluiceJob job_shape(const JobSize& size) {
  SluiceJob job{};
  job.grid_x = size.grid[0];
  job.grid_y = size.grid[1];
  job.grid_z = size.grid[2];
  job.blocks = job.grid_x * job.grid_y * job.grid_z;
  job.width_bits = static_cast<unsigned>(std::bit_width(size.ctas)) - 1;
  // A claim costs a trip to the L2 and delays its CTA; long ranges let CTAs drift apart, and neighbours in the grid no longer
  // find each other's lines in the L2: more than four cost more than they save (measured). What they leave uneven is claimed by
  // shorter ones.
  const std::uint64_t tasks = job.blocks;
  const std::uint64_t rounds = tasks >> job.width_bits;
  const auto best = static_cast<unsigned>(std::clamp(std::sqrt(static_cast<double>(rounds)), 1.0, 4.0));
  job.group = size.group > 0 ? size.group : best;
  job.middle = std::max(job.group / 2, 1U);
  const std::uint64_t even = job.group + job.middle, long_ranges = rounds > even ? (rounds - even) / job.group : 0;
  const std::uint64_t left = rounds - long_ranges * job.group;
  const std::uint64_t middle_ranges = left > job.middle ? (left - job.middle) / job.middle : 0;
  job.middle_ticket = long_ranges << job.width_bits;
  job.single_ticket = job.middle_ticket + (middle_ranges << job.width_bits);
  job.tickets = job.single_ticket + tasks - ((long_ranges * job.group + middle_ranges * job.middle) << job.width_bits);
  const auto step = static_cast<unsigned>((std::uint64_t{1} << job.width_bits) % job.blocks);
  job.step_x = step % job.grid_x;
  job.step_y = step / job.grid_x % job.grid_y;
  job.step_z = step / job.grid_x / job.grid_y;
  job.inverse_x = UINT32_MAX / job.grid_x;
  job.inverse_y = UINT32_MAX / job.grid_y;
  return job;
}

QuotaTable quotas_of(const Share& share, std::uint32_t num_sms) {
  QuotaTable table(num_sms, 0);
  const std::uint32_t first = std::min(share.sms.first.value(), num_sms), count = std::min(share.sms.count, num_sms - first);
  std::fill_n(table.begin() + first, count, std::min<std::uint32_t>(share.ctas.value(), SLUICE_MAX_SLOTS));
  return table;
}

SluiceOrders orders_of(const QuotaTable& quotas, unsigned epoch, bool parts) {
  SluiceOrders orders{};
  orders.epoch = epoch;
  std::ranges::copy(quotas, orders.quota);
  if (!quotas.empty() && std::ranges::adjacent_find(quotas, std::not_equal_to<>()) == quotas.end())
    std::ranges::fill(orders.quota, quotas.front());         // SMs of a part of a GPU may have any numbers
  for (auto from = quotas.begin(); from != quotas.end();) {  // most are the same: CTAs wait for this order
    const auto to = std::find_if(from, quotas.end(), [&](std::uint32_t quota) { return quota != *from; });
    for (unsigned fits = 1; fits <= SLUICE_MAX_SLOTS && *from != 0; ++fits)
      orders.wanted[fits - 1] += static_cast<unsigned>(to - from) * std::min(sluice_ctas(*from, sluice_flags(fits, parts)), fits);
    from = to;
  }
  return orders;
}

}  // namespace sluice::gpu
