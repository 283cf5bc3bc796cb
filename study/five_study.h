// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "study/paper_run.h"
#include "sw/report/five_figures.h"
#include "sw/scheduler/scenario.h"

namespace sluice {

/// Every scheduler and policy on the same pairs and the same arrivals, on the GPU model. No paper makes this comparison.
struct FiveStudy : PaperRun {
  double scale = 1;                     ///< share of each kernel's grid that is run
  std::string pairs;                    ///< mixes, as for `sluice eval`
  Scenario arrivals;                    ///< jobs that come over time
  std::vector<std::string> schedulers;  ///< of five_schedulers(), in their order; `arrival` is always run
  /// Schedulers that are not run have the lines of an earlier figures.json, an object by figure; null: they have none.
  nlohmann::ordered_json kept;
};

[[nodiscard]] std::vector<std::string> five_schedulers();

/// @throws InputError when the kept figures lack a field, or `arrival` differs from theirs; otherwise as ScheduleOnModel::run()
[[nodiscard]] std::vector<figures::Figure> five_study(const FiveStudy& study);

}  // namespace sluice
