// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <span>

#include "sw/core/resources.h"
#include "sw/scheduler/i_scheduler.h"

namespace sluice::service {

inline constexpr std::uint32_t kSmParts = 32;

/// What each job of a plan has of an SM for all of its kernels, in 32nds. A share counts CTAs of one kernel, which seldom fill
/// what it stands for: of three CTAs that fit, one is what half an SM holds, and a third of an SM. What the shares leave is given
/// back, the smallest part first, and none grows so far that its own kernel gets a CTA more.
/// @return 0 for a job where that is not known: one with the whole of its SMs, or that shares them with jobs of other ranges
[[nodiscard]] std::map<JobId, std::uint8_t> sm_parts(const Plan& plan, std::span<const JobView> jobs, const SmResources& sm);

}  // namespace sluice::service
