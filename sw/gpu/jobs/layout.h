// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sw/core/resources.h"
#include "sw/core/share.h"
#include "sw/core/units.h"

namespace sluice::gpu {

/// CTAs of one kernel allowed on each SM; 0 keeps it off that SM.
using QuotaTable = std::vector<std::uint32_t>;

/// The same quota on the SMs first .. first+count-1, none elsewhere.
[[nodiscard]] QuotaTable uniform_quota(std::uint32_t num_sms, std::uint32_t quota, std::uint32_t first, std::uint32_t count);
[[nodiscard]] inline QuotaTable uniform_quota(std::uint32_t num_sms, std::uint32_t quota) {
  return uniform_quota(num_sms, quota, 0, num_sms);
}

/// Layout of an online profile (Warped-Slicer, section IV-A): each kernel has its own SMs, and among them runs every count from 1
/// to its `most[k]` on as equal a number of SMs as possible.
/// @pre num_sms >= sum of most
/// @return one table a kernel; on every SM one kernel has a quota
[[nodiscard]] std::vector<QuotaTable> profile_layout(std::uint32_t num_sms, std::span<const CtaCount> most);

/// Mean rate per SM at each count, from the rates of the SMs of a profile.
/// @param table  quotas of the kernel; @param rate  of each SM; both as long as there are SMs
/// @return element j-1: mean rate of the SMs with quota j; 0 where there is none
[[nodiscard]] std::vector<double> rates_by_count(const QuotaTable& table, std::span<const double> rate, std::uint32_t most);

/// Every combination of counts, each kernel at least one CTA, that fits on an SM together, in lexicographic order.
[[nodiscard]] std::vector<std::vector<CtaCount>> combinations(std::span<const SmResources> demand, const SmResources& capacity);

/// An SM has four sub-cores, each with a quarter of the registers and of the warps; the warps of a CTA are dealt out to them.
/// CTAs that fit by the SM's sums need not fit there.
[[nodiscard]] bool fits_sub_cores(std::span<const SmResources> demand, std::span<const CtaCount> ctas,
                                  const SmResources& capacity);

/// Smallest split of L1 and scratchpad that every combination fits into, bytes of scratchpad.
[[nodiscard]] std::uint32_t scratchpad_split(std::span<const SmResources> demand, const SmResources& capacity);

/// Bytes of scratchpad that the driver sets up for a carve-out hint. Measured on an H200: as many CTAs as fit the percentage by
/// their own bytes alone, each with the system's kilobyte, and the next larger split.
/// @param shared  shared memory of a CTA, bytes, `reserved` by the system among them
[[nodiscard]] std::uint32_t split_of_hint(int percent, std::uint32_t shared, std::uint32_t reserved, const SmResources& capacity);

/// Carve-out hints, in percent, that give all kernels of a mix one split: the smallest that every combination fits into and that
/// each has a hint for. An SM changes its split only when it is empty: kernels that ask for different splits never meet on an SM.
[[nodiscard]] std::vector<int> carveout_hints(std::span<const SmResources> demand, std::uint32_t reserved,
                                              const SmResources& capacity);

}  // namespace sluice::gpu
