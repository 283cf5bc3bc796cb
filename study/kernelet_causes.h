// SPDX-License-Identifier: Apache-2.0
#pragma once
// What separates Kernelet from its OPT: each part of the prediction in turn replaced by what was measured.
#include <map>
#include <string>
#include <vector>

#include "sw/report/kernelet_figures.h"
#include "sw/scheduler/schedule_run.h"

namespace sluice {

/// Every pair at its ratio of highest predicted profit, with the rates measured there: an error of the ratios is left, none of
/// the pairs. At all other ratios the pair stands still.
[[nodiscard]] CoRunTable predicted_ratios(const CoRunTables& tables);

/// Every pair at its ratio of highest measured profit, with rates of the profit that was predicted for the pair: an error of the
/// pairs is left, none of the ratios.
[[nodiscard]] CoRunTable predicted_pairs(const CoRunTables& tables);

/// A workload under Kernelet with each of these tables, with measured rates, with longer slices, and without pairs.
/// @param alone  IPC of each kernel with 1, 2, ... CTAs on an SM
/// @throws as schedule_on_fake
[[nodiscard]] std::vector<figures::Cause> kernelet_causes(const Scenario& scenario, const ScheduleTarget& target,
                                                          const CoRunTables& tables,
                                                          const std::map<std::string, std::vector<double>>& alone);

}  // namespace sluice
