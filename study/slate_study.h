// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "study/schedule_model.h"
#include "sw/report/slate_figures.h"

namespace sluice {

/// What the runs of Slate's evaluation are made of.
struct SlateStudyPlan {
  MachineConfig machine;
  std::string machine_text;                             ///< all that results depend on in it
  Workload workload;                                    ///< with the five kernels of table II, and STREAM
  Scenario pairs;                                       ///< jobs named PAIR.1, PAIR.2
  PartitionerKind partitioner = PartitionerKind::Twin;  ///< of the pairs
  std::uint64_t seed = 1;
  unsigned jobs = 1;
  std::filesystem::path runs_folder;  ///< finished runs in it are not repeated
};

/// Runs them.
/// @return the figures in the order of the paper
/// @throws InputError when the workload lacks a kernel; otherwise as ScheduleOnModel
[[nodiscard]] std::vector<figures::Figure> slate_study(const SlateStudyPlan& plan);

}  // namespace sluice
