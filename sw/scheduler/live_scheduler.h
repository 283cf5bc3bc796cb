// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "sw/core/machine.h"
#include "sw/scheduler/i_scheduler.h"

namespace sluice {

/// A scheduler for jobs that nobody knew beforehand. Policies are asked anew for the kernels that are there: the oldest jobs
/// share, as many as the policy can share the machine between. Where the scheduler itself refuses the jobs, the oldest runs
/// alone, and the plan's reason says what was refused.
/// @param ctas  of `static`: of the oldest job, the second oldest, ...
/// @throws InputError listing the names when it is none of them; naming what is missing when it needs to know the kernels before
[[nodiscard]] std::unique_ptr<IScheduler> make_live_scheduler(std::string_view name, const MachineConfig& machine,
                                                              const std::vector<CtaCount>& ctas = {});

}  // namespace sluice
