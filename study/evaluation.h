// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "study/run_cache.h"
#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/driver/i_device.h"
#include "sw/report/eval_results.h"

namespace sluice {

/// What one evaluation is to run (docs/user/commands.md, "How the evaluation works").
struct EvaluationPlan {
  MachineConfig machine;
  std::string machine_text;      ///< all that distinguishes the machine: part of the fingerprint of kept runs
  std::string partitioner_text;  ///< the same of its partition unit, on which runs alone do not depend
  Workload workload;
  std::string mixes = "all";
  std::vector<std::string> policies, oracle_pairs;  ///< oracle_pairs: empty = the Oracle runs on every mix
  std::uint64_t window = 2000000;
  std::uint64_t oracle_window = 0;      ///< of the Oracle's search; 0 = search_window(window); `window` = exhaustive
  std::uint64_t curve_window = 200000;  ///< 0: no performance-against-CTAs curves
  std::uint64_t seed = 1;
  PartitionerKind partitioner = PartitionerKind::Rtl;
  unsigned jobs = 1;
  std::filesystem::path store;  ///< finished runs are kept in this file, and reused: run_all()
  std::function<std::vector<RunResult>(const std::vector<NamedRun>&)> find{};  ///< in place of run_all(), where it is set
};

/// The Oracle runs every partition of a mix for a quarter of the window, and the best kOracleFinalists of them for the whole.
/// Below 100,000 cycles start-up would decide: shorter windows are searched whole.
inline constexpr std::size_t kOracleFinalists = 3;
[[nodiscard]] constexpr std::uint64_t search_window(std::uint64_t window) {
  return std::min(window, std::max<std::uint64_t>(window / 4, 100000));
}

struct EvaluationOutcome {
  EvalResults results;  ///< without meta
  std::map<std::string, RunResult> solos;
};

/// Each kernel alone, its curve, every mix under every policy.
/// @throws InputError before anything runs when names or mixes are wrong; Interrupted
[[nodiscard]] EvaluationOutcome evaluate(const EvaluationPlan& plan);
/// What evaluate() refuses before anything runs, it refuses here. @throws as evaluate()
void check_evaluation(const EvaluationPlan& plan);

}  // namespace sluice
