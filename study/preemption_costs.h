// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "sw/report/effisha_figures.h"

namespace sluice {

/// What being preemptible costs each job of a scenario alone, and how fast it leaves: as it is, on the partition unit, and by
/// software in three ways (EffiSha, figures 10 and 13).
///
/// A round is a task of every CTA that does tasks: one of the CTAs that the GPU holds may be a proxy. An overhead is the time of
/// some full rounds over the tasks in them, beside the same of the kernel as it is; start and end of the run count in both. The
/// kernel's own time is extrapolated from two such runs to its whole grid.
///
/// @param scenario     jobs with alone_ms, from which the number of rounds follows
/// @param keep         finished runs are kept here
/// @param fingerprint  text of machine and kernels
/// @throws InputError when a job has no alone_ms; Interrupted
[[nodiscard]] std::vector<effisha::KernelCosts> measure_preemption(const Scenario& scenario, const ScheduleTarget& target,
                                                                   const std::filesystem::path& keep,
                                                                   const std::string& fingerprint, std::uint64_t seed,
                                                                   unsigned jobs);

}  // namespace sluice
