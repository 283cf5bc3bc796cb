// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "study/kernelet_study.h"

namespace sluice {

/// One of the paper's GPUs, and what was measured on its model.
struct KerneletMachine {
  figures::KerneletMachine names;
  KerneletRuns runs;
  CoRunTables tables;
  std::map<std::string, std::vector<double>> alone;
  std::map<std::string, std::vector<SliceOverhead>> slices;
};
[[nodiscard]] KerneletMachine measured(KerneletRuns runs, figures::KerneletMachine names);

struct KerneletPlan {
  std::filesystem::path scenarios;  ///< folder of kernelet_*.toml
  unsigned schedules = 1000;        ///< random ones, figure 7
  std::uint64_t seed = 1;
  unsigned jobs = 1;
};
/// Kernelet's figures 5 to 9: the rates of pairs on both machines, and schedules with them on the fake executor.
[[nodiscard]] std::vector<figures::Figure> kernelet_figures(const KerneletPlan& plan, const KerneletMachine& c2050,
                                                            const KerneletMachine& gtx680);

}  // namespace sluice
