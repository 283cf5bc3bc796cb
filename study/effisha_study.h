// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "study/paper_run.h"
#include "sw/report/paper_page.h"

namespace sluice {

struct EffishaPlan : PaperRun {
  std::string workload_text;        ///< all that distinguishes the workload
  std::filesystem::path scenarios;  ///< folder of effisha_{group,sjf,random,fig9}.toml
  double reads_per_us = 0;          ///< of host memory, as a GPU was measured to have; 0: not known
  double time_scale = 1;            ///< share of the cycles that schedules simulate
};

/// Reads of host memory that all SMs of a GPU have a microsecond, where every thread reads: the mean of the kernels in the page
/// of results/*/effisha. @throws InputError when the file has none
[[nodiscard]] double host_reads_per_us(const std::filesystem::path& figures);

/// EffiSha's tables and figures: kernels alone under each mechanism, and schedules on the model and the fake executor.
/// @throws as measure_preemption() and ScheduleOnModel::run()
[[nodiscard]] std::vector<figures::Figure> effisha_study(const EffishaPlan& plan);

}  // namespace sluice
