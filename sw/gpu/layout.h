#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sw/core/resources.h"
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

/// Scratchpad carve-out for all kernels of a mix: an SM changes it only when it is empty, so that a kernel that needs more than
/// the one before it never joins it there. -1, the driver's choice, where every combination fits into what that is at least; else
/// 100, all. (A percentage between does not mean the same for two kernels: the driver counts a CTA's reserved kilobyte beside its
/// own bytes.)
[[nodiscard]] int shared_carveout_percent(std::span<const SmResources> demand, const SmResources& capacity);

}  // namespace sluice::gpu
