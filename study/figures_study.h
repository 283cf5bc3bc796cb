// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "study/paper_run.h"
#include "sw/report/paper_page.h"

namespace sluice {

/// Warped-Slicer's evaluation: figures 1 to 10, the larger SM, and energy.
struct FiguresStudy : PaperRun {
  std::uint64_t window = 2000000, oracle_window = 0;    ///< as of EvaluationPlan
  std::string pairs = "all", triples = "triples";       ///< mixes
  std::filesystem::path large_machine, phase_workload;  ///< read by the figures that need them
  bool oracle = false;                                  ///< pairs and triples with the best of all partitions
  std::vector<std::string> only;                        ///< of figure_ids(); empty: all
};

[[nodiscard]] std::vector<std::string> figure_ids();

/// What several figures share is run once. @throws as evaluate() and run_all()
[[nodiscard]] std::vector<figures::Figure> figures_study(const FiguresStudy& study);

}  // namespace sluice
